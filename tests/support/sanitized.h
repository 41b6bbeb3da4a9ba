// Is what is tested watched by a sanitizer? Known only when the tests are linked: builds with the address sanitizer
// take the tests' own objects from the release build.
#pragma once

extern "C" {
[[gnu::weak]] void __asan_init();  // NOLINT(bugprone-reserved-identifier)
[[gnu::weak]] void __tsan_init();  // NOLINT(bugprone-reserved-identifier)
}

namespace cotouch {

inline bool is_sanitized() {
  return __asan_init != nullptr || __tsan_init != nullptr;
}

}  // namespace cotouch

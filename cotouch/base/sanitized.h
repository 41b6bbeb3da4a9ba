// COTOUCH_SANITIZED: built with a sanitizer that reserves terabytes of address space, which a memory limit would
// refuse.
#pragma once

#if defined(COTOUCH_SANITIZED)
// said so by the build
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COTOUCH_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COTOUCH_SANITIZED 1
#endif
#endif

#include <cotouch/base/invariant.h>

#include <cotouch/base/error.h>

#include <cstring>
#include <utility>

namespace cotouch {
namespace {

thread_local InvariantWatch* current_watch = nullptr;

}  // namespace

InvariantWatch::InvariantWatch() noexcept : before_(std::exchange(current_watch, this)) {
}

InvariantWatch::~InvariantWatch() {
  current_watch = before_;
}

bool detail::broken_invariant(bool holds, const char* sentence) {
  const char* const fault = injected_fault.load(std::memory_order_relaxed);
  if (holds && (fault == nullptr || std::strncmp(sentence, fault, std::strlen(fault)) != 0)) return true;
  if (holds && spared_by_fault.fetch_sub(1, std::memory_order_relaxed) > 0) return true;
  if (current_watch == nullptr) throw Error(invariant_report(sentence));
  if (current_watch->broken_ == nullptr) current_watch->broken_ = sentence;
  return false;
}

std::string invariant_report(const char* sentence) {
  return std::string(sentence) + ". This is a fault in cotouch itself; save what you need and start it again.";
}

}  // namespace cotouch

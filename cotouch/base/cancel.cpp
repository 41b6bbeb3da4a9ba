#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>

namespace cotouch {
namespace {

thread_local const CancelScope::Question* asked = nullptr;

}  // namespace

CancelScope::CancelScope(Question cancelled) : own_(std::move(cancelled)), before_(std::exchange(asked, &own_)) {
}

CancelScope::CancelScope(const Question* cancelled) noexcept : before_(std::exchange(asked, cancelled)) {
}

CancelScope::~CancelScope() {
  asked = before_;
}

const CancelScope::Question* CancelScope::current() noexcept {
  return asked;
}

void throw_if_cancelled() {
  if (asked != nullptr && (*asked)()) throw Cancelled();
}

}  // namespace cotouch

// The inside of Session, shared by its source files. Nobody else includes this.
#pragma once

#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/session/session.h>

#include <future>
#include <type_traits>

namespace cotouch {

// Throws Error if the session is busy for too long.
template <class T>
T wait_for(std::future<T>& answer) {
  constexpr auto k_patience = std::chrono::seconds(10);
  if (answer.wait_for(k_patience) != std::future_status::ready)
    throw Error("The session is too busy to answer; try again.", ErrorCode::busy);
  return answer.get();
}

template <class T>
T Session::ask(When when, std::function<T()> question) {
  auto promise = std::make_shared<std::promise<T>>();
  std::future<T> answer = promise->get_future();
  std::function<void()> task = [promise, question = std::move(question)] {
    try {
      promise->set_value(question());
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
  };
  if (when == When::in_turn) task = [this, task = std::move(task)] { in_turn(task); };
  post(std::move(task));
  return wait_for(answer);
}

template <class Make>
auto Session::endable(Make make) {
  return [this, make = std::move(make)]() mutable {
    const CancelScope scope([this] { return stopping_.load(std::memory_order_relaxed); });
    return make();
  };
}

template <class Make, class Use>
void Session::make_then(Make make, Use use, Answered answered) {
  make_then(*builder_, endable(std::move(make)), std::move(use), std::move(answered));
}

template <class Make, class Use>
void Session::make_then(Background& where, Make make, Use use, Answered answered) {
  using Made = std::invoke_result_t<Make&>;
  turn_is_taken_ = true;
  where.post([this, make = std::move(make), use = std::move(use), answered = std::move(answered)]() mutable {
    const auto made = std::make_shared<std::optional<Made>>();
    CommandResult failed{CommandResult::Kind::wrong, {}, 0, {}};
    try {
      made->emplace(make());
    } catch (const std::exception& error) {
      failed.reason = error.what();
    }
    post([this, made, use, answered, result = std::move(failed)]() mutable {
      try {
        if (*made) result = use(std::move(**made));
      } catch (const std::exception& error) {
        result.reason = error.what();
      }
      turn_is_taken_ = false;
      if (answered) answered(result);
      take_turns();
    });
  });
}

template <class Tell>
void Session::tell(const Tell& what) {
  for (SessionListener* listener : listeners_) what(*listener);
}

}  // namespace cotouch

// The inside of Session, shared by its source files. Nobody else includes this.
#pragma once

#include <cotouch/base/error.h>
#include <cotouch/session/session.h>

#include <future>

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
T Session::ask(std::function<T()> question) {
  auto promise = std::make_shared<std::promise<T>>();
  std::future<T> answer = promise->get_future();
  post([promise, question = std::move(question)] {
    try {
      promise->set_value(question());
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
  });
  return wait_for(answer);
}

template <class Tell>
void Session::tell(const Tell& what) {
  for (SessionListener* listener : listeners_) what(*listener);
}

}  // namespace cotouch

// Calls into what may never come back, from a thread that has to go on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace cotouch {

// What `work` returns, or throws; nothing if it takes longer. Then the thread that it runs in is left behind, so `work`
// must own all that it uses.
template <class Work>
auto with_patience(std::chrono::milliseconds patience, Work work) -> std::optional<std::invoke_result_t<Work&>> {
  struct Shared {
    explicit Shared(Work&& given) : work(std::move(given)) {}
    Work work;
    std::mutex mutex;
    std::condition_variable ended;
    std::optional<std::invoke_result_t<Work&>> result;
    std::exception_ptr failure;
    bool over = false;
  };
  auto shared = std::make_shared<Shared>(std::move(work));
  std::thread([shared] {
    std::optional<std::invoke_result_t<Work&>> result;
    std::exception_ptr failure;
    try {
      result = shared->work();
    } catch (...) {
      failure = std::current_exception();
    }
    const std::scoped_lock lock(shared->mutex);
    shared->result = std::move(result);
    shared->failure = std::move(failure);
    shared->over = true;
    shared->ended.notify_one();
  }).detach();
  std::unique_lock lock(shared->mutex);
  if (!shared->ended.wait_for(lock, patience, [&] { return shared->over; })) return std::nullopt;
  // What was thrown belongs to this thread alone from here on.
  if (const std::exception_ptr failure = std::exchange(shared->failure, nullptr)) std::rethrow_exception(failure);
  return std::move(shared->result);
}

}  // namespace cotouch

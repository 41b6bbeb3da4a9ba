#include <cotouch/base/cancel.h>
#include <cotouch/base/parallel.h>

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace cotouch {
namespace {

// What this thread may run on, which is fewer than there are where the user or a container says so.
std::size_t usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<std::size_t>(std::max(1, CPU_COUNT(&set)));
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

void parallel_for(std::size_t count, std::size_t grain, const std::function<void(std::size_t, std::size_t)>& work) {
  if (count == 0) return;
  const std::size_t ranges = (count + grain - 1) / grain;
  const std::size_t threads = std::min(usable_cores(), ranges);
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto run = [&, asked = CancelScope::current()] {
    const CancelScope scope(asked);
    for (std::size_t range; (range = next.fetch_add(1)) < ranges;) {
      try {
        throw_if_cancelled();
        work(range * grain, std::min(count, (range + 1) * grain));
      } catch (...) {
        const std::scoped_lock lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        next = ranges;
      }
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(run);
  run();
  others.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace cotouch

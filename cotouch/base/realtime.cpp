#include <cotouch/base/realtime.h>

#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace cotouch {
namespace {

constexpr std::int64_t k_ns_per_second = 1'000'000'000;

thread_local int t_section_depth = 0;
std::atomic<std::uint64_t> g_breaches{0};

std::int64_t now_ns(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * k_ns_per_second + now.tv_nsec;
}

// No limit, or a process whose privilege lifts it.
bool is_locking_unlimited() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) return true;
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  return syscall(SYS_capget, &head, data) == 0 &&
         (data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK)) != 0;
}

}  // namespace

std::string request_priority(int fifo_priority) {
  sched_param param{};
  param.sched_priority = fifo_priority;
  const int refused = pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
  if (refused == 0) return {};
  return std::string("Real-time priority was refused (") + std::strerror(refused) +
         "): other programs may delay the loop. Raise the rtprio limit to allow it. ";
}

RealtimeStatus request_realtime(int fifo_priority) {
  RealtimeStatus status;
  status.notes = request_priority(fifo_priority);
  status.fifo_priority = status.notes.empty();
  const LockedMemory locked = lock_memory();
  status.locked_memory = locked != LockedMemory::none;
  status.locked_later = locked == LockedMemory::all;
  if (!status.locked_memory)
    status.notes += std::string("Memory could not be locked (") + std::strerror(errno) +
                    "): a page fault may delay the loop. Raise the memlock limit to allow it.";
  return status;
}

LockedMemory lock_memory() noexcept {
  if (is_locking_unlimited() && mlockall(MCL_CURRENT | MCL_FUTURE) == 0) return LockedMemory::all;
  return mlockall(MCL_CURRENT) == 0 ? LockedMemory::present : LockedMemory::none;
}

std::int64_t monotonic_ns() noexcept {
  return now_ns(CLOCK_MONOTONIC);
}

std::int64_t processor_ns() noexcept {
  return now_ns(CLOCK_THREAD_CPUTIME_ID);
}

PeriodicTimer::PeriodicTimer(std::chrono::nanoseconds period) noexcept
    : period_ns_(period.count()), next_ns_(monotonic_ns() + period.count()) {
}

std::uint64_t PeriodicTimer::wait() noexcept {
  const std::int64_t late = monotonic_ns() - next_ns_;
  std::uint64_t missed = 0;
  if (late >= 0) {
    missed = static_cast<std::uint64_t>(late / period_ns_) + 1;
    next_ns_ += static_cast<std::int64_t>(missed) * period_ns_;
  }
  const timespec until{next_ns_ / k_ns_per_second, next_ns_ % k_ns_per_second};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
  next_ns_ += period_ns_;
  return missed;
}

RealtimeSection::RealtimeSection() noexcept {
  ++t_section_depth;
}
RealtimeSection::~RealtimeSection() {
  --t_section_depth;
}
bool RealtimeSection::active() noexcept {
  return t_section_depth > 0;
}
void RealtimeSection::count_breach() noexcept {
  g_breaches.fetch_add(1, std::memory_order_relaxed);
}
std::uint64_t RealtimeSection::breaches() noexcept {
  return g_breaches.load(std::memory_order_relaxed);
}

}  // namespace cotouch

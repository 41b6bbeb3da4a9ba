// The guard that other tests rely on, seen to see.
#include <cotouch/base/realtime.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include <malloc.h>
#include <poll.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

namespace cotouch::this_file {
namespace {

using Action = std::function<void()>;
using Guarded = std::function<void(const Action&)>;  // runs it in a section or not
struct Breach {
  std::string name;
  std::function<void(const Guarded&)> run;  // hands one call to `guarded` and tidies up after it
};

constexpr std::chrono::microseconds k_soon(50);
constexpr timespec k_past{};

std::vector<Breach> allocations() {
  const auto allocating = [](const std::string& name, void* (*allocate)()) {
    return Breach{name, [allocate](const Guarded& guarded) {
                    void* volatile memory = nullptr;  // volatile: the compiler may not leave the pair out
                    guarded([&] { memory = allocate(); });
                    std::free(memory);
                  }};
  };
  return {
      allocating("malloc", [] { return std::malloc(1); }),
      allocating("calloc", [] { return std::calloc(1, 1); }),
      allocating("aligned_alloc", [] { return std::aligned_alloc(64, 64); }),
      allocating("memalign", [] { return memalign(64, 64); }),
      allocating("strdup", []() -> void* { return strdup("a"); }),
      allocating("posix_memalign",
                 [] {
                   void* memory = nullptr;
                   return posix_memalign(&memory, 64, 64) == 0 ? memory : nullptr;
                 }),
      {"realloc",
       [](const Guarded& guarded) {
         void* volatile memory = std::malloc(1);
         guarded([&] { memory = std::realloc(memory, 100'000); });
         std::free(memory);
       }},
      {"free",
       [](const Guarded& guarded) {
         void* volatile memory = std::malloc(1);
         guarded([&] { std::free(memory); });
       }},
      {"new",
       [](const Guarded& guarded) {
         void* volatile memory = nullptr;
         guarded([&] { memory = ::operator new(1); });
         ::operator delete(memory);
       }},
      {"delete",
       [](const Guarded& guarded) {
         void* volatile memory = ::operator new(1);
         guarded([&] { ::operator delete(memory); });
       }},
      {"aligned new",
       [](const Guarded& guarded) {
         void* volatile memory = nullptr;
         guarded([&] { memory = ::operator new (64, std::align_val_t{64}); });
         ::operator delete (memory, std::align_val_t{64});
       }},
  };
}

std::vector<Breach> locks() {
  return {
      {"lock",
       [](const Guarded& guarded) {
         std::mutex mutex;
         guarded([&] { mutex.lock(); });
         mutex.unlock();
       }},
      {"try_lock",
       [](const Guarded& guarded) {
         std::mutex mutex;
         bool locked = false;
         guarded([&] { locked = mutex.try_lock(); });
         if (locked) mutex.unlock();
       }},
#ifndef __SANITIZE_THREAD__  // it does not know pthread_mutex_clocklock and complains about the unlock
      {"timed lock",
       [](const Guarded& guarded) {
         std::timed_mutex mutex;
         bool locked = false;
         guarded([&] { locked = mutex.try_lock_for(k_soon); });
         if (locked) mutex.unlock();
       }},
#endif
      {"exclusive lock",
       [](const Guarded& guarded) {
         std::shared_mutex mutex;
         guarded([&] { mutex.lock(); });
         mutex.unlock();
       }},
      {"shared lock",
       [](const Guarded& guarded) {
         std::shared_mutex mutex;
         guarded([&] { mutex.lock_shared(); });
         mutex.unlock_shared();
       }},
      {"timed shared lock",
       [](const Guarded& guarded) {
         std::shared_timed_mutex mutex;
         bool locked = false;
         guarded([&] { locked = mutex.try_lock_shared_for(k_soon); });
         if (locked) mutex.unlock_shared();
       }},
  };
}

std::vector<Breach> waits() {
  const auto on_condition = [](const std::string& name, auto wait) {
    return Breach{name, [wait](const Guarded& guarded) {
                    std::mutex mutex;
                    std::condition_variable changed;
                    std::unique_lock lock(mutex);
                    guarded([&] { wait(changed, lock); });
                  }};
  };
  const auto on_semaphore = [](const std::string& name, int (*wait)(sem_t*)) {
    return Breach{name, [wait](const Guarded& guarded) {
                    sem_t semaphore;
                    sem_init(&semaphore, 0, 1);
                    guarded([&] { wait(&semaphore); });
                    sem_destroy(&semaphore);
                  }};
  };
  const auto simple = [](const std::string& name, void (*wait)()) {
    return Breach{name, [wait](const Guarded& guarded) { guarded(wait); }};
  };
  return {
      on_condition("wait",
                   [](std::condition_variable& changed, std::unique_lock<std::mutex>& lock) {
                     // The kernel may wake it without a reason; a notification is not needed.
                     changed.wait_for(lock, k_soon);
                   }),
      on_condition("wait by the wall clock",
                   [](std::condition_variable& changed, std::unique_lock<std::mutex>& lock) {
                     changed.wait_until(lock, std::chrono::system_clock::now());
                   }),
      {"wait without end",
       [](const Guarded& guarded) {
         std::mutex mutex;
         std::condition_variable changed;
         bool done = false;
         std::unique_lock lock(mutex);
         std::jthread waker([&] {
           const std::scoped_lock mine(mutex);
           done = true;
           changed.notify_all();
         });
         guarded([&] {
           while (!done) changed.wait(lock);
         });
         lock.unlock();
       }},
      on_semaphore("sem_wait", [](sem_t* s) { return sem_wait(s); }),
      on_semaphore("sem_timedwait", [](sem_t* s) { return sem_timedwait(s, &k_past); }),
      on_semaphore("sem_clockwait", [](sem_t* s) { return sem_clockwait(s, CLOCK_MONOTONIC, &k_past); }),
      {"atomic wait",
       [](const Guarded& guarded) {
         std::atomic<int> number{0};
         std::jthread waker([&] {
           std::this_thread::sleep_for(std::chrono::milliseconds(500));  // on a busy machine, too, it comes later
           number.store(1);
           number.notify_all();
         });
         guarded([&] { number.wait(0); });
       }},
      {"join",
       [](const Guarded& guarded) {
         std::thread other([] {});
         guarded([&] { other.join(); });
       }},
      simple("sleep", [] { std::this_thread::sleep_for(k_soon); }),
      simple("clock_nanosleep", [] { clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &k_past, nullptr); }),
      simple("usleep", [] { usleep(1); }),
      simple("poll", [] { poll(nullptr, 0, 0); }),
  };
}

TEST(RealtimeGuard, SeesAllocationsLocksAndWaitsInsideASectionOnly) {
#ifndef COTOUCH_RT_GUARD
  GTEST_SKIP() << "the real-time guard does not work in this build";
#endif
  for (const std::vector<Breach>& breaches : {allocations(), locks(), waits()})
    for (const Breach& breach : breaches)
      for (const bool inside : {false, true}) {
        const std::uint64_t before = RealtimeSection::breaches();
        breach.run([inside](const Action& action) {
          std::optional<RealtimeSection> section;
          if (inside) section.emplace();
          action();
        });
        const std::uint64_t seen = RealtimeSection::breaches() - before;
        EXPECT_EQ(seen > 0, inside) << breach.name;
      }
}

}  // namespace
}  // namespace cotouch::this_file

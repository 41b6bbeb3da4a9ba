// Replaces the entry points of allocators, locks and waits so that a call inside a RealtimeSection is counted.
// Linked into tests only (target cotouch_rt_guard). A sanitizer brings its own allocator, whose hooks are used instead.
#include <cotouch/base/realtime.h>
#include <cotouch/base/sanitized.h>

#include <dlfcn.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

#ifdef COTOUCH_SANITIZED
// As in sanitizer/allocator_interface.h, which GCC does not always bring.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void*, std::size_t),
                                                         void (*freed)(const volatile void*));
#endif

namespace {

// Before that a sanitizer may not have been set up, and no test runs.
bool g_ready = false;

void check() noexcept {
  if (g_ready && cotouch::RealtimeSection::active()) cotouch::RealtimeSection::count_breach();
}

}  // namespace

#ifdef COTOUCH_SANITIZED

namespace {

__attribute__((constructor)) void begin() {
  const auto on_allocate = [](const volatile void*, std::size_t) { check(); };
  const auto on_free = [](const volatile void* memory) {
    if (memory != nullptr) check();
  };
  if (__sanitizer_install_malloc_and_free_hooks(on_allocate, on_free) == 0) {
    std::fputs("The real-time guard cannot see allocations in this sanitized build: its tests would prove nothing.\n",
               stderr);
    std::abort();
  }
  g_ready = true;
}

}  // namespace

#else

// glibc's own allocator, under the names it exports it by as well.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);
}

namespace {

__attribute__((constructor)) void begin() {
  g_ready = true;
}

void* aligned(std::size_t alignment, std::size_t size) noexcept {
  check();
  return __libc_memalign(alignment < sizeof(void*) ? sizeof(void*) : alignment, size);
}

void* allocate(std::size_t size, std::size_t alignment) {
  void* const memory = aligned(alignment, size ? size : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void release(void* memory) noexcept {
  if (memory != nullptr) check();
  __libc_free(memory);
}

}  // namespace

void* operator new(std::size_t size) {
  return allocate(size, alignof(std::max_align_t));
}
void* operator new[](std::size_t size) {
  return allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete[](void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}

// What C code allocates.
extern "C" {
void* malloc(std::size_t size) noexcept {
  check();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  check();
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
  check();
  return __libc_realloc(memory, size);
}
void* reallocarray(void* memory, std::size_t count, std::size_t size) noexcept {
  check();
  std::size_t bytes = 0;
  if (!__builtin_mul_overflow(count, size, &bytes)) return __libc_realloc(memory, bytes);
  errno = ENOMEM;
  return nullptr;
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  *memory = aligned(alignment, size);
  return *memory != nullptr ? 0 : ENOMEM;
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return aligned(alignment, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return aligned(alignment, size);
}
void free(void* memory) noexcept {
  release(memory);
}
}

#endif

// Everything a thread can wait with, for another one or for the clock. The next definition is the sanitizer's or
// glibc's; of glibc's condition variables dlsym may find those of before 2.3.2, which have another layout.
namespace {

void* next(const char* name) noexcept {
#ifndef COTOUCH_SANITIZED
  if (void* const newer = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2")) return newer;
#endif
  return dlsym(RTLD_NEXT, name);
}

}  // namespace

#ifdef COTOUCH_THREAD_SANITIZED
// The thread sanitizer's hooks leave these out. GCC's is a shared library, so the next definition is its own.
extern "C" int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  static const auto real = reinterpret_cast<int (*)(void**, std::size_t, std::size_t)>(next("posix_memalign"));
  check();
  return real(memory, alignment, size);
}
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  static const auto real = reinterpret_cast<void* (*)(std::size_t, std::size_t)>(next("aligned_alloc"));
  check();
  return real(alignment, size);
}
extern "C" void* memalign(std::size_t alignment, std::size_t size) noexcept {
  static const auto real = reinterpret_cast<void* (*)(std::size_t, std::size_t)>(next("memalign"));
  check();
  return real(alignment, size);
}
#endif

#define COTOUCH_GUARD_CALL(name, parameters, arguments, exceptions)         \
  extern "C" int name parameters exceptions {                               \
    using Call = int(*) parameters;                                         \
    static std::atomic<Call> real{nullptr};                                 \
    if (real.load() == nullptr) real = reinterpret_cast<Call>(next(#name)); \
    check();                                                                \
    return real.load() arguments;                                           \
  }
using Time = const timespec*;
using Mutex = pthread_mutex_t*;
using SharedMutex = pthread_rwlock_t*;
using Condition = pthread_cond_t*;
COTOUCH_GUARD_CALL(pthread_mutex_lock, (Mutex m), (m), noexcept)
COTOUCH_GUARD_CALL(pthread_mutex_trylock, (Mutex m), (m), noexcept)
COTOUCH_GUARD_CALL(pthread_mutex_timedlock, (Mutex m, Time t), (m, t), noexcept)
COTOUCH_GUARD_CALL(pthread_mutex_clocklock, (Mutex m, clockid_t c, Time t), (m, c, t), noexcept)
COTOUCH_GUARD_CALL(pthread_rwlock_rdlock, (SharedMutex l), (l), noexcept)
COTOUCH_GUARD_CALL(pthread_rwlock_wrlock, (SharedMutex l), (l), noexcept)
COTOUCH_GUARD_CALL(pthread_rwlock_tryrdlock, (SharedMutex l), (l), noexcept)
COTOUCH_GUARD_CALL(pthread_rwlock_trywrlock, (SharedMutex l), (l), noexcept)
COTOUCH_GUARD_CALL(pthread_rwlock_timedrdlock, (SharedMutex l, Time t), (l, t), noexcept)
COTOUCH_GUARD_CALL(pthread_rwlock_timedwrlock, (SharedMutex l, Time t), (l, t), noexcept)
COTOUCH_GUARD_CALL(pthread_rwlock_clockrdlock, (SharedMutex l, clockid_t c, Time t), (l, c, t), noexcept)
COTOUCH_GUARD_CALL(pthread_rwlock_clockwrlock, (SharedMutex l, clockid_t c, Time t), (l, c, t), noexcept)
COTOUCH_GUARD_CALL(pthread_cond_wait, (Condition c, Mutex m), (c, m), )
COTOUCH_GUARD_CALL(pthread_cond_timedwait, (Condition c, Mutex m, Time t), (c, m, t), )
COTOUCH_GUARD_CALL(pthread_cond_clockwait, (Condition c, Mutex m, clockid_t k, Time t), (c, m, k, t), )
COTOUCH_GUARD_CALL(pthread_barrier_wait, (pthread_barrier_t * b), (b), noexcept)
COTOUCH_GUARD_CALL(pthread_join, (pthread_t t, void** result), (t, result), )
COTOUCH_GUARD_CALL(sem_wait, (sem_t * s), (s), )
COTOUCH_GUARD_CALL(sem_timedwait, (sem_t * s, Time t), (s, t), )
COTOUCH_GUARD_CALL(sem_clockwait, (sem_t * s, clockid_t c, Time t), (s, c, t), )
COTOUCH_GUARD_CALL(nanosleep, (Time t, timespec* left), (t, left), )
COTOUCH_GUARD_CALL(clock_nanosleep, (clockid_t c, int f, Time t, timespec* left), (c, f, t, left), )
COTOUCH_GUARD_CALL(usleep, (useconds_t t), (t), )
COTOUCH_GUARD_CALL(poll, (pollfd * files, nfds_t count, int t), (files, count, t), )

// std::atomic::wait, latches and barriers of the standard library wait with the system call itself.
extern "C" long syscall(long number, ...) noexcept {
  using Call = long (*)(long, ...);
  static std::atomic<Call> real{nullptr};
  if (real.load() == nullptr) real = reinterpret_cast<Call>(dlsym(RTLD_NEXT, "syscall"));
  std::va_list list;
  va_start(list, number);
  long a[6];
  for (long& each : a) each = va_arg(list, long);
  va_end(list);
  if (number == SYS_futex) {
    const long operation = a[1] & FUTEX_CMD_MASK;
    if (operation != FUTEX_WAKE && operation != FUTEX_WAKE_BITSET) check();
  }
  return real.load()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

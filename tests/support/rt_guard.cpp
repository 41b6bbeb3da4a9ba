// Replaces the entry points of allocators and locks so that a call inside a RealtimeSection is counted.
// Linked into tests only (target cotouch_rt_guard).
#include <cotouch/base/realtime.h>

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>

#include <cstddef>
#include <cstdlib>
#include <new>

// glibc's own allocator, under the names it exports it by as well.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void __libc_free(void* memory);
}

namespace {

void check() noexcept {
  if (cotouch::RealtimeSection::active()) cotouch::RealtimeSection::count_breach();
}

void* allocate(std::size_t size, std::size_t alignment) {
  check();
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment < sizeof(void*) ? sizeof(void*) : alignment, size ? size : 1) != 0)
    throw std::bad_alloc();
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
void* malloc(std::size_t size) {
  check();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  check();
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  check();
  return __libc_realloc(memory, size);
}
void free(void* memory) {
  if (memory != nullptr) check();
  __libc_free(memory);
}
}

// Everything a thread can wait for another one with.
#define COTOUCH_GUARD_CALL(name, parameters, arguments)                       \
  extern "C" int name parameters noexcept {                                   \
    using Call = int(*) parameters;                                           \
    static const Call real = reinterpret_cast<Call>(dlsym(RTLD_NEXT, #name)); \
    check();                                                                  \
    return real arguments;                                                    \
  }
COTOUCH_GUARD_CALL(pthread_mutex_lock, (pthread_mutex_t * m), (m))
COTOUCH_GUARD_CALL(pthread_mutex_trylock, (pthread_mutex_t * m), (m))
COTOUCH_GUARD_CALL(pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l))
COTOUCH_GUARD_CALL(pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l))
COTOUCH_GUARD_CALL(sem_wait, (sem_t * s), (s))

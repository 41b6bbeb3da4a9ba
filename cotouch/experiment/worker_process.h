// A process of its own that takes orders through one pipe and answers through another: who is not part of the program
// that is tried should not share its memory, its threads or its end.
#pragma once

#include <unistd.h>
#include <functional>
#include <string>
#include <type_traits>

namespace cotouch {

class WorkerProcess {
 public:
  // `life` runs in the new process until the pipe closes; when it returns, the process ends. To be made before any
  // thread is started. `who` is for messages: "the besiegers".
  using Life = std::function<void(int in, int out)>;
  WorkerProcess(std::string who, const Life& life);
  // Those that were made later go first: they hold the ends of its pipes, too.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // Throw Error if the process has ended.
  template <class T>
  void tell(const T& value) {
    if (!write_value(to_child_, value)) has_ended();
  }
  template <class T>
  T hear() {
    T value{};
    if (!read_value(from_child_, value)) has_ended();
    return value;
  }

  // For `life`: false if the other side is gone.
  template <class T>
  static bool write_value(int pipe, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return ::write(pipe, &value, sizeof value) == static_cast<ssize_t>(sizeof value);
  }
  template <class T>
  static bool read_value(int pipe, T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return read_bytes(pipe, &value, sizeof value);
  }

 private:
  static bool read_bytes(int pipe, void* to, std::size_t size);
  [[noreturn]] void has_ended() const;

  std::string who_;
  int to_child_ = -1, from_child_ = -1;
  int child_ = -1;
};

}  // namespace cotouch

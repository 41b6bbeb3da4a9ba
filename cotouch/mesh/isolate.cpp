#include <cotouch/base/error.h>
#include <cotouch/base/sanitized.h>
#include <cotouch/mesh/isolate.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cotouch {
namespace {

// The first byte of what the child sends; an error's code is the second.
enum class Outcome : std::uint8_t { result = 1, error = 2 };

// What the user is told where a parser gave up: why it did is a matter between it and the file.
constexpr const char* k_damaged = "is damaged, or too large when unpacked. Export it again or simplify it first.";

void set_limit(decltype(RLIMIT_CPU) resource, std::uint64_t value) {
  const rlimit limit{value, value};
  setrlimit(resource, &limit);
}

#ifndef COTOUCH_SANITIZED
// What this process has mapped or reserved, all of it inherited from the parent at birth.
std::uint64_t address_space_bytes() {
  char text[32] = {};
  const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  return length > 0 ? std::strtoull(text, nullptr, 10) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}
#endif

bool write_all(int fd, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = write(fd, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

void send_result(int fd, const std::vector<std::byte>& result) {
  constexpr Outcome k_outcome = Outcome::result;
  if (write_all(fd, &k_outcome, 1)) write_all(fd, result.data(), result.size());
}

void send_error(int fd, const char* message, ErrorCode code) {
  const std::uint8_t head[2] = {static_cast<std::uint8_t>(Outcome::error), static_cast<std::uint8_t>(code)};
  if (write_all(fd, head, sizeof head)) write_all(fd, message, std::strlen(message));
}

[[noreturn]] void be_the_child(int fd, const std::function<std::vector<std::byte>()>& work,
                               const IsolationLimits& limits) {
  // The parent's handlers mean nothing here, and what a dying parser prints is no message for the user.
  for (const int signal_number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGINT, SIGTERM, SIGXCPU, SIGALRM})
    std::signal(signal_number, SIG_DFL);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // whom would it tell?
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_CPU, limits.seconds);
  set_limit(RLIMIT_FSIZE, 0);
#ifndef COTOUCH_SANITIZED
  set_limit(RLIMIT_AS, address_space_bytes() + limits.memory_bytes);
#endif
  if (!limits.may_open_files) set_limit(RLIMIT_NOFILE, 0);
  try {
    send_result(fd, work());
  } catch (const Error& error) {
    send_error(fd, error.what(), error.code());
  } catch (const std::bad_alloc&) {
    send_error(fd, "needs more memory than is allowed for reading one file. Simplify it first.", ErrorCode::too_large);
  } catch (...) {
    send_error(fd, k_damaged, ErrorCode::damaged_file);
  }
  // Neither destructors nor exit handlers: they belong to the parent.
  _exit(0);
}

}  // namespace

std::vector<std::byte> run_isolated(const std::function<std::vector<std::byte>()>& work,
                                    const IsolationLimits& limits) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Error("cannot open a pipe to a reader process; close some files and try again", ErrorCode::io);
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    throw Error("cannot start a reader process; close some programs and try again", ErrorCode::io);
  }
  if (child == 0) {
    close(ends[0]);
    be_the_child(ends[1], work, limits);
  }
  close(ends[1]);

  // Processor time is limited in the child; this clock is for one that waits, say for a lock that another thread of
  // ours held while the child was made.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(4 * limits.seconds);
  std::vector<std::byte> received;
  bool too_much = false, too_long = false;
  try {
    std::byte buffer[65536];
    for (;;) {
      pollfd end{ends[0], POLLIN, 0};
      poll(&end, 1, 500);
      too_long = std::chrono::steady_clock::now() > deadline;
      if (too_long) break;
      if (end.revents == 0) continue;
      const ssize_t got = read(ends[0], buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      if (received.size() + static_cast<std::size_t>(got) > limits.result_bytes + 1) {
        too_much = true;
        break;
      }
      received.insert(received.end(), buffer, buffer + got);
    }
  } catch (const std::bad_alloc&) {
    too_much = true;
  }
  close(ends[0]);  // a child that still writes is ended by this
  if (too_much || too_long) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }

  if (too_much) throw Error("holds more than can be read at once. Simplify it first.", ErrorCode::too_large);
  if (WIFSIGNALED(status)) {
    if (WTERMSIG(status) == SIGINT) throw Cancelled();
    if (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)
      throw Error("takes too long or too much memory to read. Simplify it first.", ErrorCode::too_large);
    throw Error(k_damaged, ErrorCode::damaged_file);
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || received.empty())
    throw Error(k_damaged, ErrorCode::damaged_file);
  const auto outcome = static_cast<Outcome>(received.front());
  received.erase(received.begin());
  if (outcome == Outcome::error) {
    if (received.empty()) throw Error(k_damaged, ErrorCode::damaged_file);
    const auto code = static_cast<ErrorCode>(received.front());
    throw Error(std::string(reinterpret_cast<const char*>(received.data()) + 1, received.size() - 1), code);
  }
  return received;
}

}  // namespace cotouch

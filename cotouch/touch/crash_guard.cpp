#include <cotouch/touch/crash_guard.h>

#include <cotouch/base/error.h>
#include <cotouch/base/realtime.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

namespace cotouch {
namespace {

constexpr std::int64_t k_beat_ns = 5'000'000;  // not every cycle: each one wakes the guard
constexpr std::int64_t k_longest_step_ns = 20'000'000;
constexpr auto k_answer_ns = static_cast<std::int64_t>(k_answer_seconds * 1e9);
constexpr int k_start_milliseconds = 5000;

std::string hex_of(std::span<const std::byte> bytes) {
  constexpr char k_digits[] = "0123456789abcdef";
  std::string hex;
  for (const std::byte byte : bytes) {
    hex += k_digits[std::to_integer<unsigned>(byte) >> 4U];
    hex += k_digits[std::to_integer<unsigned>(byte) & 15U];
  }
  return hex;
}

// Started clean: in a session of its own, with no signal blocked, no environment and no descriptor but its socket.
int spawn(const std::filesystem::path& program, std::vector<std::string>& words, int socket, pid_t& process) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  char* environment[] = {nullptr};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  const int failed = posix_spawn(&process, program.c_str(), &files, &attributes, arguments.data(), environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return failed;
}

void end(pid_t process) {
  for (int tries = 0; tries < 200; ++tries) {
    if (waitpid(process, nullptr, WNOHANG) != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
}

}  // namespace

CrashGuard::CrashGuard(const std::filesystem::path& program, std::span<const SilenceCall> calls) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(std::string("The guard process cannot be started: ") + std::strerror(errno) + ".");
  std::vector<std::string> words{program.string(), std::to_string(k_guard_milliseconds)};
  for (const SilenceCall& call : calls) {
    words.push_back(call.path);
    words.push_back(hex_of(call.message));
  }
  const int failed = spawn(program, words, ends[1], process_);
  close(ends[1]);
  socket_ = ends[0];
  if (failed != 0) {
    close(socket_);
    throw Error("The guard process " + program.string() + " cannot be started: " + std::strerror(failed) + ".",
                ErrorCode::not_found);
  }
  pollfd answer{socket_, POLLIN, 0};
  char ready = 0;
  if (poll(&answer, 1, k_start_milliseconds) != 1 || recv(socket_, &ready, 1, MSG_DONTWAIT) != 1) {
    close(socket_);
    end(process_);
    throw Error("The guard process cannot open what it has to silence a device with; check the device's path.",
                ErrorCode::refused);
  }
}

CrashGuard::~CrashGuard() {
  close(socket_);
  end(process_);
}

void CrashGuard::take_answer() noexcept {
  char answer;
  const ssize_t count = recv(socket_, &answer, 1, MSG_DONTWAIT);
  if (count == 1) waits_ = false;
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) alive_ = false;
}

CrashGuard::State CrashGuard::beat() noexcept {
  const std::int64_t now = monotonic_ns();
  const std::int64_t step = std::min(now - last_call_ns_, k_longest_step_ns);
  last_call_ns_ = now;
  if (waits_) take_answer();
  waited_ns_ = waits_ ? waited_ns_ + step : 0;
  if (alive_ && !waits_ && now - last_beat_ns_ >= k_beat_ns) {
    last_beat_ns_ = now;
    const char beat = 'b';
    alive_ = send(socket_, &beat, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
    waits_ = true;
  }
  return !alive_ ? State::gone : waited_ns_ >= k_answer_ns ? State::silent : State::answers;
}

}  // namespace cotouch

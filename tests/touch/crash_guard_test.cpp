#include <cotouch/touch/crash_guard.h>

#include <cotouch/base/error.h>
#include <cotouch/touch/loop.h>

#include "fixtures.h"
#include "support/eventually.h"
#include "support/sanitized.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cotouch::this_file {
namespace {

sockaddr_un address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return address;
}

int datagram_socket() {
  return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

int socket_at(const std::filesystem::path& path) {
  const int made = datagram_socket();
  const sockaddr_un address = address_of(path);
  EXPECT_EQ(bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return made;
}

// A motor that keeps the last force that it was told.
class Motor {
 public:
  explicit Motor(const std::filesystem::path& path) : socket_(socket_at(path)) {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        pollfd ready{socket_, POLLIN, 0};
        double told = 0;
        if (poll(&ready, 1, 10) == 1 && recv(socket_, &told, sizeof told, 0) == sizeof told) force_.store(told);
      }
    });
  }
  ~Motor() {
    thread_.request_stop();
    thread_.join();
    close(socket_);
  }
  double force() const { return force_.load(); }

 private:
  int socket_;
  std::atomic<double> force_{0};
  std::jthread thread_;
};

class Process {
 public:
  explicit Process(std::vector<std::string> words, int input = STDIN_FILENO) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    EXPECT_EQ(posix_spawn(&id_, arguments[0], &files, nullptr, arguments.data(), environ), 0);
    posix_spawn_file_actions_destroy(&files);
  }
  ~Process() {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  void send(int signal) const { kill(id_, signal); }
  pid_t id() const { return id_; }

 private:
  pid_t id_ = -1;
};

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// The motor holds its force until it is told otherwise, and the only one who could is dead or stands still.
TEST(CrashGuard, LeavesZeroForceHoweverTheProcessEnds) {
  for (const int signal : {SIGKILL, SIGSEGV, SIGTERM, SIGSTOP}) {
    const TemporaryFolder folder;
    const std::filesystem::path socket = folder / "motor";
    Motor motor(socket);
    const Process process({COTOUCH_PUSHING_PROCESS, socket.string(), COTOUCH_GUARD});
    ASSERT_TRUE(eventually([&] { return motor.force() > 3; }));
    const auto begin = std::chrono::steady_clock::now();
    process.send(signal);
    while (motor.force() != 0 && milliseconds_since(begin) < 5000) std::this_thread::yield();
    const double took = milliseconds_since(begin);
    RecordProperty("ms_after_signal_" + std::to_string(signal), std::to_string(took));
    EXPECT_EQ(motor.force(), 0) << signal;
    // 50 ms without a heartbeat, or at once after a death; the rest is for a busy machine.
    // A sanitizer writes its report before the process dies.
    EXPECT_LT(took, is_sanitized() ? 4000 : 500) << signal;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(motor.force(), 0) << signal;
  }
}

// The one child of a process, by its main thread; 0 if the kernel does not list them.
pid_t only_child(pid_t process) {
  const std::string id = std::to_string(process);
  std::ifstream children("/proc/" + id + "/task/" + id + "/children");
  pid_t child = 0;
  children >> child;
  return child;
}

class NeedsGuard final : public Device {
 public:
  std::string path;
  std::atomic<int> disables{0};
  std::string name() const override { return "needs a guard"; }
  DeviceLimits limits() const noexcept override { return k_without_motors; }
  std::optional<SilenceCall> silence_call() const override { return SilenceCall{path, {std::byte{0}}}; }
  bool read(DeviceReading&) noexcept override { return true; }
  void write(const LimitedWrench&) noexcept override {}
  void disable() noexcept override { disables.fetch_add(1); }
  bool enable() noexcept override { return true; }
};

TEST(CrashGuard, WithoutOneADeviceThatNeedsItIsNotFelt) {
  LocalWorld world(testing::peg_model());
  NeedsGuard device;
  device.path = "/dev/null";
  {
    TouchLoop loop({&device}, world, {});
    EXPECT_THROW(loop.start(), Error);
    EXPECT_FALSE(loop.running());
  }
  TouchLoopSettings settings = testing::patient();
  settings.guard = "/nowhere/cotouch-guard";
  {
    TouchLoop loop({&device}, world, settings);
    EXPECT_THROW(loop.start(), Error);
  }
  settings.guard = COTOUCH_GUARD;
  device.path = "/nowhere/motor";  // it could not silence it
  {
    TouchLoop loop({&device}, world, settings);
    EXPECT_THROW(loop.start(), Error);
  }
  device.path = "/dev/null";
  TouchLoop loop({&device}, world, settings);
  loop.start();
  EXPECT_TRUE(loop.stop());
  EXPECT_EQ(device.disables.load(), 0);
}

TEST(CrashGuard, InheritsNeitherDescriptorsNorEnvironmentAndIsNotEndedByASignalOfTheTerminal) {
  LocalWorld world(testing::peg_model());
  NeedsGuard device;
  device.path = "/dev/null";
  TouchLoopSettings settings = testing::patient();
  settings.guard = COTOUCH_GUARD;
  // One without the flag that would close it by itself.
  const int high = dup2(STDERR_FILENO, 700);
  {
    TouchLoop loop({&device}, world, settings);
    loop.start();
    const pid_t guard = only_child(getpid());
    if (guard <= 0) GTEST_SKIP() << "this kernel does not list children";
    const std::filesystem::path its = "/proc/" + std::to_string(guard);
    EXPECT_TRUE(std::filesystem::exists(its / "fd/0"));
    EXPECT_FALSE(std::filesystem::exists(its / "fd/700"));
    std::ifstream environment(its / "environ");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(environment), {}), "");
    EXPECT_EQ(getsid(guard), guard);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) kill(guard, signal);
    const std::uint64_t cycle = loop.frame().cycle;
    EXPECT_TRUE(eventually([&] { return loop.frame().cycle > cycle + 50; }));
    EXPECT_EQ(device.disables.load(), 0);
    EXPECT_TRUE(loop.stop());
  }
  close(high);
}

// Presses a peg, and counts how often it is written to until a zero comes.
class Presses final : public Device {
 public:
  std::atomic<double> force{0};
  std::atomic<int> disables{0};
  std::atomic<std::uint64_t> writes{0}, zero_at{0};
  std::string name() const override { return "presses"; }
  DeviceLimits limits() const noexcept override { return k_without_motors; }
  std::optional<SilenceCall> silence_call() const override { return SilenceCall{"/dev/null", {std::byte{0}}}; }
  bool read(DeviceReading& reading) noexcept override {
    reading.pose = {{0, 0, grasps_ ? 0.005 : -4e-3}, {}};
    if (grasps_) reading.action = HandInput::Action::grasp, reading.body = testing::k_peg;
    grasps_ = false;
    return true;
  }
  void write(const LimitedWrench& wrench) noexcept override {
    const double now = norm(wrench.get().force);
    const std::uint64_t count = writes.fetch_add(1) + 1;
    if (now == 0 && zero_at.load() == 0) zero_at.store(count);
    force.store(now);
  }
  void disable() noexcept override { disables.fetch_add(1); }
  bool enable() noexcept override { return true; }

 private:
  bool grasps_ = true;
};

TEST(CrashGuard, ThatDoesNotAnswerCostsTheForceUntilItDoes) {
  LocalWorld world(testing::peg_model());
  Presses device;
  TouchLoopSettings settings = testing::patient();
  settings.guard = COTOUCH_GUARD;
  testing::Pulled other;  // with a heartbeat of its own: the guard is nothing to it
  TouchLoop loop({&device, &other.device}, world, settings);
  loop.start();
  const pid_t guard = only_child(getpid());
  if (guard <= 0) GTEST_SKIP() << "this kernel does not list children";
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(eventually([&] { return device.force.load() > 3; }));
    EXPECT_TRUE(eventually([&] { return loop.device_state(0) == DeviceState::ready; }));
    device.zero_at.store(0);
    kill(guard, SIGSTOP);
    const auto from = static_cast<std::int64_t>(device.writes.load());
    const bool faded = eventually([&] { return device.zero_at.load() > 0; });
    const bool seen = eventually([&] { return loop.device_state(0) == DeviceState::unguarded; });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const double force = device.force.load(), others = other.device.force.load();
    const DeviceState of_the_other = loop.device_state(1);
    kill(guard, SIGCONT);  // before any assertion, or it would stay
    ASSERT_TRUE(faded && seen);
    EXPECT_EQ(force, 0);
    EXPECT_GT(others, 0.5);
    EXPECT_EQ(of_the_other, DeviceState::ready);
    // There is at most one write a millisecond: a heartbeat after 5 ms, 30 ms without an answer, 10 ms of fading.
    EXPECT_LE(static_cast<std::int64_t>(device.zero_at.load()) - from, 50);
  }
  EXPECT_TRUE(eventually([&] { return device.force.load() > 3; }));
  EXPECT_EQ(device.disables.load(), 0);
}

// As long as it is stopped nobody silences the motor, so there must be nothing to silence.
TEST(CrashGuard, ThatIsStoppedLeavesZeroForceWhenItsProcessIsKilled) {
  const TemporaryFolder folder;
  const std::filesystem::path socket = folder / "motor";
  Motor motor(socket);
  const Process process({COTOUCH_PUSHING_PROCESS, socket.string(), COTOUCH_GUARD});
  ASSERT_TRUE(eventually([&] { return motor.force() > 3; }));
  const pid_t guard = only_child(process.id());
  if (guard <= 0) GTEST_SKIP() << "this kernel does not list children";
  kill(guard, SIGSTOP);
  const bool faded = eventually([&] { return motor.force() == 0; });
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  process.send(SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  const double left = motor.force();
  kill(guard, SIGCONT);  // it finds that there is nobody to guard, and ends
  EXPECT_TRUE(faded);
  EXPECT_EQ(left, 0);
}

TEST(CrashGuard, ThatIsGoneItselfIsNoticed) {
  LocalWorld world(testing::peg_model());
  NeedsGuard device;
  device.path = "/dev/null";
  TouchLoopSettings settings = testing::patient();
  settings.guard = COTOUCH_GUARD;
  testing::Pulled other;
  TouchLoop loop({&device, &other.device}, world, settings);
  loop.start();
  ASSERT_TRUE(eventually([&] { return loop.frame().cycle > 20; }));
  ASSERT_EQ(device.disables.load(), 0);
  const pid_t guard = only_child(getpid());
  if (guard <= 0) GTEST_SKIP() << "this kernel does not list children";
  kill(guard, SIGKILL);
  EXPECT_TRUE(eventually([&] { return loop.device_state(0) == DeviceState::disabled; }));
  const std::uint64_t cycle = loop.frame().cycle;
  EXPECT_TRUE(eventually([&] { return loop.frame().cycle > cycle + 20; }));
  EXPECT_EQ(loop.device_state(1), DeviceState::ready);
}

// The end of a motor that is read only when a test asks what force it was told last.
class Mailbox {
 public:
  explicit Mailbox(std::filesystem::path path) : path_(std::move(path)), socket_(socket_at(path_)) {}
  ~Mailbox() { close(socket_); }
  std::string path() const { return path_; }
  // Until there is no room for more.
  void fill(double force) const {
    const int from = datagram_socket();
    const sockaddr_un to = address_of(path_);
    while (sendto(from, &force, sizeof force, MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&to), sizeof to) ==
           sizeof force)
      continue;
    EXPECT_EQ(errno, EAGAIN);
    close(from);
  }
  double force() {
    while (recv(socket_, &force_, sizeof force_, MSG_DONTWAIT) == sizeof force_) continue;
    return force_;
  }

 private:
  std::filesystem::path path_;
  int socket_;
  double force_ = 1e9;
};

// The guard alone; the process that it guards is the test.
class Guard {
 public:
  explicit Guard(const std::vector<std::string>& paths) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    std::vector<std::string> words{COTOUCH_GUARD, "50"};
    for (const std::string& path : paths) {
      words.push_back(path);
      words.emplace_back(2 * sizeof(double), '0');
    }
    process_.emplace(std::move(words), ends[1]);
    close(ends[1]);
    socket_ = ends[0];
    char ready = 0;
    EXPECT_EQ(recv(socket_, &ready, 1, 0), 1);
  }
  ~Guard() { leave(); }
  void beat() const { EXPECT_EQ(send(socket_, "b", 1, MSG_NOSIGNAL), 1); }
  void leave() { close(std::exchange(socket_, -1)); }
  bool has_ended() const {
    siginfo_t what{};
    const auto id = static_cast<id_t>(process_->id());
    return waitid(P_PID, id, &what, WEXITED | WNOHANG | WNOWAIT) == 0 && what.si_pid != 0;
  }

 private:
  std::optional<Process> process_;
  int socket_ = -1;
};

// A driver that is starved takes what lies in its queue when it runs again: the last of it must be a zero.
TEST(CrashGuard, TellsADeviceWhoseQueueIsFullAsSoonAsThereIsRoom) {
  for (const bool dies : {true, false}) {
    const TemporaryFolder folder;
    Mailbox starved(folder / "starved"), other(folder / "other");
    Guard guard({starved.path(), other.path()});
    starved.fill(5);
    guard.beat();
    if (dies) guard.leave();
    EXPECT_TRUE(eventually([&] { return other.force() == 0; })) << dies;  // it waits for no other
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    EXPECT_FALSE(guard.has_ended()) << dies;
    EXPECT_TRUE(eventually([&] { return starved.force() == 0; })) << dies;
    EXPECT_TRUE(!dies || eventually([&] { return guard.has_ended(); }));
  }
}

TEST(CrashGuard, EndsThoughADeviceIsGone) {
  const TemporaryFolder folder;
  auto gone = std::make_unique<Mailbox>(folder / "gone");
  Guard guard({gone->path()});
  gone->fill(5);
  guard.beat();
  guard.leave();
  gone.reset();
  EXPECT_TRUE(eventually([&] { return guard.has_ended(); }));
}

}  // namespace
}  // namespace cotouch::this_file

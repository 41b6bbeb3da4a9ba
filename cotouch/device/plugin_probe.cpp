#include <cotouch/device/plugin_probe.h>

#include <cotouch/base/error.h>
#include <cotouch/device/own_program.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <thread>

namespace cotouch {
namespace {

using ProbeClock = std::chrono::steady_clock;

constexpr const char* k_probe_program = "cotouch-probe-device";
constexpr int k_probe_descriptor = 3;
// The process has patience of its own with each function; this is for one that does not even get there.
constexpr auto k_probing_patience = std::chrono::milliseconds(8000);
constexpr std::size_t k_most_said = 256 * 1024;

struct Probing {
  pid_t process = -1;
  int from = -1;
  std::string said;
  bool too_late = false;
  int status = 0;
};

Probing start_probing(const std::filesystem::path& program, const std::filesystem::path& file) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Error("Devices cannot be looked for: too many files are open. Close some programs and try again.",
                ErrorCode::io);
  std::string words[2] = {program.string(), file.string()};
  char* arguments[] = {words[0].data(), words[1].data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawn_file_actions_init(&files);
  // Away from the number that it gets, or the descriptor would be closed instead of handed on.
  const int far_end = fcntl(ends[1], F_DUPFD_CLOEXEC, 16);
  for (int fd = 0; fd < 3; ++fd) posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&files, far_end, k_probe_descriptor);
  posix_spawn_file_actions_addclosefrom_np(&files, k_probe_descriptor + 1);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);  // Ctrl-C is for us
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  Probing probing;
  // With our environment: a driver may find its service or its licence by it.
  const int failed = posix_spawn(&probing.process, program.c_str(), &files, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  close(far_end);
  probing.from = ends[0];
  if (failed != 0) {
    close(ends[0]);
    throw Error("Devices cannot be looked for: the program " + program.string() + " does not start (" +
                    std::strerror(failed) + "). Install cotouch again.",
                ErrorCode::io);
  }
  return probing;
}

// Reads to its end, or for as long as there is patience.
void hear(Probing& probing, ProbeClock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - ProbeClock::now()).count();
    pollfd more{probing.from, POLLIN, 0};
    const int found = left > 0 ? poll(&more, 1, static_cast<int>(left)) : 0;
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0) break;
    char bytes[4096];
    const ssize_t count = read(probing.from, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || probing.said.size() > k_most_said) break;
    probing.said.append(bytes, static_cast<std::size_t>(count));
    if (probing.said.ends_with("\ndone\n")) break;  // what a driver has started may hold the pipe for longer
  }
  close(probing.from);
  pid_t gone = 0;
  while ((gone = waitpid(probing.process, &probing.status, WNOHANG)) == 0 && ProbeClock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (gone != 0) return;
  probing.too_late = true;
  kill(-probing.process, SIGKILL);
  waitpid(probing.process, &probing.status, 0);
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (bool more = true; more;) {
    const std::size_t tab = line.find('\t');
    words.push_back(plugin_text(line.substr(0, tab)));
    more = tab != std::string_view::npos;
    if (more) line.remove_prefix(tab + 1);
  }
  return words;
}

Presence presence_named(const std::string& word) {
  return word == "connected" ? Presence::connected
         : word == "absent"  ? Presence::absent
         : word == "in-use"  ? Presence::in_use
                             : Presence::broken;
}

std::optional<DeviceLimits> limits_in(const std::vector<std::string>& words, std::size_t first) {
  DeviceLimits limits;
  MotorLimits& m = limits.motors;
  double* const numbers[] = {
      &m.peak_force,     &m.continuous_force,       &m.peak_torque, &m.continuous_torque, &m.heating_seconds,
      &limits.stiffness, &limits.angular_stiffness, &limits.delay,  &limits.speed,        &limits.turn_speed};
  if (words.size() < first + std::size(numbers)) return std::nullopt;
  for (double* number : numbers) {
    const std::string& word = words[first++];
    if (std::from_chars(word.data(), word.data() + word.size(), *number).ec != std::errc{}) return std::nullopt;
  }
  return limits;
}

// How it ended, if it did not end well.
std::string end_of(const Probing& probing, const std::string& stage) {
  const std::string when = " while it is " + (stage.empty() ? "started" : stage) + ".";
  if (probing.too_late) return "It does not come back" + when;
  if (WIFSIGNALED(probing.status))
    return std::string("It crashes (") + strsignal(WTERMSIG(probing.status)) + ")" + when + " It is damaged.";
  return "It ends its program" + when + " It is damaged.";
}

// The process may have been damaged, so nothing that it says is taken as it is.
ProbedPlugin understand(const std::filesystem::path& file, const Probing& probing) {
  ProbedPlugin plugin;
  plugin.file = file;
  std::string stage;
  bool done = false;
  std::string_view rest = probing.said;
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const std::vector<std::string> words = words_of(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    const std::string& kind = words[0];
    const auto has = [&words](std::size_t count) { return words.size() > count; };
    if (kind == "stage" && has(1)) stage = words[1];
    if (kind == "done") done = true;
    if (kind == "refused" && has(1)) plugin.refusal = words[1];
    if (kind == "plugin" && has(2)) plugin.name = words[1], plugin.version = words[2];
    if (kind == "device" && has(4) && is_device_name(words[1]) && plugin.devices.size() < k_most_plugin_devices)
      plugin.devices.push_back(
          {{words[1], words[3], words[4], presence_named(words[2])}, words[1], std::nullopt, false});
    if (plugin.devices.empty()) continue;
    ProbedDevice& device = plugin.devices.back();
    if (kind == "limits" && has(2)) {
      device.title = words[1];
      device.needs_guard = words[2] == "guard";
      device.limits = limits_in(words, 3);
    }
    if (kind == "unopened" && has(2)) {
      device.info.presence = presence_named(words[1]);
      device.info.sentence = words[2];
    }
  }
  if (!done && plugin.refusal.empty()) plugin.refusal = end_of(probing, stage);
  // One that could not be opened without harm is not opened here, whatever was said of others before.
  if (!plugin.refusal.empty())
    for (ProbedDevice& device : plugin.devices) {
      device.info.presence = Presence::broken;
      device.info.sentence = plugin.refusal;
      device.limits.reset();
    }
  return plugin;
}

}  // namespace

std::vector<ProbedPlugin> probe_plugins(std::span<const std::filesystem::path> files,
                                        const std::filesystem::path& program) {
  if (files.empty()) return {};
  const std::filesystem::path found =
      program.empty() ? find_own_program(k_probe_program, "COTOUCH_PROBE_DEVICE") : program;
  if (found.empty())
    throw Error(
        std::string("Devices cannot be looked for: the program ") + k_probe_program +
            " is neither beside this one nor in PATH. Install cotouch again, or name it in COTOUCH_PROBE_DEVICE.",
        ErrorCode::unsupported);
  std::vector<Probing> all;
  std::vector<ProbedPlugin> plugins;
  const auto deadline = ProbeClock::now() + k_probing_patience;
  const auto hear_all = [&] {
    for (std::size_t i = plugins.size(); i < all.size(); ++i) {
      hear(all[i], deadline);
      plugins.push_back(understand(files[i], all[i]));
    }
  };
  try {
    for (const std::filesystem::path& file : files) all.push_back(start_probing(found, file));
  } catch (...) {
    hear_all();
    throw;
  }
  hear_all();
  return plugins;
}

}  // namespace cotouch

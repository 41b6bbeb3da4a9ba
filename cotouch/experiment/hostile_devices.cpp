#include <cotouch/experiment/hostile_devices.h>

#include <cotouch/base/error.h>
#include <cotouch/base/realtime.h>
#include <cotouch/device/own_program.h>
#include <cotouch/device/plugin_probe.h>
#include <cotouch/touch/loop.h>
#include <cotouch/touch/trial_world.h>
#include <plugins/hostile/record.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <thread>

namespace cotouch {
namespace {

namespace fs = std::filesystem;
using Stopped = HostileKind::Stopped;

// Nothing is waited for to its end on a machine that works, but a slow one gets the time that it needs.
constexpr std::int64_t k_longest_wait_ns = 60'000'000'000, k_longest_service_ns = 90'000'000'000,
                       k_longest_silencing_ns = 20'000'000'000;
// No force for so long, and for so many cycles unless a driver hangs, is none for good.
constexpr std::int64_t k_watched_ns = 300'000'000;
constexpr std::uint64_t k_watched_cycles = 100;
// A plug-in misbehaves after 300 readings.
constexpr std::uint64_t k_reads_of_liars = 350, k_reads_of_returners = 800, k_reads_within_limits = 1000;
constexpr double k_least_force = 4;  // N, or there was nothing to be taken away

class WorkFolder {
 public:
  WorkFolder() {
    std::string pattern = (fs::temp_directory_path() / "cotouch-hostile-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw Error("No folder can be made in " + fs::temp_directory_path().string() + ".", ErrorCode::io);
    path_ = pattern;
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

// A motor without a heartbeat: it keeps the last force that it was told.
class ToldMotor {
 public:
  explicit ToldMotor(const fs::path& path) : socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    if (bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw Error("No socket can be made at " + path.string() + ".", ErrorCode::io);
  }
  ~ToldMotor() { close(socket_); }
  ToldMotor(const ToldMotor&) = delete;
  ToldMotor& operator=(const ToldMotor&) = delete;
  void listen() {
    for (double told = 0; recv(socket_, &told, sizeof told, MSG_DONTWAIT) == sizeof told;) {
      force_ = told;
      if (told > largest_) largest_ = told;  // one that is no number is none
    }
  }
  double force() const { return force_; }  // -1: it was told nothing yet
  double largest() const { return largest_; }

 private:
  int socket_;
  double force_ = -1, largest_ = -1;
};

// How a hostile device was served, in memory that outlives the process that did it.
struct Service {
  std::atomic<double> force_left;     // N, while it was still served
  std::atomic<std::uint32_t> caught;  // it came to what its kind says, and stayed there
};

// Whether it is where its kind should come to.
bool is_caught(Stopped by, TouchLoop& loop, const hostile::Record& record) {
  const DeviceState state = loop.device_state(0);
  const std::uint64_t reads = record.reads.load();
  switch (by) {
    case Stopped::faulty: return state == DeviceState::faulty;
    case Stopped::lost: return state == DeviceState::lost;
    case Stopped::again: return reads > k_reads_of_returners;
    case Stopped::limits: return state == DeviceState::ready && reads > k_reads_within_limits;
    case Stopped::motors: return state == DeviceState::ready && reads > k_reads_of_liars;
    case Stopped::disabled: {
      const bool hangs = record.hangs.load() > 0, disabled = state == DeviceState::disabled;
      // A machine that stands for a moment may have it disabled before it hangs.
      if (!hangs && disabled) loop.enable(0);
      return hangs && disabled;
    }
    case Stopped::refused:
    case Stopped::guard: break;
  }
  return false;
}

// Until it is caught and has been given nothing for a while. Returns false if it never comes to that.
bool watch(Stopped by, TouchLoop& loop, const hostile::Record& record) {
  const bool may_push = by == Stopped::limits || by == Stopped::again;
  std::uint64_t pushes = 0, cycle = 0;
  std::int64_t since = 0;
  const std::int64_t begin = monotonic_ns();
  for (std::int64_t now = begin; now - begin < k_longest_wait_ns; now = monotonic_ns()) {
    const std::uint64_t cycles = loop.frame().cycle;
    if (!is_caught(by, loop, record))
      since = 0;
    else if (since == 0 || (!may_push && record.pushes.load() != pushes))
      since = now, pushes = record.pushes.load(), cycle = cycles;
    else if (now - since > k_watched_ns && (by == Stopped::disabled || cycles > cycle + k_watched_cycles))
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// In a process of its own, which ends with it.
void serve(const HostileKind& kind, const fs::path& file, const std::string& settings, const hostile::Record& record,
           Service& service) {
  const DevicePlugin plugin = DevicePlugin::load(file);
  std::unique_ptr<Device> device = plugin.open(plugin.list().at(0), settings);
  TrialWorld world(ForceLimiter::limits_of(*device));
  TouchLoopSettings loop_settings;
  loop_settings.guard = find_guard();
  loop_settings.wait_for_device = true;
  loop_settings.queued_samples = 0;
  // One that does not hang should not be disabled because the machine is busy.
  if (kind.by != Stopped::disabled) loop_settings.stall_seconds = 10;
  TouchLoop loop({device.get()}, world, loop_settings);
  loop.start();
  const bool caught = watch(kind.by, loop, record);
  // To stop takes every force away, so what was left is known before only.
  service.force_left.store(kind.by == Stopped::again ? record.kept_while_lost.load() : record.last_force.load());
  service.caught.store(caught ? 1 : 0);
  if (!loop.stop()) static_cast<void>(device.release());
}

// A child that is gone when this is, whatever happens here.
class ServingProcess {
 public:
  template <class Work>
  explicit ServingProcess(const Work& work) : process_(fork()) {
    if (process_ < 0) throw Error("No process can be started.", ErrorCode::io);
    if (process_ != 0) return;
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    int code = 0;
    try {
      work();
    } catch (...) {
      code = 1;
    }
    _exit(code);
  }
  ~ServingProcess() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  ServingProcess(const ServingProcess&) = delete;
  ServingProcess& operator=(const ServingProcess&) = delete;
  bool has_ended() {
    if (process_ > 0 && waitpid(process_, &status_, WNOHANG) == process_) process_ = -1;
    return process_ < 0;
  }
  bool was_killed() const { return process_ < 0 && WIFSIGNALED(status_); }

 private:
  pid_t process_;
  int status_ = 0;
};

const char* word(Stopped by) {
  switch (by) {
    case Stopped::refused: return "refused";
    case Stopped::faulty: return "faulty";
    case Stopped::lost: return "lost";
    case Stopped::disabled: return "disabled";
    case Stopped::again: return "without force each time that it is lost";
    case Stopped::guard: return "silenced by the guard";
    case Stopped::limits: return "kept within the limits";
    case Stopped::motors: return "left without force";
  }
  return "";
}

HostileOutcome serve_once(const HostileKind& kind, const fs::path& file, const fs::path& record_path,
                          const fs::path& motor_path, Progress& progress, double fraction) {
  HostileOutcome outcome{kind, true, false, 0, 0, {}};
  hostile::Record* record = hostile::map_record(record_path.c_str());
  void* shared = mmap(nullptr, sizeof(Service), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (record == nullptr || shared == MAP_FAILED)
    throw Error("There is not enough memory for this.", ErrorCode::too_large);
  auto* service = new (shared) Service{};
  const bool crashes = kind.by == Stopped::guard;
  ToldMotor motor(motor_path);
  const std::string settings =
      "record=" + record_path.string() + (crashes ? " motor=" + motor_path.string() : std::string());
  ServingProcess process([&] { serve(kind, file, settings, *record, *service); });
  const std::int64_t begin = monotonic_ns();
  while (!process.has_ended() && monotonic_ns() - begin < k_longest_service_ns) {
    motor.listen();
    progress.update("hostile plug-ins", fraction);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const std::int64_t end = monotonic_ns();
  for (motor.listen(); crashes && motor.force() != 0 && monotonic_ns() - end < k_longest_silencing_ns; motor.listen())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  outcome.largest_force = record->largest_force.load();
  if (crashes) {
    outcome.force_left = motor.force();
    outcome.stopped = process.was_killed() && motor.largest() > k_least_force;
  } else {
    // Within the limits a force is right until the loop stops.
    outcome.force_left = kind.by == Stopped::limits ? record->last_force.load() : service->force_left.load();
    outcome.stopped = service->caught.load() == 1;
  }
  outcome.stopped = outcome.stopped && outcome.force_left == 0 && outcome.largest_force > k_least_force;
  outcome.what = std::string(kind.name) + ": " + (outcome.stopped ? "" : "NOT ") + word(kind.by);
  munmap(shared, sizeof(Service));
  return outcome;
}

// On a busy machine cycles may come so late that there is little force to be taken away: then it is served anew.
HostileOutcome serve_one(const HostileKind& kind, const fs::path& file, const WorkFolder& folder, Progress& progress,
                         double fraction) {
  for (int turn = 0;; ++turn) {
    const std::string name = kind.name + std::to_string(turn);
    const HostileOutcome outcome =
        serve_once(kind, file, folder / (name + ".record"), folder / (name + ".motor"), progress, fraction);
    if (turn == 2 || outcome.largest_force > k_least_force) return outcome;
  }
}

// Why it cannot be opened; empty if it can.
std::string refusal_of(const ProbedPlugin& found) {
  if (!found.refusal.empty()) return found.refusal;
  if (found.devices.empty()) return "It lists nothing.";
  const PluginDeviceInfo& info = found.devices[0].info;
  if (info.presence == Presence::connected) return {};
  return info.sentence.empty() ? "Its device is not connected." : info.sentence;
}

bool is_expected(const HostileKind& kind, const std::string& refusal) {
  return kind.by == Stopped::refused ? !refusal.empty() && refusal.find(kind.refusal) != std::string::npos
                                     : refusal.empty();
}

// On a busy machine one may not have come back merely because many are looked at together: it is looked at by itself.
std::string refusal_by_itself(const HostileKind& kind, const fs::path& file, std::string refusal) {
  for (int again = 0; again < 3 && !is_expected(kind, refusal) && refusal.find("does not come back") != refusal.npos;
       ++again)
    refusal = refusal_of(probe_plugins(std::span(&file, 1)).at(0));
  return refusal;
}

}  // namespace

const std::vector<HostileKind>& hostile_kinds() {
  static const std::vector<HostileKind> k_kinds{
      {"crashes-in-load", Stopped::refused, "It crashes (Segmentation fault) while it is loading"},
      {"crashes-in-list", Stopped::refused, "It crashes (Segmentation fault) while it is listing its devices"},
      {"crashes-in-open", Stopped::refused, "It crashes (Segmentation fault) while it is opening hostile"},
      {"crashes-in-describe", Stopped::refused, "It crashes (Segmentation fault) while it is opening hostile"},
      {"exits-in-list", Stopped::refused, "It ends its program while it is listing its devices"},
      {"hangs-in-load", Stopped::refused, "It does not come back while it is load"},
      {"hangs-in-list", Stopped::refused, "It does not come back while it is listing its devices"},
      {"hangs-in-open", Stopped::refused, "It does not come back while it is open"},
      {"hangs-in-describe", Stopped::refused, "It does not come back while it is open"},
      {"throws-in-list", Stopped::refused, "It throws while it is listing its devices"},
      {"throws-in-open", Stopped::refused, "It throws while it is opened"},
      {"wrong-version", Stopped::refused, "It speaks version 999"},
      {"other-version", Stopped::refused, "It is made for another version"},
      {"half-a-table", Stopped::refused, "It lacks functions"},
      {"garbage-table", Stopped::refused, "a table of 5 bytes"},
      {"huge-table", Stopped::refused, "a table of 1073741824 bytes"},
      {"nameless", Stopped::refused, "without a name that can be typed"},
      {"garbage-info", Stopped::refused, "without a name that can be typed"},
      {"garbage-description", Stopped::refused, "a size that none has"},
      {"does-not-describe", Stopped::refused, "does not say what the device can bear"},
      {"asks-1e9-n", Stopped::refused, "a peak force of 1e+09 N"},
      {"never-warms-up", Stopped::refused, "a time to warm up of inf"},
      {"nan-stiffness", Stopped::refused, "a stiffness of "},
      {"negative-stiffness", Stopped::refused, "a stiffness of -1"},
      {"early-delay", Stopped::refused, "a delay of -1"},
      {"endless-speed", Stopped::refused, "a speed of 1e+30"},
      {"silence-nowhere", Stopped::refused, "take its force away"},
      {"no-number", Stopped::faulty},
      {"endless-pose", Stopped::faulty},
      {"no-rotation", Stopped::faulty},
      {"clock-stands", Stopped::faulty},
      {"teleports", Stopped::faulty},
      {"garbage-size", Stopped::faulty},
      {"odd-answer", Stopped::lost},
      {"throws-in-read", Stopped::lost},
      {"throws-in-write", Stopped::lost},
      {"lost-and-back", Stopped::again},
      {"hangs-in-read", Stopped::disabled},
      {"hangs-in-write", Stopped::disabled},
      {"hangs-in-both", Stopped::disabled},
      {"crashes-in-read", Stopped::guard},
      {"crashes-in-write", Stopped::guard},
      {"asks-100-n", Stopped::limits},
      {"escapes", Stopped::limits},
      {"endless-list", Stopped::limits},
      {"unknown-motors", Stopped::motors},
  };
  return k_kinds;
}

fs::path plugin_library_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().parent_path() / "lib/cotouch";
}

std::vector<HostileOutcome> let_hostile_devices_loose(Progress& progress) {
  const fs::path library = plugin_library_folder() / "hostile/cotouch-hostile.so";
  if (!fs::exists(library))
    throw Error("The plug-in that misbehaves is not at " + library.string() + ". Install cotouch again.",
                ErrorCode::not_found);
  const WorkFolder folder;
  std::vector<fs::path> files;
  for (const HostileKind& kind : hostile_kinds()) {
    files.push_back(folder / (std::string("hostile-") + kind.name + ".so"));
    fs::copy_file(library, files.back());
  }
  progress.update("hostile plug-ins", 0);
  const std::vector<ProbedPlugin> probed = probe_plugins(files);
  std::vector<HostileOutcome> outcomes;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const HostileKind& kind = hostile_kinds()[i];
    const double fraction = static_cast<double>(i) / static_cast<double>(files.size());
    const std::string refusal = refusal_by_itself(kind, files[i], refusal_of(probed[i]));
    if (refusal.empty() && kind.by != Stopped::refused) {
      outcomes.push_back(serve_one(kind, files[i], folder, progress, fraction));
      continue;
    }
    const bool stopped = is_expected(kind, refusal);
    const std::string what = refusal.empty()               ? "NOT refused."
                             : stopped                     ? "refused. " + refusal
                             : kind.by == Stopped::refused ? "refused for another reason than its own. " + refusal
                                                           : "refused instead of served. " + refusal;
    outcomes.push_back({kind, false, stopped, 0, 0, std::string(kind.name) + ": " + what});
  }
  return outcomes;
}

}  // namespace cotouch

#include <cotouch/app/command.h>
#include <cotouch/app/device_argument.h>
#include <cotouch/app/progress_bar.h>
#include <cotouch/app/say.h>
#include <cotouch/app/timed_device.h>
#include <cotouch/base/error.h>
#include <cotouch/base/invariant.h>
#include <cotouch/device/catalog.h>
#include <cotouch/device/open_device.h>
#include <cotouch/device/own_program.h>
#include <cotouch/device/spacemouse.h>
#include <cotouch/touch/loop.h>
#include <cotouch/touch/trial_world.h>

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

namespace cotouch {
namespace {

using Json = nlohmann::ordered_json;

constexpr double k_trial_force = 5;  // N, for somebody who does not know the device yet
constexpr std::size_t k_most_changes = 100;
constexpr double k_wait_for_lost = 5;  // s until a device that was lost is not waited for any more

// JSON has no infinity: what has no limit is null.
Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json json_of(const DeviceLimits& limits) {
  return {{"peak_force_n", limits.motors.peak_force},
          {"continuous_force_n", limits.motors.continuous_force},
          {"peak_torque_nm", limits.motors.peak_torque},
          {"continuous_torque_nm", limits.motors.continuous_torque},
          {"heating_s", limits.motors.heating_seconds},
          {"stiffness_n_per_m", number_or_null(limits.stiffness)},
          {"angular_stiffness_nm_per_rad", number_or_null(limits.angular_stiffness)},
          {"delay_s", limits.delay},
          {"speed_m_per_s", number_or_null(limits.speed)},
          {"turn_speed_rad_per_s", number_or_null(limits.turn_speed)}};
}

// Those that come from no plug-in.
std::vector<PluginDeviceInfo> own_devices() {
  std::vector<PluginDeviceInfo> own{{k_scripted, {}, "Built in, without motors: swings around the middle of a scene."}};
  PluginDeviceInfo& mouse = own.emplace_back();
  mouse.name = SpaceMouse::k_name;
  if (SpaceMouse::open(mouse.sentence) != nullptr)
    mouse.sentence = "It takes part in every session without being named.";
  else
    mouse.presence = Presence::absent;
  return own;
}

Json json_of(const DeviceCatalog& catalog) {
  Json devices = Json::array(), plugins = Json::array(), folders = Json::array();
  for (const DeviceListing& device : catalog.devices())
    devices.push_back({{"name", device.name},
                       {"title", device.found.title},
                       {"serial", device.found.info.serial},
                       {"state", presence_name(device.found.info.presence)},
                       {"sentence", device.found.info.sentence},
                       {"plugin", device.plugin},
                       {"needs_guard", device.found.needs_guard},
                       {"limits", device.found.limits ? json_of(*device.found.limits) : Json(nullptr)}});
  for (const PluginDeviceInfo& own : own_devices())
    devices.push_back({{"name", own.name},
                       {"title", own.name},
                       {"serial", ""},
                       {"state", presence_name(own.presence)},
                       {"sentence", own.sentence},
                       {"plugin", nullptr},
                       {"needs_guard", false},
                       {"limits", nullptr}});
  for (const ProbedPlugin& plugin : catalog.plugins())
    plugins.push_back({{"file", plugin.file.string()},
                       {"name", plugin.name},
                       {"version", plugin.version},
                       {"state", plugin.refusal.empty() ? "found" : "refused"},
                       {"sentence", plugin.refusal},
                       {"devices", plugin.devices.size()}});
  for (const FolderListing& folder : catalog.folders())
    folders.push_back({{"folder", folder.folder.string()},
                       {"state", !folder.exists           ? "missing"
                                 : folder.refusal.empty() ? "used"
                                                          : "refused"},
                       {"sentence", folder.refusal}});
  return {{"devices", devices}, {"plugins", plugins}, {"folders", folders}};
}

void list_devices(bool as_json) {
  const DeviceCatalog catalog;
  if (as_json) {
    fmt::print("{}\n", json_of(catalog).dump(2, ' ', false, Json::error_handler_t::replace));
    return;
  }
  for (const DeviceListing& device : catalog.devices()) {
    const ProbedDevice& found = device.found;
    std::string line = fmt::format("{:<20} {:<10}", device.name, presence_name(found.info.presence));
    if (found.limits) {
      const MotorLimits& motors = found.limits->motors;
      line += fmt::format(" {:.3g} N, {:.3g} N for ever", motors.peak_force, motors.continuous_force);
      if (motors.peak_torque > 0) line += fmt::format("; {:.3g} N m", motors.peak_torque);
      line += ". ";
    }
    say(line + (found.limits ? "" : " ") + found.info.sentence);
  }
  for (const PluginDeviceInfo& own : own_devices())
    say(fmt::format("{:<20} {:<10} {}", own.name, presence_name(own.presence), own.sentence));
  for (const ProbedPlugin& plugin : catalog.plugins())
    if (!plugin.refusal.empty())
      say(fmt::format("{:<20} {:<10} {} ({})", plugin.file.filename().string(), "refused", plugin.refusal,
                      plugin.file.parent_path().string()));
  say("\nLooked for in:");
  for (const FolderListing& folder : catalog.folders())
    say(fmt::format("  {}{}", folder.folder.string(),
                    !folder.exists           ? " (there is no such folder)"
                    : folder.refusal.empty() ? ""
                                             : " (refused) " + folder.refusal));
  say("Try one: cotouch devices --try NAME");
}

const char* state_word(DeviceState state) {
  switch (state) {
    case DeviceState::ready: return "ready";
    case DeviceState::lost: return "lost";
    case DeviceState::faulty: return "faulty";
    case DeviceState::disabled: return "disabled";
    case DeviceState::unguarded: return "unguarded";
    case DeviceState::halted: return "halted";
  }
  return "unknown";
}

const char* state_sentence(DeviceState state) {
  switch (state) {
    case DeviceState::ready: return "it is served";
    case DeviceState::lost: return "it does not answer";
    case DeviceState::faulty: return "it reads what cannot be true; its force fades";
    case DeviceState::disabled: return "its driver hung; its power was cut";
    case DeviceState::unguarded: return "the process that guards it does not answer; its force fades";
    case DeviceState::halted: return "cotouch itself is at fault; all force was taken away";
  }
  return "";
}

// While it goes on, for somebody who may read along through a pipe.
void say_now(const std::string& text) {
  say(text);
  std::fflush(stdout);
}

struct StateChange {
  double seconds;
  DeviceState state;
};

struct Trial {
  std::vector<StateChange> changes;
  double seconds = 0;
  bool hangs = false;  // at the end, its driver did not come back
};

// Until the time is over, the device does not come back, or Ctrl-C.
Trial try_until(TouchLoop& loop, double seconds, bool tells) {
  using Clock = std::chrono::steady_clock;
  Trial trial;
  const auto begin = Clock::now();
  DeviceState state = DeviceState::ready;
  double lost_since = 0;
  const auto is_gone = [&] {
    return state == DeviceState::halted || (state == DeviceState::lost && trial.seconds - lost_since > k_wait_for_lost);
  };
  while (loop.running() && !interrupted() && !is_gone() && (seconds == 0 || trial.seconds < seconds)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    trial.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const DeviceState now = loop.device_state(0);
    if (now == state) continue;
    state = now;
    lost_since = trial.seconds;
    if (trial.changes.size() < k_most_changes) trial.changes.push_back({trial.seconds, now});
    if (tells) say_now(fmt::format("  {:6.2f} s   {}: {}", trial.seconds, state_word(now), state_sentence(now)));
  }
  trial.hangs = !loop.stop();
  return trial;
}

Json json_of(const CycleHistogram& times) {
  return {{"p50_us", times.quantile(0.5) * 1e6},
          {"p99_us", times.quantile(0.99) * 1e6},
          {"longest_us", times.longest() * 1e6}};
}

Json json_of(const Trial& trial, const TimedDevice& device, const TrialWorld& world, const TouchFrame& frame,
             const RealtimeStatus& status) {
  Json changes = Json::array();
  for (const StateChange& change : trial.changes)
    changes.push_back({{"seconds", change.seconds}, {"state", state_word(change.state)}});
  return {{"device", device.name()},
          {"limits", json_of(device.limits())},
          {"seconds", trial.seconds},
          {"cycles", frame.cycle},
          {"rate_hz", trial.seconds > 0 ? static_cast<double>(frame.cycle) / trial.seconds : 0},
          {"missed", frame.missed},
          {"stalls", frame.stalls},
          {"faults", frame.faults},
          {"period", json_of(device.periods())},
          {"sample_to_force", json_of(device.delays())},
          {"largest_force_n", device.most_force()},
          {"largest_torque_nm", device.most_torque()},
          {"last_force_n", device.last_force()},
          {"force_limit_n", std::min(k_trial_force, device.limits().motors.peak_force)},
          {"stiffness_n_per_m", world.stiffness()},
          {"floor_n", world.most_from_floor()},
          {"ball_n", world.most_from_ball()},
          {"damper_n", world.most_from_damper()},
          {"states", changes},
          {"driver_hangs", trial.hangs},
          {"fifo_priority", status.fifo_priority},
          {"locked_memory", status.locked_memory},
          {"notes", status.notes}};
}

void tell(const Trial& trial, const TimedDevice& device, const TrialWorld& world, const TouchFrame& frame,
          const RealtimeStatus& status) {
  const auto line = [](const char* word, const std::string& text) { say(fmt::format("  {:<10} {}", word, text)); };
  const CycleHistogram &periods = device.periods(), &delays = device.delays();
  line("served", fmt::format("{} times in {:.1f} s, {:.0f} Hz; {} periods missed", frame.cycle, trial.seconds,
                             trial.seconds > 0 ? static_cast<double>(frame.cycle) / trial.seconds : 0, frame.missed));
  line("period", fmt::format("half within {:.0f} us, 99 % within {:.0f} us, the longest {:.0f} us",
                             periods.quantile(0.5) * 1e6, periods.quantile(0.99) * 1e6, periods.longest() * 1e6));
  line("delay",
       fmt::format("from sample to force {:.0f} us here (99 % within {:.0f} us), and {:.0f} us that the device "
                   "states",
                   delays.quantile(0.5) * 1e6, delays.quantile(0.99) * 1e6, device.limits().delay * 1e6));
  line("touched", fmt::format("the floor asked for at most {:.2f} N, the ball for {:.2f} N, the damper for {:.2f} N",
                              world.most_from_floor(), world.most_from_ball(), world.most_from_damper()));
  const double allowed = std::min(k_trial_force, device.limits().motors.peak_force);
  line("felt", allowed > 0 ? fmt::format("at most {:.2f} N of {:.2f} N that are allowed here; the last was {:.2f} N",
                                         device.most_force(), allowed, device.last_force())
                           : "nothing: it has no motors");
  if (frame.faults > 0) line("faults", fmt::format("{} times it read what cannot be true", frame.faults));
  if (frame.stalls > 0) line("stalls", fmt::format("{} times the watchdog took the force away", frame.stalls));
  if (trial.hangs) line("hangs", "its driver does not come back. Switch the device off and on.");
  line("clock", status.notes.empty() ? "real-time priority and locked memory granted" : status.notes);
}

std::unique_ptr<Device> open_to_try(const std::string& name) {
  refuse_settings_of_own(name);
  if (name == k_scripted) return open_scripted();
  if (name == SpaceMouse::k_name)
    throw Error("A SpaceMouse has no motors and is nowhere while it holds nothing. Move things with it: cotouch play",
                ErrorCode::unsupported);
  return DeviceCatalog().open(name);
}

void try_device(const DevicesCommand& command) {
  catch_interrupts();
  std::unique_ptr<Device> device = open_to_try(command.device);
  auto timed = std::make_unique<TimedDevice>(*device);
  TrialWorld world(ForceLimiter::limits_of(*device));
  TouchLoopSettings settings;
  settings.limits.max_force = k_trial_force;
  settings.queued_samples = 0;
  settings.wait_for_device = true;  // it may come back
  settings.guard = find_guard();
  auto loop = std::make_unique<TouchLoop>(std::vector<Device*>{timed.get()}, world, settings);
  if (!command.json) {
    say(fmt::format("{}: a floor at the middle of its height, a ball on the right, a damper on the left, for {}.",
                    device->name(),
                    command.seconds > 0 ? fmt::format("{:g} s", command.seconds) : "as long as you like"));
    say_now("Ctrl-C ends it without force.");
  }
  const RealtimeStatus status = loop->start();
  const Trial trial = try_until(*loop, command.seconds, !command.json);
  const TouchFrame frame = loop->frame();
  if (command.json)
    fmt::print("{}\n",
               json_of(trial, *timed, world, frame, status).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    tell(trial, *timed, world, frame, status);
  loop.reset();
  if (trial.hangs) {  // somebody is still inside: see Device::~Device
    static_cast<void>(timed.release());
    static_cast<void>(device.release());
  }
  if (frame.broken != nullptr) throw Error(invariant_report(frame.broken));
}

}  // namespace

void run_devices(const DevicesCommand& command) {
  if (command.device.empty())
    list_devices(command.json);
  else
    try_device(command);
}

}  // namespace cotouch

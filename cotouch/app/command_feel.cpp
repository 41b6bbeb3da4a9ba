#include <cotouch/app/command.h>
#include <cotouch/app/progress_bar.h>
#include <cotouch/base/error.h>
#include <cotouch/contact/cache.h>
#include <cotouch/contact/nested.h>
#include <cotouch/experiment/plot.h>
#include <cotouch/serve/touch_session.h>
#include <cotouch/touch/loop.h>
#include <cotouch/touch/recording.h>
#include <cotouch/touch/scripted_device.h>
#include <cotouch/touch/simulated_device.h>
#include <cotouch/world/scene.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

namespace cotouch {
namespace {

// Of the millisecond, what contact may take; the rest is for the device, the solve and the system.
constexpr double k_contact_microseconds = 500;

struct Felt {
  double peak_force = 0, peak_torque = 0;  // N, N m
  double share_in_contact = 0;
  std::uint32_t most_contacts = 0, shallowest_level = 0, deepest_level = 0;
  double deepest = 0;  // metres
};

Felt summarise(const std::vector<TouchSample>& samples) {
  Felt felt;
  std::size_t touching = 0;
  for (const TouchSample& sample : samples) {
    felt.peak_force = std::max(felt.peak_force, norm(sample.felt.force));
    felt.peak_torque = std::max(felt.peak_torque, norm(sample.felt.torque));
    felt.most_contacts = std::max(felt.most_contacts, sample.in_contact);
    felt.deepest = std::max(felt.deepest, static_cast<double>(sample.deepest));
    if (sample.in_contact == 0) continue;
    felt.shallowest_level = touching == 0 ? sample.level : std::min(felt.shallowest_level, sample.level);
    felt.deepest_level = std::max(felt.deepest_level, sample.level);
    ++touching;
  }
  if (!samples.empty()) felt.share_in_contact = static_cast<double>(touching) / static_cast<double>(samples.size());
  return felt;
}

Plot plot_of(const std::string& scene, const std::vector<TouchSample>& samples, const LimitSettings& limits) {
  PlotSeries force, torque, contacts;
  for (const TouchSample& sample : samples) {
    force.y.push_back(norm(sample.felt.force));
    torque.y.push_back(norm(sample.felt.torque) * 1e3);
    contacts.y.push_back(sample.in_contact);
    force.x.push_back(sample.time);
  }
  torque.x = contacts.x = force.x;
  Plot plot;
  plot.title = fmt::format("What the hand felt: {}", scene);
  plot.x_label = "time (s)";
  plot.panel_height = 150;
  plot.panels.resize(3);
  plot.panels[0].y_label = "force (N)";
  plot.panels[0].series = {std::move(force)};
  plot.panels[0].thresholds = {{"device limit", limits.max_force}};
  plot.panels[1].y_label = "torque (N mm)";
  plot.panels[1].series = {std::move(torque)};
  plot.panels[2].y_label = "points in contact";
  plot.panels[2].series = {std::move(contacts)};
  return plot;
}

// Who touches what.
struct Setting {
  SceneDescription scene;
  std::unique_ptr<Device> hand;
  Pose start;  // of the held object
};

Setting make_setting(const FeelCommand& command) {
  Setting setting;
  std::string name = command.scene;
  if (command.hand != "scripted" && command.hand != "simulated") {
    Recording recording = read_recording(command.hand);
    const std::string recorded = parse_recorded_scene(recording.scene).name;
    if (name.empty()) name = recorded;
    if (name != recorded)
      throw Error(fmt::format("{} was recorded in the scene '{}'; feel that one.", command.hand, recorded));
    setting.scene = builtin_scene(name);
    setting.start = recording.start;
    setting.hand = std::make_unique<RecordedDevice>(std::move(recording.samples));
    return setting;
  }
  setting.scene = builtin_scene(name.empty() ? builtin_scene_names().front() : name);
  setting.start = setting.scene.hand.front();
  HandPath path(setting.scene.hand, setting.scene.hand_speed);
  if (command.hand == "scripted")
    setting.hand = std::make_unique<ScriptedDevice>(std::move(path));
  else
    setting.hand = std::make_unique<SimulatedDevice>(DeviceDynamics{}, ArmImpedance{}, std::move(path));
  return setting;
}

// Runs the loop to the end of the hand's path and collects what was felt.
RealtimeStatus run_loop(TouchLoop& loop, Recording& recording, bool fast) {
  RealtimeStatus status;
  if (fast) {
    status.notes = "Run without the clock, as fast as it goes.";
    while (loop.run_cycles(1000) == 1000) {
      collect_samples(loop, recording);
      if (interrupted()) throw Cancelled();
    }
  } else {
    status = loop.start();
    while (loop.running()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      collect_samples(loop, recording);
      if (interrupted()) {
        loop.stop();
        throw Cancelled();
      }
    }
  }
  loop.stop();
  collect_samples(loop, recording);
  return status;
}

}  // namespace

void run_feel(const FeelCommand& command) {
  const Setting setting = make_setting(command);
  const SceneDescription& scene = setting.scene;
  ProgressBar bar;
  const Part shell_part = prepare_cached(scene.shell_mesh, scene.shell_settings, bar);
  const Part field_part = prepare_cached(scene.field_mesh, scene.field_settings, bar);
  const WorkBudget budget = calibrate_budget(shell_part.shell, field_part.field, k_contact_microseconds);
  bar.clear();

  NestedContact contact(shell_part.shell, field_part.field, ContactSettings{}, budget);
  HeldObjectSettings held;
  held.moving = scene.moving;
  HeldObject object(contact, held, setting.start, scene.static_pose);
  TouchLoopSettings loop_settings;
  TouchLoop loop(*setting.hand, object, loop_settings);
  FeelSettings feel;
  feel.contact_stiffness = ContactSettings{}.stiffness;
  feel.warm_nodes = budget.warm;  // measured here; a replay elsewhere must not measure it anew
  Recording recording =
      begin_recording(object, loop_settings.limits, format_recorded_scene({scene.name, feel, std::string()}));
  if (!command.json) fmt::print("{}: {}\n", scene.name, scene.summary);
  const RealtimeStatus status = run_loop(loop, recording, command.fast);

  const Felt felt = summarise(recording.samples);
  const TouchFrame frame = loop.frame();
  const CycleHistogram& times = loop.cycle_times();
  const std::filesystem::path figure =
      command.figure.empty() ? std::filesystem::path("felt-" + scene.name + ".svg") : command.figure;
  write_svg(plot_of(scene.name, recording.samples, loop_settings.limits), figure);
  if (!command.record.empty()) write_recording(recording, command.record);

  if (command.json) {
    nlohmann::ordered_json json;
    json["scene"] = scene.name;
    json["hand"] = setting.hand->name();
    json["cycles"] = frame.cycle;
    json["missed"] = frame.missed;
    json["samples_dropped"] = frame.samples_dropped;
    json["peak_force_n"] = felt.peak_force;
    json["peak_torque_nm"] = felt.peak_torque;
    json["share_in_contact"] = felt.share_in_contact;
    json["most_contacts"] = felt.most_contacts;
    json["deepest_m"] = felt.deepest;
    json["cycle_p50_us"] = times.quantile(0.5) * 1e6;
    json["cycle_p99_us"] = times.quantile(0.99) * 1e6;
    json["cycle_max_us"] = times.longest() * 1e6;
    json["fifo_priority"] = status.fifo_priority;
    json["locked_memory"] = status.locked_memory;
    json["figure"] = figure.string();
    fmt::print("{}\n", json.dump(2));
    return;
  }
  const auto line = [](const char* name, const std::string& text) { fmt::print("  {:<10} {}\n", name, text); };
  line("hand", fmt::format("{}, {:.1f} s at 1 kHz", setting.hand->name(), static_cast<double>(frame.cycle) * 1e-3));
  line("bodies", fmt::format("{} points in {} levels against a field of {} kB", shell_part.shell.point_count(),
                             shell_part.shell.levels(), field_part.field.memory_bytes() / 1024));
  line("felt", fmt::format("up to {:.2f} N and {:.0f} N mm; in contact {:.0f} % of the time", felt.peak_force,
                           felt.peak_torque * 1e3, felt.share_in_contact * 100));
  line("contacts", fmt::format("up to {} points, {:.2f} mm deep, levels {} to {}", felt.most_contacts,
                               felt.deepest * 1e3, felt.shallowest_level, felt.deepest_level));
  line("cycle", fmt::format("half within {:.0f} us, 99 % within {:.0f} us, the longest {:.0f} us",
                            times.quantile(0.5) * 1e6, times.quantile(0.99) * 1e6, times.longest() * 1e6));
  line("clock", command.fast ? status.notes
                             : fmt::format("{} of {} periods missed; {}", frame.missed, frame.missed + frame.cycle,
                                           status.notes.empty() ? "real-time priority and locked memory granted"
                                                                : status.notes));
  line("figure", figure.string());
  if (!command.record.empty()) line("recording", command.record.string());
}

void run_scenes() {
  for (const std::string& name : builtin_scene_names()) fmt::print("  {:<18} {}\n", name, builtin_scene(name).summary);
}

}  // namespace cotouch

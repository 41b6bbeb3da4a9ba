#include <cotouch/app/command.h>
#include <cotouch/app/progress_bar.h>
#include <cotouch/app/say.h>
#include <cotouch/app/scene_argument.h>
#include <cotouch/app/web_folder.h>
#include <cotouch/app/whole_recording.h>
#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/invariant.h>
#include <cotouch/contact/cost.h>
#include <cotouch/device/scripted_device.h>
#include <cotouch/device/simulated_device.h>
#include <cotouch/experiment/plot.h>
#include <cotouch/session/names.h>
#include <cotouch/session/running_world.h>
#include <cotouch/touch/loop.h>
#include <cotouch/touch/recording.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
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

Felt summarise(const std::vector<RecordedSample>& samples, std::size_t pairs) {
  Felt felt;
  std::size_t touching = 0;
  for (const RecordedSample& sample : samples) {
    for (const HandSample& hand : sample.hands) {
      felt.peak_force = std::max(felt.peak_force, norm(hand.felt.force));
      felt.peak_torque = std::max(felt.peak_torque, norm(hand.felt.torque));
    }
    felt.most_contacts = std::max(felt.most_contacts, sample.in_contact);
    felt.deepest = std::max(felt.deepest, static_cast<double>(sample.deepest));
    if (sample.in_contact == 0) continue;
    const auto [low, high] = std::minmax_element(
        sample.levels.begin(), sample.levels.begin() + std::max<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(pairs)));
    felt.shallowest_level = touching == 0 ? *low : std::min<std::uint32_t>(felt.shallowest_level, *low);
    felt.deepest_level = std::max<std::uint32_t>(felt.deepest_level, *high);
    ++touching;
  }
  if (!samples.empty()) felt.share_in_contact = static_cast<double>(touching) / static_cast<double>(samples.size());
  return felt;
}

// Whose lines a figure has: those who were there at all.
std::vector<std::size_t> present_hands(const Recording& recording) {
  std::vector<std::size_t> present;
  for (std::size_t hand = 0; hand < recording.hands; ++hand)
    if (std::any_of(recording.samples.begin(), recording.samples.end(),
                    [&](const RecordedSample& sample) { return sample.hand(hand).input.present; }))
      present.push_back(hand);
  return present;
}

Plot plot_of(const std::string& title, const Recording& recording) {
  Plot plot;
  plot.title = title;
  plot.x_label = "time (s)";
  plot.panel_height = 150;
  plot.panels.resize(3);
  plot.panels[0].y_label = "force (N)";
  plot.panels[0].thresholds = {{"device limit", recording.limits.max_force}};
  plot.panels[1].y_label = "torque (N mm)";
  plot.panels[2].y_label = "points in contact";
  const std::vector<std::size_t> hands = present_hands(recording);
  for (const std::size_t hand : hands) {
    PlotSeries force, torque;
    if (hands.size() > 1) force.label = torque.label = fmt::format("hand {}", hand + 1);
    for (const RecordedSample& sample : recording.samples) {
      force.x.push_back(sample.time);
      force.y.push_back(norm(sample.hand(hand).felt.force));
      torque.y.push_back(norm(sample.hand(hand).felt.torque) * 1e3);
    }
    torque.x = force.x;
    plot.panels[0].series.push_back(std::move(force));
    plot.panels[1].series.push_back(std::move(torque));
  }
  PlotSeries& contacts = plot.panels[2].series.emplace_back();
  for (const RecordedSample& sample : recording.samples) {
    contacts.x.push_back(sample.time);
    contacts.y.push_back(sample.in_contact);
  }
  return plot;
}

// Who touches what.
struct Setting {
  Scene scene;
  FeelSettings feel;
  std::vector<std::unique_ptr<Device>> hands;
  std::vector<std::byte> start;  // state of the world recorded hands begin in; empty: the scene's own
  std::uint64_t world = 0;       // hash of the world they were recorded in
  std::uint64_t cycles = 0;      // that recorded hands take, there or not; 0: until all scripts have ended
  std::optional<Recording> recorded;
};

Setting recorded_setting(const FeelCommand& command, FolderLibrary& library, ProgressBar& bar) {
  Setting setting;
  const Recording& recording = setting.recorded.emplace(read_recording(command.hand));
  if (!recording.limited)
    throw Error(fmt::format("{} is of a shared session, which steps more slowly than hands feel; see it again with "
                            "'cotouch replay'.",
                            command.hand),
                ErrorCode::unsupported);
  check_holds_samples(recording, command.hand);
  const RecordedScene recorded = parse_recorded_scene(recording.scene);
  if (!command.scene.empty() && !names_scene_file(command.scene) && command.scene != recorded.name)
    throw Error(fmt::format("{} was recorded in the scene '{}'; feel that one.", command.hand, recorded.name));
  if (command.scene.empty() && recorded.name.empty())
    throw Error(fmt::format("{} was recorded in a scene without a name; name its file: cotouch feel FILE --hand {}.",
                            command.hand, command.hand));
  setting.scene = load_scene(command.scene.empty() ? recorded.name : command.scene, library, bar);
  setting.feel = recorded.feel;
  setting.start = recording.state;
  setting.world = recording.model_hash;
  setting.cycles = recording.samples.size();
  for (std::size_t hand = 0; hand < recording.hands; ++hand)
    setting.hands.push_back(std::make_unique<RecordedDevice>(recording, hand));
  return setting;
}

Setting make_setting(const FeelCommand& command, ProgressBar& bar) {
  FolderLibrary library(state_folder() / "scenes", nullptr);
  if (command.hand != "scripted" && command.hand != "simulated") return recorded_setting(command, library, bar);
  Setting setting;
  setting.scene = load_scene(command.scene, library, bar);
  if (setting.scene.scripts.empty())
    throw Error(
        fmt::format("Nothing is scripted for the scene '{}'; play it, or give its file a [[hand]].", command.scene));
  for (const HandScript& script : setting.scene.scripts) {
    HandPath path(script.keys, script.speed);
    if (command.hand == "scripted")
      setting.hands.push_back(std::make_unique<ScriptedDevice>(std::move(path), script.body));
    else
      setting.hands.push_back(
          std::make_unique<SimulatedDevice>(DeviceDynamics{}, ArmImpedance{}, std::move(path), script.body));
  }
  return setting;
}

// Each pair of parts may take this much in the time for contact: as many nodes as the slowest of them affords.
WorkBudget budget_of(const WorldModel& model) {
  WorkBudget least;
  const double share = k_contact_microseconds / static_cast<double>(std::max<std::size_t>(1, model.pairs().size()));
  std::vector<const ContactEngine*> seen;
  for (const PairModel& pair : model.pairs()) {
    const ContactEngine* engine = &model.engine(pair);
    if (std::find(seen.begin(), seen.end(), engine) != seen.end()) continue;
    seen.push_back(engine);
    const WorkBudget budget = calibrate_budget(*engine, share);
    if (budget.warm < least.warm) least = budget;
  }
  return least;
}

// Runs the loop to the end of the hands' paths, or for so many cycles, and collects what was felt.
RealtimeStatus run_loop(TouchLoop& loop, Recording& recording, std::uint64_t cycles, bool fast) {
  RealtimeStatus status;
  if (fast) {
    status.notes = "Run without the clock, as fast as it goes.";
    constexpr std::uint64_t k_at_once = 1000;
    // Of a recording there may be cycles in which nobody was there.
    for (bool goes_on = true; goes_on; collect_samples(loop, recording)) {
      const std::uint64_t wanted = cycles > 0 ? std::min(k_at_once, cycles - loop.frame().cycle) : k_at_once;
      const bool whole = loop.run_cycles(wanted) == wanted;
      goes_on = loop.frame().broken == nullptr && (cycles > 0 ? loop.frame().cycle < cycles : whole);
      if (interrupted()) throw Cancelled();
    }
  } else {
    status = loop.start();
    while (loop.running() && loop.frame().broken == nullptr && (cycles == 0 || loop.frame().cycle < cycles)) {
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
  if (cycles > 0 && recording.samples.size() > cycles) recording.samples.resize(cycles);
  return status;
}

// What takes a while must not be lost for want of a folder. A figure without a name is known only with the scene.
void check_outputs(const FeelCommand& command) {
  for (const std::filesystem::path& output : {command.figure, command.record}) {
    if (output.empty()) continue;
    check_not_input(output, command.hand);
    check_writable(output);
  }
  if (command.figure.empty()) check_writable("felt.svg");
}

void feel(const FeelCommand& command, Setting& setting) {
  Scene& scene = setting.scene;
  const std::shared_ptr<const WorldModel> model = felt_model(scene, setting.feel);
  LocalWorld world(model, {Detail::Rule::by_work, budget_of(*model), {}});
  const std::string name = printable(scene.name.empty() ? scene.title : scene.name);
  if (!setting.start.empty() && (setting.world != model->hash() || !world.state().restore(setting.start)))
    throw Error(fmt::format("{} was recorded in another world than '{}' is here.", command.hand, name));

  TouchLoopSettings loop_settings;
  loop_settings.wait_for_device = setting.cycles > 0;
  std::vector<Device*> hands;
  for (const std::unique_ptr<Device>& hand : setting.hands) hands.push_back(hand.get());
  TouchLoop loop(hands, world, loop_settings);
  Recording recording = begin_recording(*model, loop.mark(), loop_settings.limits, loop.hands(),
                                        format_recorded_scene({scene.name, setting.feel}));
  if (!command.json) say(name + ": " + scene.summary);
  const RealtimeStatus status = run_loop(loop, recording, setting.cycles, command.fast);
  if (const char* const broken = loop.frame().broken)
    throw Error(fmt::format("After {:.3f} s nothing was felt any more. {}",
                            static_cast<double>(recording.samples.size()) * loop_settings.limits.period,
                            invariant_report(broken)));

  const Felt felt = summarise(recording.samples, recording.pairs);
  const TouchFrame frame = loop.frame();
  const std::uint64_t cycles = recording.samples.size() + frame.samples_dropped;
  const std::size_t present = present_hands(recording).size();
  const CycleHistogram& times = loop.cycle_times();
  const std::filesystem::path figure =
      command.figure.empty() ? std::filesystem::path("felt-" + (scene.name.empty() ? "scene" : scene.name) + ".svg")
                             : command.figure;
  write_svg(plot_of(fmt::format("What the hand{} felt: {}", present > 1 ? "s" : "", name), recording), figure);
  if (!command.record.empty()) write_recording(recording, command.record);

  if (command.json) {
    nlohmann::ordered_json json;
    json["scene"] = name;
    json["hand"] = hands.front()->name();
    json["hands"] = present;
    json["cycles"] = cycles;
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
    json["fifo_watchdog"] = status.fifo_watchdog;
    json["locked_memory"] = status.locked_memory;
    json["faults"] = frame.faults;
    json["figure"] = figure.string();
    fmt::print("{}\n", json.dump(2));
    return;
  }
  const auto line = [](const char* word, const std::string& text) { fmt::print("  {:<10} {}\n", word, text); };
  line(present > 1 ? "hands" : "hand",
       fmt::format("{}{}, {:.1f} s at 1 kHz", present > 1 ? fmt::format("{}: ", present) : "", hands.front()->name(),
                   static_cast<double>(cycles) * 1e-3));
  std::size_t points = 0, field_bytes = 0;
  for (const SceneBody& body : scene.bodies)
    for (const ScenePart& part : body.parts) {
      points += part.part->shell.point_count();
      field_bytes += part.part->field.memory_bytes();
    }
  line("bodies",
       fmt::format("{}, with {} points and fields of {} kB", scene.bodies.size(), points, field_bytes / 1024));
  line("felt", fmt::format("up to {:.2f} N and {:.0f} N mm; in contact {:.0f} % of the time", felt.peak_force,
                           felt.peak_torque * 1e3, felt.share_in_contact * 100));
  line("contacts", fmt::format("up to {} points, {:.2f} mm deep, levels {} to {}", felt.most_contacts,
                               felt.deepest * 1e3, felt.shallowest_level, felt.deepest_level));
  line("cycle", fmt::format("half within {:.0f} us, 99 % within {:.0f} us, the longest {:.0f} us",
                            times.quantile(0.5) * 1e6, times.quantile(0.99) * 1e6, times.longest() * 1e6));
  if (frame.faults > 0)
    line("faults", fmt::format("{} times a device read what cannot be true; its force faded to zero", frame.faults));
  line("clock", command.fast ? status.notes
                             : fmt::format("{} of {} periods missed; {}", frame.missed, frame.missed + frame.cycle,
                                           status.notes.empty() ? "real-time priority and locked memory granted"
                                                                : status.notes));
  line("figure", figure.string());
  if (!command.record.empty()) line("recording", command.record.string());
}

}  // namespace

void run_feel(const FeelCommand& command) {
  check_outputs(command);
  ProgressBar bar;
  Setting setting = make_setting(command, bar);
  bar.clear();
  feel(command, setting);
  if (setting.recorded) check_whole(*setting.recorded, command.hand);
}

void run_scenes() {
  for (const std::string& name : builtin_scene_names()) fmt::print("  {:<18} {}\n", name, builtin_scene(name).summary);
}

}  // namespace cotouch

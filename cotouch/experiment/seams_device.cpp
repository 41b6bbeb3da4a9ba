#include <cotouch/base/error.h>
#include <cotouch/device/plugin.h>
#include <cotouch/device/simulated_device.h>
#include <cotouch/experiment/hostile_devices.h>
#include <cotouch/experiment/inputs.h>
#include <cotouch/experiment/seams.h>
#include <cotouch/touch/loop.h>
#include <cotouch/touch/trial_world.h>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace cotouch {
namespace {

constexpr double k_most_p99_share = 1.1;

// On the floor of the trial world and off it again, for longer than it is served.
constexpr const char* k_plugin_path = "path=0,0,0.01/0,0,-0.005/0,0,0.01 speed=0.05 repeat=1000";
HandPath built_in_path() {
  std::vector<Pose> keys;
  for (int i = 0; i < 1000; ++i)
    for (const double height : {0.01, -0.005, 0.01}) keys.push_back({{0, 0, height}, {}});
  return HandPath(std::move(keys), 0.05);
}

// One device in a loop without a clock.
struct TimedLoop {
  std::unique_ptr<Device> device;
  TrialWorld world;
  TouchLoop loop;
  std::vector<double> times;  // ns a cycle took

  explicit TimedLoop(std::unique_ptr<Device> of)
      : device(std::move(of)), world(device->limits()), loop({device.get()}, world, without_recording()) {}
  static TouchLoopSettings without_recording() {
    TouchLoopSettings settings;
    settings.queued_samples = 0;
    return settings;
  }
  void cycle() {
    if (loop.run_cycles(1) != 1) throw Error("The simulated device was lost.");
    times.push_back(static_cast<double>(loop.frame().cycle_ns));
  }
  Wrench felt() { return world.state().hands()[0].felt; }
};

}  // namespace

void measure_hostile_devices(const ExperimentOptions& options, ExperimentReport& report) {
  const double limit = LimitSettings{}.max_force;
  const std::vector<HostileOutcome> outcomes = let_hostile_devices_loose(*options.progress);
  double largest = 0, left = 0;
  std::size_t stopped = 0, served = 0;
  for (const HostileOutcome& outcome : outcomes) {
    largest = std::max(largest, outcome.largest_force);
    left = std::max(left, outcome.force_left);
    stopped += outcome.stopped ? 1U : 0U;
    served += outcome.served ? 1U : 0U;
    if (!outcome.stopped)
      report.failures.push_back("A hostile plug-in was not stopped as it should be: " + outcome.what);
    if (outcome.largest_force > limit * (1 + 1e-12))
      report.failures.push_back(
          fmt::format("{} was given {} N, above the limit of {} N.", outcome.kind.name, outcome.largest_force, limit));
  }
  report.add("device/hostile-kinds", static_cast<double>(outcomes.size()), "kinds");
  report.add("device/hostile-stopped", static_cast<double>(stopped), "kinds");
  report.add("device/largest-force-n", largest, "N");
  report.add("device/force-limit-n", limit, "N");
  report.add("device/force-left-n", left, "N");
  report.notes.push_back(fmt::format(
      "device/hostile: plug-ins that crash, hang, throw or lie (plugins/hostile). {} of {} were refused before a loop "
      "opened them, which counts if it was for the reason that it should be; {} were served, each in a process of its "
      "own and in a world that asks for 50 N. Their largest force is what they noted themselves, in memory that "
      "outlives them; what is left is the last that they were told while they were still served, or their motor after "
      "a crash.",
      outcomes.size() - served, outcomes.size(), served));
}

void measure_device_cost(const ExperimentOptions& options, ExperimentReport& report) {
  const DevicePlugin plugin = DevicePlugin::load(plugin_library_folder() / "devices/cotouch-simulated.so");
  TimedLoop behind(plugin.open(plugin.list().at(0), k_plugin_path));
  TimedLoop built_in(std::make_unique<SimulatedDevice>(DeviceDynamics{}, ArmImpedance{}, built_in_path(), 0));
  const int rounds = options.quick ? 11 : 41, cycles = 2000;
  std::vector<double> shares, middle_shares, p99, built_in_p99;
  std::size_t different = 0, felt = 0;
  for (int round = -1; round < rounds; ++round) {  // the first warms up
    options.progress->update("a plug-in beside the same device built in", (round + 1.0) / (rounds + 1));
    behind.times.clear();
    built_in.times.clear();
    for (int i = 0; i < cycles; ++i) {
      TimedLoop* const order[] = {&behind, &built_in};
      order[i % 2]->cycle();
      order[1 - i % 2]->cycle();
      different += behind.felt() != built_in.felt() ? 1U : 0U;
      felt += norm(built_in.felt().force) > 0 ? 1U : 0U;
    }
    if (round < 0) continue;
    p99.push_back(percentile(behind.times, 0.99));
    built_in_p99.push_back(percentile(built_in.times, 0.99));
    shares.push_back(p99.back() / built_in_p99.back());
    middle_shares.push_back(percentile(behind.times, 0.5) / percentile(built_in.times, 0.5));
  }
  behind.loop.stop();
  built_in.loop.stop();
  if (different > 0)
    report.failures.push_back(
        fmt::format("In {} cycles the plug-in's hand felt something else than the one built in.", different));
  if (felt == 0) report.failures.push_back("The hands of the device's comparison never felt anything.");
  add_bounded(report, "device/cycle-p99-share", median(shares), k_most_p99_share, "plug-in over built in");
  report.add("device/cycle-p50-share", median(middle_shares), "plug-in over built in");
  report.add("device/cycle-p99-us", median(p99) * 1e-3, "us", {}, median(built_in_p99) * 1e-3);
  report.notes.push_back(fmt::format(
      "device/cycle: the simulated device as a plug-in over the same class built in (peer), cycle by cycle in "
      "turn in two loops with the smallest world there is; medians over {} rounds of {} cycles each. What both hands "
      "felt was compared in every cycle; there was a force in {} of {}.",
      rounds, cycles, felt, (rounds + 1) * cycles));
}

}  // namespace cotouch

// What a cycle costs besides contact: coupling, the 6x6 solve, limits, publishing. (The paper: about 5 us a solve.)
#include <cotouch/device/simulated_device.h>
#include <cotouch/touch/loop.h>

#include <benchmark/benchmark.h>

namespace cotouch {
namespace {

// A body that meets nothing.
std::shared_ptr<const WorldModel> lonely_world() {
  BodyModel body;
  body.id = 1;
  body.motion = Motion::free;
  body.mass = {1, {}, Mat3::identity()};
  return std::make_shared<const WorldModel>(std::vector{body}, WorldSettings{});
}

class RestingDevice final : public Device {
 public:
  std::string name() const override { return "resting"; }
  bool read(DeviceReading& reading) noexcept override {
    reading.pose = {{1e-3, 0, 0}, quat_from_rotation_vector({0.1, 0.2, 0})};
    reading.action = first_ ? HandInput::Action::grasp : HandInput::Action::none;
    reading.body = 1;
    first_ = false;
    return true;
  }

  DeviceLimits limits() const noexcept override { return k_without_motors; }
  void write(const LimitedWrench& wrench) noexcept override { benchmark::DoNotOptimize(wrench.get().force.x); }
  void disable() noexcept override {}
  bool enable() noexcept override { return true; }

 private:
  bool first_ = true;
};

void couple_and_gradient(benchmark::State& state) {
  const Pose hand{{1e-3, 2e-3, 0}, quat_from_rotation_vector({0.3, -0.2, 0.1})};
  for (auto _ : state) benchmark::DoNotOptimize(couple({}, hand, {}));
}
BENCHMARK(couple_and_gradient);

void solve_for_equilibrium(benchmark::State& state) {
  const CouplingResult coupling = couple({}, {{1e-3, 2e-3, 0}, quat_from_rotation_vector({0.3, -0.2, 0.1})}, {});
  const Vec6 load{-coupling.wrench.force, -coupling.wrench.torque};
  Vec6 motion;
  for (auto _ : state) benchmark::DoNotOptimize(solve(coupling.solve_gradient, load, motion));
}
BENCHMARK(solve_for_equilibrium);

void step_of_a_held_body(benchmark::State& state) {
  const auto model = lonely_world();
  WorldState world(*model);
  StepScratch scratch(*model);
  HandInput hand;
  hand.present = true;
  hand.action = HandInput::Action::grasp;
  hand.body = 1;
  hand.pose = {{1e-3, 0, 0}, quat_from_rotation_vector({0.1, 0.2, 0})};
  for (auto _ : state) {
    step(*model, world, {&hand, 1}, scratch);
    hand.action = HandInput::Action::none;
    benchmark::DoNotOptimize(world.hands()[0].felt.force.x);
  }
}
BENCHMARK(step_of_a_held_body);

void whole_cycle_without_contact(benchmark::State& state) {
  LocalWorld world(lonely_world());
  RestingDevice device;
  TouchLoopSettings settings;
  settings.queued_samples = 0;
  TouchLoop loop({&device}, world, settings);
  for (auto _ : state) benchmark::DoNotOptimize(loop.run_cycles(1));
}
BENCHMARK(whole_cycle_without_contact);

void simulated_device_period(benchmark::State& state) {
  SimulatedDevice device({}, {}, HandPath(std::vector<Pose>(500'000)), 0);
  DeviceReading reading;
  for (auto _ : state) benchmark::DoNotOptimize(device.read(reading));
}
BENCHMARK(simulated_device_period);

}  // namespace
}  // namespace cotouch

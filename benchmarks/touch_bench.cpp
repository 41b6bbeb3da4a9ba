// What a cycle costs besides contact: coupling, the 6x6 solve, limits, publishing. (The paper: about 5 us a solve.)
#include <cotouch/touch/loop.h>
#include <cotouch/touch/simulated_device.h>

#include <benchmark/benchmark.h>

namespace cotouch {
namespace {

class NoContact final : public ContactEngine {
 public:
  void evaluate(const Pose&, const Pose&, Moving, ContactResult& result) noexcept override { result = {}; }
  std::span<const ContactPoint> contacts() const noexcept override { return {}; }
  void reset() noexcept override {}
};

class RestingDevice final : public Device {
 public:
  std::string name() const override { return "resting"; }
  bool read(DeviceReading& reading) noexcept override {
    reading.pose = {{1e-3, 0, 0}, quat_from_rotation_vector({0.1, 0.2, 0})};
    return true;
  }

 protected:
  void write(const Wrench& wrench) noexcept override { benchmark::DoNotOptimize(wrench.force.x); }
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

void held_object_step(benchmark::State& state) {
  NoContact contact;
  HeldObject object(contact, {}, {});
  const Pose hand{{1e-3, 0, 0}, quat_from_rotation_vector({0.1, 0.2, 0})};
  for (auto _ : state) benchmark::DoNotOptimize(object.step(hand));
}
BENCHMARK(held_object_step);

void whole_cycle_without_contact(benchmark::State& state) {
  NoContact contact;
  HeldObject object(contact, {}, {});
  RestingDevice device;
  TouchLoopSettings settings;
  settings.queued_samples = 0;
  TouchLoop loop(device, object, settings);
  for (auto _ : state) benchmark::DoNotOptimize(loop.run_cycles(1));
}
BENCHMARK(whole_cycle_without_contact);

void simulated_device_period(benchmark::State& state) {
  SimulatedDevice device({}, {}, HandPath(std::vector<Pose>(500'000)));
  DeviceReading reading;
  for (auto _ : state) benchmark::DoNotOptimize(device.read(reading));
}
BENCHMARK(simulated_device_period);

}  // namespace
}  // namespace cotouch

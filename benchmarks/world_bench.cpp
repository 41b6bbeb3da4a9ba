// What steps of whole worlds cost.
#include <cotouch/contact/nested/nested.h>
#include <cotouch/experiment/world_scenes.h>
#include <cotouch/world/step.h>

#include <benchmark/benchmark.h>

namespace cotouch {
namespace {

constexpr double k_tick = 0.01;

// 64 steps after a snapshot is restored, as when the past of a shared world is taken back and simulated again. Two
// hands push the box along its rails.
void docking_64_steps_after_restore(benchmark::State& state) {
  NoProgress progress;
  const Docking docking = docking_world(progress);
  const auto model = make_model(docking.scene, {k_tick, 2, WorkBudget::of(docking.nodes)});
  WorldState world(*model);
  StepScratch scratch(*model);
  std::vector<HandInput> hands = docking.hands;
  const auto lead = [&](int steps, double speed) {
    for (int i = 0; i < steps; ++i) {
      for (HandInput& hand : hands) hand.pose.position.x -= speed * k_tick;
      step(*model, world, hands, scratch);
      for (HandInput& hand : hands) hand.action = HandInput::Action::none;
    }
  };
  lead(docking.steps, docking.speed);
  const std::vector<std::byte> snapshot(world.bytes().begin(), world.bytes().end());
  const std::vector<HandInput> hands_then = hands;
  for (auto _ : state) {
    world.restore(snapshot);
    hands = hands_then;
    lead(64, 0.02);
  }
  state.counters["visited"] = scratch.stats().visited;
  state.counters["touching"] = scratch.stats().in_contact;
  state.counters["substeps"] = scratch.substeps();
  state.counters["state_bytes"] = static_cast<double>(snapshot.size());
}
BENCHMARK(docking_64_steps_after_restore)->Unit(benchmark::kMillisecond);

// A hundred blocks that fall on a plate and each other: the second in which they come to rest, in ticks of 10 ms. Real
// time if it takes less than a second.
void a_hundred_blocks_come_to_rest(benchmark::State& state) {
  NoProgress progress;
  const auto model = make_model(many_blocks_world(100, progress), {k_tick, 0, {}});
  const WorldState start(*model);
  StepScratch scratch(*model);
  double substeps = 0, kinetic = 0;
  for (auto _ : state) {
    WorldState world = start;
    for (int i = 0; i < 100; ++i) {
      step(*model, world, {}, scratch);
      substeps += scratch.substeps();
    }
    kinetic = energy(*model, world).kinetic;
  }
  state.counters["substeps"] = substeps / static_cast<double>(state.iterations()) / 100;
  state.counters["joule_left"] = kinetic;
}
BENCHMARK(a_hundred_blocks_come_to_rest)->Unit(benchmark::kMillisecond);

// One tick of theirs afterwards.
void a_hundred_blocks_lie(benchmark::State& state) {
  NoProgress progress;
  const auto model = make_model(many_blocks_world(100, progress), {k_tick, 0, {}});
  WorldState world(*model);
  StepScratch scratch(*model);
  for (int i = 0; i < 200; ++i) step(*model, world, {}, scratch);
  for (auto _ : state) step(*model, world, {}, scratch);
  state.counters["substeps"] = scratch.substeps();
  state.counters["visited"] = scratch.stats().visited;
}
BENCHMARK(a_hundred_blocks_lie)->Unit(benchmark::kMillisecond);

// What working memory a world of a million points takes: shared by all pairs, and for each further pair.
void memory_of_a_pair(benchmark::State& state) {
  constexpr std::uint32_t k_points = 1U << 20;
  double shared = 0;
  for (auto _ : state) {
    NestedWorkspace scratch;
    scratch.reserve(k_points);
    const auto bytes = [](const auto& v) { return static_cast<double>(v.capacity() * sizeof(v[0])); };
    shared = static_cast<double>(sizeof scratch) + bytes(scratch.points) + bytes(scratch.distances) +
             bytes(scratch.contacts) + bytes(scratch.copies) + bytes(scratch.queue.node) +
             bytes(scratch.queue.distance) + bytes(scratch.next.node) + bytes(scratch.next.distance);
    benchmark::DoNotOptimize(scratch.points.data());
  }
  state.counters["shared_bytes"] = shared;
  state.counters["pair_bytes"] = static_cast<double>(CoherenceCache(k_points).memory_bytes() + sizeof(PairContact));
}
BENCHMARK(memory_of_a_pair)->Iterations(1);

}  // namespace
}  // namespace cotouch

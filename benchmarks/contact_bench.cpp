// What a visited node costs, transform, lookup and tree included. A bumpy body sits in a block with a hole of its own
// shape, so that a large share of its points is close to contact: many nodes, free and touching ones mixed.
#include <cotouch/base/progress.h>
#include <cotouch/base/random.h>
#include <cotouch/base/trig.h>
#include <cotouch/contact/nested.h>
#include <cotouch/field/build.h>
#include <cotouch/shell/build.h>

#include <benchmark/benchmark.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr double k_radius = 0.05;

// A ball with bumps; divided by its largest slope so that it changes no faster than distance does.
double body(const Vec3d& p) {
  const auto wave = [](double x) { return sin_cos(x * 400).sin; };
  return (norm(p) - k_radius + 0.0015 * wave(p.x) * wave(p.y) * wave(p.z)) / 1.6;
}

struct Pair {
  Shell shell;
  Field solid, hole;
};

const Pair& pair() {
  static const Pair made = [] {
    const double half = 1.1 * k_radius, outer = 1.3 * k_radius;
    Box3d box, block;
    box.add({-half, -half, -half});
    box.add({half, half, half});
    block.add({-outer, -outer, -outer});
    block.add({outer, outer, outer});
    const auto hole = [outer](const Vec3d& p) {
      const double wall = std::max({std::fabs(p.x), std::fabs(p.y), std::fabs(p.z)}) - outer;
      return std::max(wall, -body(p));
    };
    NoProgress progress;
    Pair pair;
    pair.solid = build_field(body, box, {.resolution = 256});
    pair.hole = build_field(hole, block, {.resolution = 256});
    pair.shell = build_shell(pair.solid, {.points = 262144, .offset = -0.5}, progress);
    return pair;
  }();
  return made;
}

void report(benchmark::State& state, double nodes, const ContactResult& last) {
  state.counters["visited"] = last.stats.visited;
  state.counters["skipped"] = last.stats.skipped;
  state.counters["touching"] = last.stats.in_contact;
  state.counters["per_node"] = benchmark::Counter(nodes, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// A small motion around one place, as a hand at rest makes it: `shake` metres a cycle.
Pose shaken(Random& random, const Vec3d& place, double shake) {
  return {place + random.direction() * shake, quat_from_rotation_vector(random.direction() * (shake / k_radius))};
}

void walk(benchmark::State& state, const Field& field, const Vec3d& place, double shake, bool coherence) {
  NestedContact engine(pair().shell, field, {.coherence = coherence});
  Random random(3);
  ContactResult result;
  double nodes = 0;
  for (auto _ : state) {
    engine.evaluate(shaken(random, place, shake), {}, Moving::shell, result);
    nodes += result.stats.visited;
  }
  report(state, nodes, result);
}

// Pushed sideways into its hole: about half of the surface presses, the other half is a little off.
void in_hole(benchmark::State& state) {
  walk(state, pair().hole, {0.0003, 0, 0}, 2e-5, state.range(0) != 0);
}
BENCHMARK(in_hole)->ArgName("coherence")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

// Two equal bodies pressed together: one region of contact.
void side_by_side(benchmark::State& state) {
  walk(state, pair().solid, {2 * k_radius - 0.001, 0.01, 0.005}, 2e-5, state.range(0) != 0);
}
BENCHMARK(side_by_side)->ArgName("coherence")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

// The same within a budget of visited nodes.
void in_hole_budgeted(benchmark::State& state) {
  NestedContact engine(pair().shell, pair().hole, {}, WorkBudget::of(static_cast<std::uint32_t>(state.range(0))));
  Random random(3);
  ContactResult result;
  double nodes = 0;
  for (auto _ : state) {
    engine.evaluate(shaken(random, {0.0003, 0, 0}, 2e-5), {}, Moving::shell, result);
    nodes += result.stats.visited;
  }
  report(state, nodes, result);
}
BENCHMARK(in_hole_budgeted)->ArgName("warm")->Arg(20000)->Unit(benchmark::kMicrosecond);

// Every point, no tree.
void exhaustive(benchmark::State& state) {
  NestedContact engine(pair().shell, pair().hole, {});
  Random random(3);
  ContactResult result;
  double nodes = 0;
  for (auto _ : state) {
    engine.evaluate_exhaustively(shaken(random, {0.0003, 0, 0}, 2e-5), {}, Moving::shell, 99, result);
    nodes += result.stats.visited;
  }
  report(state, nodes, result);
}
BENCHMARK(exhaustive)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cotouch

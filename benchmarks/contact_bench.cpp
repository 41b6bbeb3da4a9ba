// What a visited node costs, transform, lookup and tree included. A bumpy body sits in a block with a hole of its own
// shape, so that a large share of its points is close to contact: many nodes, free and touching ones mixed. The counter
// touching_share says which share of all points presses.
#include <cotouch/base/progress.h>
#include <cotouch/base/random.h>
#include <cotouch/base/trig.h>
#include <cotouch/contact/cold_caches.h>
#include <cotouch/contact/cost.h>
#include <cotouch/contact/exhaustive/exhaustive.h>
#include <cotouch/contact/nested/nested.h>
#include <cotouch/field/build.h>
#include <cotouch/shell/build.h>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <vector>

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
  Field solid, hole, tight;
};

const Pair& pair() {
  static const Pair made = [] {
    const double half = 1.1 * k_radius, outer = 1.3 * k_radius;
    Box3d box, block;
    box.add({-half, -half, -half});
    box.add({half, half, half});
    block.add({-outer, -outer, -outer});
    block.add({outer, outer, outer});
    const auto hole = [outer](const Vec3d& p, double smaller) {
      const double wall = std::max({std::fabs(p.x), std::fabs(p.y), std::fabs(p.z)}) - outer;
      return std::max(wall, -body(p) - smaller);
    };
    NoProgress progress;
    Pair pair;
    pair.solid = build_field(body, box, {.resolution = 256});
    pair.hole = build_field([&](const Vec3d& p) { return hole(p, 0); }, block, {.resolution = 256});
    pair.shell = build_shell(pair.solid, {.points = 262144, .offset = -0.5}, progress);
    // Its wall goes through the shell's points, half a cell inside the body.
    const double inset = 0.5 * static_cast<double>(pair.solid.spacing());
    pair.tight = build_field([&](const Vec3d& p) { return hole(p, inset); }, block, {.resolution = 256});
    return pair;
  }();
  return made;
}

void report(benchmark::State& state, double nodes, const PairContact& last) {
  state.counters["visited"] = last.stats.visited;
  state.counters["touching"] = last.stats.in_contact;
  state.counters["touching_share"] = static_cast<double>(last.stats.in_contact) / pair().shell.point_count();
  state.counters["per_node"] = benchmark::Counter(nodes, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// A small motion around one place, as a hand at rest makes it: `shake` metres a cycle.
Pose shaken(Random& random, const Vec3d& place, double shake) {
  return {place + random.direction() * shake, quat_from_rotation_vector(random.direction() * (shake / k_radius))};
}

// One pair with all that its evaluation needs.
struct Walk {
  NestedContact engine;
  NestedWorkspace scratch;
  CoherenceCache cache;
  PairContact contact;

  explicit Walk(const Field& field) : engine(pair().shell, field, {}), cache(pair().shell.point_count()) {
    scratch.reserve(pair().shell.point_count());
  }
};

void walk(benchmark::State& state, const Field& field, const Vec3d& place, double shake, bool coherence) {
  Walk w(field);
  Random random(3);
  double nodes = 0;
  for (auto _ : state) {
    w.engine.evaluate({{shaken(random, place, shake)}, {}}, Detail::everything(), w.scratch,
                      coherence ? &w.cache : nullptr, w.contact);
    nodes += w.contact.stats.visited;
  }
  report(state, nodes, w.contact);
}

constexpr Vec3d k_pushed{0.0003, 0, 0};                       // in the hole
constexpr Vec3d k_beside{2 * k_radius - 0.001, 0.01, 0.005};  // another of the same

// Pushed sideways into its hole by little more than the half cell that its points lie inside: a few hundredths of them
// press, the rest is a little off and has to be looked at.
void in_hole(benchmark::State& state) {
  walk(state, pair().hole, k_pushed, 2e-5, state.range(0) != 0);
}
BENCHMARK(in_hole)->ArgName("coherence")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

// The same in a hole without that half cell: whatever faces the push presses, about half of the surface.
void half_pressed(benchmark::State& state) {
  walk(state, pair().tight, k_pushed, 2e-5, state.range(0) != 0);
}
BENCHMARK(half_pressed)->ArgName("coherence")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

// Two equal bodies pressed together: one region of contact.
void side_by_side(benchmark::State& state) {
  walk(state, pair().solid, k_beside, 2e-5, state.range(0) != 0);
}
BENCHMARK(side_by_side)->ArgName("coherence")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

// The same within a budget of visited nodes.
void in_hole_budgeted(benchmark::State& state) {
  Walk w(pair().hole);
  const WorkBudget budget = WorkBudget::of(static_cast<std::uint32_t>(state.range(0)));
  Random random(3);
  double nodes = 0;
  for (auto _ : state) {
    w.engine.evaluate({{shaken(random, k_pushed, 2e-5)}, {}}, Detail::by_work(budget, w.contact.stats.level), w.scratch,
                      &w.cache, w.contact);
    nodes += w.contact.stats.visited;
  }
  report(state, nodes, w.contact);
}
BENCHMARK(in_hole_budgeted)->ArgName("warm")->Arg(20000)->Unit(benchmark::kMicrosecond);

// Without coherence and with nothing in the processor's caches, as in the first cycle after something else ran.
void cold(benchmark::State& state) {
  const bool hole = state.range(0) != 0;
  Walk w(hole ? pair().hole : pair().solid);
  ColdCaches caches;
  Random random(3);
  double nodes = 0;
  for (auto _ : state) {
    const BodyState shell{shaken(random, hole ? k_pushed : k_beside, 2e-5)};
    caches.chill();
    benchmark::DoNotOptimize(caches.sum());
    const auto start = std::chrono::steady_clock::now();
    w.engine.evaluate({shell, {}}, Detail::everything(), w.scratch, nullptr, w.contact);
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    nodes += w.contact.stats.visited;
  }
  report(state, nodes, w.contact);
}
BENCHMARK(cold)->ArgName("in_hole")->Arg(0)->Arg(1)->UseManualTime()->Unit(benchmark::kMicrosecond);

// A budget calibrated to a millisecond, used up with cold caches: how long does it take? Levels rarely fill a budget to
// the last node, so the one that comes nearest is measured and `full_ms` scaled by the rest.
void full_millisecond_cold(benchmark::State& state) {
  Walk w(pair().hole);
  const WorkBudget budget = calibrate_budget(w.engine, 1000);
  const auto evaluate = [&](std::uint32_t level) {
    w.engine.evaluate({{Pose{k_pushed, {}}}, {}}, Detail::at(level), w.scratch, nullptr, w.contact);
    return static_cast<double>(w.contact.stats.visited) / budget.warm;
  };
  const auto missed = [&](std::uint32_t level) { return std::fabs(evaluate(level) - 1); };
  std::uint32_t nearest = 0;
  for (std::uint32_t level = 1; level < pair().shell.levels(); ++level)
    if (missed(level) < missed(nearest)) nearest = level;
  ColdCaches caches;
  double nodes = 0, least = 1;
  for (auto _ : state) {
    caches.chill();
    benchmark::DoNotOptimize(caches.sum());
    const auto start = std::chrono::steady_clock::now();
    evaluate(nearest);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    state.SetIterationTime(seconds);
    least = std::min(least, seconds);
    nodes += w.contact.stats.visited;
  }
  report(state, nodes, w.contact);
  state.counters["budget"] = budget.warm;
  state.counters["full_ms"] = least * 1e3 / evaluate(nearest);
}
BENCHMARK(full_millisecond_cold)->UseManualTime()->Unit(benchmark::kMicrosecond);

// Every point, no tree.
void exhaustive(benchmark::State& state) {
  const ExhaustiveContact engine(pair().shell, pair().hole, {});
  const std::unique_ptr<ContactWorkspace> workspace = engine.make_workspace();
  PairContact contact;
  Random random(3);
  double points = 0;
  for (auto _ : state) {
    engine.evaluate({{shaken(random, k_pushed, 2e-5)}, {}}, Detail::everything(), *workspace, nullptr, contact);
    points += contact.stats.visited;
  }
  report(state, points, contact);
}
BENCHMARK(exhaustive)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cotouch

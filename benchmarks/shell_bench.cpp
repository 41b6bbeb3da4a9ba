// How long it takes to spread a pointshell over a part, and how even it comes out.
// The paper (001, II-D) reports one to two hours for 256 thousand points.
#include <cotouch/field/build.h>
#include <cotouch/shell/build.h>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

namespace {

using namespace cotouch;

const Field& torus_field() {
  static const Field field = [] {
    Box3d part;
    part.add({-0.055, -0.055, -0.015});
    part.add({0.055, 0.055, 0.015});
    FieldSettings settings;
    settings.resolution = 256;
    return build_field(
        [](const Vec3d& p) {
          const double from_ring = std::sqrt(p.x * p.x + p.y * p.y) - 0.04;
          return std::sqrt(from_ring * from_ring + p.z * p.z) - 0.015;
        },
        part, settings);
  }();
  return field;
}

void build_shell_of_torus(benchmark::State& state) {
  ShellSettings settings;
  settings.points = static_cast<std::uint32_t>(state.range(0));
  NoProgress quiet;
  Shell shell;
  torus_field();
  for (auto _ : state) {
    shell = build_shell(torus_field(), settings, quiet);
    benchmark::DoNotOptimize(shell);
  }
  double worst = 0;
  for (const auto& level : measure_quality(shell).levels) worst = std::max(worst, level.variation);
  state.counters["worst_variation"] = worst;
  state.counters["points_per_second"] =
      benchmark::Counter(static_cast<double>(state.range(0)), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(build_shell_of_torus)
    ->Arg(1 << 14)
    ->Arg(1 << 18)
    ->Arg(1 << 20)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->UseRealTime();

// What opening an asset costs: every link, radius and number is checked.
void check_shell(benchmark::State& state) {
  ShellSettings settings;
  settings.points = 1 << 18;
  NoProgress quiet;
  const Shell shell = build_shell(torus_field(), settings, quiet);
  for (auto _ : state) {
    const Shell checked(shell.data(), nullptr);
    benchmark::DoNotOptimize(checked.reach());
  }
}
BENCHMARK(check_shell)->Unit(benchmark::kMillisecond);

}  // namespace

// Field lookups against a plain dense grid, on points as a shell produces them: many points near the surface, each
// taking small steps, all moved once a cycle.
#include "dense_grid.h"

#include <cotouch/base/random.h>
#include <cotouch/base/realtime.h>
#include <cotouch/field/build.h>
#include <cotouch/shapes/shapes.h>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace {

using namespace cotouch;

double sphere_distance(const Vec3d& p) {
  return norm(p) - 1;
}

const Field& sphere() {
  static const Field field = [] {
    Box3d box;
    box.add({-1, -1, -1});
    box.add({1, 1, 1});
    FieldSettings settings;
    settings.resolution = 256;
    return build_field(sphere_distance, box, settings);
  }();
  return field;
}

// Points of a shell in tree order (neighbours in memory are neighbours in space), within `spread` cells of the surface,
// moved by a small rigid step each cycle.
std::vector<Vec3f> shell_points(std::int64_t walks, double spread) {
  constexpr int steps = 16;
  Random random(7);
  std::vector<Vec3f> points;
  for (std::int64_t w = 0; w < walks; ++w) {
    Vec3d p = random.direction();
    for (int i = 0; i < steps; ++i) {
      p = normalized(p + random.direction() * 0.01);
      points.push_back(Vec3f(p * (1 + random.uniform(-spread, spread) * 2 / 256)));
    }
  }
  return points;
}

// What a cycle does with a grid: every point of the shell moved, then looked up.
struct Cycle {
  std::vector<Vec3f> positions;
  std::vector<std::uint32_t> index;
  std::vector<CellMap> maps;  // one for each of a few cycles, a small step apart
};

Cycle make_cycle(std::int64_t walks, double spread, bool in_order, const Vec3f& origin, float cells_per_metre) {
  Cycle cycle;
  cycle.positions = shell_points(walks, spread);
  cycle.index.resize(cycle.positions.size());
  std::iota(cycle.index.begin(), cycle.index.end(), 0U);
  Random random(3);
  if (!in_order)
    for (std::size_t i = cycle.index.size(); i > 1; --i) std::swap(cycle.index[i - 1], cycle.index[random.below(i)]);
  const float s = cells_per_metre;
  for (int i = 0; i < 64; ++i) {
    const Vec3f at = (Vec3f(random.direction() * 0.001) - origin) * s;
    cycle.maps.push_back({s, 0, 0, 0, s, 0, 0, 0, s, at.x, at.y, at.z});
  }
  return cycle;
}

// Calls of 256 points, as the contact traversal makes them.
template <class Grid>
float many(const Grid& grid, const Cycle& cycle, const CellMap& map) {
  constexpr std::uint32_t k_call = 256;
  std::array<float, k_call> distance;
  float deepest = 0;
  const auto count = static_cast<std::uint32_t>(cycle.index.size());
  for (std::uint32_t i = 0; i < count; i += k_call) {
    const std::uint32_t n = std::min(k_call, count - i);
    grid.distances(map, cycle.positions.data(), cycle.index.data() + i, n, distance.data());
    deepest = std::min(deepest, distance[0]);
  }
  return deepest;
}

template <class Grid>
float one_by_one(const Grid& grid, const Cycle& cycle, const CellMap& map) {
  float deepest = 0;
  for (const std::uint32_t i : cycle.index)
    deepest = std::min(deepest, grid.distance_in_cells(map(cycle.positions[i])));
  return deepest;
}

// Replaces what the caches hold.
void empty_caches() {
  static std::vector<std::uint64_t> other(std::size_t{64} << 17);
  for (std::size_t i = 0; i < other.size(); i += 8) ++other[i];
  benchmark::ClobberMemory();
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Bricks and the dense grid in turns, so that both see the same machine; medians in nanoseconds for one lookup.
void lookup(benchmark::State& state) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) return state.SkipWithError("The dense grid is written for AVX2.");
#endif
  static const DenseGrid dense;
  const Field& bricks = sphere();
  const auto walks = state.range(0);
  const auto spread = static_cast<double>(state.range(1));
  const bool in_order = state.range(2) != 0, cold = state.range(3) != 0;
  const Cycle for_dense = make_cycle(walks, spread, in_order, {-1.1F, -1.1F, -1.1F}, DenseGrid::k_cells_per_metre);
  const Cycle for_bricks = make_cycle(walks, spread, in_order, bricks.data().origin, 1 / bricks.spacing());
  const auto count = static_cast<double>(for_dense.index.size());
  // Short cycles are repeated, or the clock would be part of the result.
  const int repeats = cold ? 1 : static_cast<int>(std::max(1.0, 4096 / count));
  std::array<std::vector<double>, 4> times;
  std::size_t turn = 0;
  const auto measure = [&](std::vector<double>& into, const auto& look_up) {
    if (cold) empty_caches();
    const std::int64_t start = monotonic_ns();
    for (int i = 0; i < repeats; ++i) benchmark::DoNotOptimize(look_up((turn + static_cast<std::size_t>(i)) % 64));
    into.push_back(static_cast<double>(monotonic_ns() - start) / (count * repeats));
  };
  for (auto _ : state) {
    measure(times[0], [&](std::size_t i) { return many(bricks, for_bricks, for_bricks.maps[i]); });
    measure(times[1], [&](std::size_t i) { return many(dense, for_dense, for_dense.maps[i]); });
    measure(times[2], [&](std::size_t i) { return one_by_one(bricks, for_bricks, for_bricks.maps[i]); });
    measure(times[3], [&](std::size_t i) { return one_by_one(dense, for_dense, for_dense.maps[i]); });
    ++turn;
  }
  state.counters["bricks"] = median(times[0]);
  state.counters["dense"] = median(times[1]);
  state.counters["ratio"] = median(times[0]) / median(times[1]);
  state.counters["bricks_single"] = median(times[2]);
  state.counters["dense_single"] = median(times[3]);
}

// Everything from triangles to field, of about a hundred thousand triangles at each resolution.
void build_from(benchmark::State& state, const TriangleMesh& mesh) {
  FieldSettings settings;
  settings.resolution = static_cast<int>(state.range(0));
  NoProgress quiet;
  for (auto _ : state) {
    FieldReport report;
    const Field field = build_field(mesh, settings, quiet, &report);
    state.counters["MiB"] = static_cast<double>(field.memory_bytes()) / (1 << 20);
    state.counters["enclosed"] = static_cast<double>(report.enclosed);
    state.counters["sheets"] = static_cast<double>(report.sheets);
    state.counters["caps"] = static_cast<double>(report.caps);
  }
  state.counters["triangles"] = static_cast<double>(mesh.triangles.size());
}

// One closed surface, half of its triangles facing the wrong way: nothing crosses, nothing is open.
void soup_flipped_torus(benchmark::State& state) {
  TriangleMesh mesh = make_torus(0.7, 0.25, 320, 160);
  Random random(5);
  for (Triangle& t : mesh.triangles)
    if (random.uniform() < 0.5) std::swap(t[1], t[2]);
  build_from(state, mesh);
}

// Seventy-eight closed spheres that cross each other: much is enclosed.
void soup_crossing_spheres(benchmark::State& state) {
  TriangleMesh mesh;
  Random random(3);
  for (int i = 0; i < 78; ++i) {
    TriangleMesh sphere = make_sphere(random.uniform(0.1, 0.4), 3);
    const Vec3d center{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
    for (Vec3d& v : sphere.vertices) v += center;
    append(mesh, sphere);
  }
  build_from(state, mesh);
}

// An engine bay: pipes, housings and ribs through each other, some of them thinner than a cell.
void soup_clutter(benchmark::State& state) {
  build_from(state, make_clutter());
}

// A creature of crossing pieces as a scanner leaves it: without its feet and the lower half of its body, which is one
// hole as wide as the animal.
void soup_open_scan(benchmark::State& state) {
  CreatureShape shape;
  shape.edge = 0.0009;
  TriangleMesh mesh = make_creature(shape);
  const Box3d bounds = mesh.bounds();
  std::erase_if(mesh.triangles,
                [&](const Triangle& t) { return mesh.vertices[t[0]].z < bounds.low.z + 0.45 * bounds.size().z; });
  build_from(state, mesh);
}

void resolutions(benchmark::internal::Benchmark* b) {
  b->Arg(128)->Arg(256)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();
}
BENCHMARK(soup_flipped_torus)->Apply(resolutions);
BENCHMARK(soup_crossing_spheres)->Apply(resolutions);
BENCHMARK(soup_clutter)->Apply(resolutions);
BENCHMARK(soup_open_scan)->Apply(resolutions);

// How many places are touched at once (8 walks stay in the first-level cache, 256 in the second, 16384 in neither), how
// far points stray from the surface in cells (in contact, or through the fine band into the coarse far field), whether
// neighbours follow each other, and whether the caches were emptied before.
BENCHMARK(lookup)
    ->ArgNames({"walks", "spread", "in_order", "cold"})
    ->ArgsProduct({{8, 256, 16384}, {2}, {1, 0}, {0}})
    ->ArgsProduct({{256}, {2}, {1, 0}, {1}})
    ->ArgsProduct({{256}, {16}, {1, 0}, {0}});

}  // namespace

// Field lookups against a plain dense grid, on points as a shell produces them: many points near the surface, each
// taking small steps, all moved once a cycle.
#include <cotouch/base/random.h>
#include <cotouch/field/build.h>
#include <cotouch/shapes/shapes.h>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
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

// The yardstick: 256^3 floats, clamped at the border.
class DenseGrid {
 public:
  static constexpr int k_side = 256;

  DenseGrid() : values_(std::size_t{k_side} * k_side * k_side) {
    std::size_t i = 0;
    for (int z = 0; z < k_side; ++z)
      for (int y = 0; y < k_side; ++y)
        for (int x = 0; x < k_side; ++x) values_[i++] = static_cast<float>(sphere_distance(position(x, y, z)));
  }
  static Vec3d position(int x, int y, int z) {
    return Vec3d{double(x), double(y), double(z)} * (2.2 / (k_side - 1)) - Vec3d{1.1, 1.1, 1.1};
  }
  static Vec3f to_cells(const Vec3f& p) { return (p + Vec3f{1.1F, 1.1F, 1.1F}) * ((k_side - 1) / 2.2F); }

  float distance_in_cells(const Vec3f& cell) const noexcept {
    constexpr float top = k_side - 1.001F;
    const Vec3f c = min(max(cell, Vec3f{}), Vec3f{top, top, top});
    const int ix = static_cast<int>(c.x), iy = static_cast<int>(c.y), iz = static_cast<int>(c.z);
    const float fx = c.x - static_cast<float>(ix);
    const float fy = c.y - static_cast<float>(iy);
    const float fz = c.z - static_cast<float>(iz);
    const float* s = values_.data() + (iz * k_side + iy) * k_side + ix;
    constexpr int dy = k_side, dz = k_side * k_side;
    const auto along_x = [s, fx](int i) { return s[i] + fx * (s[i + 1] - s[i]); };
    const float a = along_x(0), b = along_x(dy), c1 = along_x(dz), d = along_x(dy + dz);
    const float low = a + fy * (b - a), high = c1 + fy * (d - c1);
    return low + fz * (high - low);
  }
  std::size_t memory_bytes() const { return values_.size() * sizeof(float); }

 private:
  std::vector<float> values_;
};

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

template <class Grid>
void lookups(benchmark::State& state, const Grid& grid, float cells_per_metre) {
  std::vector<Vec3f> cells = shell_points(state.range(0), static_cast<double>(state.range(1)));
  for (Vec3f& p : cells) p = grid.to_cells(p);
  Random random(3);
  std::array<Vec3f, 64> moves;
  for (Vec3f& move : moves) move = Vec3f(random.direction() * 0.001) * cells_per_metre;
  std::size_t cycle = 0;
  for (auto _ : state) {
    const Vec3f move = moves[cycle++ % moves.size()];
    float deepest = 0;
    for (const Vec3f& c : cells) deepest = std::min(deepest, grid.distance_in_cells(c + move));
    benchmark::DoNotOptimize(deepest);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(cells.size()));
  state.counters["per_lookup"] = benchmark::Counter(
      static_cast<double>(cells.size()), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["MiB"] = static_cast<double>(grid.memory_bytes()) / (1 << 20);
}

void lookup_dense(benchmark::State& state) {
  static const DenseGrid grid;
  lookups(state, grid, 255 / 2.2F);
}
void lookup_field(benchmark::State& state) {
  lookups(state, sphere(), 128);
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

// How many places are touched at once (a few stay in the cache, thousands do not), and how far points stray from the
// surface, in cells: in contact, and through the fine band into the coarse far field.
void arguments(benchmark::internal::Benchmark* b) {
  b->ArgNames({"walks", "spread"})->Args({64, 2})->Args({1024, 2})->Args({4096, 2})->Args({1024, 16});
}
BENCHMARK(lookup_dense)->Apply(arguments);
BENCHMARK(lookup_field)->Apply(arguments);

}  // namespace

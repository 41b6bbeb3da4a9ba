// Speed of the searches that building a field rests on.
#include <cotouch/base/random.h>
#include <cotouch/mesh/closest.h>
#include <cotouch/mesh/winding.h>
#include <cotouch/shapes/shapes.h>

#include <benchmark/benchmark.h>

#include <cmath>

namespace cotouch {
namespace {

// About 100k triangles.
const TriangleMesh& big_mesh() {
  static const TriangleMesh mesh = make_torus(0.06, 0.03, 320, 160);
  return mesh;
}

void build_closest(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(ClosestTriangle(big_mesh()));
}
BENCHMARK(build_closest)->Unit(benchmark::kMillisecond);

// Rows of a 256-cell grid through the part, as the field builder walks them: each answer bounds the next.
void closest_along_rows(benchmark::State& state) {
  const ClosestTriangle tree(big_mesh());
  const double cell = 0.18 / 256;
  Random random(1);
  double before = 1;
  int left = 0;
  Vec3d p;
  for (auto _ : state) {
    if (left-- == 0) {
      left = 64;
      before = 1;
      // Start within four cells of the surface, where the field's bricks are.
      p = tree.closest(random.direction() * 0.08).point;
      p += random.direction() * (4 * cell);
    }
    p.x += cell;
    const ClosestHit hit = tree.closest(p, before + cell * 1.001);
    before = std::sqrt(hit.distance_squared);
    benchmark::DoNotOptimize(hit);
  }
}
BENCHMARK(closest_along_rows);

void closest_anywhere(benchmark::State& state) {
  const ClosestTriangle tree(big_mesh());
  Random random(1);
  for (auto _ : state) benchmark::DoNotOptimize(tree.closest(random.direction() * 0.12));
}
BENCHMARK(closest_anywhere);

void build_winding(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(WindingNumber(big_mesh()));
}
BENCHMARK(build_winding)->Unit(benchmark::kMillisecond);

// Points within a few cells of the surface: the dear ones.
void winding_near_surface(benchmark::State& state) {
  const ClosestTriangle tree(big_mesh());
  const WindingNumber winding(big_mesh());
  Random random(1);
  std::vector<Vec3d> points(1000);
  for (Vec3d& p : points) {
    p = tree.closest(random.direction() * 0.08).point;
    p += random.direction() * 0.001;
  }
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(winding.at(points[next]));
    next = (next + 1) % points.size();
  }
}
BENCHMARK(winding_near_surface);

void make_million_triangles_of_clutter(benchmark::State& state) {
  ClutterShape shape;
  shape.triangles = 1'000'000;
  for (auto _ : state) benchmark::DoNotOptimize(make_clutter(shape));
}
BENCHMARK(make_million_triangles_of_clutter)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cotouch

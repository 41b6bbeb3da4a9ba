// What a reduced St. Venant-Kirchhoff body costs: to prepare and to move.
#include <cotouch/base/random.h>
#include <cotouch/elastic/stvk_step.h>

#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

namespace cotouch {
namespace {

const Material k_rubber{.young = 2e6, .poisson = 0.4, .density = 1000};

// 3,000 tetrahedra; anchored at x = 0.
TetMesh bar() {
  return tet_box({0.2, 0.05, 0.05}, {20, 5, 5});
}

// Fields that are smooth, independent and zero at x = 0: time depends on nothing else.
Shapes some_shapes(const TetMesh& mesh, std::uint32_t count) {
  Shapes shapes{static_cast<std::uint32_t>(mesh.nodes.size()), count, {}};
  Random random(1);
  for (std::uint32_t s = 0; s < count; ++s) {
    std::array<Vec3d, 12> factors;
    for (Vec3d& factor : factors) factor = random.direction();
    for (const Vec3d& node : mesh.nodes) {
      const Vec3d p = node / 0.2;
      const double x = p.x, y = p.y, z = p.z;
      const std::array<double, 12> powers{1,     x,     y,         z,         x * x,     x * y,
                                          x * z, y * z, x * x * x, x * x * y, x * x * z, x * y * z};
      Vec3d u;
      for (std::size_t i = 0; i < powers.size(); ++i) u += factors[i] * powers[i] * x;
      shapes.values.insert(shapes.values.end(), {u.x, u.y, u.z});
    }
  }
  return shapes;
}

void prepare_3000_tetrahedra(benchmark::State& state) {
  const TetMesh mesh = bar();
  const Shapes shapes = some_shapes(mesh, static_cast<std::uint32_t>(state.range(0)));
  NoProgress quiet;
  for (auto _ : state) benchmark::DoNotOptimize(reduce_stvk(mesh, k_rubber, shapes, quiet).size());
  state.counters["tetrahedra"] = static_cast<double>(mesh.tets.size());
}
BENCHMARK(prepare_3000_tetrahedra)->Arg(15)->Arg(20)->Arg(30)->Unit(benchmark::kMillisecond);

struct Moving {
  explicit Moving(std::uint32_t size) {
    const TetMesh mesh = bar();
    NoProgress quiet;
    body = reduce_stvk(mesh, k_rubber, some_shapes(mesh, size), quiet);
    q.resize(size);
    v.resize(size);
    load.resize(size);
    Random random(2);
    for (double& x : load) x = random.uniform(-1e-3, 1e-3);
  }

  StvkPolynomials body;
  std::vector<double> q, v, load;
};

void force_and_tangent(benchmark::State& state) {
  Moving moving(static_cast<std::uint32_t>(state.range(0)));
  std::vector<double> tangent(packed_size(moving.body.size()));
  for (auto _ : state) benchmark::DoNotOptimize(moving.body.evaluate(moving.load, moving.v, tangent));
  state.counters["bytes"] = static_cast<double>(moving.body.data().coefficients.size_bytes());
}
BENCHMARK(force_and_tangent)->Arg(15)->Arg(20)->Arg(30)->Unit(benchmark::kMicrosecond);

// One step of 1 ms with one Newton step.
void step(benchmark::State& state) {
  Moving moving(static_cast<std::uint32_t>(state.range(0)));
  StvkScratch scratch;
  const StvkStep settings{.time_step = 1e-3, .mass_damping = 1, .stiffness_damping = 1e-3};
  for (auto _ : state)
    if (!step_stvk(moving.body, settings, moving.load, moving.q, moving.v, scratch))
      state.SkipWithError("the body flew apart");
}
BENCHMARK(step)->Arg(15)->Arg(20)->Arg(30)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cotouch

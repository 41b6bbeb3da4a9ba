// What preparing an elastic part costs: its matrices and its lowest vibration modes.
#include <cotouch/elastic/modes.h>

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <vector>

namespace cotouch {
namespace {

// A compact block, whose factor has more fill than that of most parts, held at one end.
struct Block {
  TetMesh mesh;
  std::vector<std::uint32_t> anchored;

  explicit Block(const std::array<std::uint32_t, 3>& counts)
      : mesh(tet_box({0.01 * counts[0], 0.01 * counts[1], 0.01 * counts[2]}, counts)) {
    for (std::uint32_t i = 0; i < mesh.nodes.size(); ++i)
      if (mesh.nodes[i].x < 1e-9) anchored.push_back(i);
  }
};

constexpr std::array<std::uint32_t, 3> k_fifty_thousand{21, 20, 20}, k_hundred_thousand{27, 25, 25};

void assemble_100k_tets(benchmark::State& state) {
  const Block block(k_hundred_thousand);
  for (auto _ : state) benchmark::DoNotOptimize(assemble(block.mesh, {}, block.anchored).mass.data());
  state.counters["tets"] = static_cast<double>(block.mesh.tets.size());
}
BENCHMARK(assemble_100k_tets)->Unit(benchmark::kMillisecond);

// Eight static loads, once the factor is there.
void solve_8_loads_on_100k_tets(benchmark::State& state) {
  const Block block(k_hundred_thousand);
  const FemSystem system = assemble(block.mesh, {}, block.anchored);
  NoProgress quiet;
  const FemSolver solver(block.mesh, system, quiet);
  std::vector<double> loads(system.unknowns() * k_bundle, 1.0);
  for (auto _ : state) solver.solve(loads);
}
BENCHMARK(solve_8_loads_on_100k_tets)->Unit(benchmark::kMillisecond);

void modes(benchmark::State& state, const std::array<std::uint32_t, 3>& counts, std::uint32_t count) {
  const Block block(counts);
  NoProgress quiet;
  for (auto _ : state) {
    const FemSystem system = assemble(block.mesh, {}, block.anchored);
    benchmark::DoNotOptimize(lowest_modes(block.mesh, system, count, quiet).omega_squared.data());
  }
  state.counters["tets"] = static_cast<double>(block.mesh.tets.size());
}
BENCHMARK_CAPTURE(modes, 60_of_50k_tets, k_fifty_thousand, 60)->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(modes, 100_of_100k_tets, k_hundred_thousand, 100)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace cotouch

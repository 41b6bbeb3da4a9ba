// Processor time of preparing the parts of built-in scenes as users see them, from nothing: all threads together.
#include <cotouch/part/part.h>
#include <cotouch/world/scene.h>

#include <benchmark/benchmark.h>

#include <set>
#include <string>

using namespace cotouch;

namespace {

void prepare_parts(benchmark::State& state, const std::string& name) {
  const Scene scene = builtin_scene(name);
  for (auto _ : state) {
    std::set<const TriangleMesh*> done;  // several bodies may have one mesh
    for (const SceneBody& body : scene.bodies)
      for (const ScenePart& part : body.parts) {
        if (!part.mesh || !done.insert(part.mesh.get()).second) continue;
        NoProgress quiet;
        benchmark::DoNotOptimize(prepare_part(*part.mesh, part.settings, quiet));
      }
  }
}

[[maybe_unused]] const bool k_registered = [] {
  for (const std::string& name : builtin_scene_names())
    benchmark::RegisterBenchmark(name.c_str(), prepare_parts, name)
        ->Unit(benchmark::kSecond)
        ->Iterations(1)
        ->MeasureProcessCPUTime();
  return true;
}();

}  // namespace

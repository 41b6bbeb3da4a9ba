// Any bytes as a mesh file: refused with an Error or turned into a sound mesh, nothing else. The first byte chooses the
// format; most values go to our own readers, which run in this process. The others run in a child (see isolate.h).
#include <cotouch/base/error.h>
#include <cotouch/mesh/import.h>

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size < 1) return 0;
  static constexpr const char* k_names[] = {"a.stl", "a.obj", "a.ply", "a.gltf", "a.glb", "a.3mf", "a.off", "a.dae"};
  const unsigned char choice = data[0];
  // The printable digits 0 to 7, so that seeds can be text; any other byte picks one of the first three.
  const char* name = choice >= '0' && choice <= '7' ? k_names[choice - '0'] : k_names[choice % 3];
  cotouch::ImportOptions options;
  options.limits = {1 << 20, 100'000, 100'000, 1e6, 2};
  try {
    const cotouch::ImportedMesh result =
        cotouch::load_mesh_from_memory(std::as_bytes(std::span(data + 1, size - 1)), name, options);
    if (result.mesh.triangles.empty()) std::abort();
    for (const cotouch::Triangle& t : result.mesh.triangles)
      for (const std::uint32_t index : t)
        if (index >= result.mesh.vertices.size() || !is_finite(result.mesh.vertices[index])) std::abort();
    if (result.report.lines().empty()) std::abort();
  } catch (const cotouch::Error&) {
  }
  return 0;
}

// Any bytes as a mesh file: refused with an Error or turned into a sound mesh, nothing else. The first byte chooses the
// format; most values go to our own readers. All of them run in this process, which the real ones never do.
#include <cotouch/base/error.h>
#include <cotouch/mesh/import.h>
#include <cotouch/reader/read_any.h>

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size < 1) return 0;
  static constexpr const char* k_names[] = {"a.stl", "a.obj", "a.ply", "a.gltf", "a.glb",
                                            "a.3mf", "a.off", "a.dae", "a.amf",  "a.zip"};
  const unsigned char choice = data[0];
  // The printable digits, so that seeds can be text; any other byte picks one of the first three.
  const char* name = choice >= '0' && choice <= '9' ? k_names[choice - '0'] : k_names[choice % 3];
  cotouch::ImportOptions options;
  options.limits.file_bytes = options.limits.unpacked_bytes = 1 << 20;
  options.limits.triangles = options.limits.vertices = 100'000;
  try {
    cotouch::NoFurtherFiles none;
    const cotouch::ImportedMesh result = cotouch::finish_import(
        cotouch::read_any(std::as_bytes(std::span(data + 1, size - 1)), name + 2, {options.limits, false}, none), name,
        options);
    if (result.mesh.triangles.empty()) std::abort();
    for (const cotouch::Triangle& t : result.mesh.triangles)
      for (const std::uint32_t index : t)
        if (index >= result.mesh.vertices.size() || !is_finite(result.mesh.vertices[index])) std::abort();
    if (result.report.lines().empty()) std::abort();
  } catch (const cotouch::Error&) {
  }
  return 0;
}

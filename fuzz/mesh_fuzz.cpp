// Any bytes as a mesh file: refused with an Error or turned into a sound mesh, nothing else. One program for each
// format (COTOUCH_FUZZ_FORMAT). Our own readers are fuzzed in this process, where the fuzzer sees into them; those of
// libraries, which damaged files do crash, by way of the program that reads for everybody. Seeds are shared: their
// first byte once chose the format, and is left out.
#include <cotouch/base/error.h>
#include <cotouch/mesh/import.h>
#include <cotouch/reader/read_any.h>

#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string format = COTOUCH_FUZZ_FORMAT;
  cotouch::ImportOptions options;
  options.limits.file_bytes = options.limits.unpacked_bytes = 1 << 20;
  options.limits.triangles = options.limits.vertices = 100'000;
  options.limits.seconds = 1;  // some damaged files have libraries read for ever; that this ends is what is tried
  try {
    const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
    cotouch::NoFurtherFiles none;
    const bool ours = format == "stl" || format == "obj" || format == "ply" || format == "off";
    const cotouch::ImportedMesh result =
        ours ? cotouch::finish_import(cotouch::read_any(bytes, format, {options.limits, false}, none), "a." + format,
                                      options)
             : cotouch::load_mesh_from_memory(bytes, "a." + format, options);
    if (result.mesh.triangles.empty()) std::abort();
    for (const cotouch::Triangle& t : result.mesh.triangles)
      for (const std::uint32_t index : t)
        if (index >= result.mesh.vertices.size() || !is_finite(result.mesh.vertices[index])) std::abort();
    if (result.report.lines().empty()) std::abort();
  } catch (const cotouch::Error&) {
  }
  return 0;
}

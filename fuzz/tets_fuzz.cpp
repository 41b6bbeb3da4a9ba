// Any bytes as a file of tetrahedra or as the text of an anchor: refused with an Error or sound, nothing else. The
// first byte chooses: '0' a Gmsh file, '1' TetGen's two files with a '%' between them, '2' an anchor.
#include <cotouch/base/error.h>
#include <cotouch/elastic/anchor.h>
#include <cotouch/elastic/read_tets.h>
#include <cotouch/elastic/tet_faces.h>
#include <cotouch/mesh/scan.h>

#include <cstdlib>

namespace {

using namespace cotouch;

void require(bool holds) {
  if (!holds) std::abort();
}

TetMesh read(char choice, FileBytes bytes) {
  TetFileOptions options;
  options.most_tets = options.most_nodes = 10'000;
  std::vector<std::string> notes;
  if (choice == '0') return read_msh(bytes, options, notes);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t split = std::min(text.find('%'), text.size());
  return read_tetgen(bytes.first(split), bytes.subspan(std::min(split + 1, text.size())), options, notes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size < 1) return 0;
  const FileBytes bytes = std::as_bytes(std::span(data + 1, size - 1));
  try {
    if (data[0] == '2') {
      const Anchor anchor = parse_anchor(as_text(bytes));
      require(parse_anchor(to_string(anchor)) == anchor);
      return 0;
    }
    const TetMesh mesh = read(data[0] == '1' ? '1' : '0', bytes);
    require(!mesh.tets.empty());
    for (const Vec3d& node : mesh.nodes) require(is_finite(node));
    for (const Tet& tet : mesh.tets)
      for (const std::uint32_t node : tet) require(node < mesh.nodes.size());
    for (std::size_t i = 0; i < mesh.tets.size(); ++i) require(tet_volume(mesh, i) > 0);
    require(!surface_of(mesh).mesh.triangles.empty());
  } catch (const Error&) {
  }
  return 0;
}

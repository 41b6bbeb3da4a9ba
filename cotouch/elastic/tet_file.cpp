#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/elastic/tet_faces.h>
#include <cotouch/elastic/tet_file.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace cotouch {
namespace {

// Finds nodes by name.
class NodeNames {
 public:
  explicit NodeNames(const std::vector<TetFile::Node>& nodes) {
    names_.reserve(nodes.size());
    for (const TetFile::Node& node : nodes) names_.emplace_back(node.name, static_cast<std::uint32_t>(names_.size()));
    sort_cancellable(names_.begin(), names_.end());
    for_each_cancellable(names_.size(), [&](std::size_t i) {
      if (i > 0 && names_[i].first == names_[i - 1].first)
        throw Error("is damaged: it has two nodes with the number " + std::to_string(names_[i].first) +
                    ". Export it again.");
    });
  }

  std::uint32_t find(std::uint64_t name, const TetFile::Element& element) const {
    const auto found = std::lower_bound(names_.begin(), names_.end(), std::pair{name, std::uint32_t{0}});
    if (found == names_.end() || found->first != name)
      throw Error("is damaged: element " + std::to_string(element.name) + " refers to node " + std::to_string(name) +
                  ", which it does not have. Export it again.");
    return found->second;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint32_t>> names_;
};

// Nearly flat ones, whose stiffness would be beyond all others, are refused as well.
bool is_flat(const TetMesh& mesh, std::size_t tet) {
  const Tet& t = mesh.tets[tet];
  double longest = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < i; ++k) longest = std::max(longest, norm(mesh.nodes[t[i]] - mesh.nodes[t[k]]));
  return !(std::fabs(tet_volume(mesh, tet)) > 1e-10 * longest * longest * longest);
}

}  // namespace

void TetFile::add(const Node& node, const TetFileOptions& options) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (!(std::fabs(node.at[axis]) * options.metres_per_unit <= options.furthest))
      throw Error("has a node (number " + std::to_string(node.name) +
                  ") with a coordinate that is not finite or too large. Check its unit.");
  if (nodes.size() >= options.most_nodes)
    throw Error("has more than the " + std::to_string(options.most_nodes) + " nodes allowed. Mesh it more coarsely.",
                ErrorCode::too_large);
  nodes.push_back(node);
}

void TetFile::add(const Element& tet, const TetFileOptions& options) {
  if (tets.size() >= options.most_tets)
    throw Error(
        "has more than the " + std::to_string(options.most_tets) + " tetrahedra allowed. Mesh it more coarsely.",
        ErrorCode::too_large);
  tets.push_back(tet);
}

TetMesh checked_mesh(const TetFile& file, const TetFileOptions& options, std::vector<std::string>& notes) {
  if (file.tets.empty())
    throw Error("has no tetrahedra. Mesh its volume first, for example with 'gmsh -3', or read it as a surface.");
  const NodeNames names(file.nodes);
  TetMesh mesh;
  for (const TetFile::Node& node : file.nodes) mesh.nodes.push_back(node.at * options.metres_per_unit);
  std::size_t turned = 0;
  for (const TetFile::Element& element : file.tets) {
    throw_if_cancelled();
    Tet tet;
    for (std::size_t i = 0; i < 4; ++i) tet[i] = names.find(element.nodes[i], element);
    mesh.tets.push_back(tet);
    const std::size_t last = mesh.tets.size() - 1;
    if (is_flat(mesh, last))
      throw Error("has a flat tetrahedron, element " + std::to_string(element.name) +
                  ", which nothing can be computed with. Mesh it again and let the mesher optimise.");
    if (tet_volume(mesh, last) < 0) {
      std::swap(mesh.tets[last][2], mesh.tets[last][3]);
      ++turned;
    }
  }
  if (const std::size_t other = first_overlapping(mesh); other < mesh.tets.size())
    throw Error("is no volume: element " + std::to_string(file.tets[other].name) +
                " lies on the same side of a face as another one. Mesh it again.");
  const std::size_t dropped = drop_unused_nodes(mesh);
  // Some programs count the nodes of all tetrahedra the other way round, which needs no comment.
  if (turned > 0 && turned < mesh.tets.size())
    notes.push_back(std::to_string(turned) + " inverted tetrahedra were turned.");
  if (dropped > 0) notes.push_back(std::to_string(dropped) + " nodes that no tetrahedron has were dropped.");
  return mesh;
}

void check_promise(std::uint64_t count, std::size_t bytes_left, const char* what) {
  if (count > bytes_left)
    throw Error("is cut short or damaged: it promises " + std::to_string(count) + ' ' + what +
                ", more than it has room for. Export or download it again.");
}

void refuse_second_order() {
  throw Error(
      "has tetrahedra of second or higher order, and only those with four nodes are read. Mesh it with elements of "
      "first order (Gmsh: '-order 1', TetGen: without -o2).",
      ErrorCode::unsupported);
}

}  // namespace cotouch

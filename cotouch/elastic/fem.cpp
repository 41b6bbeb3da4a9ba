#include <cotouch/elastic/fem.h>

#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string>

namespace cotouch {
namespace {

constexpr std::uint32_t k_anchored = ~0U;

struct Element {
  std::array<Vec3d, 4> gradient;  // of the nodes' shape functions, 1/m
  double volume;
};

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(sentence, ErrorCode::invalid_argument);
}

std::vector<Element> measure_elements(const TetMesh& mesh) {
  std::vector<Element> elements(mesh.tets.size());
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    for (const std::uint32_t node : mesh.tets[t])
      if (node >= mesh.nodes.size())
        refuse("Tetrahedron " + std::to_string(t) + " has node " + std::to_string(node) + ", but the mesh has only " +
               std::to_string(mesh.nodes.size()) + " nodes.");
    const Vec3d& a = mesh.nodes[mesh.tets[t][0]];
    std::array<Vec3d, 3> edge;
    double longest = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      edge[i] = mesh.nodes[mesh.tets[t][i + 1]] - a;
      longest = std::max(longest, norm_squared(edge[i]));
    }
    const Vec3d normal = cross(edge[1], edge[2]);
    const double six_volumes = dot(edge[0], normal);
    // A regular tetrahedron has 0.7 here; rounding alone makes 1e-16 of a flat one. Written so that NaN is refused.
    if (!(six_volumes > 1e-10 * longest * std::sqrt(longest)) || !std::isfinite(six_volumes))
      refuse("Tetrahedron " + std::to_string(t) + " of the mesh is flat or inside out. Repair the mesh or cut the " +
             "volume into tetrahedra again.");
    Element& element = elements[t];
    element.volume = six_volumes / 6;
    element.gradient[1] = normal / six_volumes;
    element.gradient[2] = cross(edge[2], edge[0]) / six_volumes;
    element.gradient[3] = cross(edge[0], edge[1]) / six_volumes;
    element.gradient[0] = -(element.gradient[1] + element.gradient[2] + element.gradient[3]);
  }
  return elements;
}

void check_one_piece(const TetMesh& mesh) {
  // Each node points towards the lowest node of its piece.
  std::vector<std::uint32_t> towards(mesh.nodes.size());
  std::iota(towards.begin(), towards.end(), 0U);
  const auto lowest = [&](std::uint32_t node) {
    while (towards[node] != node) node = towards[node] = towards[towards[node]];
    return node;
  };
  std::vector<char> used(mesh.nodes.size(), 0);
  for (const Tet& tet : mesh.tets)
    for (const std::uint32_t node : tet) {
      used[node] = 1;
      const std::uint32_t a = lowest(tet[0]), b = lowest(node);
      towards[std::max(a, b)] = std::min(a, b);
    }
  std::size_t pieces = 0;
  for (std::uint32_t node = 0; node < mesh.nodes.size(); ++node) {
    if (!used[node]) refuse("Node " + std::to_string(node) + " of the mesh belongs to no tetrahedron. Remove it.");
    if (towards[node] == node) ++pieces;
  }
  if (pieces != 1)
    refuse("The mesh falls into " + std::to_string(pieces) +
           " pieces that share no node. Join them or make each a body of its own.");
}

// Numbers the nodes that move; the others get k_anchored.
std::vector<std::uint32_t> number_free_nodes(const TetMesh& mesh, std::span<const std::uint32_t> anchored) {
  std::vector<std::uint32_t> number(mesh.nodes.size(), 0);
  for (const std::uint32_t node : anchored) {
    if (node >= mesh.nodes.size())
      refuse("Node " + std::to_string(node) + " is to be anchored, but the mesh has only " +
             std::to_string(mesh.nodes.size()) + " nodes.");
    number[node] = k_anchored;
  }
  std::uint32_t next = 0;
  for (std::uint32_t& n : number)
    if (n != k_anchored) n = next++;
  if (next == 0) refuse("All nodes of the mesh are anchored, so nothing of it can move.");
  return number;
}

void check_anchors_hold(const TetMesh& mesh, std::span<const std::uint32_t> anchored) {
  if (anchored.empty()) return;
  Box3d box;
  for (const Vec3d& p : mesh.nodes) box.add(p);
  const Vec3d& a = mesh.nodes[anchored[0]];
  Vec3d line;
  for (const std::uint32_t node : anchored)
    if (norm_squared(mesh.nodes[node] - a) > norm_squared(line)) line = mesh.nodes[node] - a;
  const Vec3d along = normalized(line);
  double farthest = 0;
  for (const std::uint32_t node : anchored) farthest = std::max(farthest, norm(cross(mesh.nodes[node] - a, along)));
  if (farthest < 1e-6 * norm(box.size()))
    refuse("The anchored nodes lie on a line, about which the body would turn freely. Anchor at least three nodes " +
           std::string("that are not on a line, or none."));
}

// The tetrahedra around each free node, ascending.
struct Surroundings {
  std::vector<std::uint32_t> begin, tet;
};

Surroundings find_surroundings(const TetMesh& mesh, const std::vector<std::uint32_t>& number, std::size_t free) {
  Surroundings around;
  around.begin.assign(free + 1, 0);
  for (const Tet& tet : mesh.tets)
    for (const std::uint32_t node : tet)
      if (number[node] != k_anchored) ++around.begin[number[node] + 1];
  std::partial_sum(around.begin.begin(), around.begin.end(), around.begin.begin());
  around.tet.resize(around.begin.back());
  std::vector<std::uint32_t> next(around.begin.begin(), around.begin.end() - 1);
  for (std::uint32_t t = 0; t < mesh.tets.size(); ++t)
    for (const std::uint32_t node : mesh.tets[t])
      if (number[node] != k_anchored) around.tet[next[number[node]]++] = t;
  return around;
}

void add_stiffness(Mat3& block, const Element& e, std::size_t row, std::size_t column, double lambda, double mu) {
  const Vec3d &gi = e.gradient[row], &gj = e.gradient[column];
  const double l = e.volume * lambda, m = e.volume * mu;
  const double isotropic = m * dot(gi, gj);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) block(r, c) += l * (gi[r] * gj[c]) + m * (gj[r] * gi[c]);
    block(r, r) += isotropic;
  }
}

}  // namespace

FemSystem assemble(const TetMesh& mesh, const Material& material, std::span<const std::uint32_t> anchored) {
  if (mesh.tets.empty()) refuse("The mesh has no tetrahedra.");
  const std::vector<Element> elements = measure_elements(mesh);
  check_one_piece(mesh);
  const std::vector<std::uint32_t> number = number_free_nodes(mesh, anchored);
  check_anchors_hold(mesh, anchored);

  FemSystem system;
  for (std::uint32_t node = 0; node < mesh.nodes.size(); ++node)
    if (number[node] != k_anchored) system.free_nodes.push_back(node);
  const std::size_t rows = system.free_nodes.size();
  const Surroundings around = find_surroundings(mesh, number, rows);
  const double lambda = material.lambda(), mu = material.mu();

  system.row_begin.push_back(0);
  std::vector<std::uint32_t> place(rows, k_anchored);  // of a column in the row being made, once it is known
  for (std::uint32_t row = 0; row < rows; ++row) {
    throw_if_cancelled();
    const std::uint32_t first = system.row_begin.back();
    const std::span<const std::uint32_t> tets(around.tet.data() + around.begin[row],
                                              around.tet.data() + around.begin[row + 1]);
    for (const std::uint32_t t : tets)
      for (const std::uint32_t node : mesh.tets[t]) {
        const std::uint32_t column = number[node];
        if (column > row || place[column] != k_anchored) continue;  // k_anchored is above every row
        place[column] = 0;
        system.column.push_back(column);
      }
    std::sort(system.column.begin() + first, system.column.end());
    for (std::size_t k = first; k < system.column.size(); ++k) place[system.column[k]] = static_cast<std::uint32_t>(k);
    system.row_begin.push_back(static_cast<std::uint32_t>(system.column.size()));
    system.stiffness.resize(system.column.size());
    system.mass.resize(system.column.size());

    for (const std::uint32_t t : tets) {
      const Tet& tet = mesh.tets[t];
      const auto own =
          static_cast<std::size_t>(std::find(tet.begin(), tet.end(), system.free_nodes[row]) - tet.begin());
      for (std::size_t other = 0; other < 4; ++other) {
        const std::uint32_t column = number[tet[other]];
        if (column > row) continue;
        add_stiffness(system.stiffness[place[column]], elements[t], own, other, lambda, mu);
        system.mass[place[column]] += material.density * elements[t].volume * (own == other ? 2 : 1) / 20;
      }
    }
    for (std::size_t k = first; k < system.column.size(); ++k) place[system.column[k]] = k_anchored;
  }
  return system;
}

void multiply_stiffness(const FemSystem& system, std::span<const double> x, std::span<double> y) {
  std::fill(y.begin(), y.end(), 0.0);
  for (std::size_t row = 0; row < system.free_nodes.size(); ++row)
    for (std::uint32_t k = system.row_begin[row]; k < system.row_begin[row + 1]; ++k) {
      const std::size_t column = system.column[k];
      const Mat3& block = system.stiffness[k];
      for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 3; ++c) {
          y[3 * row + r] += block(r, c) * x[3 * column + c];
          if (column != row) y[3 * column + c] += block(r, c) * x[3 * row + r];
        }
    }
}

void multiply_mass(const FemSystem& system, std::span<const double> x, std::span<double> y) {
  std::fill(y.begin(), y.end(), 0.0);
  for (std::size_t row = 0; row < system.free_nodes.size(); ++row)
    for (std::uint32_t k = system.row_begin[row]; k < system.row_begin[row + 1]; ++k) {
      const std::size_t column = system.column[k];
      for (std::size_t r = 0; r < 3; ++r) {
        y[3 * row + r] += system.mass[k] * x[3 * column + r];
        if (column != row) y[3 * column + r] += system.mass[k] * x[3 * row + r];
      }
    }
}

}  // namespace cotouch

// An order for eliminating the nodes of a mesh in which a factor of its matrix stays sparse: nested dissection
// (George 1973) by the nodes' coordinates. The mesh is cut in half across its longest side again and again; the nodes
// on a cut are eliminated after both halves. Needs no library, whose next version might order differently.
#pragma once

#include <cotouch/base/vec.h>
#include <cotouch/elastic/fem.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cotouch {

// Which nodes a node is coupled to, in both directions and without itself.
struct NodeGraph {
  std::vector<std::uint32_t> begin;  // one more than there are nodes
  std::vector<std::uint32_t> neighbour;
  std::vector<std::uint32_t> entry;  // where the system stores the pair's block

  explicit NodeGraph(const FemSystem& system);
};

// Nodes that are eliminated together, as one dense block: those on a cut, or what is left between cuts.
struct DissectionPiece {
  std::uint32_t begin, end;  // in the new order
  std::uint32_t parent;      // the piece that this one is handed on to, which comes later; k_no_piece for a root
};
constexpr std::uint32_t k_no_piece = ~0U;

struct Dissection {
  std::vector<std::uint32_t> node;  // by place in the new order
  std::vector<DissectionPiece> pieces;
};

Dissection dissect(const NodeGraph& graph, std::span<const Vec3d> positions);

}  // namespace cotouch

// The factor L L' of a body's stiffness matrix, to solve for displacements under given forces.
//
// Multifrontal (Duff & Reid 1983; Liu 1992) with nested dissection: each piece of the dissection is eliminated as one
// dense block, and what that does to the nodes around is handed on to the piece that is eliminated after it. The same
// bits on every machine.
#pragma once

#include <cotouch/base/progress.h>
#include <cotouch/base/vec.h>
#include <cotouch/elastic/bundle.h>
#include <cotouch/elastic/dissection.h>
#include <cotouch/elastic/fem.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cotouch {

// Holds a node in place: a 3x3 stiffness (N/m) added to its own.
struct Spring {
  std::uint32_t node;  // number in the system
  Mat3 stiffness;
};

class SparseCholesky {
 public:
  // `positions` of the system's nodes. Throws Error if the matrix is not positive definite.
  SparseCholesky(const FemSystem& system, std::span<const Vec3d> positions, std::span<const Spring> springs,
                 Progress& progress);

  // A bundle over the system's unknowns: forces in, displacements out.
  void solve(std::span<double> bundle) const;

  std::size_t values() const { return value_count_; }  // doubles that the factor takes

 private:
  struct Piece {
    std::uint32_t begin, end;  // nodes in the order of elimination
    std::uint32_t parent, depth;
    std::size_t below_begin, below_end;  // in below_: the later nodes that it is coupled to
    std::size_t values;                  // where its part of the factor is
    std::size_t first_row;               // where its unknowns are in the working bundle

    std::size_t own_nodes() const { return end - begin; }
    std::size_t below_nodes() const { return below_end - below_begin; }
  };

  void find_structure(const NodeGraph& graph);
  void factorise(const FemSystem& system, const NodeGraph& graph, std::span<const Spring> springs, Progress& progress);
  void store(const Piece& piece, const double* columns);
  void solve_forward(const Piece& piece, double* x, double* below) const;
  void solve_backward(const Piece& piece, double* x, double* below) const;

  Dissection order_;
  std::vector<std::uint32_t> place_;  // of the system's nodes in the order of elimination
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> below_;
  std::vector<std::size_t> row_;  // of a node's first unknown in the working bundle, by place
  std::size_t rows_ = 0, most_below_ = 0, value_count_ = 0;
  std::unique_ptr<double[]> values_;
};

}  // namespace cotouch

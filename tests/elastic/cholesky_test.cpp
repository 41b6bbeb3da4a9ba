#include <cotouch/base/error.h>
#include <cotouch/elastic/cholesky.h>
#include <elastic/test_bodies.h>
#include <support/error_code.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace cotouch::this_file {
namespace {

std::vector<Vec3d> positions(const TetMesh& mesh, const FemSystem& system) {
  std::vector<Vec3d> result;
  for (const std::uint32_t node : system.free_nodes) result.push_back(mesh.nodes[node]);
  return result;
}

TEST(Dissection, PiecesHoldEveryNodeOnce) {
  const TetMesh mesh = test::irregular_box({0.2, 0.1, 0.15}, {9, 6, 8});
  const FemSystem system = assemble(mesh, {});
  const Dissection order = dissect(NodeGraph(system), mesh.nodes);
  std::vector<std::uint32_t> nodes = order.node;
  std::sort(nodes.begin(), nodes.end());
  for (std::uint32_t i = 0; i < mesh.nodes.size(); ++i) ASSERT_EQ(nodes.at(i), i);
  std::uint32_t begin = 0;
  for (std::uint32_t p = 0; p < order.pieces.size(); ++p) {
    ASSERT_EQ(order.pieces[p].begin, begin);
    ASSERT_GT(order.pieces[p].end, begin);
    ASSERT_GT(order.pieces[p].parent, p);
    begin = order.pieces[p].end;
  }
  EXPECT_EQ(begin, mesh.nodes.size());
  EXPECT_GT(order.pieces.size(), 20U);
}

// What makes a factor sparse: nodes are coupled only within a piece or with the cuts that enclose it.
TEST(Dissection, NeighboursLieInTheSamePieceOrInAnAncestor) {
  const TetMesh mesh = test::irregular_box({0.2, 0.1, 0.15}, {9, 6, 8});
  const NodeGraph graph(assemble(mesh, {}));
  const Dissection order = dissect(graph, mesh.nodes);
  std::vector<std::uint32_t> piece(mesh.nodes.size());
  for (std::uint32_t p = 0; p < order.pieces.size(); ++p)
    for (std::uint32_t i = order.pieces[p].begin; i < order.pieces[p].end; ++i) piece[order.node[i]] = p;
  for (std::uint32_t node = 0; node < mesh.nodes.size(); ++node)
    for (std::uint32_t k = graph.begin[node]; k < graph.begin[node + 1]; ++k) {
      std::uint32_t p = std::min(piece[node], piece[graph.neighbour[k]]);
      const std::uint32_t later = std::max(piece[node], piece[graph.neighbour[k]]);
      while (p < later) p = order.pieces[p].parent;
      ASSERT_EQ(p, later);
    }
}

TEST(SparseCholesky, DisplacementsGiveBackTheForces) {
  for (const std::array<std::uint32_t, 3>& counts : {std::array<std::uint32_t, 3>{1, 1, 1}, {3, 2, 2}, {12, 9, 7}}) {
    const TetMesh mesh = test::irregular_box({0.2, 0.1, 0.15}, counts);
    const FemSystem system = assemble(mesh, {}, test::nodes_at_the_low_end(mesh));
    NoProgress quiet;
    const SparseCholesky factor(system, positions(mesh, system), {}, quiet);
    Random random(3);
    std::vector<double> forces(system.unknowns() * k_bundle);
    for (double& f : forces) f = random.uniform(-1, 1);
    std::vector<double> u = forces, back(forces.size());
    factor.solve(u);
    multiply_stiffness_bundle(system, u, back);
    for (std::size_t i = 0; i < forces.size(); ++i) ASSERT_NEAR(back[i], forces[i], 1e-11);
  }
}

TEST(SparseCholesky, SpringsAddToTheirNodesStiffness) {
  const TetMesh mesh = test::irregular_box({0.2, 0.1, 0.15}, {4, 3, 3});
  FemSystem system = assemble(mesh, {}, test::nodes_at_the_low_end(mesh));
  const Mat3 stiffness{{3e3, 1e3, -5e2, 1e3, 4e3, 2e2, -5e2, 2e2, 1e3}};
  const std::vector<Spring> springs{{17, stiffness}, {40, stiffness}};
  NoProgress quiet;
  const SparseCholesky factor(system, positions(mesh, system), springs, quiet);
  std::vector<double> u(system.unknowns() * k_bundle, 1.0), back(u.size());
  factor.solve(u);
  for (const Spring& spring : springs) {
    Mat3& block = system.stiffness[system.row_begin[spring.node + 1] - 1];
    block = block + spring.stiffness;
  }
  multiply_stiffness_bundle(system, u, back);
  for (const double f : back) ASSERT_NEAR(f, 1, 1e-11);
}

TEST(SparseCholesky, StiffnessThatIsNotPositiveIsRefused) {
  const TetMesh mesh = tet_box({0.2, 0.1, 0.15}, {4, 3, 3});
  const FemSystem system = assemble(mesh, {}, test::nodes_at_the_low_end(mesh));
  NoProgress quiet;
  const std::vector<Spring> springs{{5, Mat3::identity() * -1e9}};
  EXPECT_EQ(code_of([&] { SparseCholesky(system, positions(mesh, system), springs, quiet); }),
            ErrorCode::invalid_argument);
}

// Nested dissection of a mesh in space has a factor of the order N^(4/3); a banded one would have N^(5/3).
TEST(SparseCholesky, FactorGrowsAsTheoryOfNestedDissectionSays) {
  NoProgress quiet;
  double values[2], nodes[2];
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::uint32_t n = i == 0 ? 7 : 14;
    const TetMesh mesh = tet_box({0.1, 0.1, 0.1}, {n, n, n});
    const FemSystem system = assemble(mesh, {}, test::nodes_at_the_low_end(mesh));
    values[i] = static_cast<double>(SparseCholesky(system, positions(mesh, system), {}, quiet).values());
    nodes[i] = static_cast<double>(system.free_nodes.size());
  }
  EXPECT_LT(std::log(values[1] / values[0]) / std::log(nodes[1] / nodes[0]), 1.5);
}

}  // namespace
}  // namespace cotouch::this_file

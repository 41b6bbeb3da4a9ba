#include <cotouch/base/error.h>
#include <cotouch/elastic/fem.h>
#include <elastic/test_bodies.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

namespace cotouch::this_file {
namespace {

constexpr Vec3d k_size{0.2, 0.1, 0.15};
const Material k_material{2e6, 0.3, 1200, 0, 0};

TetMesh body() {
  return test::irregular_box(k_size, {4, 3, 5});
}

template <class Function>
std::vector<double> field(const TetMesh& mesh, const FemSystem& system, const Function& u) {
  std::vector<double> values;
  for (const std::uint32_t node : system.free_nodes) {
    const Vec3d v = u(mesh.nodes[node]);
    values.insert(values.end(), {v.x, v.y, v.z});
  }
  return values;
}

std::vector<double> forces(const FemSystem& system, const std::vector<double>& u) {
  std::vector<double> f(u.size());
  multiply_stiffness(system, u, f);
  return f;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::fabs(v));
  return most;
}

std::string refusal(const TetMesh& mesh, const std::vector<std::uint32_t>& anchored = {}) {
  try {
    assemble(mesh, k_material, anchored);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "nothing";
}

TEST(Fem, RowsEndWithTheirDiagonalAndBlocksOnItAreSymmetric) {
  const FemSystem system = assemble(body(), k_material);
  ASSERT_EQ(system.row_begin.size(), system.free_nodes.size() + 1);
  ASSERT_EQ(system.stiffness.size(), system.column.size());
  for (std::uint32_t row = 0; row < system.free_nodes.size(); ++row) {
    const auto begin = system.column.begin() + system.row_begin[row],
               end = system.column.begin() + system.row_begin[row + 1];
    EXPECT_TRUE(std::is_sorted(begin, end));
    EXPECT_EQ(std::adjacent_find(begin, end), end);
    ASSERT_EQ(*(end - 1), row);
    const Mat3& block = system.stiffness[system.row_begin[row + 1] - 1];
    for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(block.m[i], block.transposed().m[i]);
  }
}

TEST(Fem, RigidMotionsGiveNoForce) {
  const TetMesh mesh = body();
  const FemSystem system = assemble(mesh, k_material);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Vec3d direction;
    direction[axis] = 1;
    // What bending by a displacement as large would cost sets the scale.
    const std::vector<double> bend =
        field(mesh, system, [&](const Vec3d& p) { return direction * (p.x * p.x + p.z * p.z) / k_size.x; });
    const std::vector<double> shift = field(mesh, system, [&](const Vec3d&) { return direction * 0.1; });
    const std::vector<double> turn = field(mesh, system, [&](const Vec3d& p) { return cross(direction, p); });
    const double scale = largest(forces(system, bend));
    ASSERT_GT(scale, 0);
    EXPECT_LT(largest(forces(system, shift)), 1e-10 * scale);
    EXPECT_LT(largest(forces(system, turn)), 1e-10 * scale);
  }
}

// The patch test. A displacement A x strains a body evenly, so its stress is Hooke's everywhere: no force on nodes
// inside, and on nodes of the surface a third of the traction on each triangle around them.
TEST(Fem, AffineDisplacementGivesTheTractionsOfHookesLaw) {
  const TetMesh mesh = body();
  const FemSystem system = assemble(mesh, k_material);
  const Mat3 a{{0.01, 0.02, -0.005, 0.004, -0.013, 0.007, 0.011, -0.002, 0.006}};
  const std::vector<double> f = forces(system, field(mesh, system, [&](const Vec3d& p) { return a * p; }));
  Mat3 stress = (a + a.transposed()) * k_material.mu();
  for (std::size_t i = 0; i < 3; ++i) stress(i, i) += k_material.lambda() * (a(0, 0) + a(1, 1) + a(2, 2));

  // Triangles of one tetrahedron only are the surface. Seen from outside, these orders go round counter-clockwise.
  constexpr std::array<std::array<std::size_t, 3>, 4> sides{{{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};
  std::map<std::array<std::uint32_t, 3>, std::vector<std::array<std::uint32_t, 3>>> triangles;
  for (const Tet& tet : mesh.tets)
    for (const auto& side : sides) {
      const std::array<std::uint32_t, 3> corners{tet[side[0]], tet[side[1]], tet[side[2]]};
      auto key = corners;
      std::sort(key.begin(), key.end());
      triangles[key].push_back(corners);
    }
  std::vector<Vec3d> expected(mesh.nodes.size());
  double area = 0;
  for (const auto& [key, owners] : triangles) {
    if (owners.size() != 1) continue;
    const Vec3d normal_area = cross(mesh.nodes[owners[0][1]] - mesh.nodes[owners[0][0]],
                                    mesh.nodes[owners[0][2]] - mesh.nodes[owners[0][0]]) /
                              2;
    area += norm(normal_area);
    for (const std::uint32_t node : owners[0]) expected[node] += stress * normal_area / 3;
  }
  ASSERT_NEAR(area, 2 * (k_size.x * k_size.y + k_size.y * k_size.z + k_size.z * k_size.x), 1e-12);
  const double scale = largest(f);
  for (std::size_t node = 0; node < mesh.nodes.size(); ++node)
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(f[3 * node + i], expected[node][i], 1e-12 * scale);
}

// The integral of density u . v over the body, for fields that linear tetrahedra represent exactly.
TEST(Fem, MassOfLinearFieldsIsTheirIntegral) {
  const TetMesh mesh = body();
  const FemSystem system = assemble(mesh, k_material);
  const auto product = [&](const auto& u, const auto& v) {
    const std::vector<double> x = field(mesh, system, u), y = field(mesh, system, v);
    std::vector<double> mx(x.size());
    multiply_mass(system, x, mx);
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += mx[i] * y[i];
    return sum;
  };
  const auto one = [](const Vec3d&) { return Vec3d{1, 0, 0}; };
  const auto x = [](const Vec3d& p) { return Vec3d{p.x, 0, 0}; };
  const auto y = [](const Vec3d& p) { return Vec3d{p.y, 0, 0}; };
  const auto across = [](const Vec3d& p) { return Vec3d{0, p.y, 0}; };
  const double mass = k_material.density * k_size.x * k_size.y * k_size.z;
  EXPECT_NEAR(product(one, one), mass, 1e-12 * mass);
  EXPECT_NEAR(product(one, x), mass * k_size.x / 2, 1e-12 * mass);
  EXPECT_NEAR(product(x, x), mass * k_size.x * k_size.x / 3, 1e-12 * mass);
  EXPECT_NEAR(product(x, y), mass * k_size.x * k_size.y / 4, 1e-12 * mass);
  EXPECT_EQ(product(x, across), 0);
}

TEST(Fem, AnchoredNodesAreLeftOutAndNothingElseChanges) {
  const TetMesh mesh = body();
  const std::vector<std::uint32_t> anchored = test::nodes_at_the_low_end(mesh);
  const FemSystem whole = assemble(mesh, k_material), held = assemble(mesh, k_material, anchored);
  ASSERT_EQ(held.free_nodes.size() + anchored.size(), mesh.nodes.size());
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> entries;
  for (std::uint32_t row = 0; row < whole.free_nodes.size(); ++row)
    for (std::uint32_t k = whole.row_begin[row]; k < whole.row_begin[row + 1]; ++k) entries[{row, whole.column[k]}] = k;
  for (std::uint32_t row = 0; row < held.free_nodes.size(); ++row)
    for (std::uint32_t k = held.row_begin[row]; k < held.row_begin[row + 1]; ++k) {
      const std::size_t same = entries.at({held.free_nodes[row], held.free_nodes[held.column[k]]});
      EXPECT_EQ(held.stiffness[k].m, whole.stiffness[same].m);
      EXPECT_EQ(held.mass[k], whole.mass[same]);
    }
}

TEST(Fem, MeshInPiecesIsRefused) {
  TetMesh mesh = body();
  const TetMesh other = tet_box({0.1, 0.1, 0.1}, {1, 1, 1});
  const auto nodes = static_cast<std::uint32_t>(mesh.nodes.size());
  for (const Vec3d& p : other.nodes) mesh.nodes.push_back(p + Vec3d{1, 0, 0});
  for (const Tet& t : other.tets) mesh.tets.push_back({t[0] + nodes, t[1] + nodes, t[2] + nodes, t[3] + nodes});
  EXPECT_NE(refusal(mesh).find("falls into 2 pieces"), std::string::npos);
  EXPECT_NE(refusal(mesh, test::nodes_at_the_low_end(mesh)).find("falls into 2 pieces"), std::string::npos);
}

TEST(Fem, BadTetrahedraAndNodesAreRefusedByNumber) {
  TetMesh flat = body();
  flat.nodes[flat.tets[17][0]] = flat.nodes[flat.tets[17][1]] * 0.5 + flat.nodes[flat.tets[17][2]] * 0.5;
  EXPECT_NE(refusal(flat).find("flat or inside out"), std::string::npos);
  TetMesh mirrored = body();
  std::swap(mirrored.tets[9][0], mirrored.tets[9][1]);
  EXPECT_NE(refusal(mirrored).find("Tetrahedron 9 "), std::string::npos);
  TetMesh infinite = body();
  infinite.nodes[3].x = std::numeric_limits<double>::infinity();
  EXPECT_NE(refusal(infinite).find("flat or inside out"), std::string::npos);
  TetMesh outside = body();
  outside.tets[5][2] = 100000;
  EXPECT_NE(refusal(outside).find("Tetrahedron 5 has node 100000"), std::string::npos);
  TetMesh loose = body();
  loose.nodes.push_back({});
  EXPECT_NE(refusal(loose).find("Node 120 of the mesh belongs to no tetrahedron"), std::string::npos);
  EXPECT_NE(refusal(TetMesh{}).find("no tetrahedra"), std::string::npos);
}

TEST(Fem, AnchorsThatDoNotHoldAreRefused) {
  const TetMesh mesh = body();
  EXPECT_NE(refusal(mesh, {3}).find("on a line"), std::string::npos);
  EXPECT_NE(refusal(mesh, {0, 1, 2, 3, 4}).find("on a line"), std::string::npos);
  EXPECT_EQ(refusal(mesh, {0, 1, 119}), "nothing");
  EXPECT_NE(refusal(mesh, {0, 1, 120}).find("only 120 nodes"), std::string::npos);
  std::vector<std::uint32_t> all(mesh.nodes.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  EXPECT_NE(refusal(mesh, all).find("All nodes"), std::string::npos);
}

}  // namespace
}  // namespace cotouch::this_file

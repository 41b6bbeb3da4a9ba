#include <cotouch/elastic/fem_solver.h>
#include <elastic/test_bodies.h>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace cotouch::this_file {
namespace {

const Material k_material{2e6, 0.3, 1200, 0, 0};
constexpr Vec3d k_size{0.2, 0.1, 0.15};

Shapes fields(std::size_t nodes, std::uint32_t count) {
  Shapes shapes;
  shapes.nodes = static_cast<std::uint32_t>(nodes);
  shapes.count = count;
  shapes.values.resize(3 * nodes * count);
  return shapes;
}

// Eleven fields, so that the last bundle is not full.
TEST(FemSolver, AnchoredBodyPushesBackWithTheForces) {
  const TetMesh mesh = test::irregular_box(k_size, {5, 4, 4});
  const std::vector<std::uint32_t> anchored = test::nodes_at_the_low_end(mesh);
  const FemSystem system = assemble(mesh, k_material, anchored);
  NoProgress quiet;
  const FemSolver solver(mesh, system, quiet);
  EXPECT_EQ(solver.rigid(), 0U);
  Shapes u = fields(mesh.nodes.size(), 11);
  Random random(5);
  for (double& f : u.values) f = random.uniform(-1, 1);
  const Shapes forces = u;
  solver.solve(u);
  for (std::size_t i = 0; i < u.count; ++i) {
    for (const std::uint32_t node : anchored)
      for (std::size_t r = 0; r < 3; ++r) ASSERT_EQ(u[i][3 * node + r], 0);
    std::vector<double> x, f(system.unknowns());
    for (const std::uint32_t node : system.free_nodes) x.insert(x.end(), u[i] + 3 * node, u[i] + 3 * node + 3);
    multiply_stiffness(system, x, f);
    for (std::size_t n = 0; n < system.free_nodes.size(); ++n)
      for (std::size_t r = 0; r < 3; ++r)
        ASSERT_NEAR(f[3 * n + r], forces[i][3 * system.free_nodes[n] + r], 1e-11) << "field " << i;
  }
}

// A bar pulled at both ends: s / E longer, nu s / E thinner. Linear displacements are exact in linear tetrahedra.
TEST(FemSolver, FreeBarUnderTensionStretchesByHookesLaw) {
  const TetMesh mesh = test::irregular_box(k_size, {5, 4, 4});
  const FemSystem system = assemble(mesh, k_material);
  NoProgress quiet;
  const FemSolver solver(mesh, system, quiet);
  EXPECT_EQ(solver.rigid(), 6U);
  // The stretched shape about the centre has no part in any rigid motion of a box: not on average, and it does not
  // turn.
  constexpr double k_stress = 1e4;
  const auto expected = [&](const Vec3d& p) {
    const Vec3d from_center = p - k_size * 0.5;
    const double strain = k_stress / k_material.young;
    return Vec3d{from_center.x, -k_material.poisson * from_center.y, -k_material.poisson * from_center.z} * strain;
  };
  std::vector<double> stretched, forces(system.unknowns());
  for (const Vec3d& p : mesh.nodes) {
    const Vec3d v = expected(p);
    stretched.insert(stretched.end(), {v.x, v.y, v.z});
  }
  multiply_stiffness(system, stretched, forces);
  Shapes u = fields(mesh.nodes.size(), 1);
  u.values = forces;
  solver.solve(u);
  const double most = k_stress / k_material.young * k_size.x / 2;
  for (std::size_t i = 0; i < stretched.size(); ++i) ASSERT_NEAR(u.values[i], stretched[i], 1e-11 * most);
}

// Falling and spinning up cost no deformation: forces M a with a rigid acceleration a leave the shape as it is.
TEST(FemSolver, FreeBodyIsNotDeformedByForcesThatOnlyAccelerateIt) {
  const TetMesh mesh = test::irregular_box(k_size, {5, 4, 4});
  const FemSystem system = assemble(mesh, k_material);
  NoProgress quiet;
  const FemSolver solver(mesh, system, quiet);
  Shapes u = fields(mesh.nodes.size(), 2);
  std::vector<double> fall, spin;
  for (const Vec3d& p : mesh.nodes) {
    const Vec3d v = cross(Vec3d{3, -7, 5}, p - Vec3d{0.4, 0, 0});
    fall.insert(fall.end(), {1, -9.81, 2});
    spin.insert(spin.end(), {v.x, v.y, v.z});
  }
  multiply_mass(system, fall, std::span(u[0], fall.size()));
  multiply_mass(system, spin, std::span(u[1], spin.size()));
  // What the same forces do to the body when it is anchored at one end sets the scale.
  const FemSystem anchored = assemble(mesh, k_material, test::nodes_at_the_low_end(mesh));
  Shapes held = u;
  FemSolver(mesh, anchored, quiet).solve(held);
  solver.solve(u);
  double most_held = 0, most = 0;
  for (const double v : held.values) most_held = std::max(most_held, std::fabs(v));
  for (const double v : u.values) most = std::max(most, std::fabs(v));
  EXPECT_GT(most_held, 0);
  EXPECT_LT(most, 1e-11 * most_held);
}

}  // namespace
}  // namespace cotouch::this_file

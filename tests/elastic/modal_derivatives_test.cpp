#include <cotouch/base/error.h>
#include <cotouch/elastic/modal_derivatives.h>
#include <elastic/stvk_fields.h>
#include <elastic/test_bodies.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace cotouch::this_file {
namespace {

using namespace test;

struct Body {
  Body(const TetMesh& mesh_, const std::vector<std::uint32_t>& anchored, std::uint32_t mode_count)
      : mesh(mesh_),
        system(assemble(mesh, k_rubber, anchored)),
        solver(mesh, system, quiet),
        modes(lowest_modes(solver, mode_count, quiet)) {}
  Body(const Body&) = delete;  // the solver refers to the system

  Field3 mass_times(const double* field) const {
    Field3 free, product(system.unknowns()), all(3 * mesh.nodes.size());
    for (const std::uint32_t node : system.free_nodes) free.insert(free.end(), field + 3 * node, field + 3 * node + 3);
    multiply_mass(system, free, product);
    for (std::size_t n = 0; n < system.free_nodes.size(); ++n)
      for (std::size_t i = 0; i < 3; ++i) all[3 * system.free_nodes[n] + i] = product[3 * n + i];
    return all;
  }
  Field3 field(const Shapes& shapes, std::size_t i) const {
    return Field3(shapes[i], shapes[i] + 3 * mesh.nodes.size());
  }

  NoProgress quiet;
  TetMesh mesh;
  FemSystem system;
  FemSolver solver;
  Modes modes;
};

Body anchored_bar(std::uint32_t modes) {
  const TetMesh mesh = irregular_box({0.2, 0.02, 0.03}, {12, 2, 2});
  return {mesh, nodes_at_the_low_end(mesh), modes};
}

Body free_bar(std::uint32_t modes) {
  return {irregular_box({0.2, 0.02, 0.03}, {12, 2, 2}), {}, modes};
}

TEST(ModalDerivatives, AreHowTheStaticShapeUnderModalForcesCurves) {
  // Under the forces K (s p_i + t p_j) the full body takes the shape s p_i + t p_j + (s^2 D_ii + 2 s t D_ij + t^2 D_jj)
  // / 2 + ...: so the full forces of that shape are those forces up to the third order.
  const Body body = anchored_bar(3);
  NoProgress quiet;
  const Shapes derivatives = modal_derivatives(body.mesh, k_rubber, body.solver, body.modes, quiet);
  ASSERT_EQ(derivatives.count, 6U);
  const StvkFull full(body.mesh, k_rubber);
  const Field3 p = body.field(body.modes.shapes, 0), r = body.field(body.modes.shapes, 2);
  const Field3 pp = body.field(derivatives, 0), pr = body.field(derivatives, 2), rr = body.field(derivatives, 5);
  const Field3 rest(p.size());
  const auto excess = [&](double s, double t, bool curved) {
    Field3 u = sum(sum(rest, s, p), t, r);
    const Field3 wanted = tangent(full, rest, u);
    if (curved) u = sum(sum(sum(u, s * s / 2, pp), s * t, pr), t * t / 2, rr);
    Field3 f = sum(force(full, u), -1, wanted);
    for (std::size_t n = 0; n < body.mesh.nodes.size(); ++n)
      if (body.mesh.nodes[n].x < 1e-12) f[3 * n] = f[3 * n + 1] = f[3 * n + 2] = 0;  // what holds it
    return largest(f);
  };
  const double s = 1e-4, t = -0.7e-4;
  EXPECT_NEAR(excess(2 * s, 2 * t, true) / excess(s, t, true), 8, 0.2);
  EXPECT_NEAR(excess(2 * s, 2 * t, false) / excess(s, t, false), 4, 0.2);
}

TEST(ModalDerivatives, OfAFreeBodyContainNoRigidMotion) {
  const Body body = free_bar(4);
  NoProgress quiet;
  const Shapes derivatives = modal_derivatives(body.mesh, k_rubber, body.solver, body.modes, quiet);
  for (std::size_t d = 0; d < derivatives.count; ++d) {
    const Field3 momentum = body.mass_times(derivatives[d]);
    Vec3d linear, angular;
    double scale = 0;
    for (std::size_t n = 0; n < body.mesh.nodes.size(); ++n) {
      const Vec3d m{momentum[3 * n], momentum[3 * n + 1], momentum[3 * n + 2]};
      linear += m;
      angular += cross(body.mesh.nodes[n], m);
      scale += norm(m);
    }
    EXPECT_LT(norm(linear), 1e-10 * scale) << d;
    EXPECT_LT(norm(angular), 1e-11 * scale) << d;
  }
}

TEST(ModalDerivatives, BasisIsMassOrthonormal) {
  for (const Body& body : {anchored_bar(6), free_bar(6)}) {
    NoProgress quiet;
    const Shapes basis = stvk_basis(body.mesh, k_rubber, body.solver, body.modes, 15, quiet);
    ASSERT_EQ(basis.count, 15U);
    for (std::size_t i = 0; i < basis.count; ++i) {
      const Field3 mass_times = body.mass_times(basis[i]);
      for (std::size_t j = 0; j < basis.count; ++j)
        EXPECT_NEAR(dot(mass_times, body.field(basis, j)), i == j ? 1 : 0, 1e-12) << i << " " << j;
    }
  }
}

TEST(ModalDerivatives, FirstShapesOfTheBasisHoldTheFirstModes) {
  // What is left of a mode beside the basis, as a share of its mass.
  const Body body = anchored_bar(6);
  NoProgress quiet;
  const Shapes basis = stvk_basis(body.mesh, k_rubber, body.solver, body.modes, 15, quiet);
  const auto left = [&](std::size_t mode) {
    const Field3 mass_times = body.mass_times(body.modes.shapes[mode]);
    double rest = 1;
    for (std::size_t i = 0; i < basis.count; ++i) {
      const double share = dot(mass_times, body.field(basis, i));
      rest -= share * share;
    }
    return rest;
  };
  EXPECT_LT(left(0), 1e-6);
  EXPECT_LT(left(1), 1e-6);
}

TEST(ModalDerivatives, BasisIsTheSameEveryTimeWithFixedSigns) {
  NoProgress quiet;
  const Body a = anchored_bar(5), b = anchored_bar(5);
  const Shapes first = stvk_basis(a.mesh, k_rubber, a.solver, a.modes, 10, quiet);
  const Shapes second = stvk_basis(b.mesh, k_rubber, b.solver, b.modes, 10, quiet);
  ASSERT_EQ(first.values.size(), second.values.size());
  EXPECT_EQ(std::memcmp(first.values.data(), second.values.data(), first.values.size() * sizeof(double)), 0);
  for (std::size_t i = 0; i < first.count; ++i) {
    double most = 0;
    for (const double x : a.field(first, i))
      if (std::abs(x) > std::abs(most)) most = x;
    EXPECT_GT(most, 0) << i;
  }
}

TEST(ModalDerivatives, RefusesMoreShapesThanThereAre) {
  const Body body = anchored_bar(2);  // two modes and three derivatives
  NoProgress quiet;
  EXPECT_EQ(stvk_basis(body.mesh, k_rubber, body.solver, body.modes, 5, quiet).count, 5U);
  EXPECT_THROW(stvk_basis(body.mesh, k_rubber, body.solver, body.modes, 6, quiet), Error);
}

}  // namespace
}  // namespace cotouch::this_file

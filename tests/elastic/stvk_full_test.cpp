#include <cotouch/base/trig.h>
#include <elastic/stvk_fields.h>

#include <gtest/gtest.h>

#include <cmath>

namespace cotouch::this_file {
namespace {

using namespace test;

// The derivative at zero of a function of one number that is a polynomial of at most the fourth degree: exact.
template <class F>
auto slope(const F& f, double h) {
  return (8.0 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
}

TEST(StvkFull, RigidMotionCostsNothing) {
  const TetMesh mesh = small_box();
  const StvkFull body(mesh, k_rubber);
  const auto [s, c] = sin_cos(2.1);
  const Mat3 turn = Mat3{{c, -s, 0, s, c, 0, 0, 0, 1}} * Mat3{{1, 0, 0, 0, c, -s, 0, s, c}};
  Field3 u = affine(mesh, turn - Mat3::identity());
  for (std::size_t i = 0; i < u.size(); i += 3) u[i + 1] += 0.7;
  // Against the force of a stretch by as much: some hundred kN.
  const double stretched = largest(force(body, affine(mesh, Mat3::identity())));
  EXPECT_GT(stretched, 1e3);
  EXPECT_LT(largest(force(body, u)), 1e-13 * stretched);
  EXPECT_LT(body.energy(u), 1e-20 * stretched);
}

TEST(StvkFull, EvenStretchHasTheEnergyOfItsStrain) {
  const TetMesh mesh = small_box();
  const StvkFull body(mesh, k_rubber);
  const Mat3 g{{0.3, 0.1, 0, -0.2, 0.05, 0.4, 0.02, 0, -0.1}};
  // Green's strain in components.
  double trace = 0, squares = 0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      double e = (g(i, j) + g(j, i)) / 2;
      for (std::size_t k = 0; k < 3; ++k) e += g(k, i) * g(k, j) / 2;
      squares += e * e;
      if (i == j) trace += e;
    }
  const double expected = 0.2 * 0.1 * 0.15 * (k_rubber.lambda() / 2 * trace * trace + k_rubber.mu() * squares);
  EXPECT_NEAR(body.energy(affine(mesh, g)), expected, 1e-12 * expected);
}

TEST(StvkFull, ForceIsTheSlopeOfTheEnergy) {
  const TetMesh mesh = small_box();
  const StvkFull body(mesh, k_rubber);
  const Field3 u = random_field(body.size(), 0.02, 1);
  for (std::uint64_t seed = 2; seed < 6; ++seed) {
    const Field3 v = random_field(body.size(), 0.02, seed);
    const double expected = slope([&](double h) { return body.energy(sum(u, h, v)); }, 0.5);
    EXPECT_NEAR(dot(force(body, u), v), expected, 1e-11 * body.energy(u));
  }
}

TEST(StvkFull, TangentIsTheSlopeOfTheForce) {
  const TetMesh mesh = small_box();
  const StvkFull body(mesh, k_rubber);
  const Field3 u = random_field(body.size(), 0.02, 1), v = random_field(body.size(), 0.02, 2),
               w = random_field(body.size(), 0.02, 3);
  const double expected = slope([&](double h) { return dot(force(body, sum(u, h, v)), w); }, 0.5);
  EXPECT_NEAR(dot(tangent(body, u, v), w), expected, 1e-11 * body.energy(u));
  EXPECT_NEAR(dot(tangent(body, u, w), v), expected, 1e-11 * body.energy(u)) << "not symmetric";
}

TEST(StvkFull, CurvatureIsTheSlopeOfTheTangentAtRest) {
  const TetMesh mesh = small_box();
  const StvkFull body(mesh, k_rubber);
  const Field3 v = random_field(body.size(), 0.02, 1), w = random_field(body.size(), 0.02, 2),
               x = random_field(body.size(), 0.02, 3);
  Field3 curvature(body.size());
  body.curvature_at_rest(v, w, curvature);
  const Field3 rest(body.size());
  const double expected = slope([&](double h) { return dot(tangent(body, sum(rest, h, v), w), x); }, 0.5);
  EXPECT_NEAR(dot(curvature, x), expected, 1e-11 * body.energy(v));
}

TEST(StvkFull, ForceOfATinyPullIsHookes) {
  const TetMesh mesh = small_box();
  const StvkFull body(mesh, k_rubber);
  // A bar that is pulled along x and free to become thinner: the stress along x is E times the strain, no other.
  const double strain = 1e-7, nu = k_rubber.poisson;
  const Field3 f = force(body, affine(mesh, {{strain, 0, 0, 0, -nu * strain, 0, 0, 0, -nu * strain}}));
  Vec3d at_far_end;
  for (std::size_t n = 0; n < mesh.nodes.size(); ++n) {
    if (mesh.nodes[n].x > 0.199) at_far_end += Vec3d{f[3 * n], f[3 * n + 1], f[3 * n + 2]};
    const bool between_the_ends = mesh.nodes[n].x > 0.001 && mesh.nodes[n].x < 0.199;
    EXPECT_LT(between_the_ends ? std::abs(f[3 * n]) : 0.0, 1e-8);
  }
  const double expected = k_rubber.young * strain * 0.1 * 0.15;  // 3 mN
  EXPECT_NEAR(at_far_end.x, expected, 1e-6 * expected);
  EXPECT_NEAR(at_far_end.y, 0, 1e-6 * expected);
}

}  // namespace
}  // namespace cotouch::this_file

// A bar that is clamped at one end and bent far by a force at the other: the reduced body against the full one and
// against the theory of thin bars.
#include <cotouch/elastic/modal_derivatives.h>
#include <cotouch/elastic/stvk_step.h>
#include <cotouch/experiment/elastica.h>
#include <elastic/stvk_fields.h>
#include <elastic/test_bodies.h>

#include <gtest/gtest.h>

#include <cmath>

namespace cotouch::this_file {
namespace {

using namespace test;

constexpr double k_length = 0.4;

class Bar {
 public:
  explicit Bar(const Material& material_)
      : material(material_),
        mesh(tet_box({k_length, 0.02, 0.02}, {20, 2, 2})),
        system(assemble(mesh, material, nodes_at_the_low_end(mesh))),
        solver(mesh, system, quiet),
        full(mesh, material),
        pull(full.size()) {
    for (std::uint32_t n = 0; n < mesh.nodes.size(); ++n)
      if (mesh.nodes[n].x > k_length - 1e-9) tip_nodes.push_back(n);
    for (const std::uint32_t n : tip_nodes) pull[3 * std::size_t{n} + 1] = 1 / static_cast<double>(tip_nodes.size());
    // Few and coarse tetrahedra are too stiff in bending. Their stiffness for small forces takes the place of Young's
    // modulus times the second moment, so that what is compared is how it changes with the angle.
    Shapes small{static_cast<std::uint32_t>(mesh.nodes.size()), 1, pull};
    solver.solve(small);
    bending_stiffness = k_length * k_length * k_length / 3 / tip(small.values).y;
  }
  Bar(const Bar&) = delete;  // the solver refers to the system

  // The force at the tip for a load of the elastica.
  double newtons(double load) const { return load * bending_stiffness / (k_length * k_length); }
  // How far the tip's middle has moved.
  Vec3d tip(const Field3& u) const {
    Vec3d sum;
    for (const std::uint32_t n : tip_nodes) sum += Vec3d{u[3 * n], u[3 * n + 1], u[3 * n + 2]};
    return sum / static_cast<double>(tip_nodes.size());
  }

  NoProgress quiet;
  Material material;
  TetMesh mesh;
  FemSystem system;
  FemSolver solver;
  StvkFull full;
  std::vector<std::uint32_t> tip_nodes;
  Field3 pull;  // one newton at the tip, across the bar
  double bending_stiffness = 0;
};

class ReducedBar {
 public:
  ReducedBar(Bar& bar, std::uint32_t modes, std::uint32_t size)
      : basis(stvk_basis(bar.mesh, bar.material, bar.solver, lowest_modes(bar.solver, modes, bar.quiet), size,
                         bar.quiet)),
        body(reduce_stvk(bar.mesh, bar.material, basis, bar.quiet)),
        pull(projection(basis, bar.pull)),
        q(size),
        v(size) {}

  // Newton's method from where the bar is.
  bool balance(double newtons) {
    Field3 change(q.size()), tangent(packed_size(q.size()));
    for (int i = 0; i < 50; ++i) {
      body.evaluate(q, change, tangent);
      for (std::size_t k = 0; k < q.size(); ++k) change[k] = newtons * pull[k] - change[k];
      if (largest(change) < 1e-9 * newtons * largest(pull)) return true;
      if (!factor_packed(tangent, q.size(), 0)) return false;
      solve_packed(tangent, q.size(), change);
      q = sum(q, 1, change);
    }
    return false;
  }
  double energy() const {
    Field3 force(q.size()), tangent(packed_size(q.size()));
    return body.evaluate(q, force, tangent) + dot(v, v) / 2;
  }
  Field3 displaced() const { return displacement(basis, q); }

  Shapes basis;
  StvkPolynomials body;
  Field3 pull, q, v;
};

// The same for all nodes, with a dense matrix.
bool balance(const Bar& bar, double newtons, Field3& u) {
  std::vector<std::size_t> unknowns;
  for (const std::uint32_t n : bar.system.free_nodes)
    for (std::size_t i = 0; i < 3; ++i) unknowns.push_back(3 * std::size_t{n} + i);
  const std::size_t size = unknowns.size();
  Field3 change(size), matrix(packed_size(size)), unit(u.size());
  for (int i = 0; i < 50; ++i) {
    const Field3 f = force(bar.full, u);
    for (std::size_t k = 0; k < size; ++k) change[k] = newtons * bar.pull[unknowns[k]] - f[unknowns[k]];
    if (largest(change) < 1e-9 * newtons) return true;
    std::size_t at = 0;
    for (std::size_t k = 0; k < size; ++k) {
      unit[unknowns[k]] = 1;
      const Field3 column = tangent(bar.full, u, unit);
      unit[unknowns[k]] = 0;
      for (std::size_t l = k; l < size; ++l) matrix[at++] = column[unknowns[l]];
    }
    if (!factor_packed(matrix, size, 0)) return false;
    solve_packed(matrix, size, change);
    for (std::size_t k = 0; k < size; ++k) u[unknowns[k]] += change[k];
  }
  return false;
}

TEST(Elastica, TipIsWhereTablesSay) {
  // Mattiasson (1981), "Numerical results from large deflection beam and frame problems analysed by means of elliptic
  // integrals": load, shortening, deflection.
  const std::array<std::array<double, 3>, 4> table{
      {{1, 0.05643, 0.30172}, {2, 0.16064, 0.49346}, {5, 0.38763, 0.71379}, {10, 0.55500, 0.81061}}};
  for (const auto& [load, shortening, deflection] : table) {
    EXPECT_NEAR(1 - elastica_tip(load).along, shortening, 1e-5);
    EXPECT_NEAR(elastica_tip(load).across, deflection, 1e-5);
  }
}

TEST(StvkCantileverSlow, ReducedBarBendsAsTheFullOneAndAsTheElastica) {
  Bar bar({.young = 1e6, .poisson = 0.3, .density = 1000});
  ReducedBar reduced(bar, 6, 20);
  Field3 u(bar.full.size());
  for (int i = 1; i <= 12; ++i) {
    const double load = i / 3.0;
    ASSERT_TRUE(balance(bar, bar.newtons(load), u)) << load;
    ASSERT_TRUE(reduced.balance(bar.newtons(load))) << load;
    const Vec3d full = bar.tip(u) / k_length, difference = bar.tip(reduced.displaced()) / k_length - full;
    const ElasticaPoint thin = elastica_tip(load);
    EXPECT_NEAR(1 + full.x, thin.along, 0.01) << load;
    EXPECT_NEAR(full.y, thin.across, 0.01) << load;
    EXPECT_LT(norm(difference), 0.005) << load;
  }
  EXPECT_GT(elastica_tip(4).angle, 64 * std::numbers::pi / 180);
}

// Fewer shapes than modes and derivatives: still close at half of the angle.
TEST(StvkCantilever, TenShapesBendAsTheElasticaUpTo45Degrees) {
  Bar bar({.young = 1e6, .poisson = 0.3, .density = 1000});
  ReducedBar reduced(bar, 6, 10);
  for (int i = 1; i <= 4; ++i) {
    ASSERT_TRUE(reduced.balance(bar.newtons(i / 2.0)));
    const Vec3d tip = bar.tip(reduced.displaced()) / k_length;
    EXPECT_NEAR(1 + tip.x, elastica_tip(i / 2.0).along, 0.02);
    EXPECT_NEAR(tip.y, elastica_tip(i / 2.0).across, 0.02);
  }
}

TEST(StvkCantilever, BarBentBySixtyDegreesSwingsBackToRest) {
  Bar bar({.young = 1e8, .poisson = 0.3, .density = 1000});
  ReducedBar reduced(bar, 6, 20);
  const double load = 3.4;
  EXPECT_NEAR(elastica_tip(load).angle, std::numbers::pi / 3, 0.02);
  for (int i = 1; i <= 10; ++i) ASSERT_TRUE(reduced.balance(bar.newtons(load * i / 10)));
  EXPECT_GT(bar.tip(reduced.displaced()).y, 0.6 * k_length);

  const StvkStep settings{.time_step = 1e-3, .mass_damping = 5, .stiffness_damping = 1e-4};
  StvkScratch scratch;
  const Field3 load_of_nothing(reduced.q.size());
  double energy = reduced.energy(), farthest_back = 0;
  for (int i = 0; i < 4000; ++i) {
    ASSERT_TRUE(step_stvk(reduced.body, settings, load_of_nothing, reduced.q, reduced.v, scratch));
    const double now = reduced.energy();
    ASSERT_LT(now, energy * (1 + 1e-3)) << i;
    energy = now;
    farthest_back = std::min(farthest_back, bar.tip(reduced.displaced()).y);
  }
  EXPECT_LT(farthest_back, -0.4 * k_length);  // it is a swing, not a creep
  EXPECT_LT(norm(bar.tip(reduced.displaced())), 1e-4 * k_length);
}

TEST(StvkCantilever, PluckedSteelBarStaysCalmAtOneMillisecond) {
  Bar bar({.young = 2.1e11, .poisson = 0.3, .density = 7800});
  for (const double b : {0.0, 1e-6, 1e-4}) {
    ReducedBar reduced(bar, 6, 20);
    ASSERT_TRUE(reduced.balance(bar.newtons(0.1)));
    EXPECT_GT(bar.tip(reduced.displaced()).y, 0.012);  // metres
    const double start = reduced.energy();
    StvkScratch scratch;
    const Field3 load_of_nothing(reduced.q.size());
    for (int i = 0; i < 2000; ++i) {
      ASSERT_TRUE(step_stvk(reduced.body, {.time_step = 1e-3, .stiffness_damping = b}, load_of_nothing, reduced.q,
                            reduced.v, scratch));
      ASSERT_LT(reduced.energy(), 1.2 * start) << b << " " << i;
    }
    EXPECT_LT(reduced.energy(), 1e-3 * start) << b;
  }
}

}  // namespace
}  // namespace cotouch::this_file

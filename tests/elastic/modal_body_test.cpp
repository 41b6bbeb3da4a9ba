#include <cotouch/base/error.h>
#include <cotouch/base/random.h>
#include <cotouch/base/realtime.h>
#include <cotouch/elastic/fem_solver.h>
#include <cotouch/elastic/modal_body.h>

#include <gtest/gtest.h>
#include <support/elastic_parts.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace cotouch::this_file {
namespace {

using namespace elastic_test;

const ElasticModel& bar() {
  return *held_bar(ElasticLaw::warped)->elastic;
}

// The point of the bar's shell nearest to a place.
EmbeddedPoint point_at(const Vec3d& at) {
  const std::span<const Vec3f> points = held_bar(ElasticLaw::warped)->shell.data().positions;
  std::size_t best = 0;
  for (std::size_t i = 1; i < points.size(); ++i)
    if (norm(Vec3d(points[i]) - at) < norm(Vec3d(points[best]) - at)) best = i;
  return bar().data().shell[best];
}
EmbeddedPoint tip() {
  return point_at({0.1, 0.01, 0.01});
}

// Steps with the points held still; the forces of the last step.
std::vector<Vec3d> hold(ModalBody& body, const std::vector<HeldPoint>& points, int steps) {
  const std::vector<double> load(body.q().size());
  std::vector<Vec3d> forces(points.size());
  for (int i = 0; i < steps; ++i) EXPECT_TRUE(body.step(load, points, forces));
  return forces;
}

// How much a force on the point moves it, at rest and without warping: the sum of J J' / omega^2 over the modes.
Mat3 compliance_at(const EmbeddedPoint& point) {
  const ElasticData& data = bar().data();
  Mat3 sum;
  for (std::size_t j = 0; j < data.size; ++j) {
    Vec3d row;
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t axis = 0; axis < 3; ++axis)
        row[axis] += static_cast<double>(point.weight[k]) *
                     static_cast<double>(data.shapes[(3 * point.node[k] + axis) * data.stride() + j]);
    sum = sum + Mat3::outer(row, row) * (1 / data.stiffness[j]);
  }
  return sum;
}

TEST(ModalBody, AHeldDisplacementTakesTheStaticReactionInNewtons) {
  ModalBody body(bar(), {});
  // So small that warping does not matter: 0.1 um at the end of a bar of 200 mm.
  const Vec3d force{0.3e-6, 1e-5, -0.7e-5};
  const Vec3d away = compliance_at(tip()) * force;
  ASSERT_GT(norm(away), 1e-8);
  ASSERT_LT(norm(away), 1e-6);
  const std::vector<Vec3d> felt = hold(body, {{tip(), away}}, 20000);
  EXPECT_LT(norm(felt[0] - force), 2e-3 * norm(force)) << felt[0].x << ' ' << felt[0].y << ' ' << felt[0].z;
  EXPECT_LT(norm(body.shape().displacement_at(tip()) - away), 1e-3 * norm(away));
}

// By which share the reaction of a bar of so many modes to a displaced end is above that of all its tetrahedra.
double excess_of(std::uint32_t coordinates) {
  const ElasticModel model = *make_bar({ElasticLaw::warped, {"x<-0.09"}, coordinates})->elastic;
  TetMesh mesh;
  for (const Vec3f& node : model.data().nodes) mesh.nodes.emplace_back(node);
  mesh.tets.assign(model.data().tets.begin(), model.data().tets.end());
  NoProgress quiet;
  // Nodes of a model are in single precision, those on the anchor's plane, too.
  const std::vector<Anchor> anchors{parse_anchor("x<-0.0899999")};
  const FemSystem system = assemble(mesh, material_named("rubber"), anchored_nodes(mesh, anchors));
  // A force of 1 N along z on the end, and where that moves the end.
  const EmbeddedPoint end = point_at({0.1, 0, 0});
  Shapes u{static_cast<std::uint32_t>(mesh.nodes.size()), 1, std::vector<double>(3 * mesh.nodes.size())};
  for (std::size_t k = 0; k < 4; ++k) u.values[3 * end.node[k] + 2] = static_cast<double>(end.weight[k]);
  FemSolver(mesh, system, quiet).solve(u);
  Vec3d compliance;
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t axis = 0; axis < 3; ++axis)
      compliance[axis] += static_cast<double>(end.weight[k]) * u.values[3 * end.node[k] + axis];
  // So little that warping does not matter.
  const double newtons = 1e-5;
  ModalBody body(model, {});
  const Vec3d away = compliance * newtons, force = hold(body, {{end, away}}, 10000)[0];
  return dot(force, away) / (newtons * away.z) - 1;
}

TEST(ModalBody, StaticReactionIsThatOfTheFullBody) {
  // Fewer modes can only be stiffer. Of the compliance at the end of a beam its n-th bending mode has the share
  // 12 / b^4 with b about (n - 1/2) pi, so those beyond the fifth, the last among 15 modes, have 0.03 % together; shear
  // doubles that. The dent of a force at a point, about 1 / (E times an edge of 7 mm) against L^3 / (3 E I), is another
  // 0.1 % and needs very many modes. Both are rough, hence a margin of two.
  const double few = excess_of(8), usual = excess_of(15), many = excess_of(60);
  EXPECT_GT(many, 0);
  EXPECT_GT(usual, many);
  EXPECT_GT(few, usual);
  EXPECT_LT(usual, 3e-3);
  EXPECT_LT(many, 1.5e-3);
}

TEST(ModalBody, DampingShrinksEveryModeAsTheRuleSays) {
  // As in the world: the step maps (q, v) of every mode with the determinant that the trapezoidal rule has for
  // q'' + c q' + k q = 0 with Rayleigh's c = a + b k.
  const ElasticData& data = bar().data();
  ASSERT_GT(data.mass_damping * data.stiffness_damping, 0);
  const std::vector<double> none(data.size), unit(data.size, 1e-6);
  ModalBody place(bar(), {}), rate(bar(), {});
  place.set(unit, none);
  rate.set(none, unit);
  for (ModalBody* body : {&place, &rate}) ASSERT_TRUE(body->step(none, {}, {}));
  for (std::size_t j = 0; j < data.size; ++j) {
    const double k = data.stiffness[j], c = data.mass_damping + data.stiffness_damping * k, h = 1e-3;
    const double found = (place.q()[j] * rate.v()[j] - rate.q()[j] * place.v()[j]) * 1e12;
    EXPECT_NEAR(found, (1 - h * c / 2 + h * h * k / 4) / (1 + h * c / 2 + h * h * k / 4), 1e-9) << j;
  }
}

TEST(ModalBody, ForcesOnManyPointsAreInTheRatiosOfTheirCompliance) {
  // The work of slowly bending the bar is stored in it: half the force times the way, summed over the points.
  ModalBody body(bar(), {});
  const std::vector<HeldPoint> points{{tip(), {0, 1e-6, 0}}, {point_at({0, 0.01, 0.01}), {0, -1e-6, 0}}};
  const std::vector<Vec3d> felt = hold(body, points, 20000);
  double work = 0;
  for (std::size_t i = 0; i < points.size(); ++i) work += dot(felt[i], points[i].displacement) / 2;
  EXPECT_NEAR(work, body.energy(), 1e-3 * body.energy());
  EXPECT_GT(felt[0].y, 0);
  EXPECT_LT(felt[1].y, 0);
}

TEST(ModalBody, TwoHandsAtOnePointShareItsForce) {
  ModalBody one(bar(), {}), two(bar(), {});
  const Vec3d away{-0.005, 0.04, 0.01};
  const Vec3d alone = hold(one, {{tip(), away}}, 5000)[0];
  const std::vector<Vec3d> shared = hold(two, {{tip(), away}, {tip(), away}}, 5000);
  EXPECT_LT(norm(shared[0] - shared[1]), 1e-6 * norm(alone));
  EXPECT_LT(norm(shared[0] + shared[1] - alone), 1e-4 * norm(alone));
}

TEST(ModalBody, HandsThatDisagreeMeetHalfWayWithBoundedForces) {
  ModalBody body(bar(), {}), middle(bar(), {});
  const Vec3d a{-0.004, 0.05, 0}, b{-0.004, 0.01, 0.02};
  std::vector<double> load(bar().size());
  std::vector<Vec3d> forces(2);
  const std::vector<HeldPoint> points{{tip(), a}, {tip(), b}};
  const Vec3d alone = hold(middle, {{tip(), (a + b) * 0.5}}, 5000)[0];
  for (int i = 0; i < 5000; ++i) {
    ASSERT_TRUE(body.step(load, points, forces));
    if (i > 100) {
      ASSERT_LT(norm(forces[0]), 10 * norm(alone)) << "step " << i;
    }
  }
  EXPECT_LT(norm(body.shape().displacement_at(tip()) - (a + b) * 0.5), 1e-4);
  EXPECT_LT(norm(forces[0] + forces[1] - alone), 1e-3 * norm(alone));
}

TEST(ModalBody, HoldsMorePointsThanItHasWaysToBend) {
  // 48 rows of 15 coordinates, with targets that no bending reaches.
  ModalBody body(bar(), {});
  Random random(1);
  std::vector<HeldPoint> points;
  for (int i = 0; i < 16; ++i)
    points.push_back({bar().data().shell[random.below(bar().data().shell.size())], random.direction() * 0.01});
  std::vector<double> load(bar().size());
  std::vector<Vec3d> forces(points.size());
  double settled = 0;
  for (int i = 0; i < 3000; ++i) {
    ASSERT_TRUE(body.step(load, points, forces));
    if (i == 2000) settled = body.energy();
  }
  // Nowhere farther off than the targets themselves ask for: the sum of squares is below that of doing nothing.
  double missing = 0;
  for (const HeldPoint& held : points)
    missing += norm_squared(body.shape().displacement_at(held.point) - held.displacement);
  EXPECT_LT(missing, 16 * 0.01 * 0.01);
  EXPECT_NEAR(body.energy(), settled, 1e-3 * settled);
}

// The length of the bar's middle line from the clamp on: what bending does not change.
double middle_length(const std::vector<Vec3d>& line) {
  double length = 0;
  for (std::size_t i = 1; i < line.size(); ++i) length += norm(line[i] - line[i - 1]);
  return length;
}

TEST(ModalBody, ABarBentFarKeepsItsLength) {
  // Pulled at its end from straight to the arc of a circle over 1.2 rad.
  ModalBody body(bar(), {});
  const double length = 0.19;
  const std::vector<double> load(bar().size());
  const EmbeddedPoint end = point_at({0.1, 0, 0});
  for (int i = 1; i <= 4000; ++i) {
    const double angle = std::min(1.2, 1.2 * i / 2000.0);
    const HeldPoint point{end, Vec3d{std::sin(angle) / angle - 1, 0, (1 - std::cos(angle)) / angle} * length};
    Vec3d force[1];
    ASSERT_TRUE(body.step(load, {&point, 1}, force));
  }
  std::vector<Vec3d> bent, grown, straight;
  const TriangleMesh& mesh = held_bar(ElasticLaw::warped)->mesh;
  ASSERT_LT(mesh.bounds().high.x, 0.101);
  for (double x = -0.085; x <= 0.0851; x += 0.01) {
    // The mean of two points on opposite sides, which lie on the middle line's two sides.
    Vec3d at, to, linear;
    for (const double y : {-0.01, 0.01}) {
      const EmbeddedPoint point = point_at({x, y, 0});
      Vec3d rest;
      for (std::size_t k = 0; k < 4; ++k)
        rest += Vec3d(bar().data().nodes[point.node[k]]) * static_cast<double>(point.weight[k]);
      at += rest * 0.5;
      to += (rest + body.shape().displacement_at(point)) * 0.5;
      linear += (rest + body.shape().linear_at(point).displacement) * 0.5;
    }
    straight.push_back(at);
    bent.push_back(to);
    grown.push_back(linear);
  }
  EXPECT_NEAR(middle_length(bent), middle_length(straight), 0.04 * middle_length(straight));
  EXPECT_GT(middle_length(grown), 1.15 * middle_length(straight));
}

TEST(ModalBody, ATargetFarAwayIsReachedWithoutAnExplosion) {
  ModalBody body(bar(), {});
  const Vec3d away{-0.03, 0.1, 0};
  std::vector<double> load(bar().size());
  Vec3d force[1];
  double most = 0;
  const HeldPoint point{tip(), away};
  for (int i = 0; i < 5000; ++i) {
    ASSERT_TRUE(body.step(load, {&point, 1}, force));
    most = std::max(most, body.energy());
  }
  EXPECT_LT(norm(body.shape().displacement_at(tip()) - away), 1e-4);
  // The work of a force that grows to its last size over the way, and the motion's own: 2 m/s of all its mass.
  EXPECT_LT(most, 20 * (norm(force[0]) * norm(away) / 2 + 0.08 * 2 * 2 / 2));
}

// Set going, without damping of its own or with that of rubber, and held where it is at that moment.
void swing(const ElasticModel& model, double speed, bool held, double tolerance, bool expect_kept) {
  ModalBody body(model, {});
  std::vector<double> q(model.size()), v(model.size()), load(model.size());
  Random random(3);
  for (std::size_t k = 0; k < q.size(); ++k) v[k] = random.uniform(-1, 1) * speed / (1.0 + static_cast<double>(k));
  body.set(q, v);
  std::vector<HeldPoint> points;
  if (held) points = {{tip(), {}}, {point_at({0, -0.01, 0.01}), {}}};
  std::vector<Vec3d> forces(points.size());
  const double at_first = body.energy();
  double least = 1;
  for (int i = 0; i < 10000; ++i) {
    ASSERT_TRUE(body.step(load, points, forces));
    const double share = body.energy() / at_first;
    ASSERT_LE(share, least + tolerance) << "step " << i;
    least = std::min(least, share);
  }
  if (expect_kept) {
    EXPECT_GT(body.energy(), 0.1 * at_first);
  }
}

TEST(ModalBody, EnergyNeverGrowsWhilePointsAreHeldStill) {
  ElasticData data = bar().data();
  data.mass_damping = data.stiffness_damping = 0;
  const ElasticModel undamped(data, {}, held_bar(ElasticLaw::warped));
  swing(undamped, 0.1, false, 1e-9, true);
  // So little that warping, which makes the constraint's linear form inexact, does not matter. Places are computed in
  // single precision: ten thousand roundings add up.
  swing(undamped, 1e-6, true, 1e-5, true);
  // And so much that it does.
  swing(undamped, 0.02, true, 1e-4, true);
  swing(bar(), 0.02, true, 1e-6, false);
}

TEST(ModalBody, AHandThatMovesEvenlyFeelsNoJitter) {
  // Pulled at 50 mm/s: once the first waves have died down, the force grows evenly.
  ModalBody body(bar(), {});
  const std::vector<double> load(bar().size());
  Vec3d force[1];
  double last = 0, largest_change = 0;
  for (int i = 0; i < 1000; ++i) {
    const HeldPoint point{tip(), {0, 0.05 * 1e-3 * i, 0}};
    ASSERT_TRUE(body.step(load, {&point, 1}, force));
    if (i > 500) largest_change = std::max(largest_change, std::fabs(force[0].y - last));
    last = force[0].y;
  }
  EXPECT_LT(largest_change, 0.01 * last);
}

TEST(ModalBody, GivesTheSameBitsTwice) {
  ModalBody a(bar(), {}), b(bar(), {});
  Random random(5);
  std::vector<double> load(bar().size());
  std::vector<Vec3d> at_a(3), at_b(3);
  for (int i = 0; i < 300; ++i) {
    std::vector<HeldPoint> points;
    for (std::uint64_t k = random.below(4); k > 0; --k)
      points.push_back({bar().data().shell[random.below(bar().data().shell.size())], random.direction() * 0.01});
    ASSERT_TRUE(a.step(load, points, at_a));
    ASSERT_TRUE(b.step(load, points, at_b));
    ASSERT_TRUE(std::equal(a.q().begin(), a.q().end(), b.q().begin()));
    ASSERT_TRUE(std::equal(a.v().begin(), a.v().end(), b.v().begin()));
    ASSERT_EQ(at_a, at_b);
  }
}

TEST(ModalBody, RefusesWhatItCannotCompute) {
  ModalBody body(bar(), {1e-3, 2});
  std::vector<double> load(bar().size());
  std::vector<Vec3d> forces(3);
  const HeldPoint point{tip(), {0, 0.01, 0}};
  hold(body, {point}, 10);
  const std::vector<double> before(body.q().begin(), body.q().end());
  EXPECT_FALSE(body.step(load, std::vector<HeldPoint>{point, point, point}, forces));
  EXPECT_FALSE(
      body.step(load, std::vector<HeldPoint>{{tip(), {0, std::numeric_limits<double>::infinity(), 0}}}, forces));
  load[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(body.step(load, {}, forces));
  EXPECT_EQ(forces[0], Vec3d{});
  EXPECT_TRUE(std::equal(before.begin(), before.end(), body.q().begin()));
  EXPECT_THROW(ModalBody(*held_bar(ElasticLaw::stvk)->elastic, {}), Error);
  EXPECT_THROW(ModalBody(bar(), {0, 2}), Error);
  EXPECT_THROW(ModalBody(bar(), {1e-3, 2, 0}), Error);
}

TEST(ModalBody, AStepDoesNotAllocate) {
#ifndef COTOUCH_RT_GUARD
  GTEST_SKIP() << "this program has no guard against allocations";
#endif
  ModalBody body(bar(), {});
  const std::vector<double> load(bar().size());
  std::vector<Vec3d> forces(2);
  const std::vector<HeldPoint> points{{tip(), {0, 0.01, 0}}, {tip(), {0, 0.02, 0}}};
  const std::uint64_t before = RealtimeSection::breaches();
  {
    const RealtimeSection section;
    for (int i = 0; i < 10; ++i) body.step(load, points, forces);
  }
  EXPECT_EQ(RealtimeSection::breaches(), before);
}

}  // namespace
}  // namespace cotouch::this_file

// Bodies that bend, in a world.
#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/elastic/coarse_shell.h>
#include <cotouch/elastic/deformation.h>
#include <cotouch/world/step.h>

#include <gtest/gtest.h>
#include <support/elastic_parts.h>
#include <support/thorough.h>
#include <world/support.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace cotouch::world_test::this_file {
namespace {

using namespace elastic_test;

constexpr double k_tip = 0.1;  // x of the bar's free end

WorldSettings settings(double tick = 1e-3) {
  WorldSettings s;
  s.tick = tick;
  s.hands = 3;
  s.linear_drag = s.angular_drag = 0;
  s.budget = {4000, 2000};
  return s;
}

// A world and what it takes to step it.
struct Trial {
  explicit Trial(std::vector<BodyModel> bodies, const WorldSettings& s = settings())
      : model(std::move(bodies), s), state(model), scratch(model), hands(s.hands) {}

  void advance(double seconds) {
    for (int i = 0; i < std::lround(seconds / model.settings().tick); ++i) {
      step(model, state, hands, scratch);
      for (HandInput& hand : hands) hand.action = HandInput::Action::none;
    }
  }
  void grasp(std::size_t hand, std::uint32_t body, const Vec3d& at) {
    hands[hand].present = true;
    hands[hand].action = HandInput::Action::grasp;
    hands[hand].body = body;
    hands[hand].pose = {at, {}};
  }
  const double* q(std::uint32_t body = 0) const { return state.bending().data() + model.elastic_begin(body); }
  // Where a point of a body's shell is, in its part's frame.
  Vec3d point(std::uint32_t point, std::uint32_t body = 0) const {
    const Part& part = *model.bodies()[body].pieces[0].part;
    Deformation shape(*part.elastic);
    shape.set(q(body));
    Vec3f at;
    shape.shell_points(part.shell.data().positions.data(), &point, 1, &at);
    return Vec3d(at);
  }
  double total_energy() const {
    const WorldEnergy e = energy(model, state);
    return e.kinetic + e.potential;
  }

  WorldModel model;
  WorldState state;
  StepScratch scratch;
  std::vector<HandInput> hands;
};

// The point of the shell that is nearest to a place at rest.
std::uint32_t nearest_to(const Part& part, const Vec3d& at) {
  std::uint32_t best = 0;
  for (std::uint32_t i = 0; i < part.shell.point_count(); ++i)
    if (norm(Vec3d(part.shell.data().positions[i]) - at) < norm(Vec3d(part.shell.data().positions[best]) - at))
      best = i;
  return best;
}

// Of a bar along x as its tetrahedra have it: the integrals of 1 and z^2, over its length.
struct Section {
  double area = 0, inertia = 0;
};
Section section_of(const ElasticData& data) {
  Section sum;
  for (const Tet& tet : data.tets) {
    std::array<Vec3d, 4> at;
    for (std::size_t k = 0; k < 4; ++k) at[k] = Vec3d(data.nodes[tet[k]]);
    const double volume = dot(cross(at[1] - at[0], at[2] - at[0]), at[3] - at[0]) / 6;
    // The integral of z^2 over a tetrahedron: V / 20 (sum of z_i^2 + (sum of z_i)^2).
    double z = 0, square = 0;
    for (const Vec3d& p : at) {
      z += p.z;
      square += p.z * p.z;
    }
    sum.area += volume / 0.2;
    sum.inertia += volume / 20 * (square + z * z) / 0.2;
  }
  return sum;
}

BodyModel bar_body(std::uint32_t id, const std::shared_ptr<const Part>& part, const Pose& pose = {}) {
  return fixed_body(id, part, pose);
}
BodyModel loose_body(std::uint32_t id, ElasticLaw law, const Pose& pose) {
  BodyModel body = fixed_body(id, loose_bar(law), pose);
  body.motion = Motion::free;
  body.mass = block_mass({0.2, 0.02, 0.02}, 0.2 * 0.02 * 0.02 * material_named("rubber").density);
  return body;
}

TEST(ElasticWorld, SagsUnderItsWeightAsABeamDoes) {
  for (const ElasticLaw law : k_laws) {
    WorldSettings s = settings();
    s.gravity = {0, 0, -0.3};  // so little that a linear theory holds
    Trial run({bar_body(1, held_bar(law))}, s);
    run.advance(12);
    // Euler-Bernoulli: w L^4 / (8 E I), w the weight a metre, with the section that the tetrahedra have: they cut off
    // the bar's edges.
    const Section section = section_of(held_bar(law)->elastic->data());
    const Material rubber = material_named("rubber");
    const double length = 0.19, weight = rubber.density * section.area * 0.3;
    const double sag = weight * length * length * length * length / (8 * rubber.young * section.inertia);
    const std::uint32_t tip = nearest_to(*held_bar(law), {k_tip, 0, 0});
    const double moved = Vec3d(held_bar(law)->shell.data().positions[tip]).z - run.point(tip).z;
    // Three linear tetrahedra across a bar are too stiff in bending, by up to a third; shear adds two percent.
    EXPECT_LT(moved, 1.05 * sag);
    EXPECT_GT(moved, 0.65 * sag);
  }
}

TEST(ElasticWorld, VibratesAtItsOwnFrequencyAndLosesNothing) {
  BarOptions options;
  options.law = ElasticLaw::warped;
  auto part = std::make_shared<Part>(*make_bar(options));
  // The same without damping.
  ElasticData data = part->elastic->data();
  data.mass_damping = data.stiffness_damping = 0;
  part->elastic = std::make_shared<const ElasticModel>(data, std::vector<Field>(), part->elastic);
  Trial run({bar_body(1, part)});
  run.state.bending()[0] = 1e-3;
  const double before = run.total_energy(), omega = std::sqrt(data.stiffness[0]);
  int crossings = 0;
  double last = run.q()[0], first_time = 0, last_time = 0;
  for (int i = 0; i < 5000; ++i) {
    run.advance(1e-3);
    const double now = run.q()[0];
    if (last > 0 && now <= 0) {
      const double at = 1e-3 * (i + last / (last - now));
      if (crossings++ == 0) first_time = at;
      last_time = at;
    }
    last = now;
  }
  // Newmark's rule has the frequency 2/h atan(w h / 2): of a mode of 5 Hz at 1 ms that is low by 8e-5.
  const double measured = 2 * k_pi * (crossings - 1) / (last_time - first_time);
  EXPECT_NEAR(measured / omega, 1, 3e-4);
  EXPECT_NEAR(run.total_energy() / before, 1, 1e-9);
}

TEST(ElasticWorld, DampingShrinksEveryModeAsTheRuleSays) {
  // Of the trapezoidal rule for q'' + c q' + k q = 0 with Rayleigh's c = a + b k: the step maps (q, v) of every mode
  // with this determinant, found here from what it does to (1, 0) and (0, 1), of all modes at once.
  const ElasticData& data = held_bar(ElasticLaw::warped)->elastic->data();
  ASSERT_GT(data.mass_damping * data.stiffness_damping, 0);
  Trial place({bar_body(1, held_bar(ElasticLaw::warped))}), rate({bar_body(1, held_bar(ElasticLaw::warped))});
  std::fill_n(place.state.bending().begin(), data.size, 1e-6);
  std::fill_n(rate.state.bending().begin() + data.size, data.size, 1e-6);
  for (Trial* run : {&place, &rate}) run->advance(1e-3);
  for (std::size_t j = 0; j < data.size; ++j) {
    const double k = data.stiffness[j], c = data.mass_damping + data.stiffness_damping * k, h = 1e-3;
    const double* const a = place.q();
    const double* const b = rate.q();
    const double found = (a[j] * b[data.size + j] - b[j] * a[data.size + j]) * 1e12;
    EXPECT_NEAR(found, (1 - h * c / 2 + h * h * k / 4) / (1 + h * c / 2 + h * h * k / 4), 1e-9) << j;
  }
}

TEST(ElasticWorld, AHandThatHoldsAPointFeelsTheStaticReaction) {
  // In the linear model a force F along z at a point bends it there by F times its compliance, the sum of
  // (shape along z)^2 / omega^2.
  const auto part = held_bar(ElasticLaw::warped);
  Trial run({bar_body(1, part)});
  run.grasp(0, 1, {k_tip, 0, 0});
  run.advance(0.01);
  ASSERT_GE(run.state.hands()[0].point, 0);
  const auto tip = static_cast<std::uint32_t>(run.state.hands()[0].point);
  const Vec3d rest(part->shell.data().positions[tip]);
  EXPECT_LT(norm(rest - Vec3d{k_tip, 0, 0}), 0.005);
  run.hands[0].pose.position += Vec3d{0, 0, 2e-3};
  run.advance(6);
  std::vector<double> row(part->elastic->size());
  Deformation shape(*part->elastic);
  shape.set(run.q());
  shape.add_gradient(part->elastic->data().shell[tip], {0, 0, 1}, {}, row.data());
  const double felt = -run.state.hands()[0].felt.force.z, moved = run.point(tip).z - rest.z;
  EXPECT_GT(felt, 0.005);
  // The torque of the hand's hold bends it, too: both are in the coordinates' balance.
  const HandRecord& hand = run.state.hands()[0];
  const Vec3d torque = (hand.felt.torque + cross(hand.pose.position - run.point(tip), hand.felt.force)) * -1.0;
  std::vector<double> turned(part->elastic->size());
  shape.add_gradient(part->elastic->data().shell[tip], run.state.hands()[0].felt.force * -1.0, torque, turned.data());
  double bent = 0;
  for (std::size_t j = 0; j < row.size(); ++j) bent += row[j] * turned[j] / part->elastic->data().stiffness[j];
  EXPECT_NEAR(bent, moved, 0.02 * moved);
}

TEST(ElasticWorld, ABarThatIsBentBySixtyDegreesAndLetGoComesBack) {
  for (const ElasticLaw law : k_laws) {
    Trial run({bar_body(1, held_bar(law))});
    const std::uint32_t tip = nearest_to(*held_bar(law), {k_tip, 0, 0});
    const Vec3d rest(held_bar(law)->shell.data().positions[tip]);
    run.grasp(0, 1, rest);
    // Along the arc that a bar bent into a circle would follow, turning with it.
    for (int i = 1; i <= 600; ++i) {
      const double angle = i / 600.0 * k_pi / 3, length = 0.19;
      const SinCos turn = sin_cos(angle);
      run.hands[0].pose = {rest + Vec3d{length * turn.sin / angle - length, 0, length * (1 - turn.cos) / angle},
                           quat_from_rotation_vector({0, -angle, 0})};
      run.advance(1e-3);
    }
    run.advance(0.5);
    const Vec3d bent = run.point(tip);
    EXPECT_GT(bent.z - rest.z, 0.08);
    EXPECT_LT(bent.x - rest.x, -0.02);
    const double stored = run.total_energy();
    run.hands[0].present = false;
    double most = 0;
    for (int i = 0; i < 10; ++i) {
      run.advance(0.5);
      most = std::max(most, run.total_energy());
    }
    EXPECT_LE(most, stored * (1 + 1e-9));
    run.advance(5);
    EXPECT_LT(norm(run.point(tip) - rest), 1e-3);
  }
}

TEST(ElasticWorld, AStiffBarThatIsLetGoGainsNoEnergy) {
  // Steel at 1 ms: most of its modes are far too fast for the step.
  BarOptions options;
  options.material = "steel";
  auto part = std::make_shared<Part>(*make_bar(options));
  ElasticData data = part->elastic->data();
  data.mass_damping = data.stiffness_damping = 0;
  part->elastic = std::make_shared<const ElasticModel>(data, std::vector<Field>(), part->elastic);
  Trial run({bar_body(1, part)});
  std::vector<double> unit(data.size);
  unit[1] = 1;
  run.state.bending()[1] = 0.04 / part->elastic->largest_move(unit.data());
  const double before = run.total_energy();
  for (int i = 0; i < 300; ++i) {
    run.advance(0.01);
    ASSERT_LE(run.total_energy(), before * (1 + 1e-9)) << i;
  }
}

TEST(ElasticWorld, ABallRestsOnABarAndIsCarriedByIt) {
  for (const ElasticLaw law : k_laws) {
    // Both ends held, so that the ball stays in the middle.
    const auto part = make_bar({law, {"x<-0.095", "x>0.095"}, 15, "rubber", {0.2, 0.03, 0.01}});
    WorldSettings s = settings();
    s.gravity = {0, 0, -9.81};
    Trial run({bar_body(1, part), free_ball(2, {0, 0, 0.026}, {}, 0.02)}, s);
    run.advance(4);
    const Vec3d ball = run.state.bodies()[1].pose.position;
    EXPECT_NEAR(ball.x, 0, 0.01);
    const std::uint32_t middle = nearest_to(*part, {0, 0, 0.005});
    const double top = run.point(middle).z;
    EXPECT_GT(Vec3d(part->shell.data().positions[middle]).z - top, 3e-4);  // it sags,
    EXPECT_NEAR(ball.z - k_ball, top, 1.5e-3);                             // and the ball lies on it.
    EXPECT_LT(energy(run.model, run.state).kinetic, 1e-6);
    const PairContact& contact = run.scratch.contact(0);
    EXPECT_NEAR(std::fabs(contact.on_shell.wrench.force.z), 0.02 * 9.81, 0.02 * 0.02 * 9.81);
  }
}

TEST(ElasticWorld, MomentumOfAFreeBarAndABallIsKept) {
  for (const ElasticLaw law : k_laws) {
    Trial run({loose_body(1, law, {}), free_ball(2, {0.07, 0, 0.05}, {0, 0, -0.5}, 0.05)});
    const Vec3d before = momentum(run.model, run.state);
    run.advance(0.5);
    EXPECT_GT(run.state.bodies()[0].spin.y, 0.05);  // hit near its end, it turns
    EXPECT_LT(norm(momentum(run.model, run.state) - before), 1e-9);
    EXPECT_GT(run.model.elastic(0)->largest_move(run.q()), 1e-6);  // and still trembles
  }
}

TEST(ElasticWorldSlow, TwoSoftBarsPressedTogetherNeitherGainEnergyNorPassThrough) {
  for (const ElasticLaw law : k_laws) {
    const auto part = held_bar(law);
    Trial run(
        {bar_body(1, part), bar_body(2, part, {{0.06, 0.06, 0.0205}, quat_from_rotation_vector({0, 0, k_pi / 2})})},
        settings(0.002));
    ASSERT_EQ(run.model.pairs().size(), 1U);
    run.grasp(0, 1, {k_tip, 0, 0.01});
    run.advance(0.01);
    for (int i = 1; i <= 500; ++i) {
      run.hands[0].pose.position.z = 0.01 + 0.02 * i / 500.0;
      run.advance(0.002);
    }
    run.advance(4);
    // With what the hand's spring and the contact store: the bars creep along each other for a while, at the slowest
    // speed that friction knows, and what the spring gives then bends them.
    const auto stored = [&] {
      const HandRecord& hand = run.state.hands()[0];
      const double depth8 = run.scratch.contact(0).sums.depth8;
      return run.total_energy() +
             coupling_energy(run.model.settings().coupling, hand.pose, held_pose(run.model, run.state, hand)) +
             run.model.settings().contact.stiffness / 2 * std::sqrt(std::sqrt(depth8));
    };
    const double held = stored();
    EXPECT_GT(held, 1e-4);
    EXPECT_GT(run.scratch.stats().in_contact, 0U);
    double most = held, deepest = 0;
    for (int i = 0; i < testing_support::thorough(20, 60); ++i) {
      run.advance(1);
      most = std::max(most, stored());
      deepest = std::max(deepest, static_cast<double>(run.scratch.stats().deepest));
    }
    EXPECT_LE(most, held * (1 + 1e-5));
    EXPECT_LT(deepest, static_cast<double>(part->field.spacing()));
    EXPECT_GT(run.scratch.stats().in_contact, 0U);
  }
}

TEST(ElasticWorld, GoesOnFromASnapshotBitForBit) {
  for (const ElasticLaw law : k_laws) {
    WorldSettings s = settings();
    s.gravity = {0, 0, -9.81};
    Trial run({bar_body(1, held_bar(law)), free_ball(2, {0.05, 0, 0.04})}, s);
    run.grasp(0, 1, {k_tip, 0, 0});
    run.advance(0.2);
    const WorldState kept = run.state;
    run.advance(0.3);
    Trial other({bar_body(1, held_bar(law)), free_ball(2, {0.05, 0, 0.04})}, s);
    ASSERT_TRUE(other.state.restore(kept.bytes()));
    other.hands = run.hands;
    other.advance(0.3);
    EXPECT_EQ(other.state, run.state);
    EXPECT_EQ(other.state.hash(), run.state.hash());
  }
}

TEST(ElasticWorld, CoordinatesBeyondEverythingAreRefusedOrComeDownInAStep) {
  for (const ElasticLaw law : k_laws) {
    Trial run({bar_body(1, held_bar(law))});
    Trial other({bar_body(1, held_bar(law))});
    double sign = 1;
    for (double& value : run.state.bending()) value = 1e100 * (sign = -sign);
    EXPECT_FALSE(other.state.restore(run.state.bytes()));
    run.advance(0.01);
    // Ten times its reach of 0.1 m is as far as anything is bent.
    EXPECT_LT(CoarseShell(*held_bar(law)->elastic, held_bar(law)->shell).farthest(run.q()), 3);
    for (const double value : run.state.bending()) EXPECT_LT(std::fabs(value), 1e6);
  }
}

TEST(ElasticWorld, AHoldOnAPointThatIsNotThereIsLetGo) {
  Trial run({bar_body(1, held_bar(ElasticLaw::stvk))});
  run.grasp(0, 1, {k_tip, 0, 0});
  run.advance(0.01);
  ASSERT_EQ(run.state.hands()[0].body, 0);
  run.state.hands()[0].point = 1e9;
  run.advance(0.01);
  EXPECT_EQ(run.state.hands()[0].body, -1);
}

TEST(ElasticWorld, CoordinatesThatNobodyCouldReachStayFinite) {
  for (const ElasticLaw law : k_laws) {
    Trial run({bar_body(1, held_bar(law)), free_ball(2, {0.05, 0, 0.04})});
    for (double& v : run.state.bending()) v = 1e6;
    run.advance(0.05);
    for (const double v : run.state.bending()) ASSERT_TRUE(std::isfinite(v));
    EXPECT_TRUE(is_finite(run.state.bodies()[1].pose));
  }
}

TEST(ElasticWorld, RefusesABodyThatBendsAndHangsOnNothing) {
  EXPECT_THROW(WorldModel({bar_body(1, loose_bar(ElasticLaw::stvk))}, settings()), Error);
  BodyModel two = bar_body(1, held_bar(ElasticLaw::stvk));
  two.pieces.push_back({block_part(), {}});
  EXPECT_THROW(WorldModel({two}, settings()), Error);
}

}  // namespace
}  // namespace cotouch::world_test::this_file

// Hands that grasp, hold, let go and dock, in newtons.
#include "world/support.h"

#include <cotouch/base/trig.h>

#include <gtest/gtest.h>

#include <limits>

namespace cotouch::this_file {
namespace {

using namespace world_test;

BodyModel dynamic_block(std::uint32_t id, const Pose& pose, double mass = 0.064) {
  BodyModel body = free_block(id, pose, mass);
  body.holding = Holding::dynamic;
  return body;
}

TEST(Hands, FeelTheWeightOfABodyHeldWithItsMass) {
  World world({dynamic_block(7, {{0, 0, 0.3}, {}}, 0.2)}, earthly());
  const Pose hand{{0.01, 0, 0.32}, quat_from_rotation_vector({0, 0.2, 0})};  // off its centre: a lever too
  world.step({grasping(7, hand)});
  world.run(2, {hand_at(hand)});
  EXPECT_NEAR(world.state.hands()[0].felt.force.z, -0.2 * 9.81, 1e-3);
  EXPECT_NEAR(norm(world.state.hands()[0].felt.force), 0.2 * 9.81, 1e-3);
  // And as the coupling's formula says: 1000 N/m down to where it hangs.
  const Pose grip = world.body(7).pose * world.state.hands()[0].grip;
  EXPECT_NEAR(hand.position.z - grip.position.z, 0.2 * 9.81 / 1000, 1e-6);
}

TEST(Hands, BalanceABodyBetweenThemWithoutInertia) {
  World world({free_block(7, {})}, plain());
  const Pose left{{-0.02, 0, 0}, {}}, right{{0.02, 0, 0}, {}};
  world.step({grasping(7, left), grasping(7, right)});
  EXPECT_LT(norm(world.state.hands()[0].felt.force), 1e-9);
  // Pulled apart by 2 mm each, and the right one up by 3 mm: the body follows with the mean and turns.
  const Pose apart[] = {{{-0.022, 0, 0}, {}}, {{0.022, 0, 0}, {}}};
  world.run(0.2, {hand_at(apart[0]), hand_at(apart[1])});
  EXPECT_NEAR(world.state.hands()[0].felt.force.x, 1000 * 0.002, 1e-6);
  EXPECT_NEAR(world.state.hands()[1].felt.force.x, -1000 * 0.002, 1e-6);
  EXPECT_LT(norm(world.body(7).pose.position), 1e-9);
  world.run(0.2, {hand_at({{-0.02, 0, 0.003}, {}}), hand_at({{0.02, 0, 0.003}, {}})});
  EXPECT_NEAR(world.body(7).pose.position.z, 0.003, 1e-6);
  // One down, one up by d: the springs at their levers a and the hands' own turning springs balance at
  // 2 k (d - a angle) a = 2 k_angular angle.
  world.run(0.2, {hand_at({{-0.02, 0, 0}, {}}), hand_at({{0.02, 0, 0.006}, {}})});
  const double angle = 1000 * 0.02 * 0.003 / (1000 * 0.02 * 0.02 + 1);
  EXPECT_NEAR(rotation_vector(world.body(7).pose.rotation).y, -angle, 0.01 * angle);
  world.run(0.2, {hand_at({{-0.02, 0, 0.003}, {}}), hand_at({{0.02, 0, 0.003}, {}})});
  // One lets go: the other has it alone.
  world.step({releasing({{-0.02, 0, 0.003}, {}}), hand_at({{0.03, 0, 0}, {}})});
  world.run(0.2, {hand_at({}), hand_at({{0.03, 0, 0}, {}})});
  EXPECT_EQ(world.state.hands()[0].body, -1);
  EXPECT_EQ(world.state.hands()[0].felt, Wrench{});
  EXPECT_NEAR(world.body(7).pose.position.x, 0.01, 1e-6);
}

TEST(Hands, PressABodyOntoAnotherWithTheCouplingsForceUpToItsLargest) {
  for (const Holding holding : {Holding::quasi_static, Holding::dynamic}) {
    BodyModel block = free_block(7, {{0, 0, k_block / 2 + 0.004}, {}});
    block.holding = holding;
    World world({floor_body(), block}, plain());
    const Pose start = block.start;
    world.step({grasping(7, start)});
    for (const double press : {0.003, 0.006, 0.05}) {
      const Pose hand{{0, 0, start.position.z - 0.004 - press}, {}};
      world.run(0.5, {hand_at(hand)});
      const Wrench felt = world.state.hands()[0].felt;
      const Wrench formula = couple(world.model->settings().coupling, hand, world.body(7).pose).wrench;
      EXPECT_NEAR(felt.force.z, -formula.force.z, 1e-12);
      EXPECT_LE(felt.force.z, 8);
      EXPECT_NEAR(felt.force.z, std::min(8.0, 1000 * (hand.position.z - world.body(7).pose.position.z) * -1), 0.6);
      // What the hand feels is what the contact pushes with, or the body would not be at rest.
      const double sign = world.model->pairs()[0].shell_body == 1 ? 1 : -1;
      EXPECT_NEAR(world.scratch.contact(0).on_shell.wrench.force.z * sign, felt.force.z, 0.02) << press;
      // Pressed with the largest force it goes less deep than a cell.
      EXPECT_LT(static_cast<double>(world.scratch.stats().deepest), world.model->finest_cell(0));
    }
  }
}

// Its cells are 1.6 mm.
BodyModel fine_plate() {
  static const auto part = prepared(make_plate({{0.2, 0.2, k_plate}, 0.002}), 128, 400);
  return fixed_body(1, part);
}

// A block of many points or few, pressed onto a plate and dragged to and fro: it may take several moves in a cycle, but
// what those look up is bounded. With caches or without, the same moves are taken.
TEST(Hands, DragABodyOverAnotherWithABoundedNumberOfPoints) {
  std::uint32_t most_moves[2] = {};
  for (const bool many : {false, true}) {
    BodyModel block = free_block(7, {{0, 0, k_block / 2 + 0.001}, {}});
    block.holding = Holding::quasi_static;
    block.pieces = {{prepared(make_block({k_block, k_block, k_block}, 0.003), 64, many ? 40000 : 1200), {}}};
    World world({fine_plate(), block}, plain());
    WorldState again(*world.model);
    StepScratch bare(*world.model);
    const auto whole = StepDetail{Detail::Rule::by_work, WorkBudget::unlimited(), {}};
    std::vector<std::uint8_t> levels(world.model->pairs().size());
    double look = 0;
    for (int i = 0; i < 1000; ++i) {
      // Up to 2.1 m/s; then slowly, with jumps: what a cache is good for, and what it is not.
      const double x = i < 400 ? 0.03 * std::sin(i * 0.07) : (i % 19) * 3e-4 + (i / 19 % 2) * 8e-3;
      const Vec3d at{x, 0, k_block / 2 - 0.004};
      const HandInput input = i == 0 ? grasping(7, block.start) : hand_at({at, {}});
      step(*world.model, world.state, {&input, 1}, world.scratch, whole);
      for (std::size_t p = 0; p < levels.size(); ++p)
        levels[p] = static_cast<std::uint8_t>(world.state.pairs()[p].level);
      step(*world.model, again, {&input, 1}, bare, {Detail::Rule::exactly, {}, levels});
      ASSERT_TRUE(again == world.state) << i;
      if (i < 50) continue;  // until it lies there
      ASSERT_GT(bare.stats().in_contact, 0U) << i;
      const std::uint32_t moves = bare.substeps();
      most_moves[many] = std::max(most_moves[many], moves);
      if (many && moves > 1) {  // after a look at less than the first saw, it stays where it is
        EXPECT_EQ(world.body(7).velocity, Vec3d()) << i;
      }
      // All looks are about equal, but one that costs too much is given up. A sixth of the nodes are copies, which are
      // not looked up.
      const auto nodes = static_cast<double>(bare.nodes());
      if (moves == 1) look = std::max(look, nodes);
      if (look > 0) {
        EXPECT_LE(nodes, look * 1.1 + (many ? 4096 : 1024 * 1.25)) << i;
      }
    }
    EXPECT_EQ(look > 1.5 * 4096, many) << look;
  }
  EXPECT_GE(most_moves[false], 3U);
  EXPECT_LE(most_moves[true], 2U);
}

// Led beside the plate without touching it, a body drags at the hand no more than where there is no plate.
void expect_no_drag(BodyModel body, double metres_a_tick, int ticks) {
  body.holding = Holding::quasi_static;
  World beside({fine_plate(), body}, plain()), alone({body}, plain());
  const auto drag = [](const World& world) { return -world.state.hands()[0].felt.force.x; };
  for (int i = 0; i < ticks; ++i) {
    const Pose pose{body.start.position + Vec3d{i * metres_a_tick, 0, 0}, {}};
    const HandInput input = i == 0 ? grasping(body.id, pose) : hand_at(pose);
    for (World* world : {&beside, &alone}) world->step({input});
    EXPECT_LE(drag(beside), drag(alone) + 0.02) << i;
  }
  EXPECT_GT(drag(alone), 0.5);
}

TEST(Hands, LeadABodyFarFasterThanItsMovesWhereThereIsRoom) {
  expect_no_drag(free_ball(7, {-0.08, 0, k_ball + 0.006}), 5e-3, 32);  // 5 m/s
}

TEST(Hands, LeadABodyOfManyPointsPastAnotherAsIfItWereNotThere) {
  BodyModel block = free_block(7, {{-0.08, 0, k_block / 2 + 0.001}, {}});
  block.pieces = {{prepared(make_block({k_block, k_block, k_block}, 0.003), 64, 16000), {}}};
  expect_no_drag(block, 1e-3, 160);  // 1 m/s
}

// A block pressed onto several others at once is no stiffer than the promise for one contact of so many points, whether
// it is held with its mass or without. Each block below is fixed or free between others that are.
TEST(Hands, FeelNoMoreThanThePromisedStiffnessHoweverManyBodiesTouch) {
  for (int trial = 0; trial < 8; ++trial) {
    const Holding holding = trial % 2 == 0 ? Holding::quasi_static : Holding::dynamic;
    const Motion below = trial / 2 % 2 == 0 ? Motion::fixed : Motion::free;
    const bool top_is_first = trial < 4;  // else the others bring their points
    std::vector<BodyModel> bodies;
    BodyModel top = free_block(1, {{0, 0, k_block + 0.001}, {}});
    top.holding = holding;
    for (std::uint32_t i = 0; i < 4; ++i) {
      BodyModel base = free_block(i + 2, {{i % 2 ? 0.021 : -0.021, i / 2 ? 0.021 : -0.021, 0}, {}}, 1000);
      base.motion = below;
      bodies.push_back(base);
    }
    bodies.insert(top_is_first ? bodies.begin() : bodies.end(), top);
    World world(bodies, plain());
    world.step({grasping(1, top.start)});
    const std::uint32_t held = *world.model->index_of(1);
    for (int i = 0; i < 400; ++i) world.step({hand_at({{0, 0, k_block - 0.004 + 1e-6}, {}})});
    ASSERT_GE(world.scratch.body_stats(held).in_contact, 4U);
    const double force = norm(world.state.hands()[0].felt.force);
    double depth = 0, promised = 0;
    for (std::size_t p = 0; p < world.model->pairs().size(); ++p) {
      depth = std::max(depth, static_cast<double>(world.scratch.contact(p).stats.deepest));
      promised = std::max(promised, world.model->engine(world.model->pairs()[p]).largest_stiffness());
    }
    ASSERT_GT(force, 1);
    EXPECT_LT(force / depth, promised);
    // Four potentials of their own would be four times as stiff as one, one shared by all 4^(1/4) times.
    const auto points = static_cast<double>(world.scratch.body_stats(held).in_contact);
    EXPECT_LT(force / depth, 1.05 * world.model->settings().contact.stiffness * std::pow(points * 4, 0.25));
  }
}

TEST(Hands, FeelEachOtherThroughTheBodiesTheyHold) {
  const double apart = k_block / 2 + 0.004;
  World world({free_block(1, {{-apart, 0, 0}, {}}), free_block(2, {{apart, 0, 0}, {}})}, plain());
  world.step({grasping(1, {{-apart, 0, 0}, {}}), grasping(2, {{apart, 0, 0}, {}})});
  world.run(0.5, {hand_at({{-0.018, 0, 0}, {}}), hand_at({{0.018, 0, 0}, {}})});
  const Wrench left = world.state.hands()[0].felt, right = world.state.hands()[1].felt;
  EXPECT_LT(left.force.x, -1);
  EXPECT_NEAR(left.force.x + right.force.x, 0, 0.02);  // at rest each carries what the other pushes with
}

// A body on a grasp swings like a pendulum with a spring: I theta'' = -(m g l + k_angular) theta about the hand.
TEST(Hands, LetABodySwingWithThePeriodOfTheory) {
  for (const double angular_stiffness : {0.0, 0.05}) {
    const double mass = 0.2, arm = 0.08;
    BodyModel block = dynamic_block(7, {}, mass);
    const Vec3d size{0.02, 0.03, 0.1};
    block.mass = block_mass(size, mass);
    const double spin = 0.3;
    block.start_spin = {0, spin, 0};
    block.start_velocity = cross(block.start_spin, {0, 0, -arm});  // about the hand, `arm` above it
    WorldSettings settings = earthly();
    settings.linear_drag = settings.angular_drag = 0;
    settings.coupling = {.linear_stiffness = 2e4,
                         .angular_stiffness = angular_stiffness,
                         .max_force = 1e4,
                         .max_torque = 1e3,
                         .damping = 0};
    World world({block}, settings);
    const Pose hand{{0, 0, arm}, {}};
    world.step({grasping(7, hand)});
    std::vector<double> crossings;
    double last = 0;
    for (int i = 1; i < 4000; ++i) {
      world.step({hand_at(hand)});
      const double angle = rotation_vector(world.body(7).pose.rotation).y;
      if (last < 0 && angle >= 0) crossings.push_back((i + angle / (last - angle)) * 1e-3);
      last = angle;
    }
    ASSERT_GE(crossings.size(), 3U);
    const double inertia = block.mass.inertia(1, 1) + mass * arm * arm;
    const double expected = 2 * k_pi * std::sqrt(inertia / (mass * 9.81 * arm + angular_stiffness));
    const double period = (crossings.back() - crossings.front()) / static_cast<double>(crossings.size() - 1);
    // A swing of 0.03 rad lengthens the period by 1/16 of its square; the hand's spring gives by m g / k = 0.1 mm of
    // 80; and the tick's own error is of the order of (0.01)^2.
    EXPECT_NEAR(period, expected, 0.005 * expected) << angular_stiffness;
  }
}

// The damper between a hand and a body with mass acts on what they move against each other, so at a constant pace
// nothing is felt; how fast the hand is, is smoothed over 20 ms.
TEST(Hands, FeelNothingOfABodyThatKeepsTheirPace) {
  World world({dynamic_block(7, {})}, plain());
  world.step({grasping(7, {})});
  const auto pose_at = [](int i) {
    return Pose{{0.2e-3 * i, 0, 0}, quat_from_rotation_vector({0, 0, 1e-3 * i})};  // 0.2 m/s, 1 rad/s
  };
  for (int i = 1; i <= 400; ++i) {
    world.step({hand_at(pose_at(i))});
    const HandRecord& hand = world.state.hands()[0];
    const double reached = 1 - std::pow(1 - 1.0 / 20, i);
    ASSERT_NEAR(hand.velocity.linear.x, 0.2 * reached, 1e-9) << i;
    ASSERT_NEAR(hand.velocity.angular.z, reached, 1e-6) << i;
  }
  // Without the hand's own motion the damper would pull with 2 0.7 sqrt(k m) v: 2.2 N, and 6 mN m.
  EXPECT_LT(norm(world.state.hands()[0].felt.force), 0.02);
  EXPECT_LT(norm(world.state.hands()[0].felt.torque), 1e-4);
}

// The grasp's damper is not felt, so whatever the body and the spring have got is what the hand put in.
TEST(Hands, GiveABodyNoMoreThanTheyPutIn) {
  BodyModel block = free_block(1, {});
  block.holding = Holding::dynamic;
  World world({block}, plain());
  world.step({grasping(1, {})});
  Pose hand;
  double put_in = 0;
  for (int i = 0; i < 1000; ++i) {
    const Vec3d was = hand.position, felt = world.state.hands()[0].felt.force;
    hand.position.x = 0.02 * std::sin(i * 0.02) + 0.01 * std::sin(i * 0.033);
    world.step({hand_at(hand)});
    // The force at the middle of the way, as a spring has it.
    put_in -= 0.5 * dot(felt + world.state.hands()[0].felt.force, hand.position - was);
    const double stored = coupling_energy(world.model->settings().coupling, hand, world.body(1).pose);
    ASSERT_LE(energy(*world.model, world.state).kinetic + stored, put_in + 1e-5) << i;
  }
}

TEST(Hands, LetGoOfABodyThatThenFliesOn) {
  World world({dynamic_block(7, {})}, plain());
  world.step({grasping(7, {})});
  Pose hand;
  for (int i = 0; i < 400; ++i) {
    hand.position.x += 0.2e-3;  // 0.2 m/s
    world.step({hand_at(hand)});
  }
  EXPECT_NEAR(world.body(7).velocity.x, 0.2, 0.005);
  for (const bool absent : {false, true}) {
    World copy(world.model);
    copy.state = world.state;
    copy.step({absent ? HandInput{} : releasing(hand)});
    EXPECT_EQ(copy.state.hands()[0].body, -1);
    EXPECT_EQ(copy.state.hands()[0].present, absent ? 0 : 1);
    const Vec3d velocity = copy.body(7).velocity;
    copy.run(0.1, {absent ? HandInput{} : hand_at({})});
    EXPECT_LT(norm(copy.body(7).velocity - velocity), 1e-9);
    EXPECT_GT(velocity.x, 0.19);
  }
}

TEST(Hands, GraspOnlyWhatIsThereAndFree) {
  World world({floor_body(1), free_block(7, {{0, 0, 0.1}, {}})}, plain());
  for (const std::uint32_t id : {1U, 3U, 0U, ~0U}) {
    world.step({grasping(id, {})});
    EXPECT_EQ(world.state.hands()[0].body, -1) << id;
  }
  world.step({grasping(7, {})});
  EXPECT_EQ(world.state.hands()[0].body, 1);
  world.step({grasping(1, {})});  // reaching for something else lets go as well
  EXPECT_EQ(world.state.hands()[0].body, -1);
}

TEST(Hands, AtNoPoseAreWhereTheyWereLast) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  World bad({floor_body(1), free_block(7, {{0, 0, 0.1}, {}})}, plain());
  World good(bad.model);
  const Pose pose{{0.01, 0, 0.11}, {}};
  for (World* w : {&bad, &good}) {
    w->step({grasping(7, {{0, 0, 0.1}, {}})});
    w->step({hand_at(pose)});
  }
  const Pose none[] = {
      {{nan, 0, 0}, {}}, {{0, -inf, 0}, {}}, {{}, {nan, 0, 0, 0}}, {{}, {0, 0, 0, 0}}, {{}, {2, 0, 0, 0}}};
  for (const Pose& p : none) {
    bad.step({hand_at(p)});
    good.step({hand_at(pose)});
    EXPECT_EQ(bad.body(7).pose, good.body(7).pose);
    EXPECT_EQ(bad.state.hands()[0].pose, pose);
  }
  EXPECT_EQ(bad.state.head().bad_inputs, 5);
  // A hand that appears at no pose, and numbers beyond all measure.
  bad.step({hand_at(none[0]), grasping(7, none[1])});
  bad.step({hand_at({{1e300, 0, 0}, {}}), hand_at({{-1e300, 1e300, 0}, {}})});
  for (int i = 0; i < 20; ++i) bad.step({hand_at({{1e300, 0, 0}, {}})});
  for (const BodyRecord& body : bad.state.bodies()) EXPECT_TRUE(is_finite(body.pose) && is_finite(body.velocity));
  WorldState copy(*bad.model);
  EXPECT_TRUE(copy.restore(bad.state.bytes()));  // still a state
}

TEST(Hands, AreRoundedOnceForAll) {
  HandInput input = hand_at({{0.1234567, -1.7654321, 3e-7}, quat_from_rotation_vector({0.3, -0.2, 0.9})});
  const HandInput once = quantised(input);
  EXPECT_EQ(quantised(once), once);
  EXPECT_LE(norm(once.pose.position - input.pose.position), 0x1p-20);
  EXPECT_TRUE(is_rotation(once.pose.rotation));
}

Task docking_at(const Pose& target) {
  Task task;
  task.body = 7;
  task.target = target;
  return task;
}

TEST(DockingTask, SnapsWithinItsTolerancesAndNotOutside) {
  const Pose target{{0.5, 0, 0.2}, quat_from_rotation_vector({0, 0, 0.4})};
  const double degree = k_pi / 180;
  struct Case {
    double away, turned;
    bool snaps;
  };
  for (const Case& c :
       {Case{0.039, 0, true}, Case{0.041, 0, false}, Case{0, 9.4 * degree, true}, Case{0, 9.6 * degree, false},
        Case{0.039, 9.4 * degree, true}, Case{0.041, 9.4 * degree, false}}) {
    const Pose place{target.position + Vec3d{0, c.away, 0},
                     normalized(quat_from_rotation_vector({c.turned, 0, 0}) * target.rotation)};
    World world({free_block(7, place)}, plain(), {}, docking_at(target));
    world.run(0.01);
    EXPECT_EQ(world.state.head().task.done, 0);  // nobody has touched it yet
    EXPECT_EQ(world.state.head().task.seconds, 0);
    world.step({grasping(7, place)});
    EXPECT_EQ(world.state.head().task.done, c.snaps ? 1 : 0) << c.away << " " << c.turned;
    EXPECT_EQ(world.body(7).pose == target, c.snaps);
    EXPECT_EQ(world.state.hands()[0].body, c.snaps ? -1 : 0);
    world.run(0.01, {grasping(7, place)});  // once docked it stays, whatever is tried
    EXPECT_EQ(world.body(7).pose == target, c.snaps);
    EXPECT_NEAR(world.state.head().task.seconds, c.snaps ? 0.001 : 0.011, 1e-12);
  }
}

TEST(DockingTask, CountsSecondsAndStopsTheBodyThatSnaps) {
  BodyModel block = free_block(7, {});
  block.start_velocity = {0.5, 0, 0};
  block.start_spin = {0, 0, 1};
  block.holding = Holding::dynamic;
  World world({block}, plain(2e-3), {}, docking_at({{0.1, 0, 0}, {}}));
  world.step({grasping(7, {})});
  for (int i = 0; i < 100 && world.state.head().task.done == 0; ++i) {
    EXPECT_NEAR(world.state.head().task.seconds, 2e-3 * (i + 1), 1e-9);
    world.step({hand_at({{1e-3 * (i + 1), 0, 0}, {}})});  // 0.5 m/s
  }
  ASSERT_EQ(world.state.head().task.done, 1);
  EXPECT_EQ(world.body(7).velocity, (Vec3d{}));
  EXPECT_EQ(world.body(7).spin, (Vec3d{}));
}

TEST(DockingTask, IsDoneByTwoHandsThatCarryTheBodyThere) {
  const Pose target{{0.1, 0, 0}, {}};
  World world({free_block(7, {})}, plain(), {}, docking_at(target));
  const Vec3d grips[] = {{-0.02, 0, 0}, {0.02, 0, 0}};
  world.step({grasping(7, {grips[0], {}}), grasping(7, {grips[1], {}})});
  double x = 0;
  while (world.state.head().task.done == 0 && x < 0.2) {
    x += 0.0001;
    world.step({hand_at({grips[0] + Vec3d{x, 0, 0}, {}}), hand_at({grips[1] + Vec3d{x, 0, 0}, {}})});
  }
  EXPECT_NEAR(x, 0.06, 0.002);
  EXPECT_EQ(world.body(7).pose, target);
  EXPECT_EQ(world.state.hands()[0].body, -1);
  EXPECT_EQ(world.state.hands()[1].body, -1);
  EXPECT_NEAR(task_error(*world.model->task(), {{0.1, 0.03, 0}, quat_from_rotation_vector({0.1, 0, 0})}).position, 0.03,
              1e-12);
}

}  // namespace
}  // namespace cotouch::this_file

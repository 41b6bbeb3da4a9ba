// Touch in a world shared with others: what the local hand feels of the others, of rollbacks and of delays.
#include <cotouch/touch/followed_world.h>

#include <cotouch/base/error.h>
#include <cotouch/device/simulated_device.h>
#include <cotouch/touch/loop.h>

#include "fixtures.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <utility>

namespace cotouch::this_file {
namespace {

using testing::k_peg;
using testing::k_plate;

constexpr std::uint32_t k_hands = 16;
constexpr std::size_t k_self = 3, k_other = 7;
constexpr double k_stiffness = 1000;  // N/m, of the built-in coupling
constexpr Vec3d k_start{0, 0, 0.05};  // of the box, clear of the plate

// A plate and a box of half a kilogram, without gravity.
std::shared_ptr<const WorldModel> box_model(double tick, Holding holding, std::optional<Task> task = {},
                                            const Vec3d& start = k_start) {
  const auto model = testing::peg_model(1e5, testing::k_tip, {}, tick, {start, {}}, k_hands);
  std::vector<BodyModel> bodies = model->bodies();
  bodies[1].holding = holding;
  bodies[1].mass.mass = 0.5;
  bodies[1].mass.inertia = Mat3::identity() * 5e-4;
  return std::make_shared<const WorldModel>(bodies, model->settings(), std::span<const PairRule>{}, task);
}

HandInput hand_at(const Vec3d& position, HandInput::Action action = HandInput::Action::none) {
  HandInput input;
  input.present = true;
  input.action = action;
  input.body = action == HandInput::Action::grasp ? k_peg : 0;
  input.pose.position = position;
  return input;
}

// One who feels at 1 kHz, and the shared world at 100 Hz that is followed.
struct Follower {
  explicit Follower(Holding holding, std::optional<Task> task = {}, const Vec3d& start = k_start)
      : slow_model(box_model(0.01, holding, task, start)), fast(box_model(1e-3, holding, task, start), k_self) {}

  // A millisecond; every tenth begins with a tick of the slower world.
  void pass(const HandInput& own) {
    if (cycles % 10 == 0) {
      inputs[k_self] = shared_input(fast.local_hands()[k_self], told);
      told = fast.local_hands()[k_self].grasps;
      step(*slow_model, slow, inputs, scratch);
      for (HandInput& input : inputs) input.action = HandInput::Action::none;
      if (before_feeding) before_feeding(slow);
      EXPECT_TRUE(fast.follow(late ? earlier : slow));
      earlier = slow;
    }
    const Wrench before = felt();
    fast.cycle(std::span(&own, 1));
    fastest = std::max(fastest, norm(felt().force - before.force));
    fastest_torque = std::max(fastest_torque, norm(felt().torque - before.torque));
    ++cycles;
  }
  void pass(const HandInput& own, int count) {
    for (int i = 0; i < count; ++i) pass(own);
  }
  const Wrench& felt() const { return std::as_const(fast).state().hands()[k_self].felt; }
  bool holds() const { return std::as_const(fast).state().hands()[k_self].body == 1; }

  std::shared_ptr<const WorldModel> slow_model;
  WorldState slow{*slow_model};
  StepScratch scratch{*slow_model};
  FollowedWorld fast;
  std::array<HandInput, k_hands> inputs{};  // of the slower world
  std::function<void(WorldState&)> before_feeding;
  bool late = false;  // what is fed is of the tick before
  WorldState earlier{*slow_model};
  std::uint32_t told = 0;
  int cycles = 0;
  double fastest = 0, fastest_torque = 0;  // largest change in a millisecond
};

constexpr Holding k_holdings[] = {Holding::quasi_static, Holding::dynamic};

TEST(SharedTouch, TheOthersPullIsFeltWithinTwoTicks) {
  for (const Holding holding : k_holdings) {
    Follower f(holding);
    f.pass(hand_at(k_start, HandInput::Action::grasp));
    f.inputs[k_other] = hand_at(k_start, HandInput::Action::grasp);
    f.pass(hand_at(k_start), 299);
    EXPECT_LT(norm(f.felt().force), 0.01);
    f.inputs[k_other].pose.position.x += 0.006;
    f.fastest = 0;
    f.pass(hand_at(k_start), 20);
    EXPECT_GT(f.felt().force.x, 0.3);
    f.pass(hand_at(k_start), 500);
    // Two equal springs: the box is in the middle, both feel half of the distance.
    EXPECT_NEAR(f.felt().force.x, k_stiffness * 0.003, 0.02);
    // A hand that jumps glides here: a twentieth a millisecond, half of which gets through the box.
    EXPECT_LE(f.fastest, k_stiffness * 0.006 / 20);
    EXPECT_NEAR(std::as_const(f.fast).state().hands()[k_other].pose.position.x, 0.006, 1e-5);
    EXPECT_EQ(std::as_const(f.fast).state().hands()[k_other].body, 1);
  }
}

// Of 5 mm and 5 degrees: a hundredth of it a millisecond, and what it stays at.
TEST(SharedTouch, ARollbackThatMovesTheBodyIsNoStepInTheForce) {
  for (const Holding holding : k_holdings) {
    Follower f(holding);
    f.pass(hand_at(k_start, HandInput::Action::grasp));
    f.pass(hand_at(k_start), 299);
    const Vec6 jump{{0.003, 0, 0.004}, {0, 0.0873, 0}};
    f.before_feeding = [&](WorldState& slow) {
      slow.bodies()[1].pose = moved(slow.bodies()[1].pose, jump);
      f.before_feeding = nullptr;
    };
    f.fastest = f.fastest_torque = 0;
    f.pass(hand_at(k_start), 300);
    EXPECT_GT(f.fastest, 0.001);  // it was felt
    EXPECT_LE(f.fastest, k_stiffness * 0.005 / 100 * 1.001);
    EXPECT_LE(f.fastest_torque, 1 * 0.0873 / 100 * 1.001);
  }
}

TEST(SharedTouch, HoweverFarARollbackGoesTheForceChangesByAtMost015NewtonsAMillisecond) {
  for (const Holding holding : k_holdings) {
    Follower f(holding);
    f.pass(hand_at(k_start, HandInput::Action::grasp));
    f.pass(hand_at(k_start), 99);
    f.before_feeding = [](WorldState& slow) { slow.bodies()[1].pose.position.x = 0.5; };
    f.fastest = 0;
    f.pass(hand_at(k_start), 200);
    EXPECT_GT(f.fastest, 0.05);
    EXPECT_LE(f.fastest, 0.15 * 1.001);
  }
}

TEST(SharedTouch, WhenSomebodyGraspsOrLetsGoThePullFades) {
  for (const Holding holding : k_holdings) {
    Follower f(holding);
    f.pass(hand_at(k_start, HandInput::Action::grasp));
    f.pass(hand_at(k_start), 99);
    f.inputs[k_other] = hand_at(k_start, HandInput::Action::grasp);
    f.pass(hand_at(k_start), 100);
    f.inputs[k_other].pose.position.x += 0.012;
    f.pass(hand_at(k_start), 500);
    EXPECT_NEAR(f.felt().force.x, k_stiffness * 0.006, 0.05);
    f.fastest = 0;
    f.inputs[k_other] = {};
    f.pass(hand_at(k_start), 600);
    EXPECT_LT(norm(f.felt().force), 0.02);
    EXPECT_LE(f.fastest, 0.2);
    // And a grasp that is told late, when it pulls with 6 N already.
    f.fastest = 0;
    f.inputs[k_other] = hand_at(k_start, HandInput::Action::grasp);
    f.before_feeding = [&](WorldState& slow) {
      if (slow.hands()[k_other].pose.position.x > 0.01) return;
      slow.hands()[k_other].pose.position.x = f.inputs[k_other].pose.position.x = 0.012;
    };
    f.pass(hand_at(k_start), 600);
    EXPECT_NEAR(f.felt().force.x, k_stiffness * 0.006, 0.05);
    EXPECT_LE(f.fastest, 0.2);
  }
}

// The hand takes hold, rests for as long, and goes down at 0.2 m/s. Cycles from where the box would enter the plate
// until the force has grown by half a newton; what accelerates and carries the box along does not count.
template <class Pass, class Force>
int cycles_until_felt(double height, int rest, Pass&& pass, Force&& force) {
  pass(hand_at({0, 0, height}, HandInput::Action::grasp));
  for (int i = 0; i < rest; ++i) pass(hand_at({0, 0, height}));
  int contact = -1;
  double before = 0;
  for (int cycle = 0; cycle < 1000; ++cycle) {
    const double z = height - 0.0002 * cycle;
    if (z < 0 && contact < 0) {
      contact = cycle;
      before = force();
    }
    pass(hand_at({0, 0, z}));
    if (contact >= 0 && force() > before + 0.5) return cycle - contact;
  }
  return 1000;
}

TEST(SharedTouch, AHardSurfaceIsFeltWithinThreeMillisecondsOfWhenItIsAlone) {
  constexpr double k_height = 0.05;
  for (const Holding holding : k_holdings) {
    LocalWorld alone(box_model(1e-3, holding, {}, {0, 0, k_height}));
    const int expected = cycles_until_felt(
        k_height, 300, [&](const HandInput& input) { alone.cycle(std::span(&input, 1)); },
        [&] { return std::as_const(alone).state().hands()[0].felt.force.z; });
    ASSERT_LT(expected, 30);
    for (int phase = 0; phase < 20; ++phase) {
      Follower f(holding, {}, {0, 0, k_height});
      // The state that is fed is of the tick before, and rollbacks throw it back and forth.
      f.late = true;
      int tick = 0;
      f.before_feeding = [&](WorldState& slow) {
        if (++tick % 4 == 0) slow.bodies()[1].pose.position += Vec3d{tick % 8 == 0 ? 0.002 : -0.002, 0, 0.001};
      };
      const int felt = cycles_until_felt(
          k_height, 300 + phase, [&](const HandInput& input) { f.pass(input); }, [&] { return f.felt().force.z; });
      EXPECT_LE(std::abs(felt - expected), 3) << "phase " << phase << ", alone after " << expected << " ms";
    }
  }
}

TEST(SharedTouch, ABodyInItsPlaceEndsTheGraspAndOnlyTheSharedWorldSaysSo) {
  Task task;
  task.body = k_peg;
  task.target.position = k_start;
  Follower f(Holding::dynamic, task, k_start + Vec3d{0.1, 0, 0});
  const Vec3d away = k_start + Vec3d{0.1, 0, 0};
  f.pass(hand_at(away, HandInput::Action::grasp));
  f.pass(hand_at(away), 99);
  // Here it is within the tolerance, there it does not step.
  for (int i = 0; i < 400; ++i) {
    const HandInput own = hand_at(away - Vec3d{std::min(0.1, 0.0005 * i), 0, 0});
    f.fast.cycle(std::span(&own, 1));
  }
  EXPECT_LT(f.fast.state().bodies()[1].pose.position.x, task.position_tolerance);
  EXPECT_TRUE(f.holds());
  EXPECT_EQ(f.fast.state().head().task.done, 0);
  f.pass(hand_at(k_start), 300);
  EXPECT_EQ(f.slow.head().task.done, 1);
  EXPECT_FALSE(f.holds());
  EXPECT_EQ(f.fast.state().head().task.done, 1);
  EXPECT_EQ(f.fast.state().bodies()[1].motion, static_cast<double>(Motion::fixed));
  EXPECT_LT(norm(f.fast.state().bodies()[1].pose.position - k_start), 1e-5);
  EXPECT_EQ(f.fast.local_hands()[k_self].body, 0U);
}

TEST(SharedTouch, AGraspThatTheSharedWorldForgetsEnds) {
  Follower f(Holding::quasi_static);
  f.pass(hand_at(k_start, HandInput::Action::grasp));
  f.pass(hand_at(k_start), 99);
  f.slow = WorldState(*f.slow_model);  // reset
  f.pass(hand_at(k_start), 200);
  EXPECT_TRUE(f.holds());
  f.pass(hand_at(k_start), 100);
  EXPECT_FALSE(f.holds());
}

TEST(SharedTouch, AGraspBetweenTwoTicksIsToldOnce) {
  Follower f(Holding::quasi_static);
  const HandInput there = hand_at(k_start);
  const HandInput grasp = hand_at(k_start, HandInput::Action::grasp);
  f.fast.cycle(std::span(&there, 1));
  EXPECT_EQ(shared_input(f.fast.local_hands()[k_self], 0).action, HandInput::Action::release);
  f.fast.cycle(std::span(&grasp, 1));
  for (int i = 0; i < 5; ++i) f.fast.cycle(std::span(&there, 1));
  const LocalHand hand = f.fast.local_hands()[k_self];
  EXPECT_EQ(hand.grasps, 1U);
  HandInput told = shared_input(hand, 0);
  EXPECT_EQ(told.action, HandInput::Action::grasp);
  EXPECT_EQ(told.body, k_peg);
  EXPECT_EQ(told.pose, there.pose);
  EXPECT_EQ(shared_input(hand, hand.grasps).action, HandInput::Action::none);
  // What cannot be held is not told.
  HandInput plate = grasp;
  plate.body = k_plate;
  f.fast.cycle(std::span(&plate, 1));
  EXPECT_EQ(f.fast.local_hands()[k_self].grasps, 1U);
  EXPECT_EQ(shared_input(f.fast.local_hands()[k_self], 1).action, HandInput::Action::release);
  f.fast.cycle({});
  EXPECT_FALSE(shared_input(f.fast.local_hands()[k_self], 1).present);
}

// Devices in places, each of which may take hold.
struct SeveralDevices {
  explicit SeveralDevices(FollowedWorld& followed) : world(followed) {
    for (std::size_t i = 0; i < 3; ++i)
      devices[i].on_read = [this, i](DeviceReading& reading) {
        reading.pose.position = at[i];
        reading.action = std::exchange(takes[i], false) ? HandInput::Action::grasp : HandInput::Action::none;
        reading.body = k_peg;
        return there[i];
      };
  }
  double force(std::size_t i) const { return devices[i].force.load(); }
  // Of the slower world.
  void tick() {
    const LocalHands& hands = world.local_hands();
    for (std::size_t i = 0; i < k_hands; ++i) {
      inputs[i] = shared_input(hands[i], told[i]);
      told[i] = hands[i].grasps;
    }
    step(*slow_model, slow, inputs, scratch);
    EXPECT_TRUE(world.follow(slow));
  }
  void pass_tick() {
    tick();
    loop.run_cycles(10);
  }

  FollowedWorld& world;
  std::shared_ptr<const WorldModel> slow_model = box_model(0.01, Holding::quasi_static);
  WorldState slow{*slow_model};
  StepScratch scratch{*slow_model};
  std::array<HandInput, k_hands> inputs{};
  std::array<std::uint32_t, k_hands> told{};
  std::array<testing::ProbeDevice, 3> devices;
  std::array<Vec3d, 3> at{k_start, k_start, k_start};
  std::array<bool, 3> takes{}, there{true, true, true};
  TouchLoop loop{{&devices[0], &devices[1], &devices[2]}, world, {}};
};

TEST(SharedTouch, WithOneHandItIsTheDevicesThatTakesHold) {
  FollowedWorld world(box_model(1e-3, Holding::quasi_static), k_self);
  SeveralDevices with(world);
  with.loop.run_cycles(10);
  EXPECT_EQ(world.hand_of(0), k_self);  // nobody has taken hold: the first that is there
  EXPECT_EQ(world.hand_of(1), k_no_hand);
  EXPECT_TRUE(world.has_room());
  with.takes[1] = true;
  with.loop.run_cycles(1);
  EXPECT_EQ(world.hand_of(0), k_no_hand);
  EXPECT_EQ(world.hand_of(1), k_self);
  EXPECT_FALSE(world.has_room());
  with.at[1].z = -0.003;
  with.loop.run_cycles(300);
  EXPECT_EQ(world.state().hands()[k_self].body, 1);
  EXPECT_GT(with.force(1), 1);
  EXPECT_EQ(with.force(0), 0);
  // What is held stays where it is.
  with.takes[0] = true;
  with.loop.run_cycles(10);
  EXPECT_EQ(world.hand_of(1), k_self);
  EXPECT_GT(with.force(1), 1);
  EXPECT_EQ(with.force(0), 0);
  with.there[1] = false;
  with.loop.run_cycles(1);
  EXPECT_EQ(world.hand_of(0), k_self);
  EXPECT_EQ(world.hand_of(1), k_no_hand);
  EXPECT_EQ(world.state().hands()[k_self].body, -1);
  EXPECT_THROW(FollowedWorld(box_model(1e-3, Holding::dynamic), k_hands), Error);
}

// Two pull at one body from both sides: it stays, and each feels what it is pulled with.
TEST(SharedTouch, EveryDeviceLeadsAHandOfItsOwn) {
  FollowedWorld world(box_model(1e-3, Holding::quasi_static), k_self);
  world.set_usable(1U << 12 | 1U << 5 | 1U << k_self);
  SeveralDevices with(world);
  with.takes = {true, true, false};
  with.loop.run_cycles(10);
  EXPECT_EQ(world.hand_of(0), k_self);
  EXPECT_EQ(world.hand_of(1), 5U);
  EXPECT_EQ(world.hand_of(2), 12U);
  EXPECT_TRUE(world.has_room());  // the third holds nothing
  with.at[0].x = 0.004;
  with.at[1].x = -0.004;
  with.loop.run_cycles(500);
  for (const std::size_t hand : {k_self, std::size_t{5}}) EXPECT_EQ(world.state().hands()[hand].body, 1);
  EXPECT_EQ(world.state().hands()[12].body, -1);
  EXPECT_LT(norm(world.state().bodies()[1].pose.position - k_start), 1e-4);
  EXPECT_NEAR(with.force(0), 4, 0.05);
  EXPECT_NEAR(with.force(1), 4, 0.05);
  EXPECT_EQ(with.force(2), 0);
  const LocalHands& hands = world.local_hands();
  EXPECT_EQ(hands[k_self].body, k_peg);
  EXPECT_EQ(hands[5].body, k_peg);
  EXPECT_TRUE(hands[12].input.present);
  EXPECT_EQ(hands[12].body, 0U);
  EXPECT_FALSE(hands[4].input.present);
}

// The other one pulls on as well.
TEST(SharedTouch, AHandThatIsExchangedPullsAsBeforeAgainstAnother) {
  FollowedWorld world(box_model(1e-3, Holding::quasi_static), k_self);
  world.set_usable(1U << 5);
  SeveralDevices with(world);
  with.takes = {true, true, false};
  for (int i = 0; i < 10; ++i) with.pass_tick();
  with.at[0].x = 0.004;
  with.at[1].x = -0.004;
  for (int i = 0; i < 100; ++i) with.pass_tick();
  for (const std::size_t device : {0U, 1U}) EXPECT_NEAR(with.force(device), 4, 0.1);
  world.set_usable(1U << 12);
  for (int i = 0; i < 50; ++i) {
    with.pass_tick();
    for (const std::size_t device : {0U, 1U}) ASSERT_NEAR(with.force(device), 4, 0.3) << i;
  }
  for (const std::size_t device : {0U, 1U}) EXPECT_NEAR(with.force(device), 4, 0.1);
  EXPECT_LT(norm(with.slow.bodies()[1].pose.position - k_start), 1e-4);
}

// A newcomer has the number: the device goes on with another one, and neither lets go nor feels a step.
TEST(SharedTouch, AHandThatIsTakenIsExchangedWithoutAStepInForce) {
  FollowedWorld world(box_model(1e-3, Holding::quasi_static), k_self);
  world.set_usable(1U << 5);
  SeveralDevices with(world);
  with.takes[1] = true;
  with.pass_tick();
  ASSERT_EQ(world.hand_of(1), 5U);
  for (int i = 0; i < 10; ++i) with.pass_tick();
  with.at[1].z = -0.003;  // pressed onto the plate
  for (int i = 0; i < 100; ++i) with.pass_tick();
  const double before = with.force(1);
  EXPECT_GT(before, 1);
  EXPECT_EQ(with.slow.hands()[5].body, 1);
  world.set_usable(1U << 12);
  double last = before;
  for (int i = 0; i < 500; ++i) {
    if (i % 10 == 0) with.tick();
    with.loop.run_cycles(1);
    ASSERT_LE(std::abs(with.force(1) - last), 0.15) << i;  // N in a millisecond
    last = with.force(1);
    ASSERT_NEAR(last, before, 0.1 * before) << i;
  }
  EXPECT_NEAR(last, before, 0.02 * before);
  EXPECT_EQ(world.hand_of(1), 12U);
  EXPECT_EQ(world.state().hands()[12].body, 1);
  EXPECT_EQ(with.slow.hands()[12].body, 1);
  EXPECT_EQ(with.slow.hands()[5].present, 0);
  EXPECT_EQ(world.state().hands()[5].present, 0);
  // No other is left: then it has none, and the body is let go of.
  with.takes[0] = true;
  with.loop.run_cycles(1);
  world.set_usable(0);
  with.loop.run_cycles(1);
  EXPECT_EQ(world.hand_of(1), k_no_hand);
  EXPECT_EQ(with.force(1), 0);
}

// Two machines that learn of each other's hand `delay` ticks late. Each takes its world back to where both hands are
// known and repeats from there, with the other's hand at rest in between.
class TwoPeers {
 public:
  TwoPeers(Holding holding, std::size_t delay, const HandPath& a, const HandPath& b)
      : model_(box_model(0.01, holding)), delay_(delay), objective_(*model_), scratch_(*model_) {
    const HandPath* paths[] = {&a, &b};
    for (std::size_t i = 0; i < 2; ++i) {
      peers_[i] = std::make_unique<Peer>(box_model(1e-3, holding), k_slots[i], *paths[i]);
      peers_[i]->loop =
          std::make_unique<TouchLoop>(std::vector<Device*>{&peers_[i]->device}, peers_[i]->fast, TouchLoopSettings{});
    }
  }

  void pass_tick() {
    for (const auto& peer : peers_) {
      const LocalHand& hand = peer->fast.local_hands()[peer->fast.self()];
      peer->sent.push_back(quantised(shared_input(hand, peer->told)));
      peer->told = hand.grasps;
    }
    const std::size_t now = peers_[0]->sent.size() - 1;
    if (now >= delay_) step_both(objective_, now - delay_, now - delay_, 0);
    for (std::size_t i = 0; i < 2; ++i) {
      WorldState subjective = objective_;
      const std::size_t known = now >= delay_ ? now - delay_ + 1 : 0;
      for (std::size_t tick = known; tick <= now; ++tick) step_both(subjective, tick, known, i);
      ASSERT_TRUE(peers_[i]->fast.follow(subjective));
    }
    for (const auto& peer : peers_) ASSERT_EQ(peer->loop->run_cycles(10), 10U);
  }

  const SimulatedDevice& device(std::size_t i) const { return peers_[i]->device; }
  Vec3d felt(std::size_t i) const { return peers_[i]->fast.state().hands()[k_slots[i]].felt.force; }
  const Pose& box(std::size_t i) const { return peers_[i]->fast.state().bodies()[1].pose; }
  const Pose& agreed_box() const { return objective_.bodies()[1].pose; }

 private:
  static constexpr std::size_t k_slots[] = {k_self, k_other};
  struct Peer {
    Peer(std::shared_ptr<const WorldModel> model, std::size_t slot, const HandPath& path)
        : fast(std::move(model), slot), device({}, {}, path, k_peg) {}
    FollowedWorld fast;
    SimulatedDevice device;
    std::unique_ptr<TouchLoop> loop;
    std::vector<HandInput> sent;
    std::uint32_t told = 0;
  };

  // `viewer` knows the other's inputs before tick `known`; in the objective world all of them are.
  void step_both(WorldState& state, std::size_t tick, std::size_t known, std::size_t viewer) {
    std::array<HandInput, k_hands> inputs{};
    for (std::size_t i = 0; i < 2; ++i) {
      const std::vector<HandInput>& sent = peers_[i]->sent;
      const bool is_known = i == viewer || tick < known || &state == &objective_;
      if (is_known) inputs[k_slots[i]] = sent[tick];
      if (is_known || known == 0) continue;
      inputs[k_slots[i]] = sent[known - 1];
      inputs[k_slots[i]].action = HandInput::Action::none;
    }
    step(*model_, state, inputs, scratch_);
  }

  std::shared_ptr<const WorldModel> model_;
  std::size_t delay_;
  WorldState objective_;
  StepScratch scratch_;
  std::array<std::unique_ptr<Peer>, 2> peers_;
};

// One hand stays, the other pulls 1 cm aside and stays there; a tick, six and twelve apart.
TEST(SharedTouch, TwoHandsOnOneBodySettleHoweverLateTheyHear) {
  const Pose start{k_start, {}}, aside{k_start + Vec3d{0.01, 0, 0}, {}};
  std::vector<Pose> pulls{start, start, aside};
  pulls.resize(22, aside);  // a key repeated is a pause of 0.2 s
  for (const Holding holding : k_holdings)
    for (const std::size_t delay : {1U, 6U, 12U}) {
      TwoPeers peers(holding, delay, HandPath(std::vector<Pose>(22, start)), HandPath(pulls, 0.1));
      std::array<double, 6> fastest{};  // m/s, of either handle in each half second
      for (std::size_t tick = 0; tick < 300; ++tick) {
        peers.pass_tick();
        for (std::size_t i = 0; i < 2; ++i)
          fastest[tick / 50] = std::max(fastest[tick / 50], norm(peers.device(i).velocity().linear));
      }
      for (std::size_t i = 1; i < fastest.size(); ++i) EXPECT_LE(fastest[i], 0.5 * fastest[i - 1]) << delay << ' ' << i;
      EXPECT_LT(fastest.back(), 1e-4);
      // Arms of 400 N/m and grasps of 1000 N/m in a row, and each arm has its friction of 0.04 N.
      const double force = 0.01 / (2 / 400.0 + 2 / k_stiffness);
      EXPECT_NEAR(peers.felt(0).x, force, 0.06);
      EXPECT_NEAR(peers.felt(1).x, -force, 0.06);
      EXPECT_NEAR(peers.felt(0).x, -peers.felt(1).x, 1e-3);
      for (std::size_t i = 0; i < 2; ++i) EXPECT_LT(norm(peers.box(i).position - peers.agreed_box().position), 1e-6);
    }
}

}  // namespace
}  // namespace cotouch::this_file

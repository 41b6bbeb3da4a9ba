// Many worlds drawn by a seed: nothing explodes, and nothing passes through anything.
#include "support/thorough.h"
#include "world/support.h"

#include <cotouch/base/random.h>
#include <cotouch/base/trig.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace cotouch::this_file {
namespace {

using namespace world_test;

constexpr double k_fast = 2;  // m/s

// Balls, blocks and dumbbells of two balls. Each contains a ball of `inside` metres around its position.
struct Kind {
  std::shared_ptr<const Part> part;
  std::vector<Pose> places;  // of its pieces
  MassProperties mass;
  double inside;
};
const Kind& kind_of(std::uint32_t i) {
  constexpr double k_edge = 0.028, k_small = 0.012, k_arm = 0.01;
  static const Kind k_kinds[] = {{ball_part(), {{}}, ball_mass(0.034), k_ball},
                                 {prepared(make_block({k_edge, k_edge, k_edge}, 0.002), 16, 600),
                                  {{}},
                                  block_mass({k_edge, k_edge, k_edge}, 0.022),
                                  k_edge / 2},
                                 {prepared(make_sphere(k_small, 3), 16, 300),
                                  {{{k_arm, 0, 0}, {}}, {{-k_arm, 0, 0}, {}}},
                                  block_mass({0.044, 0.02, 0.02}, 0.014),
                                  std::sqrt(k_small * k_small - k_arm * k_arm)}};
  return k_kinds[i % 3];
}

// Ten bodies at up to 2 m/s between walls two cells thick that nothing may leave through.
struct RandomWorld {
  static constexpr double k_room = 0.09;  // from the middle to the walls' inner sides
  std::vector<BodyModel> bodies;
  World world;

  static std::vector<BodyModel> draw(Random& random) {
    std::vector<BodyModel> bodies;
    // Plates with their upper side turned inwards: below, left, right, front, back and above.
    const Vec3d turns[] = {{0, 0, 0},         {k_pi, 0, 0},      {0, k_pi / 2, 0},
                           {0, -k_pi / 2, 0}, {-k_pi / 2, 0, 0}, {k_pi / 2, 0, 0}};
    for (std::uint32_t i = 0; i < 6; ++i) {
      const Quat q = quat_from_rotation_vector(turns[i]);
      bodies.push_back(fixed_body(i + 1, plate_part(), {rotate(q, {0, 0, -k_room}), q}));
    }
    std::vector<Vec3d> places;
    while (places.size() < 10) {
      const double room = k_room - 0.03;  // none reaches farther than that, nor two of them together than 0.055
      const Vec3d at{random.uniform(-room, room), random.uniform(-room, room), random.uniform(-room, room)};
      bool clear = true;
      for (const Vec3d& other : places) clear = clear && norm(at - other) > 0.055;
      if (!clear) {
        if (random.below(200) == 0) places.clear();  // a corner nothing more fits into
        continue;
      }
      places.push_back(at);
    }
    for (std::uint32_t i = 0; i < 10; ++i) {
      const Kind& kind = kind_of(i);
      BodyModel body = free_ball(i + 10, places[i]);
      body.pieces.clear();
      for (const Pose& place : kind.places) body.pieces.push_back({kind.part, place});
      body.mass = kind.mass;
      body.start.rotation = quat_from_rotation_vector(random.vector(0, 3));
      body.start_velocity = random.vector(0, k_fast);
      body.start_spin = random.vector(0, 20);
      bodies.push_back(body);
    }
    return bodies;
  }

  RandomWorld(Random& random, double tick, bool falls)
      : bodies(draw(random)), world(bodies, falls ? earthly(tick) : plain(tick)) {}

  double kinetic() const { return energy(*world.model, world.state).kinetic; }
};

void run_worlds(int count, std::uint64_t seed) {
  Random random(seed);
  for (int trial = 0; trial < count; ++trial) {
    SCOPED_TRACE(trial);
    const double tick = trial % 4 == 0 ? 1e-3 : 1e-2;
    RandomWorld w(random, tick, trial % 2 == 1);
    const WorldEnergy start = energy(*w.world.model, w.world.state);
    std::vector<Vec3d> last;
    for (std::uint32_t i = 0; i < 10; ++i) last.push_back(w.world.body(i + 10).pose.position);
    for (double t = 0; t < 0.3; t += tick) {
      w.world.step();
      const WorldEnergy now = energy(*w.world.model, w.world.state);
      // Nothing comes from nowhere: contacts give back what they took and no more.
      ASSERT_LE(now.kinetic + now.potential, (start.kinetic + start.potential) + 0.02 * start.kinetic + 1e-3) << t;
      for (std::uint32_t i = 0; i < 10; ++i) {
        const Vec3d at = w.world.body(i + 10).pose.position;
        // Outside a wall would be beyond its middle.
        const double inside = kind_of(i).inside;
        for (const double x : {at.x, at.y, at.z})
          ASSERT_LT(std::fabs(x), RandomWorld::k_room - inside + 0.004) << t << " " << i;
        for (std::uint32_t j = 0; j < i; ++j) {
          // The way of one as the other sees it: to pass through, it would have to come nearer than half of what the
          // balls inside both keep apart.
          const Vec3d from = last[i] - last[j], way = at - w.world.body(j + 10).pose.position - from;
          const double along = norm_squared(way) > 0 ? std::clamp(-dot(from, way) / norm_squared(way), 0.0, 1.0) : 0.0;
          ASSERT_GT(norm(from + way * along), (inside + kind_of(j).inside) / 2) << t << " " << i << " " << j;
        }
      }
      for (std::uint32_t i = 0; i < 10; ++i) last[i] = w.world.body(i + 10).pose.position;
    }
  }
}

TEST(RandomWorlds, NeitherExplodeNorPassThroughEachOther) {
  run_worlds(60, 81);
}

TEST(RandomWorldsSlow, ManyNeitherExplodeNorPassThroughEachOther) {
  run_worlds(testing_support::thorough(100, 1000), 82);
}

// Blocks, edges and corners first, thrown at a wall two cells thick.
TEST(RandomWorlds, BlocksThrownAtAThinWallStayOnTheirSide) {
  Random random(83);
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    const double tick = trial % 2 ? 1e-3 : 1e-2;
    BodyModel block = free_block(2, {{random.uniform(-0.03, 0.03), random.uniform(-0.03, 0.03), 0.06},
                                     quat_from_rotation_vector(random.vector(0, 3))});
    block.start_velocity = Vec3d{random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), -1} * (k_fast / 1.23);
    block.start_spin = random.vector(0, 30);
    WorldSettings settings = plain(tick);
    settings.restitution = 0.6;  // so that every block comes back, though a corner that was hit turns it
    World world({floor_body(), block}, settings);
    const double before = energy(*world.model, world.state).kinetic;
    for (double t = 0; t < 0.2; t += tick) {
      world.step();
      ASSERT_GT(lowest_point(world, 2), -k_plate / 3) << t;
      ASSERT_LE(energy(*world.model, world.state).kinetic, before * 1.01);
    }
    EXPECT_GT(world.body(2).velocity.z, 0);
  }
}

// Pushed by a hand as hard as hands push, for seconds.
TEST(RandomWorlds, AWallTwoCellsThickCannotBePushedThrough) {
  for (const Holding holding : {Holding::quasi_static, Holding::dynamic})
    for (const bool ball : {false, true}) {
      BodyModel body =
          ball ? free_ball(2, {0, 0, 0.05}) : free_block(2, {{0, 0, 0.06}, quat_from_rotation_vector({0.6, 0.6, 0})});
      body.holding = holding;
      World world({floor_body(), body}, plain());
      world.step({grasping(2, body.start)});
      double deepest = 0;
      for (int i = 0; i < 2000; ++i) {
        world.step({hand_at({{0.01 * std::sin(i * 0.01), 0, 0.05 - 0.0001 * i}, body.start.rotation})});
        deepest = std::max(deepest, static_cast<double>(world.scratch.stats().deepest));
        ASSERT_GT(lowest_point(world, 2), -k_plate / 3) << i;
      }
      EXPECT_LT(deepest, k_plate / 6);
      EXPECT_GT(norm(world.state.hands()[0].felt.force), 7);
    }
}

}  // namespace
}  // namespace cotouch::this_file

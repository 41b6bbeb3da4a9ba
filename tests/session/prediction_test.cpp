#include <cotouch/base/random.h>
#include <cotouch/base/realtime.h>
#include <cotouch/base/trig.h>
#include <cotouch/session/prediction.h>
#include <cotouch/world/hand_path.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <vector>

namespace cotouch::this_file {
namespace {

constexpr double k_tick = 0.01;
constexpr double k_micrometre = 0x1p-20;  // what positions are rounded to
constexpr Prediction k_kinds[] = {Prediction::hold, Prediction::linear, Prediction::kalman_velocity,
                                  Prediction::kalman_acceleration};
constexpr Prediction k_filters[] = {Prediction::kalman_velocity, Prediction::kalman_acceleration};

HandInput hand_at(const Vec3d& position, const Vec3d& turn = {}) {
  HandInput input;
  input.present = true;
  input.pose = {position, quat_from_rotation_vector(turn)};
  return quantised(input);
}

// People move to a place and rest there, or turn at once; a tremor of 8 to 12 Hz and 0.05 mm goes along.
std::vector<HandInput> human_motion(std::uint64_t seed, std::size_t ticks, double reach) {
  Random random(seed);
  std::vector<Pose> keys(1);
  while (keys.size() < ticks / 40) {
    const Vec3d place = random.vector(0.1 * reach, reach);
    const Vec3d turn = random.vector(0, 0.4);
    keys.push_back({place, quat_from_rotation_vector(turn)});
    if (random.uniform() < 0.4) keys.push_back(keys.back());
  }
  const HandPath path(keys, 2.5 * reach);
  const double frequency[] = {random.uniform(8, 12), random.uniform(8, 12), random.uniform(8, 12)};
  std::vector<HandInput> inputs;
  for (std::size_t i = 0; i < ticks; ++i) {
    const double now = static_cast<double>(i) * k_tick;
    const auto tremor = [&](std::size_t axis, double phase) {
      return sin_cos(2 * k_pi * frequency[axis] * now + phase).sin;
    };
    HandInput input;
    input.present = true;
    input.pose = moved(path.at(now), {Vec3d{tremor(0, 0), tremor(1, 1), tremor(2, 2)} * 5e-5,
                                      Vec3d{tremor(1, 3), tremor(2, 4), tremor(0, 5)} * 5e-4});
    inputs.push_back(quantised(input));
  }
  return inputs;
}

struct Errors {
  double mean = 0, p95 = 0;
};

struct PoseErrors {
  Errors position, rotation;  // metres, radians
};

Errors summary(std::vector<double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  std::sort(values.begin(), values.end());
  return {sum / static_cast<double>(values.size()), values[values.size() * 95 / 100]};
}

PoseErrors errors(Prediction kind, const std::vector<HandInput>& inputs, std::size_t ahead, double jitter = 0) {
  HandPredictor predictor(kind, k_tick);
  predictor.set_jitter(jitter);
  std::vector<double> position, rotation;
  for (std::size_t i = 0; i + ahead < inputs.size(); ++i) {
    predictor.observe(static_cast<Tick>(i), inputs[i]);
    const Pose said = predictor.predict(static_cast<Tick>(i + ahead)).pose, came = inputs[i + ahead].pose;
    position.push_back(norm(said.position - came.position));
    rotation.push_back(norm(rotation_vector(said.rotation * came.rotation.conjugate())));
  }
  return {summary(position), summary(rotation)};
}

TEST(Prediction, AHandThatWasNeverSeenIsAbsent) {
  for (const Prediction kind : k_kinds) EXPECT_EQ(HandPredictor(kind, k_tick).predict(3), HandInput{});
}

TEST(Prediction, AnAbsentHandStaysAbsent) {
  for (const Prediction kind : k_kinds) {
    HandPredictor predictor(kind, k_tick);
    for (Tick tick = 0; tick < 50; ++tick) predictor.observe(tick, hand_at({1e-3 * static_cast<double>(tick), 0, 0}));
    predictor.observe(50, {});
    EXPECT_EQ(predictor.predict(60), HandInput{});
  }
}

TEST(Prediction, AStillHandIsPredictedBitForBit) {
  for (const Prediction kind : k_kinds) {
    HandPredictor predictor(kind, k_tick);
    const std::vector<HandInput> motion = human_motion(3, 400, 0.2);
    Tick tick = 0;
    for (const HandInput& input : motion) predictor.observe(tick++, input);
    HandInput last = motion.back();
    last.buttons = 5;
    for (int i = 0; i < 4; ++i) predictor.observe(tick++, last);
    for (Tick ahead = 0; ahead < 200; ++ahead) EXPECT_EQ(predictor.predict(tick + ahead), last);
  }
}

TEST(Prediction, StraightMotionIsPredictedExactly) {
  const Vec3d velocity{900 * k_micrometre, -350 * k_micrometre, 40 * k_micrometre};  // a tick, about 0.1 m/s
  for (const Prediction kind : {Prediction::linear, Prediction::kalman_velocity, Prediction::kalman_acceleration}) {
    HandPredictor predictor(kind, k_tick);
    for (Tick tick = 0; tick <= 300; ++tick) predictor.observe(tick, hand_at(velocity * static_cast<double>(tick)));
    for (const Tick ahead : {1, 2, 3, 6, 12, 20, 32}) {
      const Vec3d expected = velocity * static_cast<double>(300 + ahead);
      const Vec3d said = predictor.predict(300 + ahead).pose.position;
      // The filters are drawn to a cautious start by as much as a few steps of the size of their noise.
      EXPECT_LE(norm(said - expected), kind == Prediction::linear ? 0 : 2 * k_micrometre)
          << static_cast<int>(kind) << " " << ahead;
    }
  }
}

TEST(Prediction, ASteadyTurnIsPredictedExactly) {
  for (const Prediction kind : {Prediction::linear, Prediction::kalman_velocity, Prediction::kalman_acceleration}) {
    HandPredictor predictor(kind, k_tick);
    // 0.8 rad/s about one axis, past half a turn.
    const Vec3d spin{0, 0.0048, 0.0064};
    for (Tick tick = 0; tick <= 600; ++tick) predictor.observe(tick, hand_at({}, spin * static_cast<double>(tick)));
    for (const Tick ahead : {1, 6, 12, 20}) {
      const Quat expected = quat_from_rotation_vector(spin * static_cast<double>(600 + ahead));
      const Quat said = predictor.predict(600 + ahead).pose.rotation;
      // A quaternion's rounding of 2^-21 is up to 1.4e-6 rad, twice in a step that linear goes on with.
      EXPECT_LT(norm(rotation_vector(said * expected.conjugate())), 3e-6 * static_cast<double>(ahead + 1))
          << static_cast<int>(kind) << " " << ahead;
    }
  }
}

TEST(Prediction, AParabolaIsPredictedAlmostExactly) {
  // Up and down again, as a ball with 0.4 m/s^2 down: the top after three seconds.
  const auto height = [](double t) { return 1.2 * t - 0.2 * t * t; };
  HandPredictor predictor(Prediction::kalman_acceleration, k_tick);
  for (Tick tick = 0; tick <= 580; ++tick) {
    const double now = static_cast<double>(tick) * k_tick;
    predictor.observe(tick, hand_at({0.05 * now, 0, height(now)}));
    if (tick % 20 != 0 || tick < 380) continue;
    for (const Tick ahead : {1, 2, 6, 12, 20}) {
      const double later = static_cast<double>(ahead) * k_tick;
      // The first tenth of a second, when the acceleration was not known, is remembered: 5 % of what it adds.
      EXPECT_NEAR(predictor.predict(tick + ahead).pose.position.z, height(now + later),
                  0.05 * 0.2 * later * later + 3 * k_micrometre)
          << tick << " " << ahead;
    }
  }
}

// Until the stop is known everyone who extrapolates is wrong by what the hand did not go. After it, soon nobody.
TEST(Prediction, ASuddenStopIsOvershotOnlyUntilItIsKnown) {
  constexpr double k_speed = 0.003;  // metres a tick
  for (const Prediction kind : k_filters)
    for (const double tremor : {0.0, 3e-5}) {
      HandPredictor predictor(kind, k_tick);
      Random random(7);
      const auto noise = [&] { return random.direction() * tremor; };
      Tick tick = 0;
      for (; tick < 150; ++tick)
        predictor.observe(tick, hand_at(Vec3d{k_speed * static_cast<double>(tick), 0, 0} + noise()));
      const double wall = k_speed * static_cast<double>(tick - 1);
      for (int after = 1; after <= 8; ++after, ++tick) {
        predictor.observe(tick, hand_at(Vec3d{wall, 0, 0} + noise()));
        for (const Tick ahead : {1, 2, 6, 12, 20}) {
          const double over = predictor.predict(tick + ahead).pose.position.x - wall;
          const double full = k_speed * static_cast<double>(ahead);
          EXPECT_LE(over, (after < 4 ? 0.35 : 0.05) * full) << static_cast<int>(kind) << " " << after << " " << ahead;
        }
      }
    }
}

TEST(Prediction, ASuddenTurnIsFollowedWithinTwoTicks) {
  constexpr double k_speed = 0.002;
  for (const Prediction kind : k_filters) {
    HandPredictor predictor(kind, k_tick);
    Tick tick = 0;
    Vec3d place;
    for (; tick < 150; ++tick) predictor.observe(tick, hand_at(place += Vec3d{k_speed, 0, 0}));
    for (int after = 1; after <= 6; ++after, ++tick) {
      predictor.observe(tick, hand_at(place += Vec3d{0, k_speed, 0}));
      if (after < 2) continue;
      for (const Tick ahead : {1, 2, 6, 12, 20}) {
        const double full = k_speed * static_cast<double>(ahead);
        const Vec3d error =
            predictor.predict(tick + ahead).pose.position - place - Vec3d{0, k_speed, 0} * static_cast<double>(ahead);
        // What was going straight for a second and a half and turned by a right angle: holding is wrong by `full`,
        // going straight on by 1.41 times that.
        EXPECT_LE(norm(error), (after < 4 ? 0.6 : 0.4) * full + 1e-4)
            << static_cast<int>(kind) << " " << after << " " << ahead;
      }
    }
  }
}

TEST(Prediction, AHandThatTakesHoldOrLetsGoStartsFromRest) {
  for (const Prediction kind : k_filters)
    for (const HandInput::Action action : {HandInput::Action::grasp, HandInput::Action::release}) {
      HandPredictor predictor(kind, k_tick);
      for (Tick tick = 0; tick < 100; ++tick)
        predictor.observe(tick, hand_at({0.002 * static_cast<double>(tick), 0, 0}));
      HandInput input = hand_at({0.2, 0, 0});
      input.action = action;
      input.body = 3;
      predictor.observe(100, input);
      HandInput held = input;
      held.action = HandInput::Action::none;
      held.body = 0;
      for (const Tick ahead : {1, 6, 20}) EXPECT_EQ(predictor.predict(100 + ahead), held);
    }
}

TEST(Prediction, ATremblingHandAtRestIsNotChased) {
  for (const Prediction kind : k_filters) {
    std::vector<HandInput> inputs;
    Random random(11);
    for (int i = 0; i < 3000; ++i) inputs.push_back(hand_at(random.vector(0, 5e-5)));
    for (const std::size_t ahead : {2U, 6U, 12U, 20U}) {
      const PoseErrors ours = errors(kind, inputs, ahead), held = errors(Prediction::hold, inputs, ahead);
      EXPECT_LE(ours.position.mean, held.position.mean) << ahead;
      EXPECT_LE(ours.position.p95, held.position.p95) << ahead;
    }
  }
}

TEST(Prediction, NothingGoesFartherThanTheFastestRecentStepsAllow) {
  for (const Prediction kind : k_filters) {
    HandPredictor predictor(kind, k_tick);
    Random random(5);
    std::vector<double> steps;
    Vec3d place, velocity;
    for (Tick tick = 0; tick < 3000; ++tick) {
      if (random.uniform() < 0.1) velocity = random.vector(0, 0.01);
      const HandInput before = hand_at(place);
      const HandInput input = hand_at(place += velocity);
      predictor.observe(tick, input);
      steps.push_back(norm(input.pose.position - before.pose.position));
      if (tick < 4) continue;
      const double fastest = *std::max_element(steps.end() - 4, steps.end());
      for (const Tick ahead : {1, 4, 9, 32, 100}) {
        const double most = 1.5 * fastest * static_cast<double>(std::min<Tick>(ahead, 32));
        ASSERT_LE(norm(predictor.predict(tick + ahead).pose.position - input.pose.position), most + 2 * k_micrometre);
      }
    }
  }
}

TEST(Prediction, InputsOfStrangersDoNoHarm) {
  for (const Prediction kind : k_kinds) {
    HandPredictor predictor(kind, k_tick);
    Random random(9);
    const double bad[] = {
        1e300, -1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 0, 1e-300};
    Tick tick = 0;
    for (; tick < 500; ++tick) {
      HandInput input = hand_at(random.direction() * 0.1);
      if (random.uniform() < 0.3) input.pose.position.x = bad[random.below(6)];
      if (random.uniform() < 0.3) input.pose.rotation.w = bad[random.below(6)];
      input.present = random.uniform() < 0.9;
      predictor.observe(tick, input);
      (void)predictor.predict(tick + 7);
    }
    // What they taught takes a while to be forgotten.
    for (int i = 0; i < 3000; ++i, ++tick) predictor.observe(tick, hand_at({1e-3 * static_cast<double>(i), 0, 0}));
    const HandInput said = predictor.predict(tick + 5);
    EXPECT_TRUE(is_finite(said.pose) && is_rotation(said.pose.rotation));
    EXPECT_NEAR(said.pose.position.x, kind == Prediction::hold ? 2.999 : 3.005, 0.001) << static_cast<int>(kind);
    EXPECT_EQ(quantised(said), said);
  }
}

TEST(Prediction, FiltersBeatHoldingAndGoingStraightOn) {
  std::ostringstream table;
  table << std::fixed << std::setprecision(3);
  bool better = true;
  for (const double reach : {0.03, 0.1, 0.3}) {
    table << "\nreach " << reach << " m: mean and 95 % error of hold, linear, Kalman velocity, Kalman acceleration\n";
    for (const std::size_t ahead : {2U, 6U, 12U, 20U}) {
      PoseErrors found[4];
      for (const Prediction kind : k_kinds) {
        std::vector<HandInput> inputs = human_motion(1, 6000, reach);
        found[static_cast<std::size_t>(kind)] = errors(kind, inputs, ahead);
      }
      table << "  " << ahead << " ticks:";
      for (const PoseErrors& e : found)
        table << "  " << e.position.mean * 1e3 << " " << e.position.p95 * 1e3 << " mm, " << e.rotation.mean * 57.29578
              << " " << e.rotation.p95 * 57.29578 << " deg;";
      table << "\n";
      // At 60 ms, which is about a transatlantic trip, by a clear margin.
      const double margin = ahead == 6 ? 0.85 : 1;
      for (const std::size_t filter : {2U, 3U})
        for (const std::size_t simple : {0U, 1U})
          better = better && found[filter].position.mean <= margin * found[simple].position.mean &&
                   found[filter].rotation.mean <= margin * found[simple].rotation.mean &&
                   found[filter].position.p95 <= found[simple].position.p95 &&
                   found[filter].rotation.p95 <= found[simple].rotation.p95;
    }
  }
  EXPECT_TRUE(better) << table.str();
}

TEST(Prediction, AKnownJitterHelpsLongPredictions) {
  const std::vector<HandInput> inputs = human_motion(2, 6000, 0.3);
  const auto mean = [&](double jitter) {
    return errors(Prediction::kalman_acceleration, inputs, 20, jitter).position.mean;
  };
  EXPECT_LT(mean(0.15), mean(0));
}

TEST(Prediction, NeitherAllocatesNorLocks) {
  HandPredictor predictor(Prediction::kalman_acceleration, k_tick);
  const std::vector<HandInput> inputs = human_motion(4, 200, 0.1);
  const std::uint64_t before = RealtimeSection::breaches();
  {
    const RealtimeSection section;
    Tick tick = 0;
    for (const HandInput& input : inputs) {
      predictor.observe(tick, input);
      (void)predictor.predict(++tick);
    }
  }
  EXPECT_EQ(RealtimeSection::breaches(), before);
}

}  // namespace
}  // namespace cotouch::this_file

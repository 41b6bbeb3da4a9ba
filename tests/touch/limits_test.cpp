#include <cotouch/touch/limits.h>

#include <cotouch/base/random.h>

#include "fixtures.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

namespace cotouch {
namespace {

using testing::ProbeDevice;

constexpr double k_rounding = 1 + 1e-12;

double hostile(Random& random) {
  const double inf = std::numeric_limits<double>::infinity();
  switch (random.below(8)) {
    case 0: return std::numeric_limits<double>::quiet_NaN();
    case 1: return inf;
    case 2: return -inf;
    case 3: return std::numeric_limits<double>::max();
    case 4: return -1e200;
    case 5: return std::numeric_limits<double>::denorm_min();
    default: return random.uniform(-20, 20);
  }
}

TEST(ForceLimiter, HoldsEveryLimitWhateverIsAskedFor) {
  const LimitSettings settings;
  ProbeDevice device;
  Wrench last;
  bool letting_go = false;
  std::uint64_t seen = 0;
  device.on_write = [&](const Wrench& now) {
    ++seen;
    EXPECT_TRUE(is_finite(now.force) && is_finite(now.torque));
    EXPECT_LE(norm(now.force), settings.max_force * k_rounding);
    EXPECT_LE(norm(now.torque), settings.max_torque * k_rounding);
    if (letting_go) {
      EXPECT_EQ(now, Wrench{});
    } else {
      EXPECT_LE(norm(now.force - last.force), settings.force_rate * settings.period * k_rounding);
      EXPECT_LE(norm(now.torque - last.torque), settings.torque_rate * settings.period * k_rounding);
    }
    last = now;
  };
  ForceLimiter limiter(device, settings);
  Random random(41);
  for (int i = 0; i < 20000; ++i) {
    // Runs of sane wrenches in between, so that the ramp is reached and steps start from full force.
    const bool calm = (i / 500) % 2 == 0;
    Wrench wanted{random.direction() * 100.0, random.direction() * 10.0};
    if (!calm) wanted = {{hostile(random), hostile(random), hostile(random)}, {hostile(random), 0, hostile(random)}};
    EXPECT_EQ(limiter.write(wanted).wrench, last);
    if (random.below(1000) == 0) {
      letting_go = true;
      EXPECT_TRUE(limiter.release());
      letting_go = false;
    }
  }
  EXPECT_GT(limiter.refused(), 1000U);
  EXPECT_GE(seen, 20000U);
  letting_go = true;  // the destructor's last word
}

TEST(ForceLimiter, PassesModestWrenchesUnchangedOnceTheRampIsOver) {
  ProbeDevice device;
  ForceLimiter limiter(device, {});
  const Wrench wanted{{1, -2, 3}, {0.01, 0.02, -0.03}};
  for (int i = 0; i < 150; ++i) limiter.write(wanted);
  const Wrench written = limiter.write(wanted).wrench;
  EXPECT_LT(norm(written.force - wanted.force) + norm(written.torque - wanted.torque), 1e-15);
}

TEST(ForceLimiter, FadesInAfterEveryRelease) {
  ProbeDevice device;
  ForceLimiter limiter(device, {});
  for (int round = 0; round < 2; ++round) {
    for (int i = 1; i <= 100; ++i)
      EXPECT_NEAR(limiter.write({{0, 0, 5}, {}}).wrench.force.z, 5 * 0.01 * i, 1e-12);  // 1 ms of a 100 ms ramp each
    EXPECT_TRUE(limiter.release());
    EXPECT_EQ(device.force.load(), 0);
  }
}

TEST(ForceLimiter, NewLimitsHoldAtOnceAndDoNotFadeInAnew) {
  ProbeDevice device;
  ForceLimiter limiter(device, {});
  const Wrench wanted{{0, 0, 8.4}, {}};
  for (int i = 0; i < 200; ++i) limiter.write(wanted);
  LimitSettings lower;
  lower.max_force = 3;
  limiter.change(lower);
  EXPECT_NEAR(limiter.write(wanted).wrench.force.z, 3, 1e-12);
  EXPECT_EQ(limiter.state().ramp, 1);
  // Back up, the force rises by no more than its rate: 5000 N/s are 5 N a millisecond.
  limiter.change({});
  EXPECT_NEAR(limiter.write(wanted).wrench.force.z, 8, 1e-12);
  EXPECT_NEAR(limiter.write(wanted).wrench.force.z, 8.4, 1e-12);
}

TEST(ForceLimiter, WithoutARateThereIsNoForce) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double rate : {0.0, -1.0, nan}) {
    ProbeDevice device;
    ForceLimiter limiter(device, {});
    for (int i = 0; i < 200; ++i) limiter.write({{5, 0, 0}, {0, 0.1, 0}});
    LimitSettings broken;
    broken.force_rate = broken.torque_rate = rate;
    limiter.change(broken);
    EXPECT_EQ(limiter.write({{5, 0, 0}, {0, 0.1, 0}}).wrench, Wrench{});
  }
}

TEST(ForceLimiter, GoesOnFromAStateWithinItsLimits) {
  ProbeDevice device;
  ForceLimiter one(device, {}), other(device, {});
  for (int i = 0; i < 40; ++i) one.write({{2, 0, 0}, {0, 0.1, 0}});
  other.resume(one.state());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(one.write({{0, 6, 0}, {}}).wrench, other.write({{0, 6, 0}, {}}).wrench);
  other.resume({{{1e9, 0, 0}, {}}, 1e9});
  EXPECT_LE(norm(other.write({{1e9, 0, 0}, {}}).wrench.force), LimitSettings{}.max_force * (1 + 1e-12));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const LimiterState& bad :
       {LimiterState{{{nan, 1, 0}, {}}, 1}, LimiterState{{{}, {0, nan, 1}}, 1}, LimiterState{{{1, 0, 0}, {}}, nan}}) {
    other.resume(bad);
    EXPECT_EQ(other.state(), LimiterState{});
    EXPECT_TRUE(is_finite(other.write({{1, 0, 0}, {0, 1, 0}}).wrench.force));
  }
}

TEST(ForceLimiter, LeavesTheDeviceAtZeroWhenItGoes) {
  ProbeDevice device;
  {
    ForceLimiter limiter(device, {});
    EXPECT_EQ(device.force.load(), 0);
    for (int i = 0; i < 200; ++i) limiter.write({{5, 0, 0}, {}});
    EXPECT_GT(device.force.load(), 4);
  }
  EXPECT_EQ(device.force.load(), 0);
}

TEST(ForceLimiter, WhoComesWhileTheDeviceIsBeingServedGoesOnWithoutWriting) {
  ProbeDevice device;
  ForceLimiter* limiter = nullptr;
  int depth = 0;
  device.on_write = [&](const Wrench&) {
    ASSERT_EQ(++depth, 1);
    if (limiter != nullptr) {
      EXPECT_EQ(limiter->write({{5, 0, 0}, {}}).motors, Motors::off);
      EXPECT_FALSE(limiter->release());
    }
    --depth;
  };
  ForceLimiter served(device, {});
  limiter = &served;
  served.write({{1, 0, 0}, {}});
  EXPECT_TRUE(served.release());
}

TEST(ForceLimiter, TwoThreadsNeverReachTheDeviceAtOnce) {
  ProbeDevice device;
  int inside = 0;  // plain on purpose: the thread sanitizer sees it if the limiter lets two in
  device.on_write = [&](const Wrench&) {
    EXPECT_EQ(++inside, 1);
    --inside;
  };
  ForceLimiter limiter(device, {});
  {
    std::jthread other([&] {
      for (int i = 0; i < 20000; ++i) limiter.release();
    });
    for (int i = 0; i < 20000; ++i) limiter.write({{5, 0, 0}, {}});
  }
}

}  // namespace
}  // namespace cotouch

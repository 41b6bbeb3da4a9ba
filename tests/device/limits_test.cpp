#include <cotouch/device/limits.h>

#include <cotouch/base/error.h>
#include <cotouch/base/invariant.h>
#include <cotouch/base/random.h>
#include <cotouch/touch/softening.h>

#include "support/eventually.h"
#include "touch/fixtures.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <thread>
#include <type_traits>
#include <utility>

namespace cotouch {

struct LimiterFault {
  static void damage(ForceLimiter& limiter, const Wrench& last) { limiter.state_.last = last; }
};

}  // namespace cotouch

namespace cotouch::this_file {
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
  ProbeDevice device, another;
  ForceLimiter one(device, {}), other(another, {});
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

TEST(ForceLimiter, NeverGivesMoreThanTheDeviceBearsWhateverTheProgramAsksFor) {
  ProbeDevice device;
  device.bears.motors = {3, 3, 0.1, 0.1, 60};
  LimitSettings greedy;
  greedy.max_force = greedy.max_torque = 1e6;
  ForceLimiter limiter(device, greedy);
  for (int i = 0; i < 300; ++i) {
    const Wrench given = limiter.write({{0, 40, 0}, {0, 0, 10}}).wrench;
    EXPECT_LE(norm(given.force), 3 * k_rounding);
    EXPECT_LE(norm(given.torque), 0.1 * k_rounding);
  }
  EXPECT_NEAR(device.force.load(), 3, 1e-12);
  limiter.change(greedy);  // nor later, nor by a state from elsewhere
  limiter.resume({{{0, 1e3, 0}, {}}, 1, 0, 0});
  EXPECT_LE(norm(limiter.write({{0, 40, 0}, {}}).wrench.force), 3 * k_rounding);
  // Numbers that are none allow nothing.
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = DeviceLimits::k_none;
  for (const double bad : {nan, inf, -1.0}) {
    ProbeDevice broken;
    broken.bears.motors = {bad, bad, bad, bad, bad};
    ForceLimiter none(broken, greedy);
    for (int i = 0; i < 300; ++i) EXPECT_EQ(none.write({{1, 0, 0}, {0, 1, 0}}).wrench, Wrench{});
  }
}

// First order: at the peak P the heat is P^2/C^2 (1 - e^(-t/tau)), which comes to 3/4 after -tau ln(1 - 3/4 C^2/P^2).
TEST(ForceLimiter, ThePeakLastsWhileTheMotorsAreCoolThenTheContinuousForce) {
  ProbeDevice device;
  device.bears.motors = {8, 2, 0.3, 0.1, 2};
  LimitSettings settings;
  settings.ramp_seconds = 0;
  const double expected = -2 * std::log(1 - 0.75 * 4 / 64);
  {
    ForceLimiter limiter(device, settings);
    double last = 8, sinks_at = 0;
    for (int i = 1; i <= 20000; ++i) {
      const double now = norm(limiter.write({{100, 0, 0}, {0, 0.05, 0}}).wrench.force);
      if (i > 2 && now < 8 * (1 - 1e-9) && sinks_at == 0) sinks_at = i * 1e-3;
      if (i > 2) {
        EXPECT_LE(now, last * k_rounding);  // smoothly down: never up again
        EXPECT_GT(now, last - 0.25);
      }
      last = now;
      EXPECT_LE(limiter.state().force_heat, 1);
    }
    EXPECT_NEAR(sinks_at, expected, 4e-3);
    EXPECT_NEAR(last, 2, 1e-3);
    EXPECT_LT(limiter.state().torque_heat, 0.3);  // by itself: 0.05 of 0.1 N m for ever is a quarter
    // Less than that lets them cool: after four time constants at a tenth, the peak is there again.
    for (int i = 0; i < 8000; ++i) limiter.write({{0.2, 0, 0}, {}});
    EXPECT_LT(limiter.state().force_heat, 0.05);
    for (int i = 0; i < 2; ++i) limiter.write({{100, 0, 0}, {}});
    EXPECT_NEAR(device.force.load(), 8, 1e-9);
    for (int i = 0; i < 20000; ++i) limiter.write({{100, 0, 0}, {}});
  }
  // A new scene brings a new limiter, not cool motors.
  ForceLimiter next(device, settings);
  for (int i = 0; i < 5; ++i) next.write({{100, 0, 0}, {}});
  EXPECT_LT(device.force.load(), 2.1);
}

// By itself, and by the same law as force.
TEST(ForceLimiter, ALastingTorqueFallsToTheContinuousOne) {
  ProbeDevice device;
  device.bears.motors = {8, 8, 0.3, 0.1, 2};
  LimitSettings settings;
  settings.ramp_seconds = 0;
  {
    ForceLimiter limiter(device, settings);
    double given = 0, sinks_at = 0;
    for (int i = 1; i <= 20000; ++i) {
      given = norm(limiter.write({{1, 0, 0}, {0, 10, 0}}).wrench.torque);
      if (i > 2 && given < 0.3 * (1 - 1e-9) && sinks_at == 0) sinks_at = i * 1e-3;
    }
    EXPECT_NEAR(sinks_at, -2 * std::log(1 - 0.75 * 0.01 / 0.09), 4e-3);
    EXPECT_NEAR(given, 0.1, 1e-4);
    EXPECT_LT(limiter.state().force_heat, 0.1);
  }
  ForceLimiter next(device, settings);
  double given = 0;
  for (int i = 0; i < 5; ++i) given = norm(next.write({{}, {0, 10, 0}}).wrench.torque);
  EXPECT_LT(given, 0.105);
}

TEST(ForceLimiter, LimitsThatAreNoNumbersAreNotBelieved) {
  const CouplingSettings coupling;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {nan, -1.0}) {
    ProbeDevice device;
    device.bears.stiffness = device.bears.angular_stiffness = device.bears.speed = device.bears.turn_speed = bad;
    const DeviceLimits limits = ForceLimiter::limits_of(device);
    EXPECT_EQ(limits.speed, 0);
    EXPECT_EQ(limits.turn_speed, 0);
    EXPECT_EQ(bearable_share(limits, coupling, 1e-3), 0);
    ProbeDevice limp;
    limp.bears.angular_stiffness = bad;
    EXPECT_EQ(bearable_share(ForceLimiter::limits_of(limp), coupling, 1e-3), 0);
  }
  // Held five times as long, a force is late by five times as much, if nothing is known of the driver's own delay.
  for (const double bad : {nan, -1.0, DeviceLimits::k_none}) {
    ProbeDevice device;
    device.bears.stiffness = coupling.linear_stiffness;
    device.bears.delay = bad;
    EXPECT_NEAR(bearable_share(ForceLimiter::limits_of(device), coupling, 5e-3), 0.9 / 5, 1e-12) << bad;
  }
}

TEST(ForceLimiter, FadesOutWithinTenMillisecondsAndInAgainAfterwards) {
  ProbeDevice device;
  ForceLimiter limiter(device, {});
  for (int i = 0; i < 200; ++i) limiter.write({{0, 8, 0}, {}});
  double last = device.force.load();
  for (int i = 1; i < 10; ++i) {
    EXPECT_EQ(limiter.fade_out({{0, 8, 0}, {}}).motors, Motors::fading);
    EXPECT_LT(device.force.load(), last);
    EXPECT_NEAR(device.force.load(), 8 * (1 - i * 0.1), 1e-9);
    last = device.force.load();
  }
  for (int i = 0; i < 2; ++i) EXPECT_EQ(limiter.fade_out({{0, 8, 0}, {}}).motors, Motors::off);
  EXPECT_EQ(device.force.load(), 0);
  EXPECT_EQ(limiter.write({{0, 8, 0}, {}}).motors, Motors::restarted);
  EXPECT_LT(device.force.load(), 0.1);
}

// Of loops that come late: always by as much, or by chance and early in between.
struct Lateness {
  double least, most;  // s from one cycle to the next
  Random random{7};
  double next() { return random.uniform(least, most); }
};
std::vector<Lateness> latenesses() {
  return {{1e-3, 1e-3}, {5e-3, 5e-3}, {17e-3, 17e-3}, {1e-4, 19e-3}};
}

// The true heat is what the forces that were really on add up to: over t seconds of F it goes 1 - e^(-t/tau) of the way
// to F^2 / C^2.
TEST(ForceLimiter, KeepsMotorsAsCoolHoweverLateItsCyclesCome) {
  for (const bool rests : {false, true})
    for (Lateness lateness : latenesses()) {
      ProbeDevice device;
      device.bears.motors = {8.5, 1.4, 0.35, 0.058, 6};
      ForceLimiter limiter(device, {});
      Wrench held;
      double heat = 0, torque_heat = 0, hottest = 0, most = 0;
      for (double time = 0; time < 60;) {
        const double passed = lateness.next();
        time += passed;
        const double share = 1 - std::exp(-passed / 6);
        heat += (norm_squared(held.force) / (1.4 * 1.4) - heat) * share;
        torque_heat += (norm_squared(held.torque) / (0.058 * 0.058) - torque_heat) * share;
        hottest = std::max({hottest, heat, torque_heat});
        limiter.let_pass(passed);
        const bool pushes = !rests || std::fmod(time, 4) < 1;
        held = limiter.write(pushes ? Wrench{{100, 0, 0}, {0, 10, 0}} : Wrench{{0, 0.1, 0}, {}}).wrench;
        most = std::max(most, norm(held.force));
      }
      EXPECT_LT(hottest, 1.005) << lateness.most << rests;
      EXPECT_GT(hottest, 0.9) << lateness.most << rests;  // and does not waste what they bear
      EXPECT_NEAR(most, 8.5, 1e-9);
      if (!rests) {
        EXPECT_NEAR(heat, 1, 0.01) << lateness.most;
      }
    }
}

// Over t seconds t / tau of the way to F^2 / C^2 while motors warm up, all of it after tau; a hundredth at most while
// they cool. Nothing that was really there is forgotten, also above 1.
TEST(ForceLimiter, AVeryLateWriteWarmsForTheTimeItTook) {
  ProbeDevice device;
  device.bears.motors = {8, 1, 0.3, 0.1, 6};
  LimitSettings settings;
  settings.ramp_seconds = 0;
  ForceLimiter limiter(device, settings);
  const auto heat_after = [&](double force, double seconds) {
    limiter.resume({{{force, 0, 0}, {}}, 1, limiter.state().force_heat, 0});
    EXPECT_EQ(limiter.write({{force, 0, 0}, {}}).wrench.force.x, force);
    limiter.let_pass(seconds);
    return limiter.state().force_heat;
  };
  const double warm = 64 * 0.3 / 6;
  EXPECT_NEAR(heat_after(8, 0.3), warm, 1e-12);
  EXPECT_NEAR(heat_after(0.5, 0.3), warm + (0.25 - warm) / 100, 1e-12);
  EXPECT_NEAR(heat_after(0.5, 0.006), (warm + (0.25 - warm) / 100) * 0.999 + 0.25e-3, 1e-12);
  limiter.resume({});
  EXPECT_NEAR(heat_after(8, 12), 64, 1e-12);
  limiter.resume({{}, 0, -5, -5});
  EXPECT_EQ(limiter.state().force_heat, 0);
  EXPECT_EQ(limiter.state().torque_heat, 0);
  // What bears nothing for long is warm from the first write on.
  ProbeDevice weak;
  weak.bears.motors = {8, 0, 0.3, 0, 6};
  ForceLimiter none(weak, settings);
  EXPECT_EQ(none.write({{5, 0, 0}, {}}).wrench.force.x, 5);
  EXPECT_EQ(none.write({{5, 0, 0}, {}}).wrench.force.x, 0);
}

// A clock that stands or is no number lets nothing grow, and takes nothing away.
TEST(ForceLimiter, InNoTimeNothingChanges) {
  for (const double seconds : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    ProbeDevice device;
    ForceLimiter limiter(device, {});
    for (int i = 0; i < 50; ++i) limiter.write({{4, 0, 0}, {0, 0.1, 0}});
    const LimiterState before = limiter.state();
    EXPECT_NEAR(before.ramp, 0.5, 1e-12);
    limiter.let_pass(seconds);
    EXPECT_EQ(limiter.write({{8, 0, 0}, {}}).wrench, before.last) << seconds;
    EXPECT_EQ(limiter.state().ramp, before.ramp) << seconds;
    limiter.release();
    limiter.let_pass(seconds);
    EXPECT_EQ(limiter.write({{8, 0, 0}, {}}).wrench, Wrench{}) << seconds;
  }
}

TEST(ForceLimiter, FadesByTheClockHoweverLateItsCyclesCome) {
  for (Lateness lateness : latenesses()) {
    ProbeDevice device;
    ForceLimiter limiter(device, {});
    limiter.write({{0, 8, 0}, {}});
    // From a hundredth, which the first millisecond gives.
    for (double time = 0; time < 0.12;) {
      const double passed = lateness.next();
      time += passed;
      limiter.let_pass(passed);
      limiter.write({{0, 8, 0}, {}});
      EXPECT_NEAR(device.force.load(), 8 * std::min(1.0, 0.01 + time / 0.1), 1e-9) << lateness.most;
    }
    for (double time = 0; time < 0.05;) {
      const double passed = lateness.next();
      time += passed;
      limiter.let_pass(passed);
      limiter.fade_out({{0, 8, 0}, {}});
      EXPECT_NEAR(device.force.load(), 8 * std::max(0.0, 1 - time / k_fade_out_seconds), 1e-8) << lateness.most;
    }
    // However long ago that was.
    limiter.let_pass(10);
    EXPECT_EQ(limiter.write({{0, 8, 0}, {}}).motors, Motors::restarted);
    EXPECT_NEAR(device.force.load(), 8 * 0.01, 1e-9);
  }
}

TEST(ForceLimiter, MovesByItsRateASecondHoweverLateItsCyclesCome) {
  LimitSettings settings;
  settings.force_rate = 200;
  settings.torque_rate = 3;
  settings.ramp_seconds = 0;
  for (Lateness lateness : latenesses()) {
    ProbeDevice device;
    ForceLimiter limiter(device, settings);
    Wrench last = limiter.write({{8, 0, 0}, {0, 0.3, 0}}).wrench;
    for (double time = 0; time < 1;) {
      const double passed = lateness.next(), side = std::fmod(time, 0.2) < 0.1 ? -1 : 1;
      time += passed;
      limiter.let_pass(passed);
      const Wrench now = limiter.write({{side * 8, 0, 0}, {0, side * 0.3, 0}}).wrench;
      const auto moved = [&](double from, double to, double rate) {
        return from + std::clamp(to - from, -rate * passed, rate * passed);
      };
      EXPECT_NEAR(now.force.x, moved(last.force.x, side * 8, 200), 1e-12);
      EXPECT_NEAR(now.torque.y, moved(last.torque.y, side * 0.3, 3), 1e-12);
      last = now;
    }
  }
}

TEST(ForceLimiter, IsTheOnlyOneOfItsDevice) {
  ProbeDevice device;
  {
    ForceLimiter limiter(device, {});
    EXPECT_THROW(ForceLimiter(device, {}), Error);
    for (int i = 0; i < 200; ++i) limiter.write({{5, 0, 0}, {}});
    EXPECT_NEAR(device.force.load(), 5, 1e-9);  // the refused one wrote nothing
  }
  EXPECT_NO_THROW(ForceLimiter(device, {}));
}

// A driver that makes all it has public, and another that would use it.
class OpenDevice : public Device {
 public:
  std::string name() const override { return "open"; }
  DeviceLimits limits() const noexcept override { return k_without_motors; }
  bool read(DeviceReading&) noexcept override { return true; }
  void write(const LimitedWrench&) noexcept override {}
  void disable() noexcept override {}
  bool enable() noexcept override { return true; }
};
template <class D, class Force>
concept CanPush = requires(D& device, const Force& force) {
  device.write(force);
};
static_assert(!CanPush<Device, Wrench> && !CanPush<OpenDevice, Wrench>);
static_assert(!std::is_constructible_v<LimitedWrench, Wrench> && !std::is_default_constructible_v<LimitedWrench>);
static_assert(!std::is_copy_constructible_v<LimitedWrench> && !std::is_move_constructible_v<LimitedWrench>);
static_assert(std::is_final_v<ForceLimiter>);

TEST(ForceLimiter, ADisabledDeviceGetsNothingUntilItIsEnabledOnPurpose) {
  ProbeDevice device;
  {
    ForceLimiter limiter(device, {});
    for (int i = 0; i < 200; ++i) limiter.write({{5, 0, 0}, {}});
    limiter.disable();
    const std::uint64_t writes = device.writes.load();
    EXPECT_EQ(device.force.load(), 0);
    EXPECT_EQ(limiter.write({{5, 0, 0}, {}}).motors, Motors::off);
    EXPECT_TRUE(limiter.release());
    EXPECT_EQ(device.writes.load(), writes);
  }
  ForceLimiter next(device, {});  // nor does another limiter help
  EXPECT_EQ(next.write({{5, 0, 0}, {}}).motors, Motors::off);
  EXPECT_TRUE(next.enable());
  EXPECT_EQ(next.write({{5, 0, 0}, {}}).motors, Motors::restarted);
}

// And begins with a zero, which the driver has taken before anything else may come near it.
TEST(ForceLimiter, ADeviceThatIsEnabledAgainFadesInFromZero) {
  ProbeDevice device;
  ForceLimiter limiter(device, {});
  for (int i = 0; i < 200; ++i) limiter.write({{5, 0, 0}, {}});
  limiter.disable();
  int zeros = 0;
  device.on_write = [&](const Wrench& wrench) {
    zeros += wrench == Wrench{} ? 1 : 0;
    EXPECT_TRUE(limiter.is_disabled());
  };
  EXPECT_TRUE(limiter.enable());
  EXPECT_EQ(zeros, 1);
  device.on_write = [](const Wrench&) {};
  EXPECT_NEAR(limiter.write({{5, 0, 0}, {}}).wrench.force.x, 0.05, 1e-12);
}

// What its driver held while it hung was cut off; a replay sees only that the motors were off.
TEST(ForceLimiter, ADriverThatHungAndWasDisabledIsNotWarmFromThat) {
  ProbeDevice device, replayed;
  device.bears.motors = replayed.bears.motors = {8, 1, 0.3, 0.1, 60};
  LimitSettings settings;
  ForceLimiter live(device, settings), replay(replayed, settings);
  const Wrench pushes{{8, 0, 0}, {}};
  for (int i = 0; i < 300; ++i)
    for (ForceLimiter* limiter : {&live, &replay}) {
      limiter->let_pass(settings.period);
      limiter->write(pushes);
    }
  bool hangs = true;
  device.on_write = [&](const Wrench&) {
    if (std::exchange(hangs, false)) live.disable();
  };
  for (ForceLimiter* limiter : {&live, &replay}) limiter->let_pass(settings.period);
  EXPECT_EQ(live.write(pushes).motors, Motors::off);
  replay.release();
  // It hung for five seconds, and the next cycle is as late.
  for (ForceLimiter* limiter : {&live, &replay}) limiter->let_pass(5);
  EXPECT_EQ(live.state().force_heat, replay.state().force_heat);
  EXPECT_LT(live.state().force_heat, 0.5);  // 8 N for 0.3 s of motors that bear 1 N: 64 * 0.3 / 60
  EXPECT_GT(live.state().force_heat, 0.2);
}

// Heat is the writing thread's own: it is known also while another thread takes the force away.
TEST(ForceLimiter, ADriverThatHangsInAReleaseHidesNoHeat) {
  ProbeDevice device;
  device.bears.motors = {8, 1, 0.3, 0.1, 60};
  LimitSettings settings;
  ForceLimiter limiter(device, settings);
  for (int i = 0; i < 300; ++i) {
    limiter.let_pass(settings.period);
    limiter.write({{8, 0, 0}, {}});
  }
  limiter.let_pass(settings.period);
  const double heat = limiter.state().force_heat;
  LimiterState seen;
  device.on_write = [&](const Wrench&) { seen = limiter.state(); };  // as if by another thread
  limiter.release();
  EXPECT_GT(heat, 0.2);
  EXPECT_EQ(seen.force_heat, heat);
  EXPECT_EQ(seen.last, Wrench{});
}

TEST(ForceLimiter, DoesNotWaitForEverForADriverThatHangs) {
  ProbeDevice device;
  std::atomic<bool> hang{false}, hanging{false};
  device.on_write = [&](const Wrench&) {
    while (hang.load()) {
      hanging.store(true);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  // Memory that outlives it, as TouchLoop keeps its core.
  alignas(ForceLimiter) static std::byte memory[sizeof(ForceLimiter)];
  auto* const stuck = new (memory) ForceLimiter(device, {});
  hang.store(true);
  std::jthread writer([&] { stuck->write({{5, 0, 0}, {}}); });
  ASSERT_TRUE(eventually([&] { return hanging.load(); }));
  const auto begin = std::chrono::steady_clock::now();
  stuck->~ForceLimiter();
  const auto took = std::chrono::steady_clock::now() - begin;
  hang.store(false);
  EXPECT_LT(took, std::chrono::seconds(5));
  EXPECT_EQ(device.disables.load(), 1);
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

// A limiter that has lost its way, as damaged memory or a fault of ours may have it.
TEST(ForceLimiter, WhoseStateIsBeyondTheLimitsWritesZero) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Wrench& wrong : {Wrench{{200, 0, 0}, {}}, Wrench{{}, {0, -60, 0}}, Wrench{{nan, 0, 0}, {}}}) {
    ProbeDevice device;
    ForceLimiter limiter(device, {});
    for (int i = 0; i < 200; ++i) limiter.write({{1, 0, 0}, {}});
    ASSERT_NEAR(device.force.load(), 1, 1e-9);
    Wrench written{{1, 1, 1}, {}};
    device.on_write = [&](const Wrench& now) { written = now; };
    LimiterFault::damage(limiter, wrong);
    const InvariantWatch watch;
    const ForceLimiter::Written answer = limiter.write({{1, 0, 0}, {}});
    EXPECT_EQ(written, Wrench{});
    EXPECT_EQ(answer.wrench, Wrench{});
    EXPECT_EQ(answer.motors, Motors::off);
    EXPECT_STREQ(watch.broken(), k_force_invariant);
    EXPECT_EQ(limiter.state().last, Wrench{});
  }
}

// Squares of 1e199 are no numbers, but the force is within its limit.
TEST(ForceLimiter, LimitsTooLargeToBeSquaredAreNoFault) {
  ProbeDevice device;
  LimitSettings settings;
  settings.max_force = 1e200;
  device.bears.motors = {1e200, 1e200, 1, 1, 1};
  ForceLimiter limiter(device, settings);
  limiter.resume({{{1e199, 0, 0}, {}}, 1, 0, 0});
  const InvariantWatch watch;
  limiter.write({{1e199, 0, 0}, {}});
  EXPECT_EQ(watch.broken(), nullptr);
}

TEST(ForceLimiter, ThatNobodyWatchesEndsTheProgramWithASentence) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  ProbeDevice device;
  ForceLimiter limiter(device, {});
  limiter.write({{1, 0, 0}, {}});
  LimiterFault::damage(limiter, {{200, 0, 0}, {}});
  EXPECT_DEATH(limiter.write({{1, 0, 0}, {}}), "A force beyond the limits was about to reach a device");
}

}  // namespace
}  // namespace cotouch::this_file

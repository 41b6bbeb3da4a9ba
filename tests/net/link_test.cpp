#include <cotouch/net/link.h>

#include <cotouch/base/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "support/error_code.h"

namespace cotouch::this_file {
namespace {

constexpr int k_many = 100'000;

// Five standard deviations of a share; seeds are fixed, so a test passes always or never.
double tolerance(double share, double count = k_many) {
  return 5 * std::sqrt(share * (1 - share) / count);
}

// What becomes of each of many datagrams that are sent `apart` seconds from each other.
std::vector<Link::Arrivals> send_many(Link& link, double apart = 1, int count = k_many, std::size_t bytes = 100) {
  std::vector<Link::Arrivals> all;
  for (int i = 0; i < count; ++i) all.push_back(link.send(i * apart, bytes));
  return all;
}

// The delays of those that arrive, in the order of sending.
std::vector<double> delays(const LinkProfile& profile, double apart = 100, std::uint64_t seed = 1) {
  Link link(profile, seed);
  std::vector<double> out;
  for (int i = 0; i < k_many; ++i)
    for (const Link::Arrival& arrival : link.send(i * apart, 100)) out.push_back(arrival.at - i * apart);
  return out;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

TEST(Link, APerfectOneDeliversAtOnceAndOnce) {
  Link link({}, 1);
  for (int i = 0; i < 100; ++i) {
    const Link::Arrivals arrivals = link.send(i * 0.25, 100);
    ASSERT_EQ(arrivals.size(), 1U);
    EXPECT_EQ(arrivals[0].at, i * 0.25);
    EXPECT_FALSE(arrivals[0].corrupt);
  }
  EXPECT_EQ(link.statistics().sent, 100U);
  EXPECT_EQ(link.statistics().sent_bytes, 10'000U);
  EXPECT_EQ(link.statistics().arrived_bytes, 10'000U);
  EXPECT_EQ(link.statistics().lost(), 0U);
}

TEST(Link, DelayWithoutJitterIsConstant) {
  LinkProfile profile;
  profile.delay = 0.125;
  for (const double delay : delays(profile, 0.5)) ASSERT_EQ(delay, 0.125);
}

// Times of up to 1e7 s are rounded to 2e-9 s.
constexpr double k_rounding = 2e-9;

TEST(Link, UniformJitterIsEvenOnBothSides) {
  LinkProfile profile;
  profile.delay = 0.1;
  profile.jitter = 0.04;
  profile.jitter_kind = Jitter::uniform;
  const std::vector<double> drawn = delays(profile);
  EXPECT_NEAR(mean(drawn), 0.1, 5 * 0.04 / std::sqrt(3.0 * k_many));
  EXPECT_NEAR(deviation(drawn), 0.04 / std::sqrt(3.0), 0.0002);
  const auto [low, high] = std::minmax_element(drawn.begin(), drawn.end());
  EXPECT_GE(*low, 0.06 - k_rounding);
  EXPECT_LE(*high, 0.14 + k_rounding);
}

TEST(Link, NormalJitterHasItsDeviationAndIsClamped) {
  LinkProfile profile;
  profile.delay = 0.1;
  profile.jitter = 0.01;
  profile.jitter_kind = Jitter::normal;
  const std::vector<double> drawn = delays(profile);
  EXPECT_NEAR(mean(drawn), 0.1, 5 * 0.01 / std::sqrt(k_many));
  EXPECT_NEAR(deviation(drawn), 0.01, 5 * 0.01 / std::sqrt(2.0 * k_many));
  profile.shortest = 0.1;
  profile.longest = 0.11;
  const std::vector<double> clamped = delays(profile);
  const auto [low, high] = std::minmax_element(clamped.begin(), clamped.end());
  EXPECT_NEAR(*low, 0.1, k_rounding);
  EXPECT_NEAR(*high, 0.11, k_rounding);
  // Half of a normal distribution is below its mean, 15.87 % beyond one deviation.
  const auto at_the_top = std::count_if(clamped.begin(), clamped.end(), [](double d) { return d > 0.11 - 1e-8; });
  EXPECT_NEAR(static_cast<double>(at_the_top) / k_many, 0.158655, tolerance(0.158655));
}

TEST(Link, ExponentialJitterIsNeverBelowTheDelay) {
  LinkProfile profile;
  profile.delay = 0.1;
  profile.jitter = 0.02;
  profile.jitter_kind = Jitter::exponential;
  const std::vector<double> drawn = delays(profile);
  EXPECT_NEAR(mean(drawn), 0.12, 5 * 0.02 / std::sqrt(k_many));
  EXPECT_GE(*std::min_element(drawn.begin(), drawn.end()), 0.1 - k_rounding);
}

TEST(Link, JitterKeepsTheOrderUnlessAskedNotTo) {
  LinkProfile profile;
  profile.delay = 0.1;
  profile.jitter = 0.05;
  profile.jitter_kind = Jitter::uniform;
  const auto overtakings = [&] {
    Link link(profile, 3);
    const auto all = send_many(link, 0.01, 10'000);
    int count = 0;
    for (std::size_t i = 1; i < all.size(); ++i) count += all[i][0].at < all[i - 1][0].at;
    return count;
  };
  EXPECT_EQ(overtakings(), 0);
  profile.keep_order = false;
  // P(U - U' > 0.1) for a difference of two uniform numbers of [-1/2, 1/2]: (1 - 0.1)^2 / 2.
  EXPECT_NEAR(overtakings() / 9999.0, 0.405, 0.03);
}

TEST(Link, WithOrderKeptEachWaitsForTheSlowestBeforeIt) {
  LinkProfile profile;
  profile.delay = 0.1;
  profile.jitter = 0.05;
  profile.jitter_kind = Jitter::exponential;
  Link ordered(profile, 5);
  profile.keep_order = false;
  Link free(profile, 5);
  double latest = 0;
  for (int i = 0; i < 10'000; ++i) {
    latest = std::max(latest, free.send(i * 0.01, 1)[0].at);
    ASSERT_EQ(ordered.send(i * 0.01, 1)[0].at, latest);
  }
}

TEST(Link, RandomLossLosesItsShareWithoutMemory) {
  LinkProfile profile;
  profile.loss = 0.3;
  Link link(profile, 1);
  const auto all = send_many(link);
  int lost = 0, lost_after_lost = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    lost += all[i].empty();
    lost_after_lost += i > 0 && all[i].empty() && all[i - 1].empty();
  }
  EXPECT_NEAR(lost / double{k_many}, 0.3, tolerance(0.3));
  EXPECT_NEAR(lost_after_lost / double(lost), 0.3, tolerance(0.3, lost));
  EXPECT_EQ(link.statistics().lost_at_random, static_cast<std::uint64_t>(lost));
  EXPECT_EQ(link.statistics().arrived, static_cast<std::uint64_t>(k_many - lost));
}

TEST(Link, BurstsHaveTheirMeanLengthAndShare) {
  LinkProfile profile;
  profile.burst_share = 0.2;
  profile.burst_length = 5;
  Link link(profile, 1);
  const auto all = send_many(link);
  int lost = 0, bursts = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    lost += all[i].empty();
    bursts += all[i].empty() && (i == 0 || !all[i - 1].empty());
  }
  // Lengths are geometric: deviation sqrt(1 - 1/L) L. Of about 4000 bursts, five deviations of the mean are 0.36.
  EXPECT_NEAR(lost / double(bursts), 5, 0.36);
  // Some 4000 bursts and as many gaps of 20, each with a deviation like its length.
  EXPECT_NEAR(lost / double{k_many}, 0.2, 0.016);
  EXPECT_EQ(link.statistics().lost_in_bursts, static_cast<std::uint64_t>(lost));
}

TEST(Link, APatternIsRepeatedExactly) {
  LinkProfile profile;
  profile.pattern = "1101";
  Link link(profile, 1);
  const auto all = send_many(link, 1, 100);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].empty(), i % 4 == 2) << i;
  EXPECT_EQ(link.statistics().lost_by_pattern, 25U);
}

TEST(Link, LossesOfSeveralKindsMultiply) {
  LinkProfile profile;
  profile.loss = 0.5;
  profile.burst_share = 0.25;
  profile.burst_length = 4;
  profile.pattern = "10111";
  EXPECT_DOUBLE_EQ(lost_share(profile), 1 - 0.5 * 0.75 * 0.8);
  Link link(profile, 2);
  send_many(link);
  EXPECT_NEAR(static_cast<double>(link.statistics().arrived) / k_many, 0.3, 0.01);
  EXPECT_EQ(link.statistics().arrived + link.statistics().lost(), static_cast<std::uint64_t>(k_many));
}

TEST(Link, ChancesDoNotFollowEachOther) {
  // Bursts of one, each begun with probability 1/2: if both kinds of loss shared their random numbers, half would
  // arrive.
  LinkProfile profile;
  profile.loss = 0.5;
  profile.burst_share = 1.0 / 3;
  Link link(profile, 2);
  send_many(link);
  EXPECT_NEAR(static_cast<double>(link.statistics().arrived) / k_many, 1.0 / 3, tolerance(1.0 / 3));
}

TEST(Link, WhatIsHeldBackIsOvertaken) {
  LinkProfile profile;
  profile.delay = 0.05;
  profile.reorder = 0.1;
  profile.reorder_by = 0.1;
  Link link(profile, 1);
  int late = 0;
  double longest = 0, sum = 0;
  for (int i = 0; i < k_many; ++i) {
    const double more = link.send(i * 0.01, 1)[0].at - i * 0.01 - 0.05;
    if (more < 1e-8) continue;
    ++late;
    sum += more;
    longest = std::max(longest, more);
  }
  EXPECT_NEAR(late / double{k_many}, 0.1, tolerance(0.1));
  EXPECT_EQ(link.statistics().held_back, static_cast<std::uint64_t>(late));
  EXPECT_NEAR(sum / late, 0.05, 5 * 0.1 / std::sqrt(12.0 * late));
  EXPECT_LE(longest, 0.1 + k_rounding);
  EXPECT_DOUBLE_EQ(mean_delay(profile), 0.055);
}

TEST(Link, DuplicatesArriveTwiceEachAtItsOwnTime) {
  LinkProfile profile;
  profile.duplicate = 0.2;
  profile.delay = 0.1;
  profile.jitter = 0.01;
  profile.jitter_kind = Jitter::normal;
  Link link(profile, 1);
  int twice = 0;
  for (const Link::Arrivals& arrivals : send_many(link, 10)) {
    ASSERT_GE(arrivals.size(), 1U);
    if (arrivals.size() < 2) continue;
    ++twice;
    ASSERT_GE(arrivals[1].at, arrivals[0].at);  // order is kept
  }
  EXPECT_NEAR(twice / double{k_many}, 0.2, tolerance(0.2));
  EXPECT_EQ(link.statistics().arrived, static_cast<std::uint64_t>(k_many + twice));
}

TEST(Link, CorruptionTouchesItsShare) {
  LinkProfile profile;
  profile.corrupt = 0.05;
  Link link(profile, 1);
  int corrupt = 0;
  for (const Link::Arrivals& arrivals : send_many(link)) corrupt += arrivals[0].corrupt;
  EXPECT_NEAR(corrupt / double{k_many}, 0.05, tolerance(0.05));
  EXPECT_EQ(link.statistics().corrupted, static_cast<std::uint64_t>(corrupt));
}

TEST(Link, FlippedBitsAreOneToThreeAnywhere) {
  for (const std::size_t size : {1U, 2U, 3U, 100U}) {
    std::vector<int> counts(4), hit(size);
    Random random(9);
    for (int i = 0; i < 3000; ++i) {
      std::vector<std::byte> bytes(size);
      flip_bits(bytes, random.bits());
      int flipped = 0;
      for (std::size_t at = 0; at < size; ++at) {
        flipped += std::popcount(static_cast<unsigned char>(bytes[at]));
        hit[at] += bytes[at] != std::byte{0};
      }
      ASSERT_GE(flipped, 1);
      ASSERT_LE(flipped, 3);
      ++counts[static_cast<std::size_t>(flipped)];
    }
    for (const int count : hit) EXPECT_GT(count, 0);
    for (int flips = 1; flips <= 3; ++flips) EXPECT_NEAR(counts[static_cast<std::size_t>(flips)], 1000, 5 * 26);
  }
  flip_bits({}, 1);
}

TEST(Link, ARateLimitSendsOneAfterAnother) {
  LinkProfile profile;
  profile.bytes_per_second = 1000;
  profile.queue_seconds = 10;
  profile.delay = 0.5;
  Link link(profile, 1);
  // Ten datagrams of a quarter of a second each, all handed over at once.
  for (int i = 1; i <= 10; ++i) EXPECT_DOUBLE_EQ(link.send(0, 250)[0].at, 0.25 * i + 0.5);
  // Idle time is not saved up.
  EXPECT_DOUBLE_EQ(link.send(100, 250)[0].at, 100.75);
  EXPECT_DOUBLE_EQ(link.send(100, 250)[0].at, 101);
}

TEST(Link, WhatWouldWaitTooLongIsDropped) {
  LinkProfile profile;
  profile.bytes_per_second = 1000;
  profile.queue_seconds = 1;
  Link link(profile, 1);
  // The first five wait for 0, 0.25, ... 1 s.
  int arrived = 0;
  for (int i = 0; i < 20; ++i) arrived += !link.send(0, 250).empty();
  EXPECT_EQ(arrived, 5);
  EXPECT_EQ(link.statistics().dropped_by_queue, 15U);
  // Half as much again as the link takes: two thirds get through in the long run.
  Link busy(profile, 1);
  send_many(busy, 0.25 / 1.5, 9000, 250);
  EXPECT_NEAR(static_cast<double>(busy.statistics().arrived) / 9000, 2.0 / 3, 0.001);
}

TEST(Link, OutagesLoseEverythingAndComeAgain) {
  LinkProfile profile;
  profile.outage_start = 2;
  profile.outage_length = 1;
  const auto up = [&](double at) { return !Link(profile, 1).send(at, 1).empty(); };
  EXPECT_TRUE(up(1.99));
  EXPECT_FALSE(up(2));
  EXPECT_FALSE(up(2.99));
  EXPECT_TRUE(up(3));
  EXPECT_TRUE(up(12.5));
  profile.outage_every = 5;
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(up(5 * i + 1.5));
    EXPECT_FALSE(up(5 * i + 2.5));
    EXPECT_TRUE(up(5 * i + 3.5));
  }
}

TEST(Link, TheSameSeedDoesTheSameAndAnotherDoesNot) {
  LinkProfile profile;
  profile.delay = 0.1;
  profile.jitter = 0.03;
  profile.jitter_kind = Jitter::heavy_tail;
  profile.longest = 1;
  profile.loss = profile.duplicate = profile.corrupt = profile.reorder = 0.1;
  profile.burst_share = 0.05;
  profile.burst_length = 3;
  const auto run = [&](std::uint64_t seed) {
    Link link(profile, seed);
    std::vector<double> out;
    for (const Link::Arrivals& arrivals : send_many(link, 0.01, 1000))
      for (const Link::Arrival& arrival : arrivals)
        out.insert(out.end(), {arrival.at, static_cast<double>(arrival.corrupt_bits)});
    return out;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(Link, MoreLossDoesNotChangeTheOtherChances) {
  LinkProfile profile;
  profile.reorder = profile.corrupt = 0.2;
  Link whole(profile, 4);
  profile.pattern = "10";
  Link half(profile, 4);
  // Each chance is drawn only for what arrives, so the n-th of these is like the n-th of those.
  for (int i = 0; i < 1000; ++i) {
    const Link::Arrivals expected = whole.send(i, 1);
    const Link::Arrivals arrivals = half.send(i, 1);
    ASSERT_TRUE(half.send(i, 1).empty());
    EXPECT_EQ(arrivals[0].at, expected[0].at);
    EXPECT_EQ(arrivals[0].corrupt_bits, expected[0].corrupt_bits);
  }
}

TEST(Link, AChangeHoldsFromTheNextDatagramOn) {
  Link link({}, 1);
  EXPECT_EQ(link.send(1, 1)[0].at, 1);
  LinkProfile slow;
  slow.delay = 2;
  link.change(slow);
  EXPECT_EQ(link.send(1, 1)[0].at, 3);
  link.change({});
  EXPECT_EQ(link.send(2, 1)[0].at, 3);  // not before what is under way
  EXPECT_EQ(link.send(4, 1)[0].at, 4);
  LinkProfile cut;
  cut.loss = 1;
  link.change(cut);
  EXPECT_TRUE(link.send(5, 1).empty());
  EXPECT_EQ(link.statistics().sent, 5U);
}

TEST(Link, ValuesThatMakeNoSenseAreRefused) {
  const std::vector<std::function<void(LinkProfile&)>> faults{
      [](LinkProfile& p) { p.delay = -1; },
      [](LinkProfile& p) { p.delay = std::nan(""); },
      [](LinkProfile& p) { p.delay = 61; },
      [](LinkProfile& p) { p.jitter = -0.1; },
      [](LinkProfile& p) { p.jitter = 0.1; },  // of no kind
      [](LinkProfile& p) { p.shortest = 2, p.longest = 1; },
      [](LinkProfile& p) { p.jitter_kind = Jitter::heavy_tail, p.jitter = 1, p.longest = 2; },
      [](LinkProfile& p) { p.loss = 1.01; },
      [](LinkProfile& p) { p.loss = std::nan(""); },
      [](LinkProfile& p) { p.burst_length = 0.5; },
      [](LinkProfile& p) { p.burst_share = 0.9, p.burst_length = 8; },
      [](LinkProfile& p) { p.pattern = "110x"; },
      [](LinkProfile& p) { p.pattern = std::string(1025, '1'); },
      [](LinkProfile& p) { p.reorder = -0.1; },
      [](LinkProfile& p) { p.reorder_by = 1e9; },
      [](LinkProfile& p) { p.duplicate = 2; },
      [](LinkProfile& p) { p.corrupt = 2; },
      [](LinkProfile& p) { p.bytes_per_second = -1; },
      [](LinkProfile& p) { p.queue_seconds = -1; },
      [](LinkProfile& p) { p.outage_start = -1; },
      [](LinkProfile& p) { p.outage_length = 5, p.outage_every = 4; },
  };
  for (std::size_t i = 0; i < faults.size(); ++i) {
    LinkProfile profile;
    faults[i](profile);
    EXPECT_EQ(code_of([&] { check(profile); }), ErrorCode::invalid_argument) << i;
    EXPECT_EQ(code_of([&] { Link(profile, 1); }), ErrorCode::invalid_argument) << i;
    Link link({}, 1);
    EXPECT_EQ(code_of([&] { link.change(profile); }), ErrorCode::invalid_argument) << i;
    EXPECT_EQ(link.profile(), LinkProfile{}) << i;
  }
  LinkProfile extreme;
  extreme.loss = extreme.duplicate = extreme.corrupt = extreme.reorder = 1;
  extreme.burst_share = 0.9;
  extreme.burst_length = 9.5;
  EXPECT_NO_THROW(check(extreme));
}

}  // namespace
}  // namespace cotouch::this_file

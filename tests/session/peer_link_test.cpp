// What two peers learn about the way between them, from nothing but the packets that pass it.
#include <cotouch/base/random.h>
#include <cotouch/session/peer_link.h>

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace cotouch::this_file {
namespace {

constexpr double k_tick = 0.01;  // seconds

// One end of a way: its clock began at another time than the other's, its ticks are ahead by some.
struct End {
  double clock_offset = 0, ticks_ahead = 0;
  PeerLink link{0, k_tick};

  double clock(double now) const { return now + clock_offset; }
  double tick(double now) const { return now / k_tick + ticks_ahead; }
  double lead(double now) const { return link.lead(clock(now), tick(now)); }
  PeerLink::Heard write(double now) {
    return {link.next_sequence(), stamp_of(clock(now)),        link.has_echo(), link.echo(), link.held(clock(now)),
            link.loss_byte(),     static_cast<Tick>(tick(now))};
  }
  void read(double now, const PeerLink::Heard& packet) { link.heard(clock(now), packet); }
};

struct Way {
  End left, right;
  double there = 0.05, back = 0.05;  // seconds that a packet takes
  double wait = 0;                   // seconds until the right end answers

  // The left end asks, the right one answers.
  void exchange(double now) {
    right.read(now + there, left.write(now));
    const double later = now + there + wait;
    left.read(later + back, right.write(later));
  }
  void exchange(double begin, int times) {
    for (int i = 0; i < times; ++i) exchange(begin + i);
  }
};

// Both ends send with each tick, and each packet takes its own time.
class Street {
 public:
  using Delay = std::function<double(double now, bool from_left)>;

  explicit Street(Delay delay) : delay_(std::move(delay)) {}
  void run(double seconds) {
    for (const double end = now_ + seconds; now_ < end; now_ += k_tick) {
      for (const bool from_left : {true, false})
        under_way_.emplace(now_ + delay_(now_, from_left),
                           std::pair(!from_left, (from_left ? left : right).write(now_)));
      for (; under_way_.begin()->first < now_ + k_tick; under_way_.erase(under_way_.begin())) {
        const auto& [at, packet] = *under_way_.begin();
        (packet.first ? left : right).read(at, packet.second);
      }
    }
  }
  double now() const { return now_; }

  End left, right;

 private:
  Delay delay_;
  double now_ = 1;
  std::multimap<double, std::pair<bool, PeerLink::Heard>> under_way_;  // when it arrives, and whether at the left end
};

TEST(PeerLink, RoundTripIsTheTimeOnTheWayAndNotTheTimeInBetween) {
  Way way;
  way.there = 0.03;
  way.back = 0.05;
  way.wait = 0.2;
  way.right.clock_offset = 1234;
  way.exchange(1, 50);
  EXPECT_NEAR(way.left.link.round_trip(), 0.08, 0.0005);
  EXPECT_LT(way.left.link.jitter(), 0.002);
}

TEST(PeerLink, LeadIsHowManyTicksTheOwnClockIsAhead) {
  Way way;
  way.left.ticks_ahead = 7;
  way.exchange(1, 100);
  EXPECT_NEAR(way.left.lead(101), 7, 1);  // a tick is a whole number
  EXPECT_NEAR(way.right.lead(101), -7, 1);
  way.left.ticks_ahead += 3;
  EXPECT_NEAR(way.left.lead(101), 10, 1);
}

TEST(PeerLink, JitterIsHowFarRoundTripsAreFromTheirMean) {
  Way way;
  for (int i = 0; i < 400; ++i) {
    way.there = i % 2 == 0 ? 0.03 : 0.07;
    way.exchange(1 + i);
  }
  // Each is 20 ms from the mean; the estimate leans towards short round trips.
  EXPECT_GT(way.left.link.jitter(), 0.015);
  EXPECT_LT(way.left.link.jitter(), 0.03);
}

TEST(PeerLink, LossIsTheShareThatDoesNotArriveAndBothLearnOfIt) {
  End left, right;
  for (int i = 0; i < 4000; ++i) {
    const double now = 1 + i * k_tick;
    const PeerLink::Heard packet = left.write(now);
    if (i % 4 != 0) right.read(now, packet);
    left.read(now, right.write(now));
  }
  EXPECT_NEAR(right.link.loss_in(), 0.25, 0.02);
  EXPECT_NEAR(left.link.loss_out(), 0.25, 0.02);
  EXPECT_LT(left.link.loss_in(), 0.001);
}

TEST(PeerLink, WhatWasOvertakenIsNotLost) {
  End left, right;
  for (int i = 0; i < 2000; ++i) {
    const PeerLink::Heard first = left.write(1), second = left.write(1);
    right.read(1, second);
    right.read(1, first);
  }
  EXPECT_LT(right.link.loss_in(), 0.01);
}

// Seven of ten are as good as lost for whoever waits for them, and no estimate swings while they come in after all.
TEST(PeerLink, WhatComesSecondsLateIsAsGoodAsLostAndNoLongerRoundTrip) {
  Random random(1);
  Street street([&](double, bool) { return random.uniform() < 0.3 ? random.uniform(1, 5) : 0.04; });
  street.run(20);
  for (int i = 0; i < 400; ++i) {
    street.run(0.1);
    for (const End* end : {&street.left, &street.right}) {
      EXPECT_NEAR(end->link.round_trip(), 0.08, 0.002);
      EXPECT_LT(end->link.jitter(), 0.002);
      EXPECT_NEAR(end->link.loss_in(), 0.3, 0.15);
      EXPECT_NEAR(end->link.loss_out(), 0.3, 0.15);
      EXPECT_NEAR(end->lead(street.now()), 0, 1);
    }
  }
}

// Else all clocks could be made to run faster or slower together.
TEST(PeerLink, DelaysMakeNobodyAheadUnlessTheOtherSeemsBehind) {
  const std::vector<Street::Delay> delays{
      [](double, bool from_left) { return from_left ? 0.4 : 0.1; },
      [](double now, bool) { return 0.01 * now; },  // slower and slower
      [](double now, bool from_left) { return from_left ? 0.5 - 0.01 * now : 0.2; },
  };
  for (const Street::Delay& delay : delays) {
    Street street(delay);
    street.run(5);
    for (int i = 0; i < 30; ++i) {
      street.run(1);
      EXPECT_NEAR(street.left.lead(street.now()) + street.right.lead(street.now()), 0, 2.5);
    }
  }
}

TEST(PeerLink, TheTickThatTheOtherHasReachedIsOfTheNewestPacket) {
  End left, right;
  const PeerLink::Heard first = left.write(1), second = left.write(2);
  right.read(2, second);
  EXPECT_EQ(right.link.their_tick(), 200);
  right.read(3, first);
  EXPECT_EQ(right.link.their_tick(), 200);
}

TEST(PeerLink, NumbersThatBeginAgainChangeNothing) {
  Way way;
  way.left.clock_offset = 429'496;  // seconds; 0.73 s before the stamps of 32 bits begin again
  for (int i = 0; i < 70'000; ++i) way.exchange(i * k_tick);
  EXPECT_NEAR(way.left.link.round_trip(), 0.1, 0.0005);
  EXPECT_NEAR(way.left.lead(700), 0, 1);
  EXPECT_LT(way.left.link.loss_in() + way.right.link.loss_in(), 0.001);
}

}  // namespace
}  // namespace cotouch::this_file

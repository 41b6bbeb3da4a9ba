// What two peers learn about the way between them, from nothing but the packets that pass it.
#include <cotouch/session/peer_link.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

constexpr double k_tick = 0.01;  // seconds

// One end of a way: its clock began at another time than the other's, its ticks are ahead by some.
struct End {
  double clock_offset = 0, ticks_ahead = 0;
  PeerLink link{0};

  double clock(double now) const { return now + clock_offset; }
  double tick(double now) const { return now / k_tick + ticks_ahead; }
  PeerLink::Heard write(double now) {
    return {link.next_sequence(), stamp_of(clock(now)),        link.has_echo(), link.echo(), link.held(clock(now)),
            link.loss_byte(),     static_cast<Tick>(tick(now))};
  }
  void read(double now, const PeerLink::Heard& packet) { link.heard(clock(now), tick(now), k_tick, packet); }
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
  EXPECT_NEAR(way.left.link.lead(), 7, 1);  // a tick is a whole number
  EXPECT_NEAR(way.right.link.lead(), -7, 1);
  way.left.link.set_forward(3);
  EXPECT_NEAR(way.left.link.lead(), 10, 1);
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

TEST(PeerLink, NumbersThatBeginAgainChangeNothing) {
  Way way;
  way.left.clock_offset = 429'496;  // seconds; 0.73 s before the stamps of 32 bits begin again
  for (int i = 0; i < 70'000; ++i) way.exchange(i * k_tick);
  EXPECT_NEAR(way.left.link.round_trip(), 0.1, 0.0005);
  EXPECT_NEAR(way.left.link.lead(), 0, 1);
  EXPECT_LT(way.left.link.loss_in() + way.right.link.loss_in(), 0.001);
}

}  // namespace
}  // namespace cotouch::this_file

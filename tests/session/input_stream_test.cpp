#include <cotouch/session/input_stream.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

PeerInput pressed(std::uint32_t buttons) {
  PeerInput input;
  input.hand.buttons = buttons;
  return input;
}

TEST(InputStream, WhatWasSaidFirstCounts) {
  InputStream stream(10);
  EXPECT_TRUE(stream.add(10, pressed(1)));
  EXPECT_FALSE(stream.add(10, pressed(2)));  // known
  EXPECT_TRUE(stream.add(12, pressed(3)));
  EXPECT_FALSE(stream.add(12, pressed(4)));  // beyond a gap
  EXPECT_TRUE(stream.add(11, pressed(5)));
  EXPECT_EQ(stream.next(), 13);
  EXPECT_EQ(*stream.at(10), pressed(1));
  EXPECT_EQ(*stream.at(12), pressed(3));
}

TEST(InputStream, WhatLiesTooFarAheadIsNotKept) {
  InputStream stream(0);
  for (Tick tick = 0; tick < 600; ++tick) ASSERT_TRUE(stream.add(tick, pressed(1)));
  EXPECT_TRUE(stream.add(600 + 511, pressed(2)));
  EXPECT_FALSE(stream.add(600 + 512, pressed(2)));
  EXPECT_FALSE(stream.add(1 << 20, pressed(2)));
  // All that others may still ask for is there.
  EXPECT_TRUE(stream.keeps(600 - 512));
  for (Tick tick = 600 - 512; tick < 600; ++tick) {
    ASSERT_NE(stream.at(tick), nullptr) << tick;
    EXPECT_EQ(*stream.at(tick), pressed(1));
  }
}

TEST(InputStream, NothingComesAfterItsEnd) {
  InputStream stream(0);
  EXPECT_TRUE(stream.add(0, pressed(1)));
  EXPECT_TRUE(stream.add(5, pressed(1)));
  stream.finish(3);
  stream.finish(9);  // the first word counts
  EXPECT_EQ(stream.end(), 3);
  EXPECT_FALSE(stream.add(3, pressed(2)));
  EXPECT_TRUE(stream.known(5));
  EXPECT_EQ(*stream.at(5), PeerInput{});  // absent
  EXPECT_FALSE(stream.known(1));
  EXPECT_TRUE(stream.add(1, pressed(1)) && stream.add(2, pressed(1)));
  EXPECT_TRUE(stream.is_over());
}

}  // namespace
}  // namespace cotouch::this_file

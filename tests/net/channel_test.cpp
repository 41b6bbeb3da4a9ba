#include <cotouch/net/channel.h>

#include <cotouch/base/random.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace cotouch::this_file {
namespace {

using Datagram = std::vector<std::byte>;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

ChannelKeys keys_from(int seed) {
  ChannelKeys keys;
  std::ranges::fill(keys.send.bytes(), static_cast<std::byte>(seed));
  std::ranges::fill(keys.receive.bytes(), static_cast<std::byte>(seed + 1));
  return keys;
}

struct TwoEnds {
  explicit TwoEnds(std::uint64_t first_counter = 0) : here(keys_from(1), first_counter), there(turned(keys_from(1))) {}
  static ChannelKeys turned(const ChannelKeys& keys) { return {keys.receive, keys.send}; }

  Datagram sealed(std::string_view text = "touch") {
    Datagram out;
    EXPECT_TRUE(here.seal(bytes_of(text), out));
    return out;
  }
  OpenStatus open(std::span<const std::byte> datagram) { return there.open(datagram, opened); }
  std::string text() const { return {reinterpret_cast<const char*>(opened.data()), opened.size()}; }

  SealedChannel here, there;
  Datagram opened;
};

TEST(SealedChannel, MessagesOfAllLengthsArriveInBothDirections) {
  TwoEnds ends;
  Datagram sealed, opened;
  for (std::size_t length = 0; length <= k_largest_datagram - k_sealed_overhead; ++length) {
    const Datagram message(length, static_cast<std::byte>(length));
    ASSERT_TRUE(ends.here.seal(message, sealed));
    EXPECT_EQ(sealed.size(), length + 25);
    ASSERT_EQ(ends.there.open(sealed, opened), OpenStatus::opened);
    EXPECT_EQ(opened, message);
    ASSERT_TRUE(ends.there.seal(message, sealed));
    ASSERT_EQ(ends.here.open(sealed, opened), OpenStatus::opened);
    EXPECT_EQ(opened, message);
  }
  EXPECT_FALSE(ends.here.seal(Datagram(k_largest_datagram - k_sealed_overhead + 1), sealed));
  EXPECT_TRUE(sealed.empty());
}

TEST(SealedChannel, TheSameMessageIsNeverSealedAlike) {
  TwoEnds ends;
  std::set<Datagram> all;
  for (int i = 0; i < 100; ++i) all.insert(ends.sealed());
  EXPECT_EQ(all.size(), 100U);
}

TEST(SealedChannel, AnAlteredDatagramIsDropped) {
  TwoEnds ends;
  Datagram datagram = ends.sealed();
  for (std::size_t bit = 0; bit < 8 * datagram.size(); ++bit) {
    datagram[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_NE(ends.open(datagram), OpenStatus::opened) << bit;
    EXPECT_TRUE(ends.opened.empty());
    datagram[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  EXPECT_EQ(ends.there.count(OpenStatus::not_sealed), 8U);      // the type
  EXPECT_EQ(ends.there.count(OpenStatus::other_channel), 32U);  // the number
  EXPECT_EQ(ends.there.count(OpenStatus::forged), 8 * (datagram.size() - 5));
  EXPECT_EQ(ends.open(datagram), OpenStatus::opened);
  EXPECT_EQ(ends.text(), "touch");
}

TEST(SealedChannel, ADatagramThatIsCutOffOrLengthenedIsDropped) {
  TwoEnds ends;
  Datagram datagram = ends.sealed();
  for (std::size_t length = 0; length < datagram.size(); ++length)
    EXPECT_NE(ends.open(std::span(datagram).first(length)), OpenStatus::opened) << length;
  datagram.push_back(std::byte{0});
  EXPECT_EQ(ends.open(datagram), OpenStatus::forged);
  datagram.pop_back();
  EXPECT_EQ(ends.open(datagram), OpenStatus::opened);
  EXPECT_EQ(ends.open(Datagram(k_largest_datagram + 1, std::byte{0x10})), OpenStatus::not_sealed);
}

TEST(SealedChannel, WhatIsSentBackToItsSenderIsDropped) {
  TwoEnds ends;
  Datagram opened;
  EXPECT_EQ(ends.here.open(ends.sealed(), opened), OpenStatus::other_channel);
}

TEST(SealedChannel, AnotherKeyOpensNothing) {
  TwoEnds ends;
  Datagram opened;
  SealedChannel other(keys_from(7));
  Datagram datagram = ends.sealed();
  EXPECT_EQ(other.open(datagram, opened), OpenStatus::other_channel);
  const std::uint32_t number = other.receive_number();  // as if both channels had the same
  std::ranges::copy(std::as_bytes(std::span(&number, 1)), datagram.begin() + 1);
  EXPECT_EQ(other.open(datagram, opened), OpenStatus::forged);
}

TEST(SealedChannel, ARepeatedDatagramIsOpenedOnce) {
  TwoEnds ends;
  const Datagram first = ends.sealed(), second = ends.sealed();
  EXPECT_EQ(ends.open(second), OpenStatus::opened);
  EXPECT_EQ(ends.open(first), OpenStatus::opened);
  EXPECT_EQ(ends.open(first), OpenStatus::repeated);
  EXPECT_EQ(ends.open(second), OpenStatus::repeated);
  EXPECT_TRUE(ends.opened.empty());
  EXPECT_EQ(ends.there.count(OpenStatus::opened), 2U);
  EXPECT_EQ(ends.there.count(OpenStatus::repeated), 2U);
}

TEST(SealedChannel, TellsWhatWasOvertakenFromTheNewest) {
  TwoEnds ends;
  const Datagram first = ends.sealed(), second = ends.sealed(), third = ends.sealed();
  EXPECT_EQ(ends.open(second), OpenStatus::opened);
  EXPECT_TRUE(ends.there.opened_newest());
  EXPECT_EQ(ends.open(first), OpenStatus::opened);
  EXPECT_FALSE(ends.there.opened_newest());
  EXPECT_EQ(ends.open(third), OpenStatus::opened);
  EXPECT_TRUE(ends.there.opened_newest());
}

TEST(SealedChannel, TheWindowEndsExactlyWhereItShould) {
  TwoEnds ends;
  std::vector<Datagram> all;
  for (std::uint64_t i = 0; i <= SealedChannel::k_window; ++i) all.push_back(ends.sealed());
  EXPECT_GE(SealedChannel::k_window, 1024U);
  EXPECT_EQ(ends.open(all.back()), OpenStatus::opened);
  EXPECT_EQ(ends.open(all[0]), OpenStatus::too_old);
  EXPECT_EQ(ends.open(all[1]), OpenStatus::opened);
  EXPECT_EQ(ends.open(all[1]), OpenStatus::repeated);
  EXPECT_EQ(ends.open(all[SealedChannel::k_window - 1]), OpenStatus::opened);
}

// Against a set of all counters that were ever opened.
TEST(SealedChannel, TheWindowIsThatOfASet) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    TwoEnds ends;
    std::vector<Datagram> all;
    std::set<std::size_t> opened;
    std::size_t highest = 0;
    for (int i = 0; i < 3000; ++i) {
      for (std::uint64_t lost = random.below(random.below(50) == 0 ? 6000 : 3); lost-- > 0;)
        all.push_back(ends.sealed());
      all.push_back(ends.sealed());
      const std::size_t back = random.below(random.below(20) == 0 ? 5000 : 10);
      const std::size_t counter = back < all.size() ? all.size() - 1 - back : 0;
      OpenStatus expected = OpenStatus::opened;
      if (opened.contains(counter)) expected = OpenStatus::repeated;
      if (!opened.empty() && counter + SealedChannel::k_window <= highest) expected = OpenStatus::too_old;
      ASSERT_EQ(ends.open(all[counter]), expected) << seed << " " << i << " " << counter << " " << highest;
      opened.insert(counter);
      highest = std::max(highest, counter);
      if (all.size() > 30000) break;
    }
  }
}

TEST(SealedChannel, AForgedCounterDoesNotMoveTheWindow) {
  TwoEnds ends;
  const Datagram genuine = ends.sealed();
  Datagram forged = genuine;
  for (std::uint32_t counter = 1; counter < 1U << 31; counter *= 2) {
    std::ranges::copy(std::as_bytes(std::span(&counter, 1)), forged.begin() + 5);
    EXPECT_EQ(ends.open(forged), OpenStatus::forged);
  }
  EXPECT_EQ(ends.open(genuine), OpenStatus::opened);
}

// Only 32 bits of the counter are sent.
TEST(SealedChannel, GoesOnWhenTheSentPartOfTheCounterOverflows) {
  TwoEnds ends((1ULL << 32) - 3);
  const Datagram before = ends.sealed(), last = ends.sealed(), zeroth = ends.sealed();
  const Datagram first = ends.sealed(), second = ends.sealed();
  EXPECT_EQ(ends.open(before), OpenStatus::opened);
  EXPECT_EQ(ends.open(first), OpenStatus::opened);
  EXPECT_EQ(ends.open(last), OpenStatus::opened);
  EXPECT_EQ(ends.open(second), OpenStatus::opened);
  EXPECT_EQ(ends.open(zeroth), OpenStatus::opened);
  for (const Datagram& datagram : {before, last, zeroth, first, second})
    EXPECT_EQ(ends.open(datagram), OpenStatus::repeated);
}

TEST(SealedChannel, EndsBeforeItsCounterDoes) {
  SealedChannel channel(keys_from(1), SealedChannel::k_counter_end - 1);
  Datagram out;
  EXPECT_FALSE(channel.exhausted());
  EXPECT_TRUE(channel.seal({}, out));
  EXPECT_TRUE(channel.exhausted());
  EXPECT_FALSE(channel.seal({}, out));
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(channel.sealed(), 1U);
}

TEST(SealedChannel, SaysForWhichChannelADatagramIs) {
  TwoEnds ends;
  EXPECT_EQ(channel_of(ends.sealed()), ends.there.receive_number());
  EXPECT_EQ(ends.here.send_number(), ends.there.receive_number());
  EXPECT_NE(ends.here.send_number(), ends.here.receive_number());
  EXPECT_FALSE(channel_of({}));
  EXPECT_FALSE(channel_of(Datagram(24, std::byte{0x10})));
  EXPECT_TRUE(channel_of(Datagram(25, std::byte{0x10})));
  EXPECT_FALSE(channel_of(Datagram(25, std::byte{0x01})));
}

TEST(Relay, ADatagramPassesThroughTheHostUnread) {
  TwoEnds inner;
  const std::string text(k_largest_message, 'x');
  const Datagram datagram = inner.sealed(text);
  Datagram message = {std::byte{99}};  // the message's kind
  write_relay(message, {3, datagram});
  TwoEnds outer;
  Datagram sealed;
  ASSERT_TRUE(outer.here.seal(message, sealed));
  EXPECT_EQ(sealed.size(), k_largest_datagram);  // the longest message just fits
  ASSERT_EQ(outer.open(sealed), OpenStatus::opened);
  const auto envelope = read_relay(std::span(outer.opened).subspan(1));
  ASSERT_TRUE(envelope);
  EXPECT_EQ(envelope->peer, 3);
  EXPECT_EQ(inner.open(envelope->datagram), OpenStatus::opened);
  EXPECT_EQ(inner.text(), text);
}

TEST(Relay, OnlySealedDatagramsArePassedOn) {
  EXPECT_FALSE(read_relay({}));
  Datagram bytes(1 + 25, std::byte{0x10});
  EXPECT_TRUE(read_relay(bytes));
  bytes.pop_back();
  EXPECT_FALSE(read_relay(bytes));
  EXPECT_FALSE(read_relay(Datagram(1 + 256, std::byte{0x01})));  // a Hello, say
}

}  // namespace
}  // namespace cotouch::this_file

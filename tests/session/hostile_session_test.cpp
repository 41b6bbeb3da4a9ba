// Whole sessions over real sockets, and somebody who means them harm.
#include <algorithm>
#include <cstdio>

#include <cotouch/session/door_message.h>

#include "session/peer_on_network.h"
#include "session/program.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

class HostileSessionSlow : public testing::Test {
 protected:
  void SetUp() override {
    anna.host(three_balls());
    invite = parse_invite(anna.invite(), 0);
  }
  void both_take_part() {
    ben.join(anna.invite());
    ASSERT_TRUE(eventually([&] { return are_two(anna, ben); })) << ben.status().reason;
    ASSERT_TRUE(eventually([&] { return anna.session().agreed().tick > 300; }));
  }
  NetAddress door() const { return NetAddress::v4({127, 0, 0, 1}, invite.addresses.at(0).port()); }

  Program anna{"Anna"}, ben{"Ben"};
  Invite invite;
};

double p99_gap(const std::vector<double>& times) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < times.size(); ++i) gaps.push_back(times[i] - times[i - 1]);
  if (gaps.empty()) return 0;
  const auto place = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() * 99 / 100);
  std::nth_element(gaps.begin(), place, gaps.end());
  return *place;
}

TEST_F(HostileSessionSlow, GoesOnDuringAStrangersFlood) {
  both_take_part();
  const auto seconds = std::chrono::seconds(2);
  anna.ticks();
  const Tick start = anna.session().agreed().tick;
  std::this_thread::sleep_for(seconds);
  const std::vector<double> calm = anna.ticks();
  const Tick before = anna.session().agreed().tick;
  std::uint64_t sent = 0;
  {
    UdpSocket stranger(UdpSettings{0, true, 1U << 20, 1U << 20});
    Bytes datagram(256);
    datagram[1] = std::byte{1};  // the protocol's version
    const auto began = std::chrono::steady_clock::now();
    // Every second one costs the host a keyed hash, the others look sealed.
    while (std::chrono::steady_clock::now() < began + seconds) {
      for (int i = 0; i < 100; ++i, ++sent) {
        datagram[0] = static_cast<std::byte>(sent % 2 == 0 ? 0x01 : 0x10);
        datagram[5] = static_cast<std::byte>(sent);
        datagram[6] = static_cast<std::byte>(sent >> 8U);
        stranger.send(door(), datagram);
      }
      std::this_thread::sleep_until(began + std::chrono::microseconds(10 * sent));
    }
  }
  const std::vector<double> flooded = anna.ticks();
  const Tick after = anna.session().agreed().tick;
  std::printf(
      "ticks agreed on: %lld calm, %lld while %llu packets came; p99 between ticks %.1f and %.1f ms, ratio %.2f\n",
      static_cast<long long>(before - start), static_cast<long long>(after - before),
      static_cast<unsigned long long>(sent), 1e3 * p99_gap(calm), 1e3 * p99_gap(flooded),
      p99_gap(flooded) / std::max(1e-6, p99_gap(calm)));
  // A machine that others use as well may be slow; a session that waits for a stranger would do next to nothing.
  EXPECT_GT(after - before, (before - start) / 3);
  EXPECT_EQ(anna.people().size(), 2U);
}

// Somebody who has the invite and was never here says that a session of twenty goes on elsewhere.
TEST_F(HostileSessionSlow, IsNotLedAwayByAStranger) {
  both_take_part();
  PeerOnNetwork stranger;
  Bytes payload;
  ByteWriter out(payload);
  for (const int byte : {int{k_door_version}, 2, 20, 0})
    out.number(static_cast<std::uint8_t>(byte));  // compare: twenty members, lowest 0
  out.number(std::uint64_t{0});
  out.text("");
  stranger.knock(invite, payload);
  ASSERT_TRUE(eventually([&] { return stranger.run(), stranger.entered.has_value(); }));
  EXPECT_EQ(stranger.entered, ClientHandshake::State::rejected);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(anna.status().state, SharingStatus::State::hosting);
  EXPECT_EQ(anna.people().size(), 2U);
}

TEST_F(HostileSessionSlow, ShowsWhatIsSaidWithoutControlCharacters) {
  both_take_part();
  ben.session().say("a\x1b[2J\xff b");
  ASSERT_TRUE(eventually([&] { return !anna.lines().empty(); }));
  EXPECT_EQ(anna.lines()[0], "a[2J b");
}

// Before version 2 members had one hand each, and would not understand those that have several.
TEST_F(HostileSessionSlow, LetsNobodyInWhoSpeaksAnOlderVersion) {
  for (const int version : {k_door_version - 1, k_door_version + 1}) {
    PeerOnNetwork old;
    Bytes payload;
    ByteWriter out(payload);
    for (const int byte : {version, 0}) out.number(static_cast<std::uint8_t>(byte));
    out.text("guest");
    out.varint(0);
    old.knock(invite, payload);
    ASSERT_TRUE(eventually([&] { return old.run(), old.entered.has_value(); }));
    EXPECT_EQ(old.entered, ClientHandshake::State::rejected) << version;
  }
}

// Guests who never come: the world waits for a few of them at most, and goes on.
TEST_F(HostileSessionSlow, HasNoRoomForMoreGuestsThanItKeeps) {
  Bytes payload;
  ByteWriter out(payload);
  for (const int byte : {int{k_door_version}, 0}) out.number(static_cast<std::uint8_t>(byte));
  out.text("guest");
  out.varint(0);
  std::vector<std::unique_ptr<PeerOnNetwork>> guests;
  for (int i = 0; i < 10; ++i) {
    guests.push_back(std::make_unique<PeerOnNetwork>());
    guests.back()->knock(invite, payload);
  }
  ASSERT_TRUE(eventually([&] {
    for (const auto& guest : guests) guest->run();
    return std::all_of(guests.begin(), guests.end(), [](const auto& guest) { return guest->is_accepted(); });
  }));
  const Bytes ready{static_cast<std::byte>(PlainMessage::ready)};
  std::size_t most = 0;
  const double end = PeerNetwork::now() + 2.5;
  while (PeerNetwork::now() < end) {
    for (const auto& guest : guests) guest->network.to_doorkeeper(PeerNetwork::now(), ready);
    most = std::max(most, anna.people().size());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_GE(most, 2U);
  EXPECT_LE(most, 5U);  // Anna and four
  const Tick tick = anna.session().agreed().tick;
  EXPECT_TRUE(eventually([&] { return anna.session().agreed().tick > tick + 300; }));
}

}  // namespace
}  // namespace cotouch::this_file

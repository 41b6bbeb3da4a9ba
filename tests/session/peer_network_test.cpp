// Networks of peers with real sockets on this machine.
#include <gtest/gtest.h>

#include <set>

#include "session/peer_on_network.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

class PeerNetworkTest : public testing::Test, protected Neighbours {};

TEST_F(PeerNetworkTest, RelaysForThoseWhoCannotReachEachOther) {
  ASSERT_TRUE(sit_down());
  const Bytes message = text("hello");
  for (int i = 0; i < 20; ++i) {
    anna.network.send(PeerNetwork::now(), 2, message);
    all_run(2);
  }
  all_run(20);
  ASSERT_EQ(ben.heard.size(), 20U);
  EXPECT_EQ(ben.heard[0], std::pair(MemberId{1}, message));
  EXPECT_EQ(host.network.counts().relayed, 20U);
  EXPECT_TRUE(host.heard.empty());  // it passes on what it cannot read
  EXPECT_FALSE(ben.network.is_direct(1, PeerNetwork::now()));
  ben.network.send(PeerNetwork::now(), 1, message);
  all_run(20);
  ASSERT_EQ(anna.heard.size(), 1U);
  EXPECT_EQ(anna.heard[0].first, 2);
}

TEST_F(PeerNetworkTest, RelaysNothingToTheSenderItself) {
  ASSERT_TRUE(sit_down());
  Bytes wrapped{static_cast<std::byte>(PlainMessage::relay_to)};
  write_relay(wrapped, {1, Bytes(60, std::byte{0x10})});
  anna.network.send(PeerNetwork::now(), 0, wrapped);
  wrapped.assign(1, static_cast<std::byte>(PlainMessage::relay_to));
  write_relay(wrapped, {17, Bytes(60, std::byte{0x10})});
  anna.network.send(PeerNetwork::now(), 0, wrapped);
  all_run(20);
  EXPECT_EQ(host.network.counts().relayed, 0U);
}

TEST_F(PeerNetworkTest, RelaysNothingThatWasRelayed) {
  ASSERT_TRUE(sit_down());
  // From Anna through the host to Ben, who is to pass it on to the host.
  Bytes inner{static_cast<std::byte>(PlainMessage::relay_to)};
  write_relay(inner, {0, Bytes(60, std::byte{0x10})});
  anna.network.send(PeerNetwork::now(), 2, inner);
  all_run(20);
  EXPECT_EQ(host.network.counts().relayed, 1U);
  EXPECT_EQ(ben.network.counts().relayed, 0U);
}

TEST_F(PeerNetworkTest, HearsEachGenuineDatagramOnceAndNothingElse) {
  ASSERT_TRUE(enter(anna));
  Tap tap;
  ASSERT_TRUE(host.network.connect(1, anna.introduction({}), std::nullopt));
  ASSERT_TRUE(anna.network.connect(0, host.introduction({}), tap.address()));
  for (int i = 0; i < 10; ++i) anna.network.send(PeerNetwork::now(), 0, text("message " + std::to_string(i)));
  tap.listen();
  ASSERT_EQ(tap.kept.size(), 10U);
  const auto send = [&](std::span<const std::byte> bytes) {
    tap.send(host.address(), bytes);
    host.run();
  };
  for (const Bytes& genuine : tap.kept) {
    for (std::size_t size = 0; size < genuine.size(); ++size) send(std::span(genuine).first(size));
    for (std::size_t bit = 0; bit < genuine.size() * 8; bit += 5) {
      Bytes forged = genuine;
      forged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      send(forged);
    }
  }
  host.run(50);
  EXPECT_TRUE(host.heard.empty());
  EXPECT_GT(host.network.counts().strangers, 500U);
  for (int again = 0; again < 3; ++again)
    for (std::size_t i = tap.kept.size(); i-- > 0;) send(tap.kept[i]);  // the last one first
  host.run(50);
  std::set<Bytes> different;
  for (const auto& [member, message] : host.heard) different.insert(message);
  EXPECT_EQ(host.heard.size(), 10U);
  EXPECT_EQ(different.size(), 10U);
}

// A guest is sent much more than it sends; somebody else's address must not get it.
TEST_F(PeerNetworkTest, AnswersAGuestOnlyWhereItWasShownToBe) {
  // Anna reaches the host through a tap; what she says then comes from another place.
  Tap door, elsewhere;
  Invite through = invite;
  through.addresses = {door.address()};
  anna.knock(through);
  for (int i = 0; i < 500 && !anna.entered; ++i) {
    anna.run();
    door.listen();
    for (const Bytes& datagram : door.kept)
      door.send(door.from == host.address() ? anna.address() : host.address(), datagram);
    door.kept.clear();
    host.run();
  }
  ASSERT_TRUE(anna.is_accepted());
  ASSERT_EQ(host.let_in.size(), 1U);
  ASSERT_EQ(host.network.address_of_guest(host.let_in[0]), door.address());
  anna.network.to_doorkeeper(PeerNetwork::now(), text("want"));
  door.listen();
  ASSERT_FALSE(door.kept.empty());
  elsewhere.send(host.address(), door.kept.back());
  host.run(20);
  ASSERT_EQ(host.guests.size(), 1U);
  EXPECT_EQ(host.network.address_of_guest(host.let_in[0]), door.address());
}

TEST_F(PeerNetworkTest, DoesNotTakeWhoHadANumberBeforeForItsNextOwner) {
  ASSERT_TRUE(sit_down());
  anna.network.send(PeerNetwork::now(), 0, text("first"));
  all_run(20);
  ASSERT_EQ(host.heard.size(), 1U);
  Introduction nobody = ben.introduction({});
  nobody.credential.signature[0] ^= std::byte{1};
  EXPECT_FALSE(host.network.connect(1, nobody, std::nullopt));
  anna.network.send(PeerNetwork::now(), 0, text("second"));
  all_run(20);
  EXPECT_EQ(host.heard.size(), 1U);
}

// Whoever was dropped and goes on elsewhere is asked how it stands, also if it would let us in.
TEST_F(PeerNetworkTest, StaysInItsSessionWhileItAsksAnother) {
  ASSERT_TRUE(sit_down());
  PeerOnNetwork elsewhere;
  elsewhere.network.host(invite.secret, 0);
  Invite other = invite;
  other.host = elsewhere.network.identity().public_key();
  other.addresses = {elsewhere.address()};
  const Credential before = anna.network.credential();
  anna.entered.reset();
  anna.network.knock(other, text("how are you?"), PeerNetwork::now(), PeerNetwork::Errand::ask);
  for (int i = 0; i < 2000 && !anna.is_accepted(); ++i) anna.run(), elsewhere.run();
  ASSERT_TRUE(anna.is_accepted());
  EXPECT_EQ(anna.network.credential(), before);
  EXPECT_EQ(anna.network.doorkeeper_address(), host.address());
  anna.network.send(PeerNetwork::now(), 0, text("still here"));
  anna.network.send(PeerNetwork::now(), 2, text("and here"));
  host.network.send(PeerNetwork::now(), 1, text("so am I"));
  all_run(20);
  ASSERT_EQ(host.heard.size(), 1U);
  EXPECT_EQ(host.heard[0], std::pair(MemberId{1}, text("still here")));
  ASSERT_EQ(ben.heard.size(), 1U);
  ASSERT_EQ(anna.heard.size(), 1U);
  EXPECT_EQ(anna.heard[0], std::pair(MemberId{0}, text("so am I")));
}

TEST_F(PeerNetworkTest, SendsNothingToManyBecauseAMemberSaysSo) {
  ASSERT_TRUE(enter(anna));
  const std::vector<NetAddress> bad = {NetAddress::v4({255, 255, 255, 255}, 7117), NetAddress::v4({224, 0, 0, 1}, 7117),
                                       NetAddress::v4({127, 0, 0, 1}, 0)};
  ASSERT_TRUE(host.network.connect(1, anna.introduction(bad), std::nullopt));
  const std::uint64_t before = host.network.counts().datagrams_out;
  host.network.send(PeerNetwork::now(), 1, text("hello"));
  EXPECT_EQ(host.network.counts().datagrams_out, before);
}

TEST_F(PeerNetworkTest, KeepsNothingOfAStrangersFlood) {
  Tap stranger;
  Bytes datagram(256);
  for (int i = 0; i < 20'000; ++i) {
    datagram[0] = static_cast<std::byte>(i % 2 == 0 ? 0x01 : 0x10);
    datagram[2] = static_cast<std::byte>(i);
    datagram[3] = static_cast<std::byte>(i / 256);
    stranger.send(host.address(), datagram);
    if (i % 64 == 0) host.run();
  }
  host.run(100);
  EXPECT_EQ(host.network.guests(), 0U);
  EXPECT_EQ(host.network.counts().datagrams_out, 0U);
  EXPECT_EQ(host.network.counts().strangers, host.network.counts().datagrams_in);
  EXPECT_GT(host.network.counts().strangers, 10'000U);
}

}  // namespace
}  // namespace cotouch::this_file

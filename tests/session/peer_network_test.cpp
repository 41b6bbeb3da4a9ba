// Networks of peers with real sockets on this machine.
#include <cotouch/session/peer_network.h>

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace cotouch {
namespace {

Bytes text(const std::string& words) {
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

// Everything that a network says, and lets everybody in.
class Peer final : public PeerNetworkListener {
 public:
  Peer() : network(Identity::make(), UdpSettings{0, true, 1U << 20, 1U << 20}) {}

  void run(int rounds = 1) {
    for (int i = 0; i < rounds; ++i) network.run(*this, std::chrono::milliseconds(1));
  }
  NetAddress address() { return NetAddress::v4({127, 0, 0, 1}, network.socket().port()); }
  Introduction introduction(const std::vector<NetAddress>& addresses) const {
    Introduction own;
    own.credential = network.credential();
    own.addresses = addresses;
    return own;
  }

  PeerNetwork network;
  std::vector<std::pair<MemberId, Bytes>> heard;
  std::vector<std::pair<GuestId, Bytes>> guests;
  std::vector<GuestId> let_in;
  bool accepted = false;

 private:
  void from_member(double, MemberId member, std::span<const std::byte> message) override {
    heard.emplace_back(member, Bytes(message.begin(), message.end()));
  }
  void from_guest(double, GuestId guest, std::span<const std::byte> message) override {
    guests.emplace_back(guest, Bytes(message.begin(), message.end()));
  }
  Decision asked(double, GuestId guest, const JoinRequest&) override {
    let_in.push_back(guest);
    return {true, {}};
  }
  void handshake_over(double, ClientHandshake& handshake) override {
    accepted = handshake.state() == ClientHandshake::State::accepted;
  }
  void from_doorkeeper(double, std::span<const std::byte>) override {}
};

// A socket in between that keeps what passes it, from one peer to another.
class Tap {
 public:
  Tap() : socket_(UdpSettings{0, true, 1U << 20, 1U << 20}) {}
  NetAddress address() const { return NetAddress::v4({127, 0, 0, 1}, socket_.port()); }
  void listen() {
    for (int i = 0; i < 5; ++i)
      for (const UdpSocket::Received& datagram : socket_.receive(std::chrono::milliseconds(1))) {
        kept.emplace_back(datagram.bytes.begin(), datagram.bytes.end());
        from = datagram.from;
      }
  }
  void send(const NetAddress& to, std::span<const std::byte> bytes) { socket_.send(to, bytes); }

  std::vector<Bytes> kept;
  NetAddress from;

 private:
  UdpSocket socket_;
};

class PeerNetworkTest : public testing::Test {
 protected:
  PeerNetworkTest() {
    invite = make_invite(host.network.identity().public_key(), {host.address()}, 0);
    host.network.host(invite.secret, 0);
  }
  bool enter(Peer& joiner) {
    joiner.network.knock(invite, {}, PeerNetwork::now(), PeerNetwork::Errand::join);
    for (int i = 0; i < 2000 && !joiner.accepted; ++i) joiner.run(), host.run();
    return joiner.accepted;
  }
  // Host is member 0, the others 1 and 2; those two cannot find each other.
  void sit_down() {
    ASSERT_TRUE(enter(anna) && enter(ben));
    const NetAddress nowhere = NetAddress::v4({127, 0, 0, 1}, 9);
    ASSERT_TRUE(host.network.connect(1, anna.introduction({nowhere}), anna.address()));
    ASSERT_TRUE(host.network.connect(2, ben.introduction({nowhere}), ben.address()));
    ASSERT_TRUE(anna.network.connect(0, host.introduction({host.address()}), host.address()));
    ASSERT_TRUE(anna.network.connect(2, ben.introduction({nowhere}), std::nullopt));
    ASSERT_TRUE(ben.network.connect(0, host.introduction({host.address()}), host.address()));
    ASSERT_TRUE(ben.network.connect(1, anna.introduction({nowhere}), std::nullopt));
  }
  void all_run(int rounds) {
    for (int i = 0; i < rounds; ++i) host.run(), anna.run(), ben.run();
  }

  Peer host, anna, ben;
  Invite invite;
};

TEST_F(PeerNetworkTest, RelaysForThoseWhoCannotReachEachOther) {
  sit_down();
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
  sit_down();
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
  sit_down();
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
  anna.network.knock(through, {}, PeerNetwork::now(), PeerNetwork::Errand::join);
  for (int i = 0; i < 500 && !anna.accepted; ++i) {
    anna.run();
    door.listen();
    for (const Bytes& datagram : door.kept)
      door.send(door.from == host.address() ? anna.address() : host.address(), datagram);
    door.kept.clear();
    host.run();
  }
  ASSERT_TRUE(anna.accepted);
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
  sit_down();
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
  sit_down();
  Peer elsewhere;
  elsewhere.network.host(invite.secret, 0);
  Invite other = invite;
  other.host = elsewhere.network.identity().public_key();
  other.addresses = {elsewhere.address()};
  const Credential before = anna.network.credential();
  anna.accepted = false;
  anna.network.knock(other, text("how are you?"), PeerNetwork::now(), PeerNetwork::Errand::ask);
  for (int i = 0; i < 2000 && !anna.accepted; ++i) anna.run(), elsewhere.run();
  ASSERT_TRUE(anna.accepted);
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
}  // namespace cotouch

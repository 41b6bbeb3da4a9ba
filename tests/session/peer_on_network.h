// Networks of peers with real sockets on this machine.
#pragma once

#include <cotouch/session/peer_network.h>

#include <string>
#include <utility>
#include <vector>

namespace cotouch::testing_session {

inline Bytes text(const std::string& words) {
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

// Keeps all that its network says, and lets everybody in.
class PeerOnNetwork : public PeerNetworkListener {
 public:
  PeerOnNetwork()
      : network(Identity::make(), UdpSettings{0, true, 1U << 20, 1U << 20},
                [this] { return PeerNetwork::now() + ahead; }) {}

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
  void knock(const Invite& invite, std::span<const std::byte> payload = {}) {
    network.knock(invite, payload, PeerNetwork::now(), PeerNetwork::Errand::join);
  }
  bool is_accepted() const { return entered == ClientHandshake::State::accepted; }

  double ahead = 0;  // of its clock, seconds
  PeerNetwork network;
  std::vector<std::pair<MemberId, Bytes>> heard;
  std::vector<std::pair<GuestId, Bytes>> guests;
  std::vector<GuestId> let_in;
  std::optional<ClientHandshake::State> entered;  // how the own handshake ended

 protected:
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
  void handshake_over(double, ClientHandshake& handshake) override { entered = handshake.state(); }
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

// A host and two others who have not come in yet.
class Neighbours {
 public:
  Neighbours() {
    invite = make_invite(host.network.identity().public_key(), {host.address()}, 0);
    host.network.host(invite.secret, 0);
  }
  bool enter(PeerOnNetwork& joiner) {
    joiner.knock(invite);
    for (int i = 0; i < 2000 && !joiner.entered; ++i) joiner.run(), host.run();
    return joiner.is_accepted();
  }
  // Host is member 0, the others 1 and 2; those two cannot find each other. False if it did not work.
  bool sit_down() {
    const NetAddress nowhere = NetAddress::v4({127, 0, 0, 1}, 9);
    return enter(anna) && enter(ben) && host.network.connect(1, anna.introduction({nowhere}), anna.address()) &&
           host.network.connect(2, ben.introduction({nowhere}), ben.address()) &&
           anna.network.connect(0, host.introduction({host.address()}), host.address()) &&
           anna.network.connect(2, ben.introduction({nowhere}), std::nullopt) &&
           ben.network.connect(0, host.introduction({host.address()}), host.address()) &&
           ben.network.connect(1, anna.introduction({nowhere}), std::nullopt);
  }
  void all_run(int rounds) {
    for (int i = 0; i < rounds; ++i) host.run(), anna.run(), ben.run();
  }

  PeerOnNetwork host, anna, ben;
  Invite invite;
};

}  // namespace cotouch::testing_session

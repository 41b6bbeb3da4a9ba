// A host, somebody who wants to join, and the four messages between them, one at a time.
#pragma once

#include <cotouch/net/handshake.h>

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace cotouch {

using Datagram = std::vector<std::byte>;

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}
inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Datagram copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}
inline void flip(std::span<std::byte> bytes, std::size_t bit) {
  bytes[bit / 8] ^= std::byte{1} << (bit % 8);
}

constexpr std::uint32_t k_expires = 2000000000;

struct Doorstep {
  using Outcome = HostHandshake::Outcome;
  using State = ClientHandshake::State;

  NetAddress host_address = *NetAddress::parse("192.0.2.1:7117");
  NetAddress joiner_address = *NetAddress::parse("198.51.100.7:40000");
  Identity host_identity = Identity::make(), joiner_identity = Identity::make();
  Invite invite = make_invite(host_identity.public_key(), {host_address}, k_expires);
  MacKey mac_key{invite.secret};
  HostHandshake host{host_identity, invite};
  ClientHandshake joiner{invite, joiner_identity, bytes_of("Ada"), 0};
  HostHandshake::Moment now{0, 1700000000};

  // Somebody begins to join at this time.
  void begin_at(double steady) {
    now.steady = steady;
    joiner = ClientHandshake(invite, joiner_identity, bytes_of("Ada"), steady);
  }
  // What the joiner sends; empty if nothing is due.
  Datagram due() { return copy_of(joiner.due(now.steady)); }
  // What the host replies to it; a request is accepted with "welcome".
  Datagram reply_to(std::span<const std::byte> datagram) { return reply_to(datagram, joiner_address); }
  Datagram reply_to(std::span<const std::byte> datagram, const NetAddress& from) {
    if (host.receive(datagram, from, now) == Outcome::asked) {
      ++asked;
      host_keys = host.accept(bytes_of("welcome"));
      all_host_keys.push_back(host_keys);
    }
    return copy_of(host.reply());
  }
  bool give(std::span<const std::byte> datagram) { return joiner.receive(datagram, host_address, now.steady); }

  // The genuine messages up to one of them.
  Datagram hello() { return due(); }
  Datagram challenge() { return reply_to(hello()); }
  Datagram request() {
    EXPECT_TRUE(give(challenge()));
    return due();
  }
  Datagram answer() { return reply_to(request()); }
  void join() {
    EXPECT_TRUE(give(answer()));
    EXPECT_EQ(joiner.state(), State::accepted);
  }
  // As somebody would who has the invite.
  Datagram signed_again(Datagram message) const {
    mac_key.sign(message);
    return message;
  }

  ChannelKeys host_keys;  // of the last one accepted
  std::vector<ChannelKeys> all_host_keys;
  int asked = 0;
};

inline bool same(const SharedSecret& a, const SharedSecret& b) {
  return equal_in_constant_time(a.bytes(), b.bytes());
}

}  // namespace cotouch

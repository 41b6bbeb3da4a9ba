// A bad network between real programs: a UDP port that forwards to a target through emulated links, and the answers
// back. Every client (address and port from which something comes) has its own socket towards the target and its own
// pair of links, as if each sat behind its own connection: the target sees them apart, and they share no rate limit.
// The n-th client's links depend on the seed and n alone.
//
// Datagrams are delayed by a timer of the system: on an idle machine they leave some 0.1 ms late, which `late_mean` and
// `late_most` of the statistics tell.
#pragma once

#include <cotouch/net/address.h>
#include <cotouch/net/network_profile.h>

#include <cstdint>
#include <memory>

namespace cotouch {

struct UdpRelaySettings {
  NetAddress listen;  // port 0: any that is free. An IPv6 address of all zeros hears IPv4 as well.
  NetAddress target;
  NetworkProfile profile;  // `there` leads to the target
  std::uint64_t seed = 1;
  std::size_t most_clients = 64;                 // further ones are ignored
  double idle_seconds = 60;                      // a client that is silent for so long is forgotten
  std::size_t most_bytes_under_way = 64U << 20;  // what is more is dropped
};

struct UdpRelayStatistics {
  double seconds = 0;  // since the start
  std::size_t clients = 0;
  std::uint64_t clients_ever = 0;
  std::uint64_t refused = 0;   // datagrams of clients for which there was no room
  std::uint64_t overflow = 0;  // dropped because too many bytes were under way
  LinkStatistics there, back;  // of all clients there ever were
  std::size_t under_way = 0;
  double late_mean = 0, late_most = 0;  // s, by which datagrams left after their time
};

class UdpRelay {
 public:
  // Listens, and forwards from start() on. Throws Error if the port cannot be had.
  explicit UdpRelay(const UdpRelaySettings& settings);
  ~UdpRelay();
  UdpRelay(const UdpRelay&) = delete;
  UdpRelay& operator=(const UdpRelay&) = delete;

  // Where clients send to.
  NetAddress address() const;

  // Forwarding happens in a thread of its own. What is under way when it stops is lost.
  void start();
  void stop();

  // From any thread. A change holds for all clients from the next datagram on; throws Error if it makes no sense.
  void change(const NetworkProfile& profile);
  UdpRelayStatistics statistics() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cotouch

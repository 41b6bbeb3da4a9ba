// The UDP endpoint of a peer. One socket for IPv4 and IPv6 alike; IPv4 alone if the machine has no IPv6. The caller
// drives it: it waits for datagrams with a deadline, takes a bounded batch, and is free for its own work in between.
// Boost.Asio opens the socket; batches are read with recvmmsg, one call to the system for up to 64 datagrams, so that a
// flood of 100,000 a second costs little. Nothing throws or allocates once the socket is open.
//
// What the network reports (ICMP: port unreachable, no route) is ignored: such reports can be forged, and a peer that
// is gone is noticed by its silence.
#pragma once

#include <cotouch/net/address.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cotouch {

struct UdpSettings {
  std::uint16_t port = 0;  // 0: any that is free
  bool loopback = false;   // only 127.0.0.1: for peers on this machine alone
  std::size_t receive_buffer_bytes = 4U << 20, send_buffer_bytes = 1U << 20;  // the system may grant less
};

struct UdpStatistics {
  std::uint64_t received = 0, received_bytes = 0;
  std::uint64_t sent = 0, sent_bytes = 0;
  std::uint64_t too_long = 0;  // received, longer than any that peers send
  std::uint64_t not_sent = 0;  // the system's buffer was full, or there was no way to the address
};

class UdpSocket {
 public:
  struct Received {
    NetAddress from;
    std::span<const std::byte> bytes;
  };
  static constexpr std::size_t k_batch = 64;
  static constexpr std::size_t k_longest = 1500;  // what is longer is dropped

  // Throws Error if the port cannot be had.
  explicit UdpSocket(const UdpSettings& settings = {});
  ~UdpSocket();
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  std::uint16_t port() const;
  bool speaks_v6() const;
  // What the system granted; Linux counts its own bookkeeping in.
  std::size_t receive_buffer_bytes() const;
  // At which this socket can be reached (net/resolve.h).
  std::vector<NetAddress> addresses() const;

  // Takes up to k_batch datagrams. If there is none, waits for one, for wake() or until the timeout; zero does not
  // wait. Valid until the next call.
  std::span<const Received> receive(std::chrono::nanoseconds timeout) noexcept;
  // Makes a receive() that waits, or else the next one, return at once. From any thread.
  void wake() noexcept;

  // Never waits. False if it was not sent, which is as good as lost on the way. From any thread.
  bool send(const NetAddress& to, std::span<const std::byte> bytes) noexcept;

  UdpStatistics statistics() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cotouch

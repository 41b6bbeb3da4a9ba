// Where a datagram comes from or goes to: an IPv4 or IPv6 address and a UDP port, as a plain value.
#pragma once

#include <cotouch/net/bytes.h>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cotouch {

class NetAddress {
 public:
  // None: 0.0.0.0 with port 0.
  NetAddress() = default;
  static NetAddress v4(const std::array<std::uint8_t, 4>& bytes, std::uint16_t port);
  // An IPv4 address that is written as IPv6 (::ffff:192.0.2.1, as a socket for both reports it) becomes IPv4: the same
  // peer must have the same address whatever socket heard it.
  static NetAddress v6(const std::array<std::uint8_t, 16>& bytes, std::uint16_t port);
  // "192.0.2.1:7117" or "[2001:db8::1]:7117"; nothing if it is neither. No names, no zones ("%eth0").
  static std::optional<NetAddress> parse(std::string_view text);

  bool is_v6() const { return is_v6_; }
  std::uint16_t port() const { return port_; }
  // Four or sixteen, in the order in which they are written.
  std::span<const std::uint8_t> bytes() const { return std::span(bytes_).first(is_v6_ ? 16U : 4U); }
  NetAddress with_port(std::uint16_t port) const;
  // One place: not 0.0.0.0, no port 0, no multicast or broadcast address. Addresses that strangers name are asked this.
  bool can_be_sent_to() const;
  std::string text() const;

  // Kind (4 or 6), bytes, port: 7 or 19 bytes. Reading another kind makes the reader fail.
  void write(ByteWriter& out) const;
  static NetAddress read(ByteReader& in);
  static constexpr std::size_t k_longest = 19;

  friend auto operator<=>(const NetAddress&, const NetAddress&) = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};  // an IPv4 address has its four first and zeros after them
  std::uint16_t port_ = 0;
  bool is_v6_ = false;
};

}  // namespace cotouch

#include <cotouch/net/address.h>

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace cotouch {
namespace {

constexpr std::array<std::uint8_t, 12> k_mapped_v4 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return port;
}

}  // namespace

NetAddress NetAddress::v4(const std::array<std::uint8_t, 4>& bytes, std::uint16_t port) {
  NetAddress address;
  std::copy(bytes.begin(), bytes.end(), address.bytes_.begin());
  address.port_ = port;
  return address;
}

NetAddress NetAddress::v6(const std::array<std::uint8_t, 16>& bytes, std::uint16_t port) {
  if (std::equal(k_mapped_v4.begin(), k_mapped_v4.end(), bytes.begin()))
    return v4({bytes[12], bytes[13], bytes[14], bytes[15]}, port);
  NetAddress address;
  address.bytes_ = bytes;
  address.port_ = port;
  address.is_v6_ = true;
  return address;
}

std::optional<NetAddress> NetAddress::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || text.size() > 64) return std::nullopt;
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return std::nullopt;
  const std::string host(text.substr(0, colon));
  std::array<std::uint8_t, 4> four{};
  if (::inet_pton(AF_INET, host.c_str(), four.data()) == 1) return v4(four, *port);
  if (host.front() != '[' || host.back() != ']') return std::nullopt;
  std::array<std::uint8_t, 16> sixteen{};
  if (::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), sixteen.data()) != 1) return std::nullopt;
  return v6(sixteen, *port);
}

bool NetAddress::can_be_sent_to() const {
  const std::span<const std::uint8_t> all = bytes();
  const bool nowhere = std::all_of(all.begin(), all.end(), [](std::uint8_t b) { return b == 0; });
  // From 224.0.0.0 on: multicast, reserved, broadcast. ff00::/8: multicast.
  const bool to_many = is_v6_ ? all[0] == 0xff : all[0] >= 224;
  return port_ != 0 && !nowhere && !to_many;
}

NetAddress NetAddress::with_port(std::uint16_t port) const {
  NetAddress address = *this;
  address.port_ = port;
  return address;
}

std::string NetAddress::text() const {
  char host[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(is_v6_ ? AF_INET6 : AF_INET, bytes_.data(), host, sizeof host);
  std::string text = host;
  if (is_v6_) text = '[' + text + ']';
  text += ':';
  text += std::to_string(port_);
  return text;
}

void NetAddress::write(ByteWriter& out) const {
  out.number<std::uint8_t>(is_v6_ ? 6 : 4);
  out.raw(std::as_bytes(bytes()));
  out.number(port_);
}

NetAddress NetAddress::read(ByteReader& in) {
  const auto kind = in.number<std::uint8_t>();
  if (kind != 4 && kind != 6) in.fail();
  std::array<std::uint8_t, 16> bytes{};
  const auto taken = in.raw(kind == 6 ? 16 : 4);
  const auto port = in.number<std::uint16_t>();
  if (!in.ok()) return {};
  std::memcpy(bytes.data(), taken.data(), taken.size());
  return kind == 6 ? v6(bytes, port) : v4({bytes[0], bytes[1], bytes[2], bytes[3]}, port);
}

}  // namespace cotouch

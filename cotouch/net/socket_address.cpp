#include <cotouch/net/socket_address.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace cotouch {

SocketAddress to_socket_address(const NetAddress& address, bool for_v6_socket) {
  SocketAddress out;
  const std::span<const std::uint8_t> bytes = address.bytes();
  if (!address.is_v6() && !for_v6_socket) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port());
    std::memcpy(&v4.sin_addr, bytes.data(), bytes.size());
    std::memcpy(&out.storage, &v4, sizeof v4);
    out.size = sizeof v4;
    return out;
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(address.port());
  std::uint8_t* to = v6.sin6_addr.s6_addr;
  if (!address.is_v6()) {
    to[10] = to[11] = 0xff;
    to += 12;
  }
  std::copy(bytes.begin(), bytes.end(), to);
  std::memcpy(&out.storage, &v6, sizeof v6);
  out.size = sizeof v6;
  return out;
}

NetAddress to_net_address(const sockaddr_storage& storage) {
  if (storage.ss_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &storage, sizeof v4);
    std::array<std::uint8_t, 4> bytes;
    std::memcpy(bytes.data(), &v4.sin_addr, bytes.size());
    return NetAddress::v4(bytes, ntohs(v4.sin_port));
  }
  if (storage.ss_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, &storage, sizeof v6);
    std::array<std::uint8_t, 16> bytes;
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return NetAddress::v6(bytes, ntohs(v6.sin6_port));
  }
  return {};
}

}  // namespace cotouch

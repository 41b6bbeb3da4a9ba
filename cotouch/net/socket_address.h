// Addresses as the system's socket calls take them. For sources that talk to the system; others use NetAddress.
#pragma once

#include <cotouch/net/address.h>

#include <sys/socket.h>

namespace cotouch {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// An IPv6 socket that speaks to both families takes IPv4 addresses written as IPv6 (::ffff:192.0.2.1).
SocketAddress to_socket_address(const NetAddress& address, bool for_v6_socket);
// None (port 0) if it is of another family.
NetAddress to_net_address(const sockaddr_storage& storage);

}  // namespace cotouch

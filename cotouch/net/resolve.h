// Names of machines as addresses, and the addresses of this machine.
#pragma once

#include <cotouch/net/address.h>

#include <string_view>
#include <vector>

namespace cotouch {

// "HOST:PORT", "192.0.2.1:7117" or "[2001:db8::1]:7117": the first address that the system finds, IPv4 before IPv6 if
// the name has both. May take seconds. Throws Error with a sentence.
NetAddress resolve(std::string_view host_and_port);

// At which a peer could reach a socket of this machine that listens everywhere: those of all networks that are up, IPv4
// first, in the system's order. Link-local IPv6 is left out, because it means nothing without the name of a network. If
// there is no network, the loopback addresses, for peers on this machine.
std::vector<NetAddress> local_addresses(std::uint16_t port);

}  // namespace cotouch

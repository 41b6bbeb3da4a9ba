#include <cotouch/net/resolve.h>

#include <cotouch/base/error.h>
#include <cotouch/net/socket_address.h>

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <charconv>
#include <cstring>
#include <memory>
#include <string>

namespace cotouch {
namespace {

using boost::asio::ip::udp;

NetAddress to_net_address(const udp::endpoint& endpoint) {
  if (endpoint.address().is_v4()) return NetAddress::v4(endpoint.address().to_v4().to_bytes(), endpoint.port());
  return NetAddress::v6(endpoint.address().to_v6().to_bytes(), endpoint.port());
}

bool is_link_local(const NetAddress& address) {
  return address.is_v6() && address.bytes()[0] == 0xfe && (address.bytes()[1] & 0xc0) == 0x80;
}

}  // namespace

NetAddress resolve(std::string_view host_and_port) {
  const std::string shown(host_and_port.substr(0, 300));
  if (const std::optional<NetAddress> address = NetAddress::parse(host_and_port)) return *address;
  const std::size_t colon = host_and_port.rfind(':');
  std::uint16_t port = 0;
  bool good = colon != std::string_view::npos && colon > 0 && colon <= 253 &&
              host_and_port.substr(0, colon).find_first_of(":[] \t\n") == std::string_view::npos;
  if (good) {
    const std::string_view digits = host_and_port.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    good = error == std::errc{} && end == digits.data() + digits.size() && port > 0;
  }
  if (!good)
    throw Error(
        "'" + shown + "' is not an address; write it as HOST:PORT, such as 192.0.2.1:7117 or [2001:db8::1]:7117.",
        ErrorCode::invalid_argument);
  boost::asio::io_context context;
  udp::resolver resolver(context);
  boost::system::error_code failed;
  const auto found = resolver.resolve(std::string(host_and_port.substr(0, colon)), std::to_string(port), failed);
  if (failed || found.empty())
    throw Error("The name in '" + shown + "' is not known: " + failed.message() + ".", ErrorCode::not_found);
  NetAddress first = to_net_address(found.begin()->endpoint());
  for (const auto& entry : found)
    if (first.is_v6() && entry.endpoint().address().is_v4()) first = to_net_address(entry.endpoint());
  return first;
}

std::vector<NetAddress> local_addresses(std::uint16_t port) {
  std::vector<NetAddress> out, loopback;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) == 0) {
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
      if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0) continue;
      const bool v4 = entry->ifa_addr->sa_family == AF_INET;
      if (!v4 && entry->ifa_addr->sa_family != AF_INET6) continue;
      sockaddr_storage storage{};
      std::memcpy(&storage, entry->ifa_addr, v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
      const NetAddress address = cotouch::to_net_address(storage).with_port(port);
      if (is_link_local(address)) continue;
      ((entry->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : out).push_back(address);
    }
  }
  if (out.empty()) out = std::move(loopback);
  if (out.empty()) out.push_back(NetAddress::v4({127, 0, 0, 1}, port));
  std::stable_partition(out.begin(), out.end(), [](const NetAddress& address) { return !address.is_v6(); });
  return out;
}

}  // namespace cotouch

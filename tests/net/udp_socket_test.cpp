#include <cotouch/net/udp_socket.h>

#include <cotouch/base/error.h>
#include <cotouch/net/resolve.h>
#include <cotouch/net/socket_address.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/error_code.h"
#include "support/eventually.h"

namespace cotouch::this_file {
namespace {

using namespace std::chrono_literals;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
NetAddress v4_loopback(std::uint16_t port) {
  return NetAddress::v4({127, 0, 0, 1}, port);
}
NetAddress v6_loopback(std::uint16_t port) {
  std::array<std::uint8_t, 16> bytes{};
  bytes[15] = 1;
  return NetAddress::v6(bytes, port);
}

// The next datagram, within as long as the slowest machine may need.
std::string next(UdpSocket& socket, NetAddress* from = nullptr) {
  const auto received = socket.receive(30s);
  if (received.empty()) return "nothing";
  EXPECT_EQ(received.size(), 1U);
  if (from != nullptr) *from = received[0].from;
  return text_of(received[0].bytes);
}

TEST(UdpSocket, TwoOfThemSpeakToEachOther) {
  UdpSocket a, b;
  ASSERT_NE(a.port(), b.port());
  EXPECT_TRUE(a.send(v4_loopback(b.port()), bytes_of("hello")));
  NetAddress from;
  EXPECT_EQ(next(b, &from), "hello");
  EXPECT_EQ(from, v4_loopback(a.port()));
  EXPECT_TRUE(b.send(from, bytes_of("")));
  EXPECT_EQ(next(a), "");
  EXPECT_EQ(a.statistics().sent_bytes, 5U);
  EXPECT_EQ(b.statistics().received_bytes, 5U);
  EXPECT_EQ(a.statistics().received, 1U);
}

TEST(UdpSocket, OneSocketHearsIPv4AndIPv6) {
  UdpSocket a, b;
  if (!a.speaks_v6()) GTEST_SKIP() << "this machine has no IPv6";
  if (!a.send(v6_loopback(b.port()), bytes_of("six"))) GTEST_SKIP() << "no way to ::1";
  NetAddress from;
  EXPECT_EQ(next(b, &from), "six");
  EXPECT_EQ(from, v6_loopback(a.port()));
  a.send(v4_loopback(b.port()), bytes_of("four"));
  EXPECT_EQ(next(b, &from), "four");
  EXPECT_EQ(from, v4_loopback(a.port()));  // not ::ffff:127.0.0.1
}

TEST(UdpSocket, TakesManyAtOnceInTheirOrder) {
  UdpSocket a, b;
  for (int i = 0; i < 150; ++i) a.send(v4_loopback(b.port()), bytes_of(std::to_string(i)));
  int expected = 0;
  std::size_t largest = 0;
  while (expected < 150) {
    const auto batch = b.receive(30s);
    ASSERT_FALSE(batch.empty());
    largest = std::max(largest, batch.size());
    for (const UdpSocket::Received& datagram : batch) EXPECT_EQ(text_of(datagram.bytes), std::to_string(expected++));
  }
  EXPECT_EQ(largest, UdpSocket::k_batch);
}

TEST(UdpSocket, WaitsUntilTheTimeoutAndNoLongerThanItMust) {
  UdpSocket socket;
  const auto before = std::chrono::steady_clock::now();
  EXPECT_TRUE(socket.receive(0s).empty());
  EXPECT_TRUE(socket.receive(30ms).empty());
  EXPECT_GE(std::chrono::steady_clock::now() - before, 30ms);
}

TEST(UdpSocket, IsWokenFromAnotherThread) {
  UdpSocket socket;
  socket.wake();
  EXPECT_TRUE(socket.receive(1h).empty());  // woken before it waited
  std::thread other([&] {
    std::this_thread::sleep_for(20ms);
    socket.wake();
  });
  EXPECT_TRUE(socket.receive(1h).empty());
  other.join();
}

TEST(UdpSocket, WhatIsTooLongIsDropped) {
  UdpSocket a, b;
  a.send(v4_loopback(b.port()), bytes_of(std::string(UdpSocket::k_longest + 1, 'x')));
  a.send(v4_loopback(b.port()), bytes_of(std::string(UdpSocket::k_longest, 'y')));
  EXPECT_EQ(next(b), std::string(UdpSocket::k_longest, 'y'));
  EXPECT_EQ(b.statistics().too_long, 1U);
}

TEST(UdpSocket, ReportsOfTheNetworkAreIgnored) {
  UdpSocket a, b;
  std::uint16_t nobody = 0;
  {
    UdpSocket gone;
    nobody = gone.port();
  }
  for (int i = 0; i < 20; ++i) a.send(v4_loopback(nobody), bytes_of("anybody?"));
  EXPECT_TRUE(a.receive(20ms).empty());
  b.send(v4_loopback(a.port()), bytes_of("me"));
  EXPECT_EQ(next(a), "me");
}

TEST(UdpSocket, WhatCannotBeSentIsCounted) {
  UdpSettings settings;
  settings.loopback = true;
  UdpSocket socket(settings);
  EXPECT_FALSE(socket.send(v6_loopback(9), bytes_of("x")));  // an IPv4 socket
  EXPECT_FALSE(socket.send(v4_loopback(9), bytes_of(std::string(70'000, 'x'))));
  EXPECT_EQ(socket.statistics().not_sent, 2U);
  EXPECT_EQ(socket.addresses(), std::vector<NetAddress>{v4_loopback(socket.port())});
}

TEST(UdpSocket, APortThatIsTakenIsRefusedInWords) {
  UdpSocket first;
  UdpSettings settings;
  settings.port = first.port();
  try {
    UdpSocket second(settings);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_NE(std::string(error.what()).find(std::to_string(settings.port)), std::string::npos);
  }
}

TEST(UdpSocket, HasALargeBufferWhereTheSystemAllows) {
  UdpSocket socket;
  EXPECT_GE(socket.receive_buffer_bytes(), 100'000U);
}

TEST(Resolve, AddressesAreThemselves) {
  EXPECT_EQ(resolve("192.0.2.7:80").text(), "192.0.2.7:80");
  EXPECT_EQ(resolve("[2001:db8::1]:7117").text(), "[2001:db8::1]:7117");
  EXPECT_EQ(resolve("localhost:7117").port(), 7117);
}

TEST(Resolve, WhatIsNoAddressIsRefusedInWords) {
  for (const char* text : {"", "localhost", "localhost:", ":7117", "localhost:0", "localhost:65536", "localhost:7x",
                           "::1:7117", "a b:7117", "[::1]", "localhost:-1"})
    EXPECT_EQ(code_of([&] { resolve(text); }), ErrorCode::invalid_argument) << text;
  EXPECT_EQ(code_of([] { resolve("no-such-machine.invalid:7117"); }), ErrorCode::not_found);
}

TEST(Resolve, AddressesOfThisMachineReachIt) {
  UdpSocket listening, asking;
  const std::vector<NetAddress> addresses = listening.addresses();
  ASSERT_FALSE(addresses.empty());
  const std::set<NetAddress> once(addresses.begin(), addresses.end());
  EXPECT_EQ(once.size(), addresses.size());
  EXPECT_TRUE(std::is_partitioned(addresses.begin(), addresses.end(), [](const auto& a) { return !a.is_v6(); }));
  for (const NetAddress& address : addresses) {
    EXPECT_EQ(address.port(), listening.port());
    ASSERT_TRUE(asking.send(address, bytes_of(address.text()))) << address.text();
    EXPECT_EQ(next(listening), address.text());
  }
}

TEST(SocketAddress, ComesBackAsItWas) {
  for (const char* text : {"192.0.2.7:80", "[2001:db8::1]:65535"})
    for (const bool for_v6 : {false, true}) {
      const NetAddress address = *NetAddress::parse(text);
      EXPECT_EQ(to_net_address(to_socket_address(address, for_v6).storage), address);
    }
  EXPECT_EQ(to_net_address(sockaddr_storage{}), NetAddress());
}

}  // namespace
}  // namespace cotouch::this_file

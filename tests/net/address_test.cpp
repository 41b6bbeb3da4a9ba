#include <cotouch/net/address.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

TEST(NetAddress, TextComesBackAsItWas) {
  for (const char* text : {"192.0.2.1:7117", "0.0.0.0:0", "255.255.255.255:65535", "[2001:db8::1]:7117", "[::1]:1"}) {
    const auto address = NetAddress::parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->text(), text);
  }
  EXPECT_EQ(NetAddress::parse("192.0.2.1:7117"), NetAddress::v4({192, 0, 2, 1}, 7117));
  EXPECT_TRUE(NetAddress::parse("[::1]:1")->is_v6());
}

TEST(NetAddress, WhatIsNoAddressIsRefused) {
  for (const char* text :
       {"", ":", ":7117", "192.0.2.1", "192.0.2.1:", "192.0.2.1:65536", "192.0.2.1:-1", "192.0.2.1:7x", "192.0.2:1",
        "192.0.2.256:1", "2001:db8::1:7117", "[2001:db8::1]", "[]:1", "[192.0.2.1]:1", "[fe80::1%eth0]:1", "host:7117",
        "[::1:7117", "::1]:7117", "[2001:0db8:0000:0000:0000:0000:0000:0001:0000:0000:0000:0000:0000:0000]:1"})
    EXPECT_FALSE(NetAddress::parse(text)) << text;
}

TEST(NetAddress, AnIpv4PeerIsTheSameThroughAnIpv6Socket) {
  EXPECT_EQ(NetAddress::parse("[::ffff:192.0.2.1]:7117"), NetAddress::parse("192.0.2.1:7117"));
  EXPECT_NE(NetAddress::parse("[::192.0.2.1]:7117"), NetAddress::parse("192.0.2.1:7117"));
}

TEST(NetAddress, AddressesDifferIfAnythingDoes) {
  const NetAddress address = NetAddress::v4({192, 0, 2, 1}, 7117);
  EXPECT_NE(address, address.with_port(7118));
  EXPECT_NE(address, NetAddress::v4({192, 0, 2, 2}, 7117));
  EXPECT_NE(address, *NetAddress::parse("[c000:0201::]:7117"));  // the same bytes, but IPv6
}

TEST(NetAddress, BytesComeBackAsTheyWere) {
  for (const char* text : {"192.0.2.1:7117", "[2001:db8::1]:513"}) {
    std::vector<std::byte> bytes;
    ByteWriter out(bytes);
    const NetAddress address = *NetAddress::parse(text);
    address.write(out);
    EXPECT_EQ(bytes.size(), address.is_v6() ? 19U : 7U);
    ByteReader in(bytes);
    EXPECT_EQ(NetAddress::read(in), address);
    EXPECT_TRUE(in.at_end());
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      ByteReader cut{std::span(bytes).first(length)};
      EXPECT_EQ(NetAddress::read(cut), NetAddress());
      EXPECT_FALSE(cut.ok());
    }
    bytes[0] = std::byte{5};
    ByteReader odd(bytes);
    NetAddress::read(odd);
    EXPECT_FALSE(odd.ok());
  }
}

}  // namespace
}  // namespace cotouch::this_file

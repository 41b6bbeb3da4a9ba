#include <cotouch/net/invite.h>

#include <gtest/gtest.h>

#include "support/error_code.h"

namespace cotouch::this_file {
namespace {

constexpr std::uint64_t k_now = 1700000000;

NetAddress address(const char* text) {
  return *NetAddress::parse(text);
}

Invite example(std::uint32_t expires = 0) {
  return make_invite(Identity::make().public_key(), {address("192.0.2.1:7117"), address("[2001:db8::1]:7117")},
                     expires);
}

std::optional<ErrorCode> refusal_of(const std::string& text, std::uint64_t now = k_now) {
  return code_of([&] { parse_invite(text, now); });
}

std::string sentence_of(const std::string& text) {
  try {
    parse_invite(text, k_now);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// What parse_invite reads, with a right checksum.
std::string encoded(std::vector<std::byte> bytes) {
  const Digest digest = hash_of("cotouch invite", {bytes});
  bytes.insert(bytes.end(), digest.begin(), digest.begin() + 4);
  constexpr std::string_view k_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text = "cotouch:";
  unsigned held = 0, bits = 0;
  for (const std::byte byte : bytes) {
    held = (held << 8 | static_cast<unsigned>(byte)) & 0xffff;
    for (bits += 8; bits >= 6; bits -= 6) text += k_letters[(held >> (bits - 6)) & 63];
  }
  if (bits > 0) text += k_letters[(held << (6 - bits)) & 63];
  return text;
}

// The layout of docs/protocol.md.
std::vector<std::byte> content_of(const Invite& invite) {
  std::vector<std::byte> bytes;
  bytes.reserve(256);
  ByteWriter out(bytes);
  out.number(std::uint8_t{1});
  out.raw(invite.host.bytes);
  out.raw(invite.secret.bytes());
  out.number(invite.expires);
  out.number(static_cast<std::uint8_t>(invite.addresses.size()));
  for (const NetAddress& each : invite.addresses) each.write(out);
  return bytes;
}

TEST(Invite, ComesBackAsItWas) {
  const Invite invite = example(2000000000);
  const Invite back = parse_invite(format_invite(invite), k_now);
  EXPECT_EQ(back.host, invite.host);
  EXPECT_TRUE(equal_in_constant_time(back.secret.bytes(), invite.secret.bytes()));
  EXPECT_EQ(back.expires, invite.expires);
  EXPECT_EQ(back.addresses, invite.addresses);
  EXPECT_EQ(back.session(), invite.session());
}

TEST(Invite, IsWrittenAsSpecified) {
  const Invite invite = example(77);
  EXPECT_EQ(format_invite(invite), encoded(content_of(invite)));
  EXPECT_EQ(content_of(invite).size(), 1U + 32 + 16 + 4 + 1 + 7 + 19);
}

TEST(Invite, WhiteSpaceFromMailsAndTerminalsIsIgnored) {
  std::string text = format_invite(example());
  text.insert(60, "\r\n ");
  EXPECT_FALSE(refusal_of(" \n" + text + " \n"));
}

TEST(Invite, EveryMistypedLetterIsNoticed) {
  const std::string text = format_invite(example());
  for (std::size_t i = 8; i < text.size(); ++i)
    for (const char letter : {'A', 'b', '7', '-', '*', '=', '\0'}) {
      std::string typed = text;
      if (typed[i] == letter) continue;
      typed[i] = letter;
      EXPECT_EQ(refusal_of(typed), ErrorCode::invalid_argument) << i << letter;
    }
  EXPECT_NE(sentence_of(text.substr(0, 40)).find("cut off"), std::string::npos);
}

TEST(Invite, EveryInviteThatIsCutOffIsNoticed) {
  const std::string text = format_invite(example());
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_EQ(refusal_of(text.substr(0, length)), ErrorCode::invalid_argument) << length;
  EXPECT_EQ(refusal_of(text + "A"), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal_of("cotouch:" + std::string(100000, 'A')), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal_of("https://example.org/"), ErrorCode::invalid_argument);
  EXPECT_NE(sentence_of("hello").find("cotouch:"), std::string::npos);
}

TEST(Invite, OneOfANewerVersionSaysSo) {
  std::vector<std::byte> bytes = content_of(example());
  bytes[0] = std::byte{2};
  EXPECT_EQ(refusal_of(encoded(bytes)), ErrorCode::unsupported);
  EXPECT_NE(sentence_of(encoded(bytes)).find("newer"), std::string::npos);
  EXPECT_EQ(refusal_of(encoded(std::vector<std::byte>(400, std::byte{9}))), ErrorCode::unsupported);
}

TEST(Invite, ExpiresWhenItSays) {
  const std::string text = format_invite(example(1700000100));
  EXPECT_FALSE(refusal_of(text, 1700000099));
  EXPECT_EQ(refusal_of(text, 1700000100), ErrorCode::refused);
  EXPECT_EQ(refusal_of(text, 1700000101), ErrorCode::refused);
  EXPECT_FALSE(refusal_of(format_invite(example(0)), 1ULL << 40));
}

TEST(Invite, OneThatNoProgramMakesIsRefusedDespiteItsChecksum) {
  const Invite good = example();
  EXPECT_FALSE(refusal_of(encoded(content_of(good))));
  const auto refused = [](const Invite& invite) {
    return refusal_of(encoded(content_of(invite))) == ErrorCode::invalid_argument;
  };
  Invite bad = good;
  bad.addresses.clear();
  EXPECT_TRUE(refused(bad));
  bad.addresses.assign(9, address("192.0.2.1:1"));
  EXPECT_TRUE(refused(bad));
  for (const char* nowhere :
       {"192.0.2.1:0", "0.0.0.0:7", "[::]:7", "255.255.255.255:7", "224.0.0.1:7", "[ff02::1]:7"}) {
    bad.addresses = {address(nowhere)};
    EXPECT_TRUE(refused(bad)) << nowhere;
  }
  bad = good;
  bad.host = {};  // a point of small order
  EXPECT_TRUE(refused(bad));
  // Every length that does not fit its own count of addresses.
  const std::vector<std::byte> bytes = content_of(good);
  for (std::size_t length = 1; length < bytes.size(); ++length)
    EXPECT_EQ(refusal_of(encoded({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)})),
              ErrorCode::invalid_argument);
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_EQ(refusal_of(encoded(longer)), ErrorCode::invalid_argument);
}

TEST(Invite, OnlyOneThatCanBeUsedIsMade) {
  const PublicKey host = Identity::make().public_key();
  EXPECT_THROW(make_invite(host, {}, 0), Error);
  EXPECT_THROW(make_invite(host, {address("0.0.0.0:7117")}, 0), Error);
  EXPECT_THROW(make_invite(host, std::vector(9, address("192.0.2.1:7117")), 0), Error);
  EXPECT_NO_THROW(make_invite(host, std::vector(8, address("[2001:db8::1]:7117")), 0));
}

TEST(Invite, TwoSessionsHaveDifferentSecretsAndNumbers) {
  const PublicKey host = Identity::make().public_key();
  const Invite a = make_invite(host, {address("192.0.2.1:7117")}, 0), b = make_invite(host, a.addresses, 0);
  EXPECT_FALSE(equal_in_constant_time(a.secret.bytes(), b.secret.bytes()));
  EXPECT_NE(a.session(), b.session());
}

}  // namespace
}  // namespace cotouch::this_file

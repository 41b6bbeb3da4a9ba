#include <cotouch/net/bytes.h>

#include <gtest/gtest.h>

#include <limits>

namespace cotouch::this_file {
namespace {

TEST(Bytes, NumbersComeBackAsTheyWere) {
  const std::uint64_t numbers[] = {0, 1, 127, 128, 16383, 16384, 1ULL << 32, std::numeric_limits<std::uint64_t>::max()};
  const std::int64_t signed_numbers[] = {
      0, -1, 1, -64, 64, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  for (const std::uint64_t n : numbers) out.varint(n);
  for (const std::int64_t n : signed_numbers) out.signed_varint(n);
  out.number(-1.5);
  out.text("grün");
  ByteReader in(bytes);
  for (const std::uint64_t n : numbers) EXPECT_EQ(in.varint(), n);
  for (const std::int64_t n : signed_numbers) EXPECT_EQ(in.signed_varint(), n);
  EXPECT_EQ(in.number<double>(), -1.5);
  EXPECT_EQ(in.text(8), "grün");
  EXPECT_TRUE(in.at_end());
}

TEST(Bytes, SmallNumbersTakeOneByte) {
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  out.varint(127);
  out.signed_varint(-64);
  out.signed_varint(63);
  EXPECT_EQ(bytes.size(), 3U);
}

TEST(Bytes, ReadingPastTheEndFailsForGood) {
  const std::vector<std::byte> bytes(3);
  ByteReader in(bytes);
  EXPECT_EQ(in.number<std::uint32_t>(), 0U);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.number<std::uint8_t>(), 0U);
  EXPECT_FALSE(in.at_end());
}

TEST(Bytes, AVarintOfMoreThan64BitsIsRefused) {
  std::vector<std::byte> bytes(9, std::byte{0xff});
  bytes.push_back(std::byte{0x02});
  ByteReader in(bytes);
  in.varint();
  EXPECT_FALSE(in.ok());
}

TEST(Bytes, ATextLongerThanAllowedIsRefused) {
  std::vector<std::byte> bytes;
  ByteWriter(bytes).text("too long");
  ByteReader in(bytes);
  EXPECT_EQ(in.text(7), "");
  EXPECT_FALSE(in.ok());
}

}  // namespace
}  // namespace cotouch::this_file

// Messages that could be read, but that no honest peer writes.
#include <cotouch/session/peer_message.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

using Bytes = std::vector<std::byte>;

// With as many inputs in one block; each takes six bytes.
Bytes message_of(std::size_t count) {
  PeerInput input;
  input.hand.buttons = 0xffffffff;
  Bytes bytes = write_inputs_message({}, {});
  bytes.back() = std::byte{1};  // number of blocks
  ByteWriter out(bytes);
  out.signed_varint(0);
  out.varint(count);
  write_inputs(out, std::vector<const PeerInput*>(count, &input));
  return bytes;
}

TEST(PeerMessageLimits, ALongerOneThanAnybodySendsIsNothing) {
  std::size_t most = 0;
  for (std::size_t count = 1; count < 255; ++count) {
    const Bytes bytes = message_of(count);
    EXPECT_EQ(read_message(bytes).has_value(), bytes.size() <= k_longest_message) << bytes.size();
    most = std::max(most, bytes.size());
  }
  EXPECT_GT(most, k_longest_message);
}

TEST(PeerMessageLimits, FlagsThatMeanNothingMakeItNothing) {
  Bytes bytes = message_of(1);
  ASSERT_TRUE(read_message(bytes));
  for (const int flag : {4, 8, 16, 32, 64, 128}) {
    bytes[1] = static_cast<std::byte>(flag);
    EXPECT_FALSE(read_message(bytes)) << flag;
  }
}

}  // namespace
}  // namespace cotouch::this_file

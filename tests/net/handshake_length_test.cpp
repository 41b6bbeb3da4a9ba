// What a host may be made to send: nothing to a message that is too short to pay for its reply.
#include "net/handshake_fixture.h"

namespace cotouch::this_file {
namespace {

constexpr std::size_t k_shortest_of_any_version = 256;

// A Hello as a program of another version could send it: it knows the invite.
Datagram hello_of(const Doorstep& door, int version, std::size_t size) {
  Datagram message(size);
  message[0] = std::byte{0x01};
  message[1] = static_cast<std::byte>(version);
  return door.signed_again(std::move(message));
}

TEST(HandshakeLength, AHelloOfAnyVersionGetsNoReplyLongerThanItself) {
  Doorstep door;
  for (const int version : {0, 1, 2, 255})
    for (std::size_t size = k_mac_bytes + 2; size <= k_largest_datagram + 100; ++size)
      EXPECT_LE(door.reply_to(hello_of(door, version, size)).size(), size) << size << " bytes, version " << version;
}

TEST(HandshakeLength, AHelloThatIsTooShortOrTooLongGetsNoReply) {
  Doorstep door;
  const auto is_answered = [&](std::size_t size) { return !door.reply_to(hello_of(door, 2, size)).empty(); };
  EXPECT_TRUE(is_answered(k_shortest_of_any_version));
  EXPECT_TRUE(is_answered(k_largest_datagram));
  for (std::size_t size = k_mac_bytes + 2; size < k_shortest_of_any_version; ++size) EXPECT_FALSE(is_answered(size));
  for (std::size_t size = k_largest_datagram + 1; size < 1500; ++size) EXPECT_FALSE(is_answered(size));
}

}  // namespace
}  // namespace cotouch::this_file

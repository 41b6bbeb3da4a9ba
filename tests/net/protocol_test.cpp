// A whole handshake with known secrets, byte for byte against an independent program (protocol_reference.py).
#include "net/handshake_fixture.h"

#include <sodium.h>

#include <deque>

namespace cotouch::this_file {
namespace {

// While it lives, each thing that is drawn at random consists of the next of these numbers, again and again.
class Drawn {
 public:
  explicit Drawn(std::deque<int> numbers) {
    next() = std::move(numbers);
    if (sodium_init() < 0) ADD_FAILURE() << "no libsodium";
    static randombytes_implementation source{[] { return "drawn"; }, nullptr, nullptr, nullptr, fill, nullptr};
    randombytes_set_implementation(&source);
  }
  ~Drawn() {
    randombytes_set_implementation(&randombytes_sysrandom_implementation);
    EXPECT_TRUE(next().empty());
  }
  Drawn(const Drawn&) = delete;
  Drawn& operator=(const Drawn&) = delete;

 private:
  static std::deque<int>& next() {
    static std::deque<int> numbers;
    return numbers;
  }
  static void fill(void* out, std::size_t size) {
    ASSERT_FALSE(next().empty());
    std::memset(out, next().front(), size);
    next().pop_front();
  }
};

std::string hex_of(std::span<const std::byte> bytes) {
  std::string text(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  text.pop_back();
  return text;
}

std::string digest_of(std::span<const std::byte> bytes) {
  Digest digest;
  crypto_generichash(reinterpret_cast<unsigned char*>(digest.data()), digest.size(),
                     reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr, 0);
  return hex_of(digest);
}

TEST(Protocol, IsWhatAnIndependentProgramMakesOfTheSpecification) {
  const Drawn drawn({2, 3, 4, 5, 6, 8, 9});
  const Identity host = Identity::make(), joiner = Identity::make();
  const NetAddress address = *NetAddress::parse("192.0.2.1:7117");
  Invite invite;
  invite.host = host.public_key();
  std::ranges::fill(invite.secret.bytes(), std::byte{1});
  invite.addresses = {address};
  EXPECT_EQ(fingerprint(invite.host), "2a25 6dd8 cf34 b8a6 5fa2 0810 10f2 25da");
  EXPECT_EQ(hex_of(invite.session()), "892488b78fe5ef6ba006e4e2b28075fe");

  ClientHandshake client(invite, joiner, bytes_of("Ada"), 0);
  const Datagram hello = copy_of(client.due(0));
  EXPECT_EQ(digest_of(hello), "10718ae7772c421b0de645c83fa476b2d5dc56bca71cc3c3d2862cf8d8b9d9e9");

  const MacKey mac_key(invite.secret);
  const ExchangeKey attempt = read_head(hello)->ephemeral;
  Cookie cookie;
  cookie.fill(std::byte{7});
  Datagram challenge(k_challenge_bytes);
  write_challenge(mac_key, attempt, cookie, std::span(challenge).first<k_challenge_bytes>());
  EXPECT_EQ(digest_of(challenge), "44060e1eb6927d99f2cf98ade1ad9774133fce47d060bd20fe4468eefe8092ed");

  ASSERT_TRUE(client.receive(challenge, address, 0));
  const Datagram request = copy_of(client.due(0));
  EXPECT_EQ(digest_of(request), "9600c9ced73975df916784961cda712b69e1f97e50e9e0e888855a6ad3ab172e");

  const ExchangePair ephemeral = ExchangePair::make();
  const SharedSecret static_secret = *host.exchange().shared_with(attempt);
  RequestContent asked;
  const auto hash = open_request({invite.host, invite.session(), invite.secret}, static_secret,
                                 std::span(request).first<k_request_bytes>(), asked);
  ASSERT_TRUE(hash);
  AnswerContent content;
  content.accepted = true;
  content.payload.assign(bytes_of("welcome"));
  Datagram answer(k_answer_bytes);
  write_answer(invite.secret, mac_key, *hash, attempt, ephemeral.public_key(),
               {static_secret, *ephemeral.shared_with(attempt), *ephemeral.shared_with(asked.credential.join_key)},
               content, std::span(answer).first<k_answer_bytes>());
  EXPECT_EQ(digest_of(answer), "a23fae6361b269e1942dfa62806d970263ff72855aad86076663da668b2e54c5");

  ASSERT_TRUE(client.receive(answer, address, 0));
  EXPECT_EQ(hex_of(client.keys().send.bytes()), "efbc8ecc88666c72a001ce6062c0bfafcec7745dc035e567f76903a2b27ec561");
  EXPECT_EQ(hex_of(client.keys().receive.bytes()), "10a9329863bbd4448bc1b395d9639e6a76916d58d65da30f755557167d9b6e42");

  Datagram sealed;
  SealedChannel(client.keys()).seal(bytes_of("touch"), sealed);
  EXPECT_EQ(hex_of(sealed), "10388fe1ad00000000420b9c73f3f80d95d9d03f919a6a00f86d0be35e4b");

  const Identity other = Identity::make();
  const JoinKey other_key(other, invite.session());
  const auto pair = client.join_key().meet(other_key.credential(), invite.secret);
  ASSERT_TRUE(pair);
  EXPECT_EQ(hex_of(pair->send.bytes()), "8e3231ee99e1b5418b65cd79a8c61990f2968f0d66166e108174b7c6dc047c00");
  EXPECT_EQ(hex_of(pair->receive.bytes()), "7fc5be60b56ed31ae36c6a9151c6de82a0a111c8d228ac1923e7c5184fca5918");
}

}  // namespace
}  // namespace cotouch::this_file

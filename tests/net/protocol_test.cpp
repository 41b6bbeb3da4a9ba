// A whole handshake with known secrets, byte for byte against an independent program (protocol_reference.py).
#include "net/handshake_fixture.h"

#include <sodium.h>

#include <deque>

namespace cotouch {
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
  EXPECT_EQ(hex_of(invite.session()), "0e9accd5580a0ee7ee280292cf413523");

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
  EXPECT_EQ(digest_of(request), "3454b0399fa39140556927155cc2e9a94af1d95f0d5140e9ff38b1bb5f522607");

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
  EXPECT_EQ(digest_of(answer), "d640bdd378d347da393c9222007949815809bac8b8aa7653652d667feab0ee68");

  ASSERT_TRUE(client.receive(answer, address, 0));
  EXPECT_EQ(hex_of(client.keys().send.bytes()), "1f4d78f3e0d12fb61dabccbfc7fd1347512ae53fc34d771c9c8ea17a9ac88f78");
  EXPECT_EQ(hex_of(client.keys().receive.bytes()), "70e67079a3982c4ec04f479f8391962c75b60d3dc0dbfdb9af2006a1ab7a8f8a");

  Datagram sealed;
  SealedChannel(client.keys()).seal(bytes_of("touch"), sealed);
  EXPECT_EQ(hex_of(sealed), "10d33feb7000000000ad31c7ddb4d8316afb3970c1edb88004c890ac37ad");

  const Identity other = Identity::make();
  const JoinKey other_key(other, invite.session());
  const auto pair = client.join_key().meet(other_key.credential(), invite.secret);
  ASSERT_TRUE(pair);
  EXPECT_EQ(hex_of(pair->send.bytes()), "ec4eb8ce9b83d0511b7f49c164066fed4b838ca982b0c177cba1eafb2fd801a7");
  EXPECT_EQ(hex_of(pair->receive.bytes()), "0b078c0e715e26e9c47170deea1484ac70dd322f05233c2cf7ca7c812b973de0");
}

}  // namespace
}  // namespace cotouch

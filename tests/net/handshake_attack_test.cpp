// What strangers, those who hold back or forge packets, and those who have the invite but bad intentions can do:
// nothing.
#include "net/handshake_fixture.h"

#include <cotouch/base/random.h>

#include <malloc.h>

namespace cotouch::this_file {
namespace {

using State = ClientHandshake::State;
using Outcome = HostHandshake::Outcome;

TEST(HandshakeAttack, WithoutTheInviteSecretThereIsNoAnswerAtAll) {
  Doorstep door, elsewhere;
  Invite guessed = door.invite;
  flip(guessed.secret.bytes(), 77);
  ClientHandshake stranger(guessed, door.joiner_identity, {}, 0);
  EXPECT_EQ(door.host.receive(stranger.due(0), door.joiner_address, door.now), Outcome::dropped);
  EXPECT_TRUE(door.host.reply().empty());
  // Nor to a whole genuine handshake of another session, of whatever version.
  Datagram hello = elsewhere.hello(), request;
  elsewhere.give(elsewhere.reply_to(hello));
  request = elsewhere.due();
  for (int version = 0; version < 256; ++version) {
    hello[1] = request[1] = static_cast<std::byte>(version);
    EXPECT_TRUE(door.reply_to(hello).empty());
    EXPECT_TRUE(door.reply_to(request).empty());
  }
  EXPECT_EQ(door.host.counts().strangers, 1U + 256U + 1U);  // a Request of another version needs no hash
}

TEST(HandshakeAttack, AFloodOfStrangersGetsNoReplyAndLeavesNothingBehind) {
  Doorstep door;
  Random random(1);
  Datagram junk(k_request_bytes);
  const std::size_t sizes[] = {0, 1, 33, 34, 66, 255, 256, 613, 788};
  const auto in_use = [] { return ::mallinfo2().uordblks; };
  const auto before = in_use();
  std::uint64_t replies = 0;
  for (int i = 0; i < 100000; ++i) {
    for (std::byte& byte : std::span(junk).first(64)) byte = static_cast<std::byte>(random.bits());
    junk[0] = static_cast<std::byte>(1 + random.below(5));
    junk[1] = std::byte{1};
    const NetAddress from = NetAddress::v4({10, 0, 0, 1}, static_cast<std::uint16_t>(i));
    const auto size = sizes[random.below(std::size(sizes))];
    door.now.steady = i * 1e-5;
    if (door.host.receive(std::span(junk).first(size), from, door.now) != Outcome::dropped) ++replies;
  }
  EXPECT_EQ(replies, 0U);
  EXPECT_EQ(in_use(), before);
  const HostHandshake::Counts& counts = door.host.counts();
  EXPECT_EQ(counts.malformed + counts.strangers, 100000U);
  EXPECT_GT(counts.strangers, 1000U);
  door.join();
}

TEST(HandshakeAttack, AFloodOfHellosFromTheInvitedKeepsNothing) {
  Doorstep door;
  const Datagram hello = door.hello();
  const auto before = ::mallinfo2().uordblks;
  for (int i = 0; i < 10000; ++i)
    door.host.receive(hello, NetAddress::v4({10, 0, 0, 1}, static_cast<std::uint16_t>(i)), door.now);
  EXPECT_EQ(::mallinfo2().uordblks, before);
  EXPECT_EQ(door.host.counts().challenges, 10000U);
  ASSERT_TRUE(door.give(door.reply_to(hello)));
  EXPECT_TRUE(door.give(door.reply_to(door.due())));
}

TEST(HandshakeAttack, ACookieIsGoodForOneAddressOnly) {
  Doorstep door;
  const Datagram request = door.request();
  for (const char* other : {"198.51.100.8:40000", "198.51.100.7:40001", "[::1]:40000", "[c633:6407::]:40000"})
    EXPECT_TRUE(door.reply_to(request, *NetAddress::parse(other)).empty()) << other;
  EXPECT_EQ(door.host.counts().cookies, 4U);
  EXPECT_FALSE(door.reply_to(request).empty());
}

TEST(HandshakeAttack, ACookieIsGoodForOneAttemptOnly) {
  Doorstep door;
  const Datagram challenge = door.challenge();
  ClientHandshake other(door.invite, door.joiner_identity, {}, 0);
  Datagram stolen = challenge;
  const Datagram hello = copy_of(other.due(0));
  std::copy_n(hello.begin() + 2, 32, stolen.begin() + 2);
  ASSERT_TRUE(other.receive(door.signed_again(stolen), door.host_address, 0));
  EXPECT_TRUE(door.reply_to(other.due(0)).empty());
  EXPECT_EQ(door.host.counts().cookies, 1U);
}

TEST(HandshakeAttack, ACookieGrowsOld) {
  for (const double age : {0.0, 9.9, 20.1, 1000.0}) {
    Doorstep door;
    const Datagram request = door.request();
    door.now.steady = age;
    EXPECT_EQ(door.reply_to(request).empty(), age > 20) << age;
  }
  // However the draws fall, at least 10 and at most 20 seconds.
  for (const double start : {0.0, 3.0, 9.9, 10.0, 17.0, 25.0})
    for (const double age : {5.0, 9.9, 20.1, 31.0}) {
      Doorstep door;
      const Datagram others = door.hello();
      door.reply_to(others);  // the first draw
      door.begin_at(start);
      const Datagram request = door.request();
      for (double time = start; time < start + age; time += 0.9) {
        door.now.steady = time;
        door.reply_to(others);
      }
      door.now.steady = start + age;
      EXPECT_EQ(door.reply_to(request).empty(), age > 20) << start << " " << age;
    }
}

TEST(HandshakeAttack, AHostThatWasRestartedKnowsNoOldCookies) {
  Doorstep door;
  const Datagram request = door.request();
  HostHandshake restarted(door.host_identity, door.invite);
  EXPECT_EQ(restarted.receive(request, door.joiner_address, door.now), Outcome::dropped);
  EXPECT_EQ(restarted.counts().cookies, 1U);
}

TEST(HandshakeAttack, AClockThatWasSetBackOnlyMakesJoinersBeginAgain) {
  Doorstep door;
  door.begin_at(1000);
  const Datagram request = door.request();
  door.now.steady = 3;
  EXPECT_TRUE(door.reply_to(request).empty());
  door.begin_at(3);
  door.join();
}

TEST(HandshakeAttack, AnExpiredInviteIsRefusedByTheHost) {
  Doorstep door;
  door.now.unix_seconds = k_expires - 1;
  const Datagram request = door.request();
  door.now.unix_seconds = k_expires;
  const Datagram refusal = door.reply_to(request);
  EXPECT_LE(refusal.size(), request.size());
  EXPECT_TRUE(door.give(refusal));
  EXPECT_EQ(door.joiner.state(), State::refused);
  EXPECT_EQ(door.joiner.refusal().reason, RefusalReason::expired);
  EXPECT_EQ(door.asked, 0);
}

TEST(HandshakeAttack, AnotherVersionIsRefusedOnlyIfItKnowsTheInvite) {
  Doorstep door;
  Datagram hello = door.hello();
  hello[1] = std::byte{2};
  EXPECT_TRUE(door.reply_to(hello).empty());
  for (const std::size_t size : {k_hello_bytes, k_largest_datagram}) {
    hello.resize(size, std::byte{9});
    const Datagram refusal = door.reply_to(door.signed_again(hello));
    ASSERT_EQ(refusal.size(), k_refusal_bytes);
  }
  Datagram refusal = copy_of(door.host.reply());
  for (std::size_t bit = 0; bit < 8 * refusal.size(); ++bit) {
    flip(refusal, bit);
    EXPECT_FALSE(door.give(refusal)) << bit;
    flip(refusal, bit);
  }
  refusal[1] = std::byte{3};  // the refusal of a host of version 3
  EXPECT_TRUE(door.give(door.signed_again(refusal)));
  EXPECT_EQ(door.joiner.state(), State::refused);
  EXPECT_EQ(door.joiner.refusal().reason, RefusalReason::version);
  EXPECT_EQ(door.joiner.refusal().newest_version, k_protocol_version);
}

// With the invite anybody can make a right mac, so the rest must hold without it.
TEST(HandshakeAttack, AnAlteredHelloWithARightMacDoesNotHelpTheJoiner) {
  Doorstep door;
  const Datagram hello = door.hello();
  for (std::size_t bit = 16; bit < 8 * (k_hello_bytes - k_mac_bytes); ++bit) {
    Datagram altered = hello;
    flip(altered, bit);
    const Datagram reply = door.reply_to(door.signed_again(altered));
    EXPECT_EQ(reply.empty(), bit >= 8 * k_attempt_head_bytes) << bit;  // another attempt's number, or no Hello
    EXPECT_FALSE(door.give(reply)) << bit;
  }
  EXPECT_EQ(door.joiner.state(), State::looking);
}

TEST(HandshakeAttack, AnAlteredRequestWithARightMacIsDropped) {
  Doorstep door;
  const Datagram request = door.request();
  for (std::size_t bit = 0; bit < 8 * (k_request_bytes - k_mac_bytes); ++bit) {
    Datagram altered = request;
    flip(altered, bit);
    door.now.steady = static_cast<double>(bit) * 1e-6;  // the tokens run out, and nothing changes with that
    EXPECT_TRUE(door.reply_to(door.signed_again(altered)).empty()) << bit;
  }
  EXPECT_EQ(door.asked, 0);
  EXPECT_GT(door.host.counts().forged, 30U);
  EXPECT_GT(door.host.counts().cookies, 300U);
  EXPECT_GT(door.host.counts().busy, 5000U);
}

// As above, but none of them is saved by the tokens: a new host for each.
TEST(HandshakeAttack, EveryByteOfTheBoxIsAuthenticated) {
  Doorstep door;
  const Datagram request = door.request();
  for (std::size_t byte = 0; byte < k_request_bytes - k_mac_bytes; byte += 3) {
    Datagram altered = request;
    altered[byte] ^= std::byte{0x40};
    door.now.steady = 1e-3 * static_cast<double>(byte);
    HostHandshake host = door.host;
    EXPECT_EQ(host.receive(door.signed_again(altered), door.joiner_address, door.now), Outcome::dropped) << byte;
    EXPECT_EQ(host.counts().busy, 0U);
  }
}

TEST(HandshakeAttack, AnAlteredAnswerWithARightMacIsIgnored) {
  Doorstep door;
  const Datagram answer = door.answer();
  // All bits of the head, one in three bytes of the box.
  for (std::size_t bit = 0; bit < 8 * (k_answer_bytes - k_mac_bytes); bit += bit < 8 * k_answer_head_bytes ? 1 : 25) {
    Datagram altered = answer;
    flip(altered, bit);
    EXPECT_FALSE(door.give(door.signed_again(altered))) << bit;
  }
  EXPECT_TRUE(door.give(answer));
}

TEST(HandshakeAttack, AWrongCookieFromTheInvitedCostsAnAttemptAndNoMore) {
  Doorstep door;
  Datagram challenge = door.challenge();
  flip(challenge, 8 * k_attempt_head_bytes);
  ASSERT_TRUE(door.give(door.signed_again(challenge)));
  EXPECT_TRUE(door.reply_to(door.due()).empty());
  door.now.steady = ClientHandshake::k_attempt_seconds;
  ASSERT_TRUE(door.give(door.reply_to(door.due())));
  EXPECT_TRUE(door.give(door.reply_to(door.due())));
}

// Keys of which X25519 makes the same secret with everybody.
TEST(HandshakeAttack, ZeroKeysAreRefused) {
  Doorstep door;
  Datagram hello = door.hello();
  std::fill_n(hello.begin() + 2, 32, std::byte{0});
  const Datagram challenge = door.reply_to(door.signed_again(hello));
  Datagram request(k_request_bytes);
  std::copy_n(challenge.begin(), k_request_head_bytes, request.begin());
  request[0] = std::byte{3};
  EXPECT_TRUE(door.reply_to(door.signed_again(request)).empty());
  EXPECT_EQ(door.host.counts().forged, 1U);

  door.begin_at(1);
  Datagram answer = door.answer();
  std::fill_n(answer.begin() + k_attempt_head_bytes, 32, std::byte{0});
  EXPECT_FALSE(door.give(door.signed_again(answer)));
}

// Everybody in a session has seen everybody's credential.
class Insider : public ::testing::Test {
 protected:
  // A request with a right cookie, for which the insider has chosen content and signer.
  Datagram request(const Credential& credential, const Identity& signer) {
    Datagram hello(k_hello_bytes), out(k_request_bytes);
    write_hello(door.mac_key, ephemeral.public_key(), std::span(hello).first<k_hello_bytes>());
    const Datagram challenge = door.reply_to(hello);
    RequestContent content;
    content.credential = credential;
    const SharedSecret static_secret = *ephemeral.shared_with(*exchange_key_of(door.invite.host));
    write_request({door.invite.host, door.invite.session(), door.invite.secret}, door.mac_key, ephemeral.public_key(),
                  challenge_cookie(std::span(challenge).first<k_challenge_bytes>()), static_secret, signer, content,
                  std::span(out).first<k_request_bytes>());
    return out;
  }

  Doorstep door;
  ExchangePair ephemeral = ExchangePair::make();
  Identity insider = Identity::make();
};

TEST_F(Insider, CanJoinAsItself) {
  const JoinKey own(insider, door.invite.session());
  EXPECT_FALSE(door.reply_to(request(own.credential(), insider)).empty());
}

TEST_F(Insider, CannotJoinWithAnothersCredential) {
  const Credential victim = door.joiner.join_key().credential();
  EXPECT_TRUE(door.reply_to(request(victim, insider)).empty());
  EXPECT_EQ(door.host.counts().forged, 1U);
}

TEST_F(Insider, CannotPutItsJoinKeyUnderAnothersIdentity) {
  Credential mixed = JoinKey(insider, door.invite.session()).credential();
  mixed.identity = door.joiner_identity.public_key();
  EXPECT_TRUE(door.reply_to(request(mixed, insider)).empty());
  EXPECT_EQ(door.host.counts().forged, 1U);
}

TEST_F(Insider, CannotUseACredentialOfAnotherSession) {
  const Doorstep other;
  const JoinKey elsewhere(insider, other.invite.session());
  EXPECT_TRUE(door.reply_to(request(elsewhere.credential(), insider)).empty());
  EXPECT_EQ(door.host.counts().forged, 1U);
}

// It knows the invite, all packets and its own keys; only the host's secret key is missing.
TEST_F(Insider, CannotAnswerInTheHostsPlace) {
  const Datagram genuine = door.request();
  const std::span<const std::byte> head = std::span(genuine).first(k_request_head_bytes);
  const std::span<const std::byte> box =
      std::span(genuine).subspan(k_request_head_bytes, k_request_text_bytes + k_tag_bytes);
  const Digest head_hash = hash_of("cotouch handshake 1", {door.invite.host.bytes, door.invite.session(), head});
  const Digest request_hash = hash_of("cotouch box", {head_hash, box});
  const ExchangeKey attempt = read_head(genuine)->ephemeral;
  const ExchangePair own = ExchangePair::make();
  const SharedSecret with_attempt = *own.shared_with(attempt);
  const SharedSecret with_joiner = *own.shared_with(door.joiner.join_key().credential().join_key);
  const SharedSecret with_host = *own.shared_with(*exchange_key_of(door.invite.host));
  const auto answer_with = [&](const SharedSecret& static_secret) {
    AnswerContent content;
    content.accepted = true;
    Datagram answer(k_answer_bytes);
    write_answer(door.invite.secret, door.mac_key, request_hash, attempt, own.public_key(),
                 {static_secret, with_attempt, with_joiner}, content, std::span(answer).first<k_answer_bytes>());
    return answer;
  };
  for (const SharedSecret& guess : {SharedSecret(), with_attempt, with_joiner, with_host})
    EXPECT_FALSE(door.give(answer_with(guess)));
  EXPECT_TRUE(door.give(answer_with(*door.host_identity.exchange().shared_with(attempt))));
}

// It also has the host's long-lived key, but not the ephemeral ones, which are forgotten.
TEST_F(Insider, CannotReadRecordedMessagesWithTheHostsKeyLater) {
  const Datagram request = door.request(), answer = door.reply_to(request);
  const ExchangeKey attempt = read_head(request)->ephemeral;
  const SharedSecret static_secret = *door.host_identity.exchange().shared_with(attempt);
  RequestContent content;
  const auto request_hash = open_request({door.invite.host, door.invite.session(), door.invite.secret}, static_secret,
                                         std::span(request).first<k_request_bytes>(), content);
  ASSERT_TRUE(request_hash);  // as docs/protocol.md admits: they learn who joined
  AnswerContent read;
  const auto message = std::span(answer).first<k_answer_bytes>();
  const SharedSecret with_answer = *door.host_identity.exchange().shared_with(answer_ephemeral(message));
  for (const SharedSecret& guess : {SharedSecret(), static_secret, with_answer})
    EXPECT_FALSE(open_answer(door.invite.secret, *request_hash, {static_secret, guess, guess}, message, read));
}

TEST_F(Insider, CannotMakeTheHostComputeAllDay) {
  const JoinKey own(insider, door.invite.session());
  const auto computed = [&] { return door.host.counts().forged + door.host.counts().answers; };
  for (int i = 0; i < 1000; ++i) {  // within one second
    door.now.steady = i * 1e-3;
    ephemeral = ExchangePair::make();
    Datagram junk = request(own.credential(), insider);
    junk[k_request_head_bytes] ^= std::byte{1};
    door.reply_to(door.signed_again(junk));
  }
  EXPECT_LE(computed(), HostHandshake::k_request_burst + HostHandshake::k_requests_per_second);
  EXPECT_GE(computed(), HostHandshake::k_request_burst);  // up to there it does: the attack is one
  door.begin_at(2);
  door.join();  // others still get in
}

TEST_F(Insider, CannotFillMoreThanTheKeptAnswers) {
  const JoinKey own(insider, door.invite.session());
  for (int i = 0; i < 100; ++i) {
    door.now.steady = i * 0.07;  // slow enough for the tokens, all within one cookie's life
    ephemeral = ExchangePair::make();
    EXPECT_EQ(door.reply_to(request(own.credential(), insider)).empty(), i >= 64) << i;
  }
  door.begin_at(28);
  door.join();
}

}  // namespace
}  // namespace cotouch::this_file

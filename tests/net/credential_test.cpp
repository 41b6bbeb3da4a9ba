#include "net/handshake_fixture.h"

namespace cotouch::this_file {
namespace {

struct Pair {
  SessionId session{std::byte{5}};
  InviteSecret secret;
  Identity ada = Identity::make(), bob = Identity::make();
  JoinKey a{ada, session}, b{bob, session};
};

bool connected(const ChannelKeys& a, const ChannelKeys& b) {
  return same(a.send, b.receive) && same(a.receive, b.send) && !same(a.send, a.receive);
}

TEST(Credential, TwoMembersAgreeOnKeysWithoutTalking) {
  Pair pair;
  const auto a = pair.a.meet(pair.b.credential(), pair.secret), b = pair.b.meet(pair.a.credential(), pair.secret);
  ASSERT_TRUE(a && b);
  EXPECT_TRUE(connected(*a, *b));
}

TEST(Credential, AllPairsOfSixteenHaveKeysOfTheirOwn) {
  const SessionId session{};
  const InviteSecret secret;
  std::vector<JoinKey> members;
  for (int i = 0; i < 16; ++i) members.emplace_back(Identity::make(), session);
  std::vector<SharedSecret> all;
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t j = i + 1; j < 16; ++j) {
      const auto a = members[i].meet(members[j].credential(), secret);
      const auto b = members[j].meet(members[i].credential(), secret);
      ASSERT_TRUE(a && b && connected(*a, *b));
      all.push_back(a->send);
      all.push_back(a->receive);
    }
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j) ASSERT_FALSE(same(all[i], all[j]));
}

TEST(Credential, OnePersonWithTwoProgramsCanMeetItself) {
  Pair pair;
  JoinKey other(pair.ada, pair.session);
  const auto a = pair.a.meet(other.credential(), pair.secret), b = other.meet(pair.a.credential(), pair.secret);
  ASSERT_TRUE(a && b);
  EXPECT_TRUE(connected(*a, *b));
}

TEST(Credential, KeysDependOnTheInviteAndTheSession) {
  Pair pair;
  InviteSecret other_secret;
  other_secret.bytes()[0] = std::byte{1};
  const auto a = pair.a.meet(pair.b.credential(), pair.secret), b = pair.b.meet(pair.a.credential(), other_secret);
  ASSERT_TRUE(a && b);
  EXPECT_FALSE(same(a->send, b->receive));
}

TEST(Credential, AnAlteredOneIsRefused) {
  Pair pair;
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  pair.b.credential().write(out);
  ASSERT_EQ(bytes.size(), Credential::k_bytes);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    flip(bytes, bit);
    ByteReader in(bytes);
    EXPECT_FALSE(pair.a.meet(Credential::read(in), pair.secret)) << bit;
    flip(bytes, bit);
  }
  ByteReader in(bytes);
  const Credential credential = Credential::read(in);
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(credential, pair.b.credential());
  EXPECT_TRUE(pair.a.meet(credential, pair.secret));
}

TEST(Credential, OneOfAnotherSessionIsRefused) {
  Pair pair;
  const JoinKey elsewhere(pair.bob, SessionId{std::byte{6}});
  EXPECT_TRUE(elsewhere.credential().valid_in(SessionId{std::byte{6}}));
  EXPECT_FALSE(pair.a.meet(elsewhere.credential(), pair.secret));
}

TEST(Credential, NobodyIsMetTwiceOrMeetsItself) {
  Pair pair;
  EXPECT_TRUE(pair.a.meet(pair.b.credential(), pair.secret));
  EXPECT_FALSE(pair.a.meet(pair.b.credential(), pair.secret));
  EXPECT_FALSE(pair.a.meet(pair.a.credential(), pair.secret));
  // With a new join key it is another join.
  const JoinKey again(pair.bob, pair.session);
  EXPECT_TRUE(pair.a.meet(again.credential(), pair.secret));
}

TEST(Credential, AJoinKeyOfZerosIsRefusedHoweverWellSigned) {
  Pair pair;
  Credential zero = pair.b.credential();
  zero.join_key = {};
  zero.signature = pair.bob.sign(hash_of("cotouch credential", {pair.session, zero.join_key.bytes}));
  ASSERT_TRUE(zero.valid_in(pair.session));
  EXPECT_FALSE(pair.a.meet(zero, pair.secret));
}

// The host has the invite, both credentials and its own keys.
TEST(Credential, TheHostCannotMakeTheKeysOfTwoOthers) {
  Pair pair;
  const auto genuine = pair.a.meet(pair.b.credential(), pair.secret);
  JoinKey host(Identity::make(), pair.session);
  const auto with_a = host.meet(pair.a.credential(), pair.secret), with_b = host.meet(pair.b.credential(), pair.secret);
  ASSERT_TRUE(genuine && with_a && with_b);
  for (const ChannelKeys& keys : {*with_a, *with_b})
    for (const SharedSecret& key : {keys.send, keys.receive}) {
      EXPECT_FALSE(same(key, genuine->send));
      EXPECT_FALSE(same(key, genuine->receive));
    }
}

}  // namespace
}  // namespace cotouch::this_file

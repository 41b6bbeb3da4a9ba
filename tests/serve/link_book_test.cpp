#include <cotouch/base/error.h>
#include <cotouch/serve/door.h>
#include <cotouch/serve/link_book.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

const std::string k_secret = "0123456789abcdef0123456789abcdef";
const std::string k_number = "aaaaaaaaaaaaaaaa", k_host = "127.0.0.1:7117";
constexpr UnixSeconds k_now = 1'800'000'000;

// As a page comes in; empty if it is not let in.
std::string key_by(const LinkBook& book, const std::string& token, UnixSeconds now = k_now) {
  const LinkBook::Answer answer = book.meet(link_id(token), k_number, k_host, now);
  if (!answer.refusal.empty()) return {};
  const DoorMeeting meeting{k_number, answer.number, k_host};
  EXPECT_EQ(answer.proof, server_proof(token, meeting));
  return make_key(token, meeting);
}

TEST(Door, ProofsAreThoseOfAnIndependentProgram) {
  // Python's hashlib and hmac gave these.
  const std::string server(32, 'b');
  EXPECT_EQ(link_id(k_secret), "e8b7b05fd2b0815b");
  EXPECT_EQ(server_proof(k_secret, {k_number, server, k_host}),
            "e4c9463ac56fdc6ff8ac4ab25f5fb6e87b08ccbb7cbe5be9e713a413b6d34b91");
  EXPECT_EQ(make_key(k_secret, {k_number, server, k_host}),
            "e8b7b05fd2b0815b.aaaaaaaaaaaaaaaa.5de7e9ae28ff95f1db9126d885191a2fef994b7d953d62d26d26f1ceaee850ed");
}

TEST(LinkBook, LetsInWhoKnowsAToken) {
  LinkBook book(k_secret);
  std::string refusal;
  const std::string key = key_by(book, k_secret);
  const auto owner = book.visitor(key, k_host, k_now, refusal);
  ASSERT_TRUE(owner) << refusal;
  EXPECT_EQ(owner->rights, Rights::own);
  EXPECT_TRUE(book.visitor(book.own_key(k_host), k_host, k_now, refusal));
  const PageLink link = book.add(Rights::hand, "Ben", 0, k_now);
  const auto ben = book.visitor(key_by(book, link.token), k_host, k_now, refusal);
  ASSERT_TRUE(ben) << refusal;
  EXPECT_EQ(ben->rights, Rights::hand);
  EXPECT_EQ(ben->link, link.id);
  EXPECT_NE(link.token, k_secret);
}

TEST(LinkBook, RefusesEveryOtherKey) {
  const LinkBook book(k_secret);
  const std::string key = key_by(book, k_secret);
  std::string refusal;
  std::string last_changed = key, number_changed = key, id_changed = key;
  last_changed.back() = key.back() == '0' ? '1' : '0';
  number_changed[17] = 'c';
  id_changed[0] = key[0] == '0' ? '1' : '0';
  for (const std::string& wrong : {std::string(), std::string("x"), std::string(".."), k_secret, last_changed,
                                   number_changed, id_changed, key + "0", key.substr(0, key.size() - 1)}) {
    EXPECT_FALSE(book.visitor(wrong, k_host, k_now, refusal)) << wrong;
    EXPECT_FALSE(refusal.empty());
  }
  // Passed on to another port or name it is worth nothing.
  EXPECT_FALSE(book.visitor(key, "127.0.0.1:7118", k_now, refusal));
  // Nor for the next server, though that has the same token.
  EXPECT_FALSE(LinkBook(k_secret).visitor(key, k_host, k_now, refusal));
  EXPECT_FALSE(book.meet(link_id(k_secret), "short", k_host, k_now).refusal.empty());
  EXPECT_FALSE(book.meet("0000000000000000", k_number, k_host, k_now).refusal.empty());
}

TEST(LinkBook, ALinkEndsWhenItExpiresOrIsRevoked) {
  LinkBook book(k_secret);
  std::string refusal;
  const PageLink brief = book.add(Rights::watch, "brief", k_now + 60, k_now);
  const std::string key = key_by(book, brief.token);
  EXPECT_TRUE(book.visitor(key, k_host, k_now + 59, refusal));
  EXPECT_FALSE(book.visitor(key, k_host, k_now + 60, refusal));
  EXPECT_NE(refusal.find("expired"), std::string::npos);
  EXPECT_EQ(key_by(book, brief.token, k_now + 60), "");
  const PageLink other = book.add(Rights::hand, "other", 0, k_now);
  const std::string other_key = key_by(book, other.token);
  EXPECT_EQ(book.end_of(other.id, k_now), "");
  EXPECT_TRUE(book.revoke(other.id));
  EXPECT_FALSE(book.visitor(other_key, k_host, k_now, refusal));
  EXPECT_NE(refusal.find("revoked"), std::string::npos);
  EXPECT_FALSE(book.revoke("no such link"));
  EXPECT_TRUE(book.visitor(key_by(book, k_secret), k_host, k_now + 1'000'000'000, refusal));  // the owner's stays
}

TEST(LinkBook, HoldsSoManyLinksAndForgetsThoseThatEnded) {
  LinkBook book(k_secret);
  for (std::size_t i = 1; i < LinkBook::k_most; ++i) book.add(Rights::watch, "", 0, k_now);
  EXPECT_THROW(book.add(Rights::watch, "", 0, k_now), Error);
  EXPECT_THROW(book.add(Rights::watch, std::string(61, 'x'), 0, k_now), Error);
  for (const PageLink& link : book.list())
    if (link.rights == Rights::watch) book.revoke(link.id);
  EXPECT_THROW(book.add(Rights::watch, "", k_now, k_now), Error);  // over before it begins
  for (int i = 0; i < 1000; ++i) book.revoke(book.add(Rights::watch, "", 0, k_now).id);
  EXPECT_EQ(book.list().size(), 2 * LinkBook::k_most);
  EXPECT_EQ(book.list().front().rights, Rights::own);
}

}  // namespace
}  // namespace cotouch::this_file

// Somebody who only watches keeps the world for the others.
#include "session/program.h"

namespace cotouch {
namespace {

using namespace testing_session;

class ObserverSlow : public testing::Test {
 protected:
  void SetUp() override {
    {
      const UdpSocket free({.loopback = true});
      olga.settings.udp.port = free.port();
    }
    olga.settings.observer = true;
    olga.settings.journal = olga.folder() / "seen.journal";
    anna.host(three_balls());
    invite = parse_invite(anna.invite(), 0);
    olga.join(anna.invite());
    ASSERT_TRUE(eventually([&] { return anna.people().size() == 2 && olga.people().size() == 2; }));
    const Tick soon = anna.session().agreed().tick + 300;
    ASSERT_TRUE(eventually([&] { return olga.session().agreed().tick > soon; })) << olga.status().reason;
    EXPECT_TRUE(olga.people()[1].observer);
  }
  // The session's invite, with where Olga is instead of where Anna was.
  std::string invite_to_olga() const {
    Invite other = invite;
    other.host = Identity::load_or_make(olga.settings.identity).public_key();
    other.addresses = {NetAddress::v4({127, 0, 0, 1}, olga.settings.udp.port)};
    return format_invite(other);
  }
  void expect_that_ben_goes_on_from(Tick tick) {
    Program ben("Ben");
    ben.join(invite_to_olga());
    ASSERT_TRUE(eventually([&] { return ben.people().size() == 2; })) << ben.status().reason;
    const Tick soon = olga.session().agreed().tick + 200;
    ASSERT_TRUE(eventually([&] { return ben.session().agreed().tick > soon && olga.session().agreed().tick > soon; }));
    EXPECT_GT(ben.hashes().begin()->first, tick);
    std::size_t compared = 0;
    const std::map<Tick, std::uint64_t> kept = olga.hashes();
    for (const auto& [at, hash] : ben.hashes()) {
      const auto found = kept.find(at);
      if (found == kept.end()) continue;
      EXPECT_EQ(hash, found->second) << "tick " << at;
      ++compared;
    }
    EXPECT_GT(compared, 50U);
  }

  Program anna{"Anna"}, olga{"Olga"};
  Invite invite;
};

TEST_F(ObserverSlow, LetsPeopleInWhenNobodyElseIsLeft) {
  anna.stop();
  ASSERT_TRUE(eventually([&] { return olga.people().size() == 1; }));
  expect_that_ben_goes_on_from(anna.hashes().rbegin()->first);
}

TEST_F(ObserverSlow, GoesOnFromItsJournalIfNobodyIsThere) {
  anna.stop();
  olga.stop();
  const std::map<Tick, std::uint64_t> before = olga.hashes();
  olga.forget();
  olga.join(format_invite(invite));
  // A joiner looks for the host for twenty seconds.
  ASSERT_TRUE(eventually([&] { return olga.status().state == SharingStatus::State::hosting; })) << olga.status().reason;
  const Tick last = before.rbegin()->first;
  ASSERT_TRUE(eventually([&] { return olga.session().agreed().tick > last; }));
  // Every tick that was agreed on is there: it goes on with the next one.
  EXPECT_EQ(olga.hashes().upper_bound(last)->first, last + 1);
  expect_that_ben_goes_on_from(last);
}

}  // namespace
}  // namespace cotouch

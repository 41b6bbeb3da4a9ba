// What one peer may cost another one, and what is counted.
#include <gtest/gtest.h>

#include "session/peer_on_network.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

class PeerNetworkLimits : public testing::Test, protected Neighbours {};

TEST_F(PeerNetworkLimits, EveryByteOfADatagramIsCounted) {
  ASSERT_TRUE(sit_down());
  all_run(20);
  const NetworkCounts ours = host.network.counts(), theirs = anna.network.counts();
  host.network.send(PeerNetwork::now(), 1, Bytes(100));
  all_run(20);
  // 25 for the seal, 8 for UDP, 20 for IPv4.
  EXPECT_EQ(host.network.counts().bytes_out, ours.bytes_out + 153);
  EXPECT_EQ(anna.network.counts().bytes_in, theirs.bytes_in + 153);
  EXPECT_EQ(host.network.counts().datagrams_out, ours.datagrams_out + 1);
  EXPECT_EQ(anna.network.counts().datagrams_in, theirs.datagrams_in + 1);
}

TEST_F(PeerNetworkLimits, NobodyHasEverythingPassedOn) {
  ASSERT_TRUE(sit_down());
  Bytes wrapped{static_cast<std::byte>(PlainMessage::relay_to)};
  write_relay(wrapped, {2, Bytes(30, std::byte{0x10})});
  const double began = PeerNetwork::now();
  for (int i = 0; i < 8000; ++i) {
    anna.network.send(PeerNetwork::now(), 0, wrapped);
    if (i % 100 == 0) host.run();
  }
  host.run(50);
  // A thousand at once and 4000 a second.
  EXPECT_GE(host.network.counts().relayed, 900U);
  EXPECT_LE(static_cast<double>(host.network.counts().relayed), 1001 + 4000 * (PeerNetwork::now() - began));
}

TEST_F(PeerNetworkLimits, AMemberIsAnsweredWhereItWasHeardLast) {
  ASSERT_TRUE(enter(anna));
  Tap elsewhere;
  ASSERT_TRUE(host.network.connect(1, anna.introduction({}), anna.address()));
  ASSERT_TRUE(anna.network.connect(0, host.introduction({}), elsewhere.address()));
  anna.network.send(PeerNetwork::now(), 0, text("I have moved"));
  elsewhere.listen();
  ASSERT_EQ(elsewhere.kept.size(), 1U);
  elsewhere.send(host.address(), elsewhere.kept[0]);
  host.run(20);
  ASSERT_EQ(host.heard.size(), 1U);
  elsewhere.kept.clear();
  host.network.send(PeerNetwork::now(), 1, text("so I see"));
  elsewhere.listen();
  EXPECT_EQ(elsewhere.kept.size(), 1U);
}

TEST_F(PeerNetworkLimits, ADatagramThatWasHeldBackDoesNotSayWhereAMemberIs) {
  ASSERT_TRUE(enter(anna));
  Tap there, elsewhere;
  ASSERT_TRUE(host.network.connect(1, anna.introduction({}), anna.address()));
  ASSERT_TRUE(anna.network.connect(0, host.introduction({}), there.address()));
  for (const char* words : {"first", "second"}) anna.network.send(PeerNetwork::now(), 0, text(words));
  there.listen();
  ASSERT_EQ(there.kept.size(), 2U);
  there.send(host.address(), there.kept[1]);
  host.run(20);
  elsewhere.send(host.address(), there.kept[0]);
  host.run(20);
  ASSERT_EQ(host.heard.size(), 2U);  // what it says counts all the same
  there.kept.clear();
  host.network.send(PeerNetwork::now(), 1, text("where are you?"));
  there.listen();
  elsewhere.listen();
  EXPECT_EQ(there.kept.size(), 1U);
  EXPECT_TRUE(elsewhere.kept.empty());
}

TEST_F(PeerNetworkLimits, SixteenGuestsAreTheMost) {
  std::vector<std::unique_ptr<PeerOnNetwork>> guests;
  for (int i = 0; i < 16; ++i) {
    guests.push_back(std::make_unique<PeerOnNetwork>());
    ASSERT_TRUE(enter(*guests.back())) << i;
  }
  anna.knock(invite);
  for (int i = 0; i < 300; ++i) anna.run(), host.run();
  EXPECT_FALSE(anna.entered);
  EXPECT_EQ(host.network.guests(), 16U);
  host.network.dismiss(host.let_in[3]);
  for (int i = 0; i < 5000 && !anna.entered; ++i) anna.run(), host.run();
  EXPECT_TRUE(anna.is_accepted());
}

TEST_F(PeerNetworkLimits, AGuestWhoNeverSpeaksIsForgotten) {
  const double began = PeerNetwork::now();
  ASSERT_TRUE(enter(anna));
  host.run();
  EXPECT_EQ(host.network.guests(), 1U);
  // Ten seconds after it came.
  host.ahead = 9.9 - (PeerNetwork::now() - began);
  host.run();
  const bool is_forgotten = host.network.guests() == 0;
  EXPECT_TRUE(!is_forgotten || PeerNetwork::now() + host.ahead > began + 10);  // unless the machine stood in between
  host.ahead = 10.1;
  host.run();
  EXPECT_EQ(host.network.guests(), 0U);
}

// It may have moved, and of what it sends from there all that was not held back may be lost.
TEST_F(PeerNetworkLimits, ADatagramThatWasOvertakenSaysWhereAMemberIsAfterTwoSecondsOfSilence) {
  ASSERT_TRUE(enter(anna));
  Tap there, elsewhere;
  ASSERT_TRUE(host.network.connect(1, anna.introduction({}), anna.address()));
  ASSERT_TRUE(anna.network.connect(0, host.introduction({}), there.address()));
  for (const char* words : {"first", "second"}) anna.network.send(PeerNetwork::now(), 0, text(words));
  there.listen();
  ASSERT_EQ(there.kept.size(), 2U);
  there.send(host.address(), there.kept[1]);
  host.run(20);
  host.ahead = 2.1;
  elsewhere.send(host.address(), there.kept[0]);
  host.run(20);
  ASSERT_EQ(host.heard.size(), 2U);
  host.network.send(PeerNetwork::now(), 1, text("so there you are"));
  elsewhere.listen();
  EXPECT_EQ(elsewhere.kept.size(), 1U);
}

TEST_F(PeerNetworkLimits, NobodyComesInAfterTheInviteHasExpired) {
  host.network.host(invite.secret, 1);  // a second after 1970 began
  EXPECT_FALSE(enter(anna));
  EXPECT_EQ(anna.entered, ClientHandshake::State::refused);
  EXPECT_TRUE(host.let_in.empty());
}

TEST_F(PeerNetworkLimits, AnEmulatedNetworkDelaysWhatComesAndWhatGoes) {
  ASSERT_TRUE(sit_down());
  NetworkProfile slow = *find_network("perfect");
  slow.name = "slow";
  slow.there.delay = 0.2;
  slow.back.delay = 0.1;
  host.network.emulate(slow);
  const auto seconds_until_heard = [&](PeerOnNetwork& from, MemberId to, PeerOnNetwork& hears) {
    hears.heard.clear();
    const double began = PeerNetwork::now();
    from.network.send(began, to, text("hello"));
    while (hears.heard.empty() && PeerNetwork::now() < began + 30) host.run(), anna.run();
    return PeerNetwork::now() - began;
  };
  const double there = seconds_until_heard(host, 1, anna), back = seconds_until_heard(anna, 0, host);
  EXPECT_GE(there, 0.2);
  EXPECT_LT(there, 5);
  EXPECT_GE(back, 0.1);
  EXPECT_LT(back, 5);
  host.network.emulate(*find_network("perfect"));
  EXPECT_LT(seconds_until_heard(host, 1, anna), 5);
}

}  // namespace
}  // namespace cotouch::this_file

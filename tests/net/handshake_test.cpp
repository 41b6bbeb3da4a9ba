#include "net/handshake_fixture.h"

#include <cotouch/base/error.h>
#include <cotouch/base/random.h>

#include <algorithm>

namespace cotouch::this_file {
namespace {

using State = ClientHandshake::State;
using Outcome = HostHandshake::Outcome;

TEST(Handshake, BothSidesEndWithTheSameChannel) {
  Doorstep door;
  door.join();
  EXPECT_TRUE(same(door.joiner.keys().send, door.host_keys.receive));
  EXPECT_TRUE(same(door.joiner.keys().receive, door.host_keys.send));
  EXPECT_FALSE(same(door.joiner.keys().receive, door.joiner.keys().send));
  EXPECT_EQ(text_of(door.joiner.answer()), "welcome");
  EXPECT_EQ(text_of(door.host.request().content.payload.bytes()), "Ada");
  EXPECT_EQ(door.host.request().content.credential, door.joiner.join_key().credential());
  EXPECT_EQ(door.host.request().content.credential.identity, door.joiner_identity.public_key());
  EXPECT_EQ(door.host.request().from, door.joiner_address);
  EXPECT_EQ(door.joiner.host_address(), door.host_address);
  EXPECT_TRUE(door.due().empty());
}

TEST(Handshake, TwoJoinsHaveDifferentKeys) {
  Doorstep door;
  door.join();
  const ChannelKeys first = door.host_keys;
  ClientHandshake again(door.invite, door.joiner_identity, {}, 0);
  again.receive(door.reply_to(again.due(0)), door.host_address, 0);
  again.receive(door.reply_to(again.due(0)), door.host_address, 0);
  ASSERT_EQ(again.state(), State::accepted);
  EXPECT_FALSE(same(first.send, door.host_keys.send));
  EXPECT_FALSE(same(first.receive, door.host_keys.receive));
}

TEST(Handshake, ARejectedJoinerLearnsWhyAndGetsNoKeys) {
  Doorstep door;
  ASSERT_EQ(door.host.receive(door.request(), door.joiner_address, door.now), Outcome::asked);
  door.host.refuse(bytes_of("full"));
  EXPECT_TRUE(door.give(door.host.reply()));
  EXPECT_EQ(door.joiner.state(), State::rejected);
  EXPECT_EQ(text_of(door.joiner.answer()), "full");
  EXPECT_TRUE(same(door.joiner.keys().send, SharedSecret()));
}

TEST(Handshake, PayloadsOfAllLengthsArrive) {
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, k_largest_payload}) {
    Doorstep door;
    const Datagram payload(length, std::byte{7});
    ClientHandshake joiner(door.invite, door.joiner_identity, payload, 0);
    joiner.receive(door.reply_to(joiner.due(0)), door.host_address, 0);
    ASSERT_EQ(door.host.receive(joiner.due(0), door.joiner_address, door.now), Outcome::asked);
    EXPECT_EQ(copy_of(door.host.request().content.payload.bytes()), payload);
    door.host.accept(payload);
    ASSERT_TRUE(joiner.receive(door.host.reply(), door.host_address, 0));
    EXPECT_EQ(copy_of(joiner.answer()), payload);
  }
  Doorstep door;
  const Datagram too_long(k_largest_payload + 1);
  EXPECT_THROW(ClientHandshake(door.invite, door.joiner_identity, too_long, 0), Error);
}

TEST(Handshake, AHostAnswersOnlyToItsOwnInviteAndOnlyOnce) {
  Doorstep door;
  EXPECT_THROW(HostHandshake(door.joiner_identity, door.invite), Error);
  EXPECT_THROW(door.host.accept({}), Error);  // nobody has asked
  ASSERT_EQ(door.host.receive(door.request(), door.joiner_address, door.now), Outcome::asked);
  EXPECT_THROW(door.host.accept(Datagram(k_largest_payload + 1)), Error);
  door.host.accept({});
  EXPECT_THROW(door.host.accept({}), Error);
}

TEST(Handshake, ARequestThatNobodyAnswersIsAskedAgain) {
  Doorstep door;
  const Datagram request = door.request();
  EXPECT_EQ(door.host.receive(request, door.joiner_address, door.now), Outcome::asked);
  EXPECT_EQ(door.host.receive(request, door.joiner_address, door.now), Outcome::asked);
  door.host.accept(bytes_of("welcome"));
  EXPECT_TRUE(door.give(door.host.reply()));
}

TEST(Handshake, RepliesAreNeverLargerThanRequests) {
  Doorstep door;
  const Datagram hello = door.hello(), challenge = door.reply_to(hello);
  EXPECT_GE(hello.size(), 256U);
  EXPECT_LE(challenge.size(), hello.size());
  door.give(challenge);
  const Datagram request = door.due(), answer = door.reply_to(request);
  EXPECT_FALSE(answer.empty());
  EXPECT_LE(answer.size(), request.size());
  EXPECT_LE(request.size(), k_largest_datagram);
  EXPECT_LE(k_refusal_bytes, hello.size());
}

// The sizes in docs/protocol.md.
TEST(Handshake, MessagesAreAsLongAsSpecified) {
  Doorstep door;
  const Datagram hello = door.hello(), challenge = door.reply_to(hello);
  door.give(challenge);
  const Datagram request = door.due(), answer = door.reply_to(request);
  EXPECT_EQ(hello.size(), 256U);
  EXPECT_EQ(challenge.size(), 66U);
  EXPECT_EQ(request.size(), 788U);
  EXPECT_EQ(answer.size(), 613U);
  EXPECT_EQ(k_refusal_bytes, 52U);
}

TEST(Handshake, AnAlteredMessageChangesNothing) {
  Doorstep door;
  Datagram hello = door.hello();
  for (std::size_t bit = 0; bit < 8 * hello.size(); ++bit) {
    flip(hello, bit);
    EXPECT_TRUE(door.reply_to(hello).empty()) << bit;
    flip(hello, bit);
  }
  Datagram challenge = door.reply_to(hello);
  for (std::size_t bit = 0; bit < 8 * challenge.size(); ++bit) {
    flip(challenge, bit);
    EXPECT_FALSE(door.give(challenge)) << bit;
    flip(challenge, bit);
  }
  ASSERT_TRUE(door.give(challenge));
  Datagram request = door.due();
  for (std::size_t bit = 0; bit < 8 * request.size(); ++bit) {
    flip(request, bit);
    EXPECT_TRUE(door.reply_to(request).empty()) << bit;
    flip(request, bit);
  }
  EXPECT_EQ(door.asked, 0);
  Datagram answer = door.reply_to(request);
  for (std::size_t bit = 0; bit < 8 * answer.size(); ++bit) {
    flip(answer, bit);
    EXPECT_FALSE(door.give(answer)) << bit;
    flip(answer, bit);
  }
  EXPECT_TRUE(door.give(answer));
  EXPECT_EQ(door.joiner.state(), State::accepted);
}

TEST(Handshake, ACutOffOrLengthenedMessageChangesNothing) {
  Doorstep door;
  const auto no_part_counts = [](const Datagram& message, auto counts) {
    for (std::size_t length = 0; length < message.size(); ++length)
      EXPECT_FALSE(counts(Datagram(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(length)))) << length;
    Datagram longer = message;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(counts(longer));
  };
  const auto host_replies = [&](const Datagram& message) { return !door.reply_to(message).empty(); };
  const auto joiner_takes = [&](const Datagram& message) { return door.give(message); };
  const Datagram hello = door.hello();
  no_part_counts(hello, host_replies);
  const Datagram challenge = door.reply_to(hello);
  no_part_counts(challenge, joiner_takes);
  ASSERT_TRUE(door.give(challenge));
  const Datagram request = door.due();
  no_part_counts(request, host_replies);
  const Datagram answer = door.reply_to(request);
  no_part_counts(answer, joiner_takes);
  EXPECT_TRUE(door.give(answer));
  EXPECT_EQ(door.asked, 1);
}

TEST(Handshake, MessagesOfTheWrongLengthAreDroppedEvenWithARightMac) {
  Doorstep door;
  Datagram hello = door.hello();
  for (const std::size_t size : {k_hello_bytes - 1, k_hello_bytes + 1, k_largest_datagram, k_largest_datagram + 1}) {
    hello.resize(size);
    EXPECT_TRUE(door.reply_to(door.signed_again(hello)).empty()) << size;
  }
  hello.resize(k_hello_bytes);
  const Datagram challenge = door.reply_to(door.signed_again(hello));
  ASSERT_TRUE(door.give(challenge));
  const Datagram whole = door.due();
  Datagram request = whole;
  for (const std::size_t size : {k_request_bytes - 1, k_request_bytes + 1}) {
    request.resize(size);
    EXPECT_TRUE(door.reply_to(door.signed_again(request)).empty()) << size;
  }
  EXPECT_EQ(door.asked, 0);
  EXPECT_FALSE(door.reply_to(door.signed_again(whole)).empty());  // of the right length it is answered
}

TEST(Handshake, ARepeatedRequestGetsTheSameAnswerAndNoSecondMember) {
  Doorstep door;
  const Datagram request = door.request(), answer = door.reply_to(request);
  const ChannelKeys keys = door.host_keys;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(door.reply_to(request), answer);
  EXPECT_EQ(door.asked, 1);
  EXPECT_EQ(door.host.counts().repeated_answers, 100U);
  EXPECT_TRUE(door.give(answer));
  EXPECT_FALSE(door.give(answer));
  EXPECT_TRUE(same(door.joiner.keys().send, keys.receive));
}

// At every moment the repeated request is either answered as before or refused.
TEST(Handshake, ARequestNeverCountsTwiceHoweverLateItIsRepeated) {
  for (double late = 0; late < 45; late += 0.5) {
    Doorstep door;
    const Datagram request = door.request(), answer = door.reply_to(request);
    for (double time = 0; time <= late; time += late / 3 + 0.1) {  // others keep the host busy meanwhile
      door.now.steady = time;
      door.reply_to(copy_of(ClientHandshake(door.invite, door.joiner_identity, {}, 0).due(0)));
    }
    door.now.steady = late;
    const Datagram again = door.reply_to(request);
    EXPECT_TRUE(again.empty() || again == answer);
    EXPECT_EQ(door.asked, 1) << late;
    EXPECT_FALSE(late < 10 && again.empty()) << late;
    EXPECT_TRUE(late < 20 || again.empty()) << late;
  }
}

TEST(Handshake, AnotherRequestOfTheSameAttemptIsDropped) {
  Doorstep door;
  const Datagram hello = door.hello(), challenge = door.reply_to(hello);
  ASSERT_TRUE(door.give(challenge));
  Datagram request = door.due();
  door.reply_to(request);
  request[k_request_head_bytes] ^= std::byte{1};
  EXPECT_TRUE(door.reply_to(door.signed_again(request)).empty());
  EXPECT_EQ(door.asked, 1);
}

TEST(Handshake, MessagesInTheWrongOrderChangeNothing) {
  Doorstep first, second;
  const Datagram hello = first.hello(), challenge = first.reply_to(hello);
  Doorstep other;
  const Datagram foreign_answer = other.answer();
  EXPECT_FALSE(first.give(foreign_answer));
  ASSERT_TRUE(first.give(challenge));
  EXPECT_FALSE(first.give(challenge));  // once is enough
  const Datagram request = first.due();
  EXPECT_TRUE(second.reply_to(request).empty());  // a host that has never challenged
  // What one side sends is nothing that the same side would take.
  EXPECT_FALSE(first.give(hello));
  EXPECT_FALSE(first.give(request));
  EXPECT_TRUE(first.reply_to(challenge).empty());
  const Datagram answer = first.reply_to(request);
  EXPECT_TRUE(first.reply_to(answer).empty());
  EXPECT_TRUE(first.give(answer));
}

TEST(Handshake, AnAnswerIsForOneAttemptOnly) {
  Doorstep door;
  const Datagram answer = door.answer();
  ClientHandshake other(door.invite, door.joiner_identity, {}, 0);
  other.receive(door.reply_to(other.due(0)), door.host_address, 0);
  ASSERT_EQ(other.state(), State::requesting);
  EXPECT_FALSE(other.receive(answer, door.host_address, 0));
  // Nor if somebody who has the invite writes the other attempt's number on it.
  Datagram renamed = answer;
  const Datagram request = copy_of(other.due(0));
  std::copy_n(request.begin() + 2, 32, renamed.begin() + 2);
  EXPECT_FALSE(other.receive(door.signed_again(renamed), door.host_address, 0));
}

TEST(Handshake, BeginsAgainIfTheAnswerNeverComes) {
  Doorstep door;
  const Datagram lost = door.answer();
  door.now.steady = ClientHandshake::k_attempt_seconds;
  const Datagram hello = door.due();
  ASSERT_EQ(hello.size(), k_hello_bytes);
  EXPECT_FALSE(door.give(lost));  // too late: the attempt is forgotten
  ASSERT_TRUE(door.give(door.reply_to(hello)));
  ASSERT_TRUE(door.give(door.reply_to(door.due())));
  EXPECT_EQ(door.joiner.state(), State::accepted);
  EXPECT_EQ(door.asked, 2);  // with the same credential, so the host's caller knows that it is the same join
  EXPECT_TRUE(same(door.joiner.keys().send, door.host_keys.receive));
}

TEST(Handshake, RepeatsItselfLessAndLessOftenAndGivesUp) {
  Doorstep door;
  std::vector<double> sent;
  for (double time = 0; time < 25; time += 0.0625) {
    door.now.steady = time;
    if (!door.due().empty()) sent.push_back(time);
  }
  std::vector<double> expected = {0, 0.25, 0.75};
  for (double time = 1.75; time < 10; time += 1) expected.push_back(time);
  EXPECT_EQ(sent, expected);
  EXPECT_EQ(door.joiner.state(), State::gave_up);
}

TEST(Handshake, TriesAllAddressesAndStaysWithTheOneThatAnswers) {
  Doorstep door;
  const NetAddress silent = *NetAddress::parse("[2001:db8::1]:7117"), stranger = *NetAddress::parse("192.0.2.9:7117");
  door.invite.addresses = {silent, door.host_address};
  ClientHandshake joiner(door.invite, door.joiner_identity, {}, 0);
  EXPECT_EQ(std::vector(joiner.targets().begin(), joiner.targets().end()), door.invite.addresses);
  const Datagram challenge = door.reply_to(joiner.due(0));
  EXPECT_FALSE(joiner.receive(challenge, stranger, 0));
  EXPECT_TRUE(joiner.receive(challenge, door.host_address, 0));
  ASSERT_EQ(joiner.targets().size(), 1U);
  EXPECT_EQ(joiner.targets()[0], door.host_address);
  EXPECT_FALSE(joiner.receive(door.reply_to(joiner.due(0)), silent, 0));
  EXPECT_TRUE(joiner.receive(door.host.reply(), door.host_address, 0));
}

// Half of all packets lost, many twice, in any order: whoever is in has the host's keys.
TEST(Handshake, SurvivesLossRepetitionAndDisorder) {
  int joined = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Doorstep door;
    std::vector<Datagram> to_host, to_joiner;
    const auto put = [&](std::vector<Datagram>& line, const Datagram& datagram) {
      while (!datagram.empty() && random.below(2) == 0) line.push_back(datagram);
    };
    const auto take = [&](std::vector<Datagram>& line) {
      if (line.empty() || random.below(3) == 0) return Datagram{};
      const std::size_t which = random.below(line.size());
      const Datagram taken = line[which];
      line.erase(line.begin() + static_cast<std::ptrdiff_t>(which));
      return taken;
    };
    while (!door.joiner.over()) {
      put(to_host, door.due());
      put(to_joiner, door.reply_to(take(to_host)));
      door.give(take(to_joiner));
      door.now.steady += 0.05;
    }
    if (door.joiner.state() != State::accepted) continue;
    ++joined;
    EXPECT_TRUE(std::ranges::any_of(door.all_host_keys, [&](const ChannelKeys& keys) {
      return same(door.joiner.keys().send, keys.receive) && same(door.joiner.keys().receive, keys.send);
    })) << seed;
  }
  EXPECT_GT(joined, 150);
}

}  // namespace
}  // namespace cotouch::this_file

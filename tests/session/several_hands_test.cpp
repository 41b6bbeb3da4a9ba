// Several hands of one program in a shared world, over real sockets.
#include <cotouch/session/recorded_events.h>
#include <cotouch/session/recording_store.h>

#include <bit>

#include "session/program.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

// Plays with hands of these numbers besides its own.
Program::Hands playing_with(std::shared_ptr<const std::atomic<std::uint32_t>> numbers) {
  return [numbers](std::size_t number, double now) {
    MemberHands hands(playing_hand(number, now));
    for (std::uint8_t hand = 0; hand < k_shared_hands; ++hand)
      if ((numbers->load() >> hand & 1U) != 0) hands.further.push_back({hand, playing_hand(number + 5U + hand, now)});
    return hands;
  };
}

// Both want number 15: it is the host's, who is member 0, until she lets it go.
TEST(SeveralHands, OfTwoProgramsAreAgreedOnAndRecordedByName) {
  Program anna("Anna"), ben("Benjamin");
  const auto annas = std::make_shared<std::atomic<std::uint32_t>>(1U << 15 | 1U << 7);
  const auto bens = std::make_shared<std::atomic<std::uint32_t>>(1U << 15 | 1U << 9);
  anna.use_hands(playing_with(annas));
  ben.use_hands(playing_with(bens));
  meet(anna, ben);
  pass(anna, ben, 250);  // Benjamin takes part only some time after he is admitted
  const auto stream = std::make_shared<RecordingStream>(ben.folder() / "hands.cotrec", 1U << 30U, nullptr);
  ben.session().record("three", stream);
  pass(anna, ben, 100);
  const Tick before = anna.session().agreed().tick;
  annas->store(1U << 7);
  const Tick after = anna.session().agreed().tick;
  pass(anna, ben, 100);
  annas->store(0);
  pass(anna, ben, 50);
  ben.session().stop_recording();
  EXPECT_GT(agreed_ticks(anna, ben), 150U);
  ASSERT_TRUE(eventually([&] { return read_recording(ben.folder() / "hands.cotrec").finished; }));
  const Recording recording = read_recording(ben.folder() / "hands.cotrec");
  Replay replay(recording, recorded_model(recording, three_balls()));
  while (replay.next()) {
  }
  EXPECT_EQ(replay.same(), recording.samples.size());
  // The session's tick in which the recording begins.
  Tick begin = 0;
  for (const auto& [tick, hash] : ben.hashes())
    if (hash == recording.samples.at(0).state_hash) begin = tick - 1;
  ASSERT_GT(begin, 0);
  // What is agreed stays as it is. Her world may have been as far ahead of that as its window allows.
  const auto first_change = static_cast<std::uint64_t>(before - begin);
  const auto last_change = static_cast<std::uint64_t>(after - begin + PeerSettings{}.rollback.window + 2);
  std::map<std::uint32_t, std::vector<std::string>> names;
  for (const RecordedPerson& person : recorded_people(recording)) {
    names[person.hand.value()].push_back(person.name);
    EXPECT_EQ(person.own, person.name == "Anna" ? 0U : 1U);
    if (person.hand != 15U) continue;
    const bool first = person.name == "Anna";
    EXPECT_GE(person.from, first ? 0 : first_change);
    EXPECT_LE(person.from, first ? 1 : last_change);
    EXPECT_GE(person.to, first ? first_change : recording.samples.size());
    EXPECT_LE(person.to, first ? last_change : recording.samples.size());
  }
  const std::map<std::uint32_t, std::vector<std::string>> expected{
      {0, {"Anna"}}, {1, {"Benjamin"}}, {7, {"Anna"}}, {9, {"Benjamin"}}, {15, {"Anna", "Benjamin"}}};
  EXPECT_EQ(names, expected);
  EXPECT_EQ(recording.samples.back().hands.size(), 16U);
  EXPECT_FALSE(recording.samples.back().hands[7].input.present);
  // Nobody came or went.
  for (const NamedEvent& event : named_events(recording))
    EXPECT_EQ(event.event.tick, 0U) << event.who << " " << word_of(event.event.kind);
}

// Of machines that name each other's numbers, over a bad network, with people who come and go.
TEST(SeveralHands, OnABadNetworkNobodyDisagreesWhoseTheyAre) {
  SimulatedSession session(shared_balls(), simulation("awful", 4, 11),
                           [](std::size_t machine, double now, const WorldState&) {
                             MemberHands hands(playing_hand(machine, now));
                             const auto turn = (static_cast<std::size_t>(now) + machine) % 4;
                             if (turn == 3) hands.hand = {};
                             for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{3}, std::uint8_t{14}})
                               if ((turn + number) % 3 != 0)
                                 hands.further.push_back({number, playing_hand(machine + number, now)});
                             return hands;
                           });
  session.run_until(20);
  session.leave(1);
  session.run_until(30);
  session.crash(2);
  session.run_until(45);
  session.join(1);
  session.run_until(60);
  EXPECT_EQ(session.mismatches(), 0U) << session.first_mismatch();
  EXPECT_EQ(session.overruled(), 0U) << session.first_overruled();
  EXPECT_EQ(session.statistics(0).desyncs, 0U);
  EXPECT_GT(session.statistics(0).agreed, 3000U);
  EXPECT_GT(session.statistics(0).rollbacks.size(), 100U);
}

// What was missed is many times as much as one hand's: it has to come all the same, and soon.
TEST(SeveralHands, AnOutageIsMadeUpForSoon) {
  SimulationSettings settings = simulation("transatlantic", 2, 3);
  for (LinkProfile* link : {&settings.network.there, &settings.network.back}) {
    link->outage_start = 5;
    link->outage_length = 1.5;
    link->outage_every = 1000;
  }
  SimulatedSession session(shared_balls(), settings, [](std::size_t machine, double now, const WorldState&) {
    MemberHands hands(playing_hand(machine, now));
    for (std::uint8_t number = 9; number < 16 && machine == 1; ++number) {
      HandInput hand = playing_hand(number, now);
      // Trembles, so that every tick says something new.
      hand.pose.position.x += 0.005 * sin_cos(2000 * now + number).sin;
      hands.further.push_back({number, hand});
    }
    return hands;
  });
  session.run_until(12);
  for (const std::size_t machine : {std::size_t{0}, std::size_t{1}}) {
    EXPECT_LT(session.statistics(machine).waited, 1.5) << machine;
    EXPECT_EQ(session.statistics(machine).losses, 0U) << machine;
  }
  EXPECT_TRUE(session.peer(0).is_member(session.peer(1).self()));
  EXPECT_EQ(session.mismatches(), 0U) << session.first_mismatch();
}

// Numbers that somebody else has or is about to have are not offered.
TEST(SeveralHands, OnlyFreeNumbersAreOffered) {
  SimulatedSession session(shared_balls(), simulation("lan", 3, 3),
                           [](std::size_t machine, double now, const WorldState&) {
                             MemberHands hands;  // the third has none at all
                             if (machine < 2) hands.hand = playing_hand(machine, now);
                             if (machine == 1) hands.further = {{9, hands.hand}, {12, hands.hand}};
                             return hands;
                           });
  session.run_until(5);
  const std::uint32_t all = (1U << k_shared_hands) - 1;
  const MemberId one = session.peer(1).self();
  for (std::size_t machine = 0; machine < 3; ++machine) {
    std::uint32_t others = 1U << 9 | 1U << 12;
    if (machine == 1) others = 0;
    for (std::size_t other = 0; other < 3; ++other)
      if (other != machine) others |= 1U << session.peer(other).self();
    EXPECT_EQ(session.peer(machine).usable_hands(), all & ~others) << machine;
    EXPECT_EQ(session.peer(machine).leaders()[9], one);
    EXPECT_EQ(session.peer(machine).leaders()[one], one);
    EXPECT_EQ(session.peer(machine).leaders()[10], k_nobody);
  }
}

TEST(SeveralHands, OfSomebodyElseAreKnownAtEveryLook) {
  ObjectiveSnapshot snapshot;
  for (MemberId m = 0; m < 2; ++m) snapshot.members[m] = Member{0, std::string(1, static_cast<char>('a' + m))};
  std::vector<SharedPeer> peers;
  peers.emplace_back(PeerSettings{}, MemberId{0}, snapshot, 100.0);
  peers.emplace_back(PeerSettings{}, MemberId{1}, snapshot, 100.004);
  int views = 0;
  for (int i = 0; i < 3000; ++i) {  // a look every millisecond, as when packets wake a program
    const double now = 100.005 + 0.001 * i;
    for (MemberId m = 0; m < 2; ++m) {
      MemberHands hands(playing_hand(m, now));
      if (m == 1) hands.further = {{9, playing_hand(7, now)}};
      std::vector<PeerRequest> requests;
      peers[m].poll(now, sendable(hands), requests);
      for (const PeerRequest& request : requests)
        if (const auto* message = std::get_if<SendMessage>(&request))
          peers[message->to].receive(now, m, message->bytes);
      if (i < 1000) continue;
      ++views;
      ASSERT_EQ(peers[m].leaders()[1 - m], 1 - m) << i;
      ASSERT_EQ(peers[m].leaders()[9], 1) << i;
      ASSERT_EQ(peers[0].usable_hands() >> 9 & 1U, 0U) << i;
    }
  }
  EXPECT_EQ(views, 4000);
  // One who is about to come has a number as well.
  const auto newcomer = peers[0].admit("c", false);
  ASSERT_TRUE(newcomer);
  EXPECT_EQ(peers[0].usable_hands() >> *newcomer & 1U, 0U);
}

// The first of those that are offered, at every tick, while others come in.
TEST(SeveralHands, ANewcomersNumberIsGivenBackBeforeItTakesPart) {
  SimulatedSession* running = nullptr;
  SimulatedSession session(shared_balls(), simulation("network-3", 4, 5),
                           [&](std::size_t machine, double now, const WorldState&) {
                             MemberHands hands(playing_hand(machine, now));
                             if (running == nullptr || machine != 0) return hands;
                             const SharedPeer& peer = running->peer(0);
                             const int first = std::countr_zero(peer.usable_hands() & ~(1U << peer.self()));
                             hands.further = {{static_cast<std::uint8_t>(first), playing_hand(20, now)}};
                             return hands;
                           });
  running = &session;
  std::set<MemberId> seen;
  session.on_tick = [&](std::size_t machine, Tick tick, const WorldState&) {
    const SharedPeer& peer = session.peer(machine);
    for (MemberId hand = 1; hand < k_shared_hands; ++hand) {
      if (peer.leaders()[hand] != 0) continue;
      seen.insert(hand);
      const bool takes_part = peer.member(hand) && tick > peer.member(hand)->first;
      EXPECT_FALSE(takes_part) << int{hand} << " at " << tick;
    }
  };
  session.run_until(12);
  EXPECT_GE(seen.size(), 2U);
  EXPECT_EQ(session.mismatches(), 0U) << session.first_mismatch();
}

}  // namespace
}  // namespace cotouch::this_file

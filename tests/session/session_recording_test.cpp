// A shared session over the network as a file: replayed bit for bit.
#include <cotouch/session/recording_store.h>

#include "session/program.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

TEST(SessionRecordingSlow, IsReplayedBitForBitWithAllThatHappened) {
  Program anna("Anna"), ben("Ben");
  meet(anna, ben);
  pass(anna, ben, 200);
  const auto stream = std::make_shared<RecordingStream>(ben.folder() / "both.cotrec", 1U << 30U, nullptr);
  ben.session().record("three", stream);
  pass(anna, ben, 100);
  anna.session().say("again");
  anna.session().reset_world();
  pass(anna, ben, 200);
  ben.session().stop_recording();
  const auto is_whole = [&] { return read_recording(ben.folder() / "both.cotrec").finished; };
  ASSERT_TRUE(eventually(is_whole));
  const Recording recording = read_recording(ben.folder() / "both.cotrec");
  ASSERT_GE(recording.samples.size(), 250U);
  Replay replay(recording, recorded_model(recording, three_balls()));
  while (replay.next()) {
  }
  EXPECT_EQ(replay.same(), recording.samples.size());

  // It is what the other one has agreed on, tick for tick.
  const std::map<Tick, std::uint64_t> agreed = anna.hashes();
  auto at = std::find_if(agreed.begin(), agreed.end(),
                         [&](const auto& tick) { return tick.second == recording.samples[0].state_hash; });
  ASSERT_NE(at, agreed.end());
  for (std::size_t i = 0; i < recording.samples.size() && at != agreed.end(); ++i, ++at)
    ASSERT_EQ(at->second, recording.samples[i].state_hash) << "sample " << i;

  std::vector<std::string> names, said;
  std::size_t resets = 0, both = 0;
  for (const RecordedPerson& person : recorded_people(recording)) names.push_back(person.name);
  for (const RecordedEvent& event : recording.events) {
    if (event.kind == RecordedEvent::Kind::said) said.push_back(event.text);
    resets += event.kind == RecordedEvent::Kind::reset ? 1U : 0U;
  }
  for (const RecordedSample& sample : recording.samples)
    both += sample.hand(0).input.present && sample.hand(1).input.present ? 1U : 0U;
  EXPECT_EQ(names, (std::vector<std::string>{"Anna", "Ben"}));
  EXPECT_EQ(said, std::vector<std::string>{"again"});
  EXPECT_EQ(resets, 1U);
  EXPECT_GT(both, 200U);
}

}  // namespace
}  // namespace cotouch::this_file

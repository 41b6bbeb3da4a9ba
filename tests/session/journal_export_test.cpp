#include <cotouch/session/journal_export.h>

#include "session/shared_journal.h"
#include "support/error_code.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

using namespace testing_session;

TEST(JournalExport, IsTheRecordingThatTheSessionWouldHaveMade) {
  const TemporaryFolder folder;
  write_shared_journal(folder / "a.journal");
  Journal journal = Journal::open_to_read(folder / "a.journal");
  const Recording expected = shared_press();
  const auto model = recorded_model(journal.head().scene, journal.head().model_hash, two_balls());
  const Recording made = recording_of(journal, model);
  EXPECT_EQ(made.scene, expected.scene);
  EXPECT_EQ(made.state, expected.state);
  ASSERT_EQ(made.samples.size(), 100U);
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_EQ(made.samples[i].hands, expected.samples[i].hands) << i;
    ASSERT_EQ(made.samples[i].state_hash, expected.samples[i].state_hash) << i;
  }
  ASSERT_EQ(made.events.size(), 4U);  // "desync" is none of a recording's
  EXPECT_EQ(made.events[2], (RecordedEvent{60, k_ann, RecordedEvent::Kind::said, "push[31m  harder"}));
  Replay replay(made, model);
  while (replay.next()) {
  }
  EXPECT_EQ(replay.same(), 100U);
}

TEST(JournalExport, BeginsAfterTheLastGapWithThosePresentThen) {
  const TemporaryFolder folder;
  write_shared_journal(folder / "a.journal", 20, 45);
  Journal journal = Journal::open_to_read(folder / "a.journal");
  const auto model = recorded_model(journal.head().scene, journal.head().model_hash, two_balls());
  const Recording made = recording_of(journal, model);
  ASSERT_EQ(made.samples.size(), 55U);
  EXPECT_EQ(made.samples[0].time, 0);
  EXPECT_EQ(made.samples[54].state_hash, shared_press().samples[99].state_hash);
  const std::vector<RecordedPerson> people = recorded_people(made);
  ASSERT_EQ(people.size(), 2U);
  EXPECT_EQ(people[0].to, 55U);
  EXPECT_EQ(people[1].to, 35U);  // left at tick 80
}

// It was dropped at tick 60, played alone until 100 and joined again at 80.
TEST(JournalExport, TheSessionAndABranchOfItEachReplayTheSame) {
  const TemporaryFolder folder;
  write_shared_journal(folder / "a.journal");
  const Recording pressed = shared_press();
  const auto model = recorded_model(pressed, two_balls());
  WorldState state(*model);
  StepScratch scratch(*model);
  for (std::uint32_t tick = 0; tick < 60; ++tick) step(*model, state, press_of_two(tick), scratch);
  const std::vector<HandInput> nobody(k_shared_pace.hands);
  std::uint64_t at_110 = 0;
  {
    Journal journal = Journal::open(folder / "a.journal");
    journal.agree(60);
    for (Tick tick = 60; tick < 80; ++tick) step(*model, state, nobody, scratch);
    journal.begin(0, {80, {state.bytes().begin(), state.bytes().end()}, {}}, "dropped");
    for (Tick tick = 80; tick < 120; ++tick) {
      step(*model, state, nobody, scratch);
      journal.append(tick, encode_tick(nobody), state.hash());
      if (tick == 109) at_110 = state.hash();
    }
    journal.agree(110);
  }
  const auto expect_replays = [&](std::uint32_t line, std::size_t samples, std::uint64_t last) {
    Journal journal = Journal::open_to_read(folder / "a.journal");
    journal.show(line);
    const Recording made = recording_of(journal, model);
    ASSERT_EQ(made.samples.size(), samples);
    EXPECT_EQ(made.samples.back().state_hash, last);
    Replay replay(made, model);
    while (replay.next()) {
    }
    EXPECT_EQ(replay.same(), samples);
  };
  expect_replays(0, 30, at_110);                          // from 80 on, up to what is agreed
  expect_replays(1, 40, pressed.samples[99].state_hash);  // from the snapshot of tick 60 on
}

TEST(JournalExport, RefusesTicksThatLeadElsewhere) {
  const TemporaryFolder folder;
  const auto model = felt_model(two_balls(), {}, k_shared_pace);
  const WorldState state(*model);
  {
    Journal journal = Journal::open_or_create(folder / "a.journal", {"a", "", model->hash(), {}});
    EXPECT_EQ(code_of([&] { recording_of(journal, model); }), ErrorCode::not_found);  // there is nothing in it
    journal.snapshot(0, state.bytes());
    journal.append(0, encode_tick(press_of_two(0)), 42);
    EXPECT_EQ(code_of([&] { recording_of(journal, model); }), ErrorCode::not_found);  // nothing is agreed
    journal.agree(1);
    EXPECT_EQ(code_of([&] { recording_of(journal, model); }), ErrorCode::refused);
  }
  Journal journal = Journal::open_or_create(folder / "b.journal", {"a", "", model->hash(), {}});
  journal.snapshot(0, state.bytes());
  journal.append(0, std::vector<std::byte>(3), 42);
  journal.agree(1);
  EXPECT_EQ(code_of([&] { recording_of(journal, model); }), ErrorCode::damaged_file);
}

}  // namespace
}  // namespace cotouch::this_file

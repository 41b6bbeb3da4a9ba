#include <cotouch/session/journal_writer.h>

#include <cotouch/session/database.h>

#include "support/eventually.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

class JournalWriterTest : public testing::Test {
 protected:
  Journal made() { return Journal::open_or_create(file_, {"c0ffee", "scene", 7, {}}); }
  static std::vector<std::byte> bytes(std::size_t size) { return std::vector<std::byte>(size, std::byte{1}); }
  std::vector<Tick> written() {
    std::vector<Tick> ticks;
    Journal::open_to_read(file_).for_each_tick(0, [&](const JournalTick& tick) {
      ticks.push_back(tick.tick);
      return true;
    });
    return ticks;
  }
  static std::vector<Tick> range(Tick from, Tick to) {
    std::vector<Tick> ticks;
    for (Tick tick = from; tick < to; ++tick) ticks.push_back(tick);
    return ticks;
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "journal";
};

TEST_F(JournalWriterTest, WritesByItselfAndAllOfItWhenItEnds) {
  JournalWriter writer(made());
  writer.begin(0, {0, bytes(100), bytes(10)}, "");
  for (Tick tick = 0; tick < 50; ++tick) writer.append(tick, bytes(20), 1);
  EXPECT_TRUE(eventually([&] { return written() == range(0, 50); }));
  for (Tick tick = 50; tick < 60; ++tick) writer.append(tick, bytes(20), 1);
  writer.note(60, "said", "good bye");
  Journal journal = writer.stop();
  EXPECT_TRUE(journal.status().empty());
  EXPECT_EQ(written(), range(0, 60));
  EXPECT_EQ(Journal::open_to_read(file_).notes().size(), 1U);
}

TEST_F(JournalWriterTest, KeepsWhatWasNotAgreedOnApartAndGoesOnFromThere) {
  JournalWriter writer(made());
  writer.begin(0, {0, bytes(100), {}}, "");
  for (Tick tick = 0; tick < 50; ++tick) writer.append(tick, bytes(20), 1);
  writer.agree(30);
  writer.begin(0, {30, bytes(90), {}}, "dropped");
  for (Tick tick = 30; tick < 40; ++tick) writer.append(tick, bytes(20), 2);
  writer.stop();
  EXPECT_EQ(written(), range(0, 40));
  EXPECT_EQ(Journal::open_to_read(file_).lines().size(), 2U);
  Journal::open_to_read(file_).for_each_tick(0, [](const JournalTick& tick) {
    EXPECT_EQ(tick.state_hash, tick.tick < 30 ? 1U : 2U);
    return true;
  });
}

TEST_F(JournalWriterTest, LeavesTicksOutIfTheDiskFallsFarBehindAndGoesOnFromASnapshot) {
  JournalWriter writer(made());
  writer.begin(0, {0, bytes(100), {}}, "");
  for (Tick tick = 0; tick < 10; ++tick) writer.append(tick, bytes(20), 1);
  ASSERT_TRUE(eventually([&] { return written() == range(0, 10); }));
  Database slow(file_, Database::Access::write);
  slow.run("BEGIN IMMEDIATE");
  Tick tick = 10;
  // More than what may wait here and in the journal together, however much of it was tried already.
  const std::size_t piece = 1U << 19U;
  const auto is_behind = [&] { return writer.status().starts_with("The disk is too slow for the journal"); };
  for (std::size_t given = 0; given < 6 * JournalWriter::k_most_given && !is_behind(); given += piece)
    writer.append(tick++, bytes(piece), 1);
  EXPECT_TRUE(is_behind()) << writer.status();
  slow.run("COMMIT");
  const Tick end = tick + 1000;
  EXPECT_TRUE(eventually([&] {
    writer.snapshot(end, bytes(100), {});
    writer.append(end, bytes(20), 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return writer.status().empty();
  }));
  writer.stop();
  const std::vector<Tick> ticks = written();
  ASSERT_GT(ticks.size(), 10U);
  EXPECT_EQ(ticks.back(), end);
  // Opening it has checked that a snapshot begins what follows a gap.
  EXPECT_EQ(Journal::open(file_).next_tick(), end + 1);
}

// The world may have jumped there.
TEST_F(JournalWriterTest, LeavesOutWhatFollowsASnapshotThatWasLeftOut) {
  JournalWriter writer(made());
  writer.begin(0, {0, bytes(100), {}}, "");
  for (Tick tick = 0; tick < 10; ++tick) writer.append(tick, bytes(20), 1);
  writer.snapshot(10, bytes(JournalWriter::k_most_given), {});
  for (Tick tick = 10; tick < 20; ++tick) writer.append(tick, bytes(20), 1);
  writer.snapshot(20, bytes(100), {});
  writer.append(20, bytes(20), 1);
  writer.stop();
  std::vector<Tick> ticks = range(0, 10);
  ticks.push_back(20);
  EXPECT_EQ(written(), ticks);
}

}  // namespace
}  // namespace cotouch::this_file

// Journals for which there is no room, or no permission, and what is left of them when they end.
#include <cotouch/session/journal.h>

#include <cotouch/base/error.h>

#include "session/journal_fixture.h"
#include "support/child_process.h"
#include "support/error_code.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <csignal>

namespace cotouch::this_file {
namespace {

using namespace testing_journal;

TEST_F(JournalTest, GoesOnInMemoryWhileTheDiskIsFullAndWritesOnceThereIsRoom) {
  EXPECT_EQ(in_a_child([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              Journal journal = made();
              journal.snapshot(0, world_at(0));
              for (Tick tick = 0; tick < 100; ++tick) append(journal, tick);
              if (!journal.flush()) return 1;
              allow_bytes(64 << 10);
              Tick tick = 100;
              while (journal.flush() && tick < 20000) {
                for (const Tick end = tick + 100; tick < end; ++tick) append(journal, tick);
              }
              if (journal.status().empty()) return 2;
              if (append(journal, tick++)) return 3;  // not sure to be written
              for (const Tick end = tick + 500; tick < end; ++tick) append(journal, tick);
              journal.note(tick, "chat", "still there");
              if (journal.flush()) return 4;
              if (ticks_of(journal) != range(0, tick)) return 5;  // nothing is lost
              if (Journal::open_to_read(file_).tick_count() < 100) return 6;
              allow_bytes(RLIM_INFINITY);
              if (!journal.flush() || !journal.status().empty()) return 7;
              append(journal, tick, tick + 10);
              if (!journal.flush()) return 8;
              if (ticks_of(journal) != range(0, tick + 10)) return 9;
              return Journal::open_to_read(file_).notes().size() == 1 ? 0 : 10;
            }),
            0);
}

// On a real one, if this machine lets us have it: two mebibytes that nobody else sees.
TEST_F(JournalTest, SaysThatTheDiskIsFull) {
  EXPECT_EQ(in_a_child([&] {
              if (unshare(CLONE_NEWNS) != 0 || mount("", "/", "", MS_PRIVATE | MS_REC, nullptr) != 0 ||
                  mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=2m") != 0)
                return 0;
              Journal journal = made();
              journal.snapshot(0, world_at(0));
              const std::vector<std::byte> large(10000);
              Tick tick = 0;
              for (; tick < 1000 && journal.flush(); ++tick) journal.append(tick, large, hash_after(tick));
              if (journal.status().find("disk is full") == std::string::npos) return 1;
              for (const Tick end = tick + 100; tick < end; ++tick) journal.append(tick, large, hash_after(tick));
              if (journal.tick_count() != static_cast<std::uint64_t>(tick)) return 2;
              if (mount("tmpfs", folder_.path().c_str(), "tmpfs", MS_REMOUNT, "size=20m") != 0) return 0;
              if (!journal.flush() || !journal.status().empty()) return 3;
              return Journal::open_to_read(file_).tick_count() == static_cast<std::uint64_t>(tick) ? 0 : 4;
            }),
            0);
}

TEST_F(JournalTest, KeepsABoundedAmountInMemoryAndGoesOnFromTheNextSnapshot) {
  EXPECT_EQ(in_a_child([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              const std::vector<std::byte> large(1000 << 10);
              Journal journal = made();
              journal.snapshot(0, world_at(0));
              append(journal, 0, 10);
              if (!journal.flush()) return 1;
              allow_bytes(64 << 10);
              Tick tick = 10;
              for (; tick < 100 && !journal.needs_snapshot(); ++tick) journal.append(tick, large, hash_after(tick));
              if (!journal.needs_snapshot() || tick < 25) return 2;  // room for 32 MB
              journal.note(tick, "chat", "kept");
              allow_bytes(RLIM_INFINITY);
              tick += 5;
              journal.snapshot(tick, world_at(tick));
              if (!journal.flush()) return 3;
              append(journal, tick, tick + 10);
              if (!journal.flush()) return 3;
              Journal read = Journal::open_to_read(file_);
              if (read.tick_count() != 20 || read.newest_beginning()->tick != tick) return 4;
              return read.notes().size() == 1 ? 0 : 5;
            }),
            0);
}

// In another line, or in this one after some of it was moved to another, the same ticks are others.
TEST_F(JournalTest, WhatIsDroppedForWantOfRoomLeavesNoGapInOtherLines) {
  for (const std::uint64_t branch : {0U, 7U}) {
    SCOPED_TRACE(branch);
    std::filesystem::remove(file_);
    EXPECT_EQ(in_a_child([&] {
                std::signal(SIGXFSZ, SIG_IGN);
                const std::vector<std::byte> large(1000 << 10);
                Journal journal = made();
                journal.snapshot(0, world_at(0));
                append(journal, 0, 10);
                if (!journal.flush()) return 1;
                allow_bytes(64 << 10);
                for (Tick tick = 10; tick < 30; ++tick) journal.append(tick, large, hash_after(tick));
                journal.agree(25);
                journal.begin(branch, {28, bytes_of("another world"), {}}, "the others went on");
                for (Tick tick = 28; tick < 43; ++tick) journal.append(tick, large, hash_after(tick));
                allow_bytes(RLIM_INFINITY);
                if (!journal.flush()) return 2;
                try {
                  Journal read = Journal::open_to_read(file_);
                  return read.newest_beginning()->tick == 28 && read.tick_count() >= 15 ? 0 : 3;
                } catch (const Error&) {
                  return 4;
                }
              }),
              0);
  }
}

TEST_F(JournalTest, WhatIsDroppedForWantOfRoomEndsAtASnapshot) {
  EXPECT_EQ(
      in_a_child([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        const std::vector<std::byte> large(1000 << 10);
        Journal journal = made();
        journal.snapshot(0, world_at(0));
        append(journal, 0, 10);
        if (!journal.flush()) return 1;
        allow_bytes(64 << 10);
        for (Tick tick = 10; tick < 60; ++tick) {
          journal.append(tick, large, hash_after(tick));
          if (tick % 10 == 9) journal.snapshot(tick + 1, world_at(tick + 1));
        }
        if (journal.needs_snapshot()) return 2;
        allow_bytes(RLIM_INFINITY);
        if (!journal.flush()) return 3;
        Journal read = Journal::open_to_read(file_);
        if (read.next_tick() != 60) return 4;
        const Tick begins = read.newest_beginning()->tick;
        return begins > 10 && begins % 10 == 0 && read.tick_count() == static_cast<std::uint64_t>(70 - begins) ? 0 : 5;
      }),
      0);
}

TEST_F(JournalTest, EndedInOrderIsOneFile) {
  make_small();
  {
    Journal journal = made();
    append(journal, 100, 120);
    EXPECT_EQ(journal.finish(), "");
    EXPECT_FALSE(std::filesystem::exists(file_.string() + "-wal"));
  }
  std::filesystem::copy(file_, folder_ / "copy");
  EXPECT_EQ(Journal::open_to_read(folder_ / "copy").tick_count(), 120U);
  // It goes on all the same.
  Journal journal = made();
  append(journal, 120, 130);
  EXPECT_EQ(journal.finish(), "");
  EXPECT_EQ(Journal::open_to_read(file_).tick_count(), 130U);
}

TEST_F(JournalTest, SaysWhichFilesBelongTogetherIfTheDiskIsFullWhenItEnds) {
  const std::filesystem::path log = file_.string() + "-wal";
  EXPECT_EQ(in_a_child([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              Journal journal = made();
              journal.snapshot(0, world_at(0));
              append(journal, 0, 2000);
              if (!journal.flush()) return 1;
              // What is in the log does not fit into the file any more.
              if (std::filesystem::file_size(log) < 2 * std::filesystem::file_size(file_)) return 2;
              allow_bytes(std::filesystem::file_size(file_));
              const std::string said = journal.finish();
              if (said.find(log.filename().string() + " beside it belongs to it") == std::string::npos) return 3;
              return 0;
            }),
            0);
  ASSERT_TRUE(std::filesystem::exists(log));
  EXPECT_EQ(Journal::open_to_read(file_).tick_count(), 2000U);
  // The next program puts them together, once there is room.
  Journal journal = made();
  EXPECT_EQ(journal.finish(), "");
  EXPECT_FALSE(std::filesystem::exists(log));
  EXPECT_EQ(Journal::open_to_read(file_).tick_count(), 2000U);
}

TEST_F(JournalTest, SaysThatAnotherProgramReadsItWhenItEnds) {
  make_small();
  Journal journal = made();
  append(journal, 100, 120);
  ASSERT_TRUE(journal.flush());
  {
    Journal reader = Journal::open_to_read(file_);
    EXPECT_NE(journal.finish().find("-wal"), std::string::npos);
    EXPECT_EQ(reader.tick_count(), 120U);
  }
  EXPECT_EQ(journal.finish(), "");
}

TEST_F(JournalTest, SaysThatAFolderCannotBeWritten) {
  EXPECT_EQ(code_of([&] { Journal::open_or_create(folder_ / "no/such/folder.journal", head()); }), ErrorCode::io);
  make_small();
  std::filesystem::permissions(file_, std::filesystem::perms(0444));
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0555));
  EXPECT_EQ(in_a_child([&] {
              if (geteuid() == 0 && seteuid(65534) != 0) return 0;  // root may write anywhere
              const auto code = [&](const auto& work) { return code_of(work); };
              if (code([&] { Journal::open_or_create(folder_ / "new.journal", head()); }) != ErrorCode::io) return 1;
              if (code([&] { Journal::open(file_); }) != ErrorCode::io) return 2;
              return Journal::open_to_read(file_).tick_count() == 100 ? 0 : 3;  // reading needs nothing
            }),
            0);
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
}

TEST_F(JournalTest, LeavesNothingBehindIfItCannotBeMade) {
  EXPECT_EQ(in_a_child([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              allow_bytes(1000);
              return code_of([&] { Journal::open_or_create(file_, head()); }) == ErrorCode::io ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

}  // namespace
}  // namespace cotouch::this_file

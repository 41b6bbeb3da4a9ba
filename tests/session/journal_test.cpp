#include <cotouch/session/journal.h>

#include <cotouch/base/error.h>
#include <cotouch/session/journal_file.h>

#include "session/journal_fixture.h"
#include "support/child_process.h"
#include "support/error_code.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

namespace cotouch::this_file {
namespace {

using namespace testing_journal;

TEST_F(JournalTest, BringsBackWhatItWasGiven) {
  make_small();
  Journal journal = Journal::open(file_);
  EXPECT_EQ(journal.head(), head());
  EXPECT_EQ(ticks_of(journal), range(0, 100));
  EXPECT_EQ(ticks_of(journal, 90), range(90, 100));
  EXPECT_EQ(journal.tick_count(), 100U);
  EXPECT_EQ(journal.next_tick(), 100);
  EXPECT_EQ(journal.snapshot_ticks(), (std::vector<Tick>{0, 100}));
  const std::optional<JournalSnapshot> newest = journal.newest_snapshot(), first = journal.newest_beginning();
  ASSERT_TRUE(newest && first);
  EXPECT_EQ(newest->tick, 100);
  EXPECT_EQ(newest->world, world_at(100));
  EXPECT_EQ(first->tick, 0);
  EXPECT_EQ(first->rest, bytes_of("rest"));
  EXPECT_EQ(journal.notes(), (std::vector<JournalNote>{{50, "said", "hello", 3}, {51, "desync", "", {}}}));
}

TEST_F(JournalTest, GoesOnWhereItEnded) {
  make_small();
  for (Tick from = 100; from < 400; from += 100) {
    Journal journal = made();
    append(journal, from, from + 100);
    EXPECT_EQ(ticks_of(journal), range(0, from + 100));  // whether they are written yet or not
  }
  Journal journal = Journal::open(file_);
  EXPECT_EQ(ticks_of(journal), range(0, 400));
}

TEST_F(JournalTest, WritesWhatIsLeftWhenAnotherTakesItsPlace) {
  Journal journal = made();
  journal.snapshot(0, world_at(0));
  append(journal, 0, 10);
  journal = Journal::open_or_create(folder_ / "another.journal", head());
  Journal first = Journal::open(file_);
  EXPECT_EQ(ticks_of(first), range(0, 10));
}

TEST_F(JournalTest, WantsASnapshotFirstAndAfterAGap) {
  Journal journal = made();
  EXPECT_TRUE(journal.needs_snapshot());
  EXPECT_FALSE(append(journal, 5));
  EXPECT_TRUE(journal.snapshot(5, world_at(5)));
  append(journal, 5, 10);
  EXPECT_FALSE(append(journal, 12));
  EXPECT_TRUE(journal.needs_snapshot());
  EXPECT_FALSE(append(journal, 10));
  EXPECT_TRUE(journal.snapshot(20, world_at(20)));
  append(journal, 20, 25);
  EXPECT_TRUE(journal.snapshot(23, world_at(23)));
  EXPECT_TRUE(journal.flush());
  EXPECT_EQ(journal.newest_beginning()->tick, 20);
  EXPECT_EQ(journal.newest_snapshot()->tick, 23);
  std::vector<Tick> both = range(5, 10);
  for (const Tick tick : range(20, 25)) both.push_back(tick);
  Journal read = Journal::open_to_read(file_);
  EXPECT_EQ(ticks_of(read), both);
  EXPECT_EQ(read.next_tick(), 25);
}

TEST_F(JournalTest, GoesOnFromASnapshotWithoutTicks) {
  {
    Journal journal = made();
    journal.snapshot(7, world_at(7));
  }
  Journal journal = Journal::open(file_);
  EXPECT_EQ(journal.next_tick(), 7);
  append(journal, 7, 9);
}

TEST_F(JournalTest, TakesATickTwiceOnlyIfItIsTheSame) {
  make_small();
  Journal journal = made();
  append(journal, 100, 110);
  EXPECT_TRUE(append(journal, 40));   // written
  EXPECT_TRUE(append(journal, 105));  // waiting
  EXPECT_FALSE(journal.append(40, inputs_of(40), 1));
  EXPECT_FALSE(journal.append(105, inputs_of(105), 1));
  EXPECT_EQ(ticks_of(journal), range(0, 110));
}

TEST_F(JournalTest, KeepsWhatWasNotAgreedApart) {
  make_small();
  {
    Journal journal = made();
    journal.snapshot(50, world_at(50));
    append(journal, 100, 120);
    journal.agree(60);
    journal.note(110, "said", "is anybody there?");
    EXPECT_TRUE(journal.begin(0, {90, bytes_of("as the others have it"), {}}, "dropped"));
    EXPECT_EQ(ticks_of(journal), range(0, 60));
    append(journal, 90, 95);
    journal.note(92, "said", "here we are");
  }
  EXPECT_EQ(Journal::open(file_).next_tick(), 95);
  Journal journal = Journal::open_to_read(file_);
  ASSERT_EQ(journal.lines().size(), 2U);
  const JournalLine &session = journal.lines()[0], &branch = journal.lines()[1];
  EXPECT_EQ(session.agreed, 60);
  EXPECT_EQ(branch.parent, 0U);
  EXPECT_EQ(branch.left, 60);
  EXPECT_EQ(branch.reason, "dropped");
  std::vector<Tick> kept = range(0, 60);
  for (const Tick tick : range(90, 95)) kept.push_back(tick);
  EXPECT_EQ(ticks_of(journal), kept);
  EXPECT_EQ(journal.newest_beginning()->tick, 90);
  EXPECT_EQ(journal.newest_beginning(session.agreed)->tick, 0);
  EXPECT_EQ(journal.notes().size(), 3U);  // those at 50 and 51, and at 92
  journal.show(1);
  EXPECT_EQ(ticks_of(journal), range(50, 120));  // with what leads there from the snapshot
  EXPECT_EQ(journal.newest_beginning()->tick, 50);
  EXPECT_EQ(journal.snapshot_ticks(), (std::vector<Tick>{50, 100}));
  ASSERT_EQ(journal.notes().size(), 3U);
  EXPECT_EQ(journal.notes()[2].text, "is anybody there?");
  EXPECT_EQ(journal.notes()[2].tick, 110);
  EXPECT_EQ(code_of([&] { journal.show(2); }), ErrorCode::not_found);
}

TEST_F(JournalTest, GoesOnWithABranchAndComesBack) {
  {
    Journal journal = made();
    journal.begin(0, {0, world_at(0), {}}, "");
    append(journal, 0, 100);
    journal.agree(80);
    EXPECT_TRUE(journal.branch_off(0xbeef, "nobody else is heard"));
    append(journal, 100, 150);
    journal.agree(140);
  }
  {
    Journal journal = made();
    EXPECT_EQ(journal.line().branch, 0xbeefU);
    EXPECT_EQ(journal.next_tick(), 150);
    EXPECT_EQ(journal.newest_snapshot()->tick, 0);
    append(journal, 150, 160);
    EXPECT_TRUE(journal.begin(0, {200, world_at(200), {}}, "dropped"));
    append(journal, 200, 210);
    journal.agree(210);
    EXPECT_TRUE(journal.begin(0xbeef, {160, world_at(160), {}}, "again"));
    append(journal, 160, 170);
  }
  Journal journal = Journal::open_to_read(file_);
  ASSERT_EQ(journal.lines().size(), 2U);
  EXPECT_EQ(ticks_of(journal), range(0, 170));
  journal.show(0);
  std::vector<Tick> session = range(0, 80);
  for (const Tick tick : range(200, 210)) session.push_back(tick);
  EXPECT_EQ(ticks_of(journal), session);
}

TEST_F(JournalTest, TakesWhatLeadsToTheSessionForTheSessions) {
  make_small();
  Journal journal = made();
  journal.agree(60);
  EXPECT_TRUE(journal.begin(0, {100, world_at(100), {}}, "ended"));
  append(journal, 100, 110);
  EXPECT_EQ(journal.lines().size(), 1U);
  EXPECT_EQ(ticks_of(journal), range(0, 110));
  EXPECT_TRUE(journal.begin(0, {80, world_at(80), {}}, "ended"));
  append(journal, 80, 90);
  EXPECT_EQ(journal.lines().size(), 2U);
  EXPECT_EQ(ticks_of(journal), range(0, 90));
}

TEST_F(JournalTest, KeepsWhatWasAgreedOnBeyondASnapshotThatLeadsThere) {
  make_small();
  Journal journal = made();
  journal.agree(90);
  EXPECT_TRUE(journal.begin(0, {80, world_at(80), {}}, "ended"));
  append(journal, 90, 95);
  EXPECT_EQ(ticks_of(journal), range(0, 95));
}

TEST_F(JournalTest, KeepsASnapshotOfTheStateInWhichABranchLeft) {
  make_small();
  {
    Journal journal = made();
    journal.agree(100);
    EXPECT_TRUE(journal.branch_off(7, "alone"));
  }
  Journal journal = Journal::open_to_read(file_);
  journal.show(0);
  EXPECT_EQ(journal.snapshot_ticks(), (std::vector<Tick>{0, 100}));
}

// As it was before there were lines.
TEST_F(JournalTest, FilesOfTheFirstVersionAreReadAndGoneOnWith) {
  make_small();
  run_sql(file_, "DROP TABLE lines; PRAGMA user_version = 1");
  {
    Journal journal = Journal::open_to_read(file_);
    EXPECT_EQ(ticks_of(journal), range(0, 100));
    EXPECT_EQ(journal.line().agreed, 100);
  }
  {
    Journal journal = made();
    append(journal, 100, 110);
    EXPECT_TRUE(journal.branch_off(7, "alone"));
  }
  Journal journal = Journal::open_to_read(file_);
  ASSERT_EQ(journal.lines().size(), 2U);
  EXPECT_EQ(journal.lines()[0].agreed, 100);
  EXPECT_EQ(ticks_of(journal), range(100, 110));
  journal.show(0);
  EXPECT_EQ(ticks_of(journal), range(0, 100));
}

TEST_F(JournalTest, KeepsASnapshotAMinuteAndTheNewestTwo) {
  Journal journal = made();
  journal.snapshot(0, world_at(0));
  for (Tick tick = 0; tick < 20000; ++tick) {
    append(journal, tick);
    if (tick % 500 == 499) journal.snapshot(tick + 1, world_at(tick + 1));
  }
  ASSERT_TRUE(journal.flush());
  // A minute is 6000 ticks of 10 ms.
  EXPECT_EQ(journal.snapshot_ticks(), (std::vector<Tick>{0, 6000, 12000, 18000, 19500, 20000}));
  EXPECT_EQ(journal.tick_count(), 20000U);
}

TEST_F(JournalTest, IsItsOwnersAlone) {
  make_small();
  Journal journal = made();
  append(journal, 100);
  ASSERT_TRUE(journal.flush());
  for (const char* ending : {"", "-wal", "-shm"}) {
    struct stat status {};
    ASSERT_EQ(stat((file_.string() + ending).c_str(), &status), 0) << ending;
    EXPECT_EQ(status.st_mode & 0777U, 0600U) << ending;
  }
}

TEST_F(JournalTest, NotesAreTextInOneLine) {
  Journal journal = made();
  journal.note(1, "chat", "a\x1b[2J\n\xff" + std::string(2000, 'x'));
  ASSERT_EQ(journal.notes().size(), 1U);
  EXPECT_EQ(journal.notes()[0].text, "a[2J" + std::string(1020, 'x'));
}

TEST_F(JournalTest, AnySqliteToolReadsItWhileItIsWritten) {
  Journal journal = made();
  journal.snapshot(0, world_at(0));
  append(journal, 0, 50);
  journal.note(3, "joined", "Ann");
  ASSERT_TRUE(journal.flush());
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open_v2(file_.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  std::string answer;
  const auto keep = [](void* out, int count, char** values, char**) {
    for (int i = 0; i < count; ++i) *static_cast<std::string*>(out) += std::string(values[i]) + " ";
    return 0;
  };
  ASSERT_EQ(sqlite3_exec(database,
                         "SELECT count(*), max(tick) FROM ticks; SELECT session, model_hash FROM head;"
                         "SELECT inputs FROM ticks WHERE tick = 7; SELECT kind, text FROM notes; PRAGMA journal_mode",
                         keep, &answer, nullptr),
            SQLITE_OK)
      << sqlite3_errmsg(database);
  EXPECT_EQ(answer, "50 49 0123abcd fedcba9876543210 inputs of 7 joined Ann wal ");
  append(journal, 50, 60);
  EXPECT_TRUE(journal.flush()) << journal.status();
  sqlite3_close(database);
  EXPECT_EQ(ticks_of(journal), range(0, 60));
}

TEST_F(JournalTest, RefusesWhatIsNoJournalInASentence) {
  refusal(folder_ / "missing.journal", ErrorCode::not_found);
  std::ofstream(folder_ / "text.journal") << std::string(5000, 'x');
  EXPECT_NE(refusal(folder_ / "text.journal", ErrorCode::damaged_file).find("not the journal"), std::string::npos);
  run_sql(folder_ / "other.journal", "CREATE TABLE ticks(tick)");
  EXPECT_NE(refusal(folder_ / "other.journal", ErrorCode::damaged_file).find("not the journal"), std::string::npos);
  std::filesystem::create_directory(folder_ / "folder.journal");
  refusal(folder_ / "folder.journal", ErrorCode::damaged_file);
  EXPECT_THROW(Journal::open_or_create(folder_ / "text.journal", head()), Error);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "text.journal"), 5000U);  // left as it was
}

TEST_F(JournalTest, SaysThatItIsOfANewerVersion) {
  make_small();
  run_sql(file_, "PRAGMA user_version = 3");
  EXPECT_NE(refusal(file_, ErrorCode::unsupported).find("newer"), std::string::npos);
}

TEST_F(JournalTest, IsNotTakenForAnotherSession) {
  make_small();
  JournalHead other = head();
  other.session = "ffff";
  EXPECT_EQ(code_of([&] { Journal::open_or_create(file_, other); }), ErrorCode::refused);
  other = head();
  other.model_hash += 1;
  EXPECT_EQ(code_of([&] { Journal::open_or_create(file_, other); }), ErrorCode::refused);
}

TEST_F(JournalTest, NoticesEveryRowThatWasChangedOrTakenOut) {
  for (const char* sql : {"UPDATE ticks SET inputs = 'x' WHERE tick = 30",
                          "UPDATE ticks SET state_hash = 1 WHERE tick = 99",
                          "DELETE FROM ticks WHERE tick = 50",
                          "DELETE FROM ticks WHERE tick < 10",
                          "UPDATE ticks SET chain = 5 WHERE tick = 7",
                          "UPDATE snapshots SET world = 'x' WHERE tick = 100",
                          "UPDATE snapshots SET rest = 'x' WHERE tick = 0",
                          "UPDATE snapshots SET begins = 1 WHERE tick = 100",
                          "UPDATE notes SET text = 'bye' WHERE tick = 50",
                          "UPDATE notes SET hand = NULL",
                          "UPDATE notes SET hand = 0 WHERE tick = 51",
                          "UPDATE head SET session = 'x'",
                          "UPDATE head SET folder = 'x'",
                          "UPDATE head SET model_hash = 'fedcba9876543211'",
                          "UPDATE head SET scene = ''",
                          "DELETE FROM head",
                          "DROP TABLE notes",
                          "DELETE FROM snapshots WHERE tick = 0",
                          "UPDATE lines SET agreed = 100",
                          "UPDATE lines SET reason = 'x'",
                          "DELETE FROM lines",
                          "DROP TABLE lines",
                          "UPDATE ticks SET tick = tick + (1 << 48) WHERE tick = 99"}) {
    SCOPED_TRACE(sql);
    std::filesystem::remove(file_);
    make_small();
    run_sql(file_, sql);
    EXPECT_THROW(Journal::open(file_), Error);
    EXPECT_THROW(Journal::open_to_read(file_), Error);
  }
}

TEST_F(JournalTest, DamagedAnywhereIsRefusedOrTheSame) {
  make_small();
  std::ifstream in(file_, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += 37) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << bytes;
    try {
      Journal journal = Journal::open(file_);
      EXPECT_EQ(ticks_of(journal), range(0, 100)) << at;
      EXPECT_EQ(journal.newest_snapshot()->world, world_at(100)) << at;
    } catch (const Error&) {
      ++refused;
    }
    for (const char* ending : {"-wal", "-shm"}) std::filesystem::remove(file_.string() + ending);
  }
  EXPECT_GT(refused, 20U);
  std::ofstream(file_, std::ios::binary | std::ios::trunc) << whole.substr(0, whole.size() / 2);
  EXPECT_THROW(Journal::open(file_), Error);
}

TEST_F(JournalTest, IsWrittenByOneProgramAtATime) {
  Journal journal = made();
  const auto second = [&] {
    try {
      Journal::open_or_create(file_, head());
    } catch (const Error& error) {
      return error.code() == ErrorCode::busy ? 1 : 2;
    }
    return 3;
  };
  EXPECT_EQ(in_a_child(second), 1);
  EXPECT_EQ(second(), 1);  // nor twice by one
  journal.snapshot(0, world_at(0));
  append(journal, 0, 10);
  ASSERT_TRUE(journal.flush());
  EXPECT_EQ(in_a_child([&] {
              Journal read = Journal::open_to_read(file_);
              return read.tick_count() == 10 ? 0 : 1;
            }),
            0);
  EXPECT_THROW(Journal::open_to_read(file_).note(0, "a", "b"), Error);
  journal = Journal::open_or_create(folder_ / "another.journal", head());
  EXPECT_EQ(in_a_child(second), 3);  // now it is free
}

TEST_F(JournalTest, KilledInTheMiddleLosesAtMostWhatWasNotFlushed) {
  for (int round = 0; round < 8; ++round) {
    std::filesystem::remove(file_);
    int told[2];
    ASSERT_EQ(pipe(told), 0);
    const pid_t child = fork();
    if (child == 0) {
      try {
        Journal journal = made();
        journal.snapshot(0, world_at(0));
        for (Tick tick = 0;; ++tick) {
          if (!append(journal, tick)) _exit(1);
          if (tick % 25 == 24) journal.snapshot(tick + 1, world_at(tick + 1));
          if (tick % 10 != 9) continue;
          if (!journal.flush()) _exit(2);
          if (write(told[1], &tick, sizeof tick) != sizeof tick) _exit(3);
        }
      } catch (...) {
        _exit(4);
      }
    }
    close(told[1]);
    Tick flushed = -1;
    for (int i = 0; i < 5 + 7 * round; ++i) ASSERT_EQ(read(told[0], &flushed, sizeof flushed), ssize_t{sizeof flushed});
    kill(child, SIGKILL);
    while (read(told[0], &flushed, sizeof flushed) == sizeof flushed) {
    }
    close(told[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));

    Journal journal = made();
    const std::vector<Tick> ticks = ticks_of(journal);
    EXPECT_EQ(ticks, range(0, static_cast<Tick>(ticks.size())));
    EXPECT_GE(static_cast<Tick>(ticks.size()), flushed + 1);
    EXPECT_LE(static_cast<Tick>(ticks.size()), flushed + 1 + 10);
    append(journal, static_cast<Tick>(ticks.size()), static_cast<Tick>(ticks.size()) + 5);
    EXPECT_TRUE(journal.flush());
  }
}

// What runs when it is read or written may run for ever.
TEST_F(JournalTest, WithAViewOrATriggerIsRefused) {
  for (const std::string table : {"head", "ticks", "lines", "snapshots", "notes"})
    for (const std::string& sql : {"DROP TABLE " + table + "; CREATE VIEW " + table +
                                       " AS WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 FROM r) SELECT n AS "
                                       "tick, n AS number, n AS line "
                                       "FROM r WHERE n < 0",
                                   "CREATE TRIGGER t AFTER INSERT ON " + table +
                                       " BEGIN SELECT count(*) FROM (WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + "
                                       "1 FROM r) SELECT n FROM r); "
                                       "END"}) {
      SCOPED_TRACE(sql);
      std::filesystem::remove(file_);
      make_small();
      run_sql(file_, sql.c_str());
      EXPECT_EQ(in_a_child([&] {
                  alarm(30);
                  for (const auto open : {&Journal::open, &Journal::open_to_read}) {
                    try {
                      open(file_);
                      return 1;
                    } catch (const Error& error) {
                      if (error.code() != ErrorCode::damaged_file) return 2;
                    }
                  }
                  return 0;
                }),
                0);
    }
}

// SQLite would open it and wait for a writer that never comes.
TEST_F(JournalTest, IsNotReadBesideAPipe) {
  for (const char* ending : {"-journal", "-wal", "-shm"})
    for (const bool is_there : {true, false}) {
      const TemporaryFolder folder;
      const std::filesystem::path file = folder / "a.journal";
      if (is_there) create_journal(file, head());
      ASSERT_EQ(mkfifo((file.string() + ending).c_str(), 0600), 0);
      EXPECT_EQ(in_a_child([&] {
                  alarm(30);
                  try {
                    if (is_there)
                      Journal::open(file);
                    else
                      Journal::open_or_create(file, head());
                  } catch (const Error& error) {
                    return std::string(error.what()).find(ending) != std::string::npos ? 0 : 1;
                  }
                  return 2;
                }),
                0)
          << ending << is_there;
    }
}

}  // namespace
}  // namespace cotouch::this_file

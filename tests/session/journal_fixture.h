// What the tests of journals share: a world that says which tick it is of, and a file for a journal of it.
#pragma once

#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/session/journal.h>

#include "support/temporary_folder.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch::testing_journal {

inline std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline JournalHead head() {
  return {"0123abcd", R"({"scene":"docking"})", 0xfedcba9876543210ULL, "0a1b2c"};
}

// A world that says which tick it is of, and what led there.
inline std::vector<std::byte> world_at(Tick tick) {
  return bytes_of("the world after " + std::to_string(tick) + " ticks");
}
inline std::vector<std::byte> inputs_of(Tick tick) {
  return bytes_of("inputs of " + std::to_string(tick));
}
inline std::uint64_t hash_after(Tick tick) {
  return hash_bytes(world_at(tick + 1));
}
inline bool append(Journal& journal, Tick tick) {
  return journal.append(tick, inputs_of(tick), hash_after(tick));
}
inline void append(Journal& journal, Tick from, Tick to) {
  for (Tick tick = from; tick < to; ++tick) ASSERT_TRUE(append(journal, tick)) << tick << ": " << journal.status();
}

// The ticks that are there, each checked to be what was written.
inline std::vector<Tick> ticks_of(Journal& journal, Tick from = 0) {
  std::vector<Tick> ticks;
  journal.for_each_tick(from, [&](const JournalTick& tick) {
    const std::vector<std::byte> inputs = inputs_of(tick.tick);
    EXPECT_TRUE(std::ranges::equal(tick.inputs, inputs)) << tick.tick;
    EXPECT_EQ(tick.state_hash, hash_after(tick.tick));
    ticks.push_back(tick.tick);
    return true;
  });
  return ticks;
}
inline std::vector<Tick> range(Tick from, Tick to) {
  std::vector<Tick> ticks;
  for (Tick tick = from; tick < to; ++tick) ticks.push_back(tick);
  return ticks;
}

// Changes a journal's rows as any tool could.
inline void run_sql(const std::filesystem::path& file, const char* sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
}

inline std::string refusal(const std::filesystem::path& file, ErrorCode code) {
  try {
    Journal::open(file);
    ADD_FAILURE() << "it was opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(file.filename().string()), std::string::npos) << error.what();
    return error.what();
  }
  return {};
}

class JournalTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "session.journal";

  Journal made() const { return Journal::open_or_create(file_, head()); }
  // A hundred ticks from 0 on, two snapshots and a note.
  void make_small() const {
    Journal journal = made();
    journal.snapshot(0, world_at(0), bytes_of("rest"));
    append(journal, 0, 100);
    journal.snapshot(100, world_at(100));
    journal.note(50, "said", "hello", 3);
    journal.note(51, "desync", "");
  }
};

}  // namespace cotouch::testing_journal

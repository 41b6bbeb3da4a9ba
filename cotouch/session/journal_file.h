// A journal's file: made, checked row by row, and kept from being written by two programs.
#pragma once

#include <cotouch/session/database.h>
#include <cotouch/session/journal.h>

namespace cotouch {

// Held by whoever writes a journal: a locked file beside it ("-lock"), which is gone with its owner, killed or not.
// Throws Error if another has it, or if nothing can be written there.
class JournalLock {
 public:
  explicit JournalLock(const std::filesystem::path& journal);
  ~JournalLock();
  JournalLock(const JournalLock&) = delete;
  JournalLock& operator=(const JournalLock&) = delete;

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
};

// A new file with a head and nothing else; nothing happens if there is something already. For its owner's eyes only.
void create_journal(const std::filesystem::path& file, const JournalHead& head);
// The rows of line n have n of these added to their ticks.
inline constexpr Tick k_line_ticks = Tick{1} << 48;

// How far a line is written.
struct JournalEnd {
  std::uint64_t chain = 0;
  std::optional<Tick> end, next;  // after the last tick; which may come next
};

struct JournalContents {
  Database database;
  JournalHead head;
  std::vector<JournalLine> lines;  // by number
  std::vector<JournalEnd> ends;    // theirs
};
// Throws Error unless every row is what was written.
JournalContents check_journal(const std::filesystem::path& file, Database::Access access);

// Ends the log beside the file ("-wal") by putting all that is in it into the file. A sentence if that cannot be done.
std::string put_into_one_file(const std::filesystem::path& file, Database& database);

std::uint64_t chain_of(std::uint64_t before, const JournalTick& tick);
std::uint64_t checksum_of(Tick tick, std::span<const std::byte> world, std::span<const std::byte> rest, bool begins);
std::uint64_t checksum_of(const JournalNote& note);
JournalNote note_in(const Statement& row);  // tick, kind, text, hand
void write_line(Database& database, const JournalLine& line);

[[noreturn]] void throw_unreadable(const std::filesystem::path& file, const DatabaseError& error);
// What to tell if something cannot be written.
std::string unwritable(const std::filesystem::path& file, const DatabaseError& error);

}  // namespace cotouch

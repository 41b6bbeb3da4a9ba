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
// Within a transaction.

struct JournalContents {
  Database database;
  JournalHead head;
  std::uint64_t chain = 0;
  std::optional<Tick> end, next;  // after the last tick; which may come next
};
// Throws Error unless every row is what was written.
JournalContents check_journal(const std::filesystem::path& file, Database::Access access);

std::uint64_t chain_of(std::uint64_t before, const JournalTick& tick);
std::uint64_t checksum_of(Tick tick, std::span<const std::byte> world, std::span<const std::byte> rest, bool begins);
std::uint64_t checksum_of(const JournalNote& note);
JournalNote note_in(const Statement& row);  // tick, kind, text, hand

[[noreturn]] void throw_unreadable(const std::filesystem::path& file, const DatabaseError& error);
// What to tell if something cannot be written.
std::string unwritable(const std::filesystem::path& file, const DatabaseError& error);

}  // namespace cotouch

// What is done to the rows of a journal's file, within a transaction (journal.h has the tables).
#pragma once

#include <cotouch/session/journal_file.h>

namespace cotouch {

// The key of a tick's row.
inline Tick key_of(std::uint32_t line, Tick tick) {
  return line * k_line_ticks + tick;
}

class JournalRows {
 public:
  // Keeps the chains in `ends` as they are in the file.
  JournalRows(Database& database, std::vector<JournalEnd>& ends) : database_(database), ends_(ends) {}

  void add_tick(std::uint32_t line, const JournalTick& tick);
  void add_snapshot(std::uint32_t line, Tick tick, std::span<const std::byte> world, std::span<const std::byte> rest);
  void add_note(std::uint32_t line, JournalNote note);
  // What is there from this tick on moves to the line `to`, which is empty, with what leads there from the newest
  // snapshot before it.
  void cut(std::uint32_t line, Tick tick, std::uint32_t to);

 private:
  void write_snapshot(std::uint32_t line, Tick tick, std::span<const std::byte> world, std::span<const std::byte> rest);
  void copy_from(std::uint32_t line, Tick from, std::uint32_t to);
  void move_notes(std::uint32_t line, Tick from, std::uint32_t to);
  void remove_from(std::uint32_t line, Tick tick);

  Database& database_;
  std::vector<JournalEnd>& ends_;
};

}  // namespace cotouch

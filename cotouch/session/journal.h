// What an observer has seen agreed, on disk: with it a session goes on after all who took part in it were gone.
//
// A tick's number is that of the state it begins with: a world's state after `t` steps, the inputs of tick `t`, the
// state after t + 1 steps. A journal holds the inputs of every tick, the hash of the state they led to, and now and
// then a whole state. Ticks follow each other without a gap, except that a snapshot may begin a new stretch: whoever
// was away has missed some.
//
// Line 0 is the session's. What turned out not to be the session's, or is not known to be, is kept apart on lines of
// their own: ticks that were written and not agreed on when this program joined the session again, and those of a part
// that went on without the larger one. Such a line begins with the newest snapshot before it left the other, so it is
// whole by itself. On line 0 only ticks before `agreed` are known to be agreed.
//
// The file is an SQLite database (write-ahead log), which any tool opens, also while it is being written:
//   head(session, scene, model_hash, folder, checksum)     one row; the hash as sixteen hexadecimal digits
//   lines(line, branch, parent, left_at, agreed, used, reason, checksum)
//                                                          ticks before `left_at` are the parent's as well; `used` is
//                                                          largest for the line that was written last
//   ticks(tick, inputs, state_hash, chain)                 `chain` is XXH3 of the chain before (0 at first), tick,
//                                                          state_hash and inputs, so that nothing can be changed or
//                                                          taken out
//   snapshots(tick, world, rest, begins, checksum)         `begins` is 1 if no tick before it led to this state
//   notes(number, tick, kind, text, hand, checksum)        who joined, left, said what; NULL: no hand
// The ticks of line n have n * 2^48 added to them in these tables; each line has a chain of its own. Files of version 1
// had no lines: all of them is line 0 and agreed.
// Numbers of 64 bits are stored as SQLite's signed ones with the same bits. Checksums are XXH3 of what is before them
// in the row (texts and bytes with their lengths before them, no hand as -1). Everything from one flush to the next is
// one transaction: a program that is killed loses at most that.
//
// A disk that is full does not stop a session: what cannot be written waits in memory, within bounds, and is written
// once there is room.
#pragma once

#include <cotouch/session/tick.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

struct JournalHead {
  std::string session;           // its id, hexadecimal
  std::string scene;             // as recordings describe it (format_recorded_scene)
  std::uint64_t model_hash = 0;  // of its world
  std::string folder;            // of the scene, among those that came from others; empty if this program had it

  friend bool operator==(const JournalHead&, const JournalHead&) = default;
};

struct JournalTick {
  Tick tick = 0;
  std::span<const std::byte> inputs;  // as encode_tick makes them; valid during the call that shows it
  std::uint64_t state_hash = 0;       // after it
};

struct JournalSnapshot {
  Tick tick = 0;
  std::vector<std::byte> world;  // of a WorldState
  std::vector<std::byte> rest;   // what else its writer needs to go on from here
};

struct JournalLine {
  std::uint32_t line = 0;
  std::uint64_t branch = 0;  // of the session (roll.h); 0: of none, or not known
  std::uint32_t parent = 0;
  Tick left = 0;    // its ticks before this one are the parent's as well
  Tick agreed = 0;  // ticks before this one were agreed on
  std::string reason;
  std::int64_t used = 0;  // the largest is the one that was written last
};

struct JournalNote {
  Tick tick = 0;
  std::string kind, text;  // one line each
  std::optional<std::uint32_t> hand = {};

  friend bool operator==(const JournalNote&, const JournalNote&) = default;
};

class Journal {
 public:
  // All three check every row and throw Error: no journal, of a newer version, damaged, of another session, not
  // writable, or just being written by another program (ErrorCode::busy).
  static Journal open_or_create(const std::filesystem::path& file, const JournalHead& head);
  static Journal open(const std::filesystem::path& file);
  // As it is now, without waiting for who writes it. Nothing can be added.
  static Journal open_to_read(const std::filesystem::path& file);
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();  // flushes

  const JournalHead& head() const;

  // These buffer, and flush if the last time was half a second ago. They return false while what they were given is not
  // sure to be written: status() says why.
  //
  // A tick that does not follow the last is taken only if a snapshot begins there (needs_snapshot). One that is there
  // already is not written again; false if its hash was another.
  bool append(Tick tick, std::span<const std::byte> inputs, std::uint64_t state_hash);
  // The state before the inputs of `tick`. It begins a new stretch if there is no tick before it that led to this
  // world. Kept are those that begin a stretch, one a minute and the newest two.
  bool snapshot(Tick tick, std::span<const std::byte> world, std::span<const std::byte> rest = {});
  // The kinds that recordings know are "joined" (the text is a name), "left", "said" and "marked". What no terminal
  // should show is left out, and long texts are cut.
  bool note(Tick tick, std::string_view kind, std::string_view text, std::optional<std::uint32_t> hand = {});
  // Ticks before this one are agreed on, on the line that is written.
  void agree(Tick before);
  // What is not agreed on, and what comes, is of this branch of the session.
  bool branch_off(std::uint64_t branch, std::string_view reason);
  // Goes on from here, on the session's line (0) or on that of a branch. What is written there, is not agreed on and
  // does not lead to this snapshot becomes a line of its own, for this reason.
  bool begin(std::uint64_t branch, const JournalSnapshot& snapshot, std::string_view reason);
  // Writes all there is to write, in one transaction; to be called twice a second.
  bool flush();
  // Ends it in order: writes what waits and puts what is in the log ("-wal") into the file itself. Returns a sentence
  // about what is missing, or which files belong together, if that cannot be done. Nothing is added any more.
  std::string finish();

  // The next tick is missing, or there was none yet: a snapshot must come first.
  bool needs_snapshot() const;
  // A sentence if the disk does not take what it is given; empty if all is well.
  const std::string& status() const;

  const std::vector<JournalLine>& lines() const;
  // What follows is about the line that was written last, or about another in a journal that was opened for reading.
  void show(std::uint32_t line);
  const JournalLine& line() const;

  // What is there, written or waiting.
  std::optional<Tick> next_tick() const;  // after the last; none if a snapshot is needed first
  std::optional<JournalSnapshot> newest_snapshot();
  // The one from which ticks go on without a gap to the newest before this one.
  std::optional<JournalSnapshot> newest_beginning(Tick before = k_never);
  std::vector<Tick> snapshot_ticks();
  std::vector<JournalNote> notes();  // with those of the lines that it left, until then
  std::uint64_t tick_count();
  // In order, from this tick on, until the callback returns false.
  void for_each_tick(Tick from, const std::function<bool(const JournalTick&)>& show);

 private:
  struct State;
  explicit Journal(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cotouch

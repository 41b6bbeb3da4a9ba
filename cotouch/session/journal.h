// What an observer has seen agreed, on disk: with it a session goes on after all who took part in it were gone.
//
// A tick's number is that of the state it begins with: a world's state after `t` steps, the inputs of tick `t`, the
// state after t + 1 steps. A journal holds the inputs of every tick, the hash of the state they led to, and now and
// then a whole state. Ticks follow each other without a gap, except that a snapshot may begin a new stretch: whoever
// was away has missed some.
//
// The file is an SQLite database (write-ahead log), which any tool opens, also while it is being written:
//   head(session, scene, model_hash, folder, checksum)     one row; the hash as sixteen hexadecimal digits
//   ticks(tick, inputs, state_hash, chain)                 `chain` is XXH3 of the chain before (0 at first), tick,
//                                                          state_hash and inputs, so that nothing can be changed or
//                                                          taken out
//   snapshots(tick, world, rest, begins, checksum)         `begins` is 1 if no tick before it led to this state
//   notes(number, tick, kind, text, hand, checksum)        who joined, left, said what; NULL: no hand
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
  // Writes all there is to write, in one transaction; to be called twice a second.
  bool flush();
  // Forgets the ticks and snapshots from this one on: they turned out not to be what was agreed. A snapshot comes next.
  bool rewind(Tick tick);

  // The next tick is missing, or there was none yet: a snapshot must come first.
  bool needs_snapshot() const;
  // A sentence if the disk does not take what it is given; empty if all is well.
  const std::string& status() const;

  // What is there, written or waiting.
  std::optional<Tick> next_tick() const;  // after the last; none if a snapshot is needed first
  std::optional<JournalSnapshot> newest_snapshot();
  // The one from which ticks go on without a gap to the newest.
  std::optional<JournalSnapshot> newest_beginning();
  std::vector<Tick> snapshot_ticks();
  std::vector<JournalNote> notes();
  std::uint64_t tick_count();
  // In order, from this tick on, until the callback returns false.
  void for_each_tick(Tick from, const std::function<bool(const JournalTick&)>& show);

 private:
  struct State;
  explicit Journal(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cotouch

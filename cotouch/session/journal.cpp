#include <cotouch/session/journal.h>

#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/session/database.h>
#include <cotouch/session/journal_file.h>
#include <cotouch/session/names.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>

namespace cotouch {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto k_flush_every = std::chrono::milliseconds(500);
constexpr std::size_t k_most_waiting = 32U << 20U;    // bytes, while the disk takes nothing
constexpr std::size_t k_most_inputs = 1U << 20U;      // bytes of a tick
constexpr std::size_t k_most_snapshot = 128U << 20U;  // bytes
constexpr std::size_t k_longest_kind = 32, k_longest_text = 1024;

std::string cut(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0U) == 0x80U) --most;
  text.resize(most);
  return text;
}

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

// What is to be written.
struct Waiting {
  enum class Kind : std::uint8_t { tick, snapshot, note, rewind };
  Kind kind;
  Tick tick = 0;
  std::vector<std::byte> bytes = {}, rest = {};
  std::uint64_t state_hash = 0;
  std::string word = {}, text = {};
  std::optional<std::uint32_t> hand = {};

  std::size_t size() const { return sizeof(Waiting) + bytes.size() + rest.size() + word.size() + text.size(); }
};

}  // namespace

struct Journal::State {
  State(std::unique_ptr<JournalLock> held, fs::path path, JournalContents contents)
      : lock(std::move(held)),
        file(std::move(path)),
        database(std::move(contents.database)),
        head(std::move(contents.head)),
        chain(contents.chain),
        end(contents.end),
        next(contents.next) {}
  ~State() {
    if (lock) flush();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::unique_ptr<JournalLock> lock;  // none if it is only read
  fs::path file;
  Database database;
  JournalHead head;
  std::uint64_t chain;       // of the last tick that is written
  std::optional<Tick> end;   // after the last tick, written or waiting
  std::optional<Tick> next;  // that may be appended
  std::deque<Waiting> waiting;
  std::size_t waiting_bytes = 0;
  Tick written_before = k_never;  // ticks that are written from here on are to be forgotten
  Clock::time_point flushed = Clock::now();
  std::string status;

  bool put(Waiting item);
  bool flush();
  void write(const Waiting& item);
  void make_room();
  std::optional<std::uint64_t> hash_after(Tick tick);
  template <class Work>
  auto reading(const Work& work) const;
};

// What a reader is told if the file turns out to be damaged after all.
template <class Work>
auto Journal::State::reading(const Work& work) const {
  try {
    return work();
  } catch (const DatabaseError& error) {
    throw_unreadable(file, error);
  }
}

bool Journal::State::put(Waiting item) {
  if (!lock) throw Error("The journal " + file.string() + " was opened for reading only.", ErrorCode::invalid_argument);
  waiting_bytes += item.size();
  waiting.push_back(std::move(item));
  if (Clock::now() - flushed >= k_flush_every) flush();
  if (waiting_bytes > k_most_waiting && !flush()) make_room();
  return status.empty();
}

void Journal::State::write(const Waiting& item) {
  switch (item.kind) {
    case Waiting::Kind::tick: {
      chain = chain_of(chain, {item.tick, item.bytes, item.state_hash});
      database.prepare("INSERT INTO ticks VALUES (?1, ?2, ?3, ?4)")
          .bind(1, item.tick)
          .bind(2, item.bytes)
          .bind(3, static_cast<std::int64_t>(item.state_hash))
          .bind(4, static_cast<std::int64_t>(chain))
          .run();
      break;
    }
    case Waiting::Kind::snapshot: {
      Statement before = database.prepare("SELECT state_hash FROM ticks WHERE tick = ?1");
      before.bind(1, item.tick - 1);
      const bool begins = !before.next() || static_cast<std::uint64_t>(before.number(0)) != hash_bytes(item.bytes);
      database.prepare("INSERT OR REPLACE INTO snapshots VALUES (?1, ?2, ?3, ?4, ?5)")
          .bind(1, item.tick)
          .bind(2, item.bytes)
          .bind(3, item.rest)
          .bind(4, std::int64_t{begins})
          .bind(5, static_cast<std::int64_t>(checksum_of(item.tick, item.bytes, item.rest, begins)))
          .run();
      database.run(
          "DELETE FROM snapshots WHERE begins = 0"
          " AND tick NOT IN (SELECT tick FROM snapshots ORDER BY tick DESC LIMIT 2)"
          " AND tick NOT IN (SELECT min(tick) FROM snapshots GROUP BY tick / 6000)");
      break;
    }
    case Waiting::Kind::note: {
      Statement row =
          database.prepare("INSERT INTO notes(tick, kind, text, hand, checksum) VALUES (?1, ?2, ?3, ?4, ?5)");
      row.bind(1, item.tick).bind(2, item.word).bind(3, item.text);
      if (item.hand) row.bind(4, std::int64_t{*item.hand});
      row.bind(5, static_cast<std::int64_t>(checksum_of({item.tick, item.word, item.text, item.hand}))).run();
      break;
    }
    case Waiting::Kind::rewind: {
      database.prepare("DELETE FROM ticks WHERE tick >= ?1").bind(1, item.tick).run();
      database.prepare("DELETE FROM snapshots WHERE tick >= ?1").bind(1, item.tick).run();
      Statement last = database.prepare("SELECT chain FROM ticks ORDER BY tick DESC LIMIT 1");
      chain = last.next() ? static_cast<std::uint64_t>(last.number(0)) : 0;
      break;
    }
  }
}

bool Journal::State::flush() {
  flushed = Clock::now();
  if (waiting.empty()) return status.empty();
  const std::uint64_t chain_before = chain;
  try {
    database.run("BEGIN IMMEDIATE");
    for (const Waiting& item : waiting) write(item);
    database.run("COMMIT");
  } catch (const DatabaseError& error) {
    chain = chain_before;
    status = unwritable(file, error);
    try {
      database.run("ROLLBACK");
    } catch (const DatabaseError&) {  // SQLite has done it already
    }
    return false;
  }
  waiting.clear();
  waiting_bytes = 0;
  written_before = k_never;
  status.clear();
  return true;
}

// The oldest ticks go, up to a snapshot, so that what is left is whole from there on; if there is none, all of them,
// and the next snapshot begins anew. Notes are small and stay as long as they are few.
void Journal::State::make_room() {
  const auto is_snapshot = [](const Waiting& item) { return item.kind == Waiting::Kind::snapshot; };
  const auto newest = std::find_if(waiting.rbegin(), waiting.rend(), is_snapshot);
  const bool none = newest == waiting.rend() || newest->size() > k_most_waiting / 2;
  const Tick from = none ? k_never : newest->tick;
  constexpr std::size_t k_most_notes = 1000;
  std::size_t notes = 0;
  std::erase_if(waiting, [&](const Waiting& item) {
    switch (item.kind) {
      case Waiting::Kind::tick:
      case Waiting::Kind::snapshot: return item.tick < from;
      case Waiting::Kind::note: return ++notes > k_most_notes;
      default: return false;
    }
  });
  waiting_bytes = 0;
  for (const Waiting& item : waiting) waiting_bytes += item.size();
  if (none || waiting_bytes > k_most_waiting / 2) {
    std::erase_if(waiting, [](const Waiting& item) {
      return item.kind == Waiting::Kind::tick || item.kind == Waiting::Kind::snapshot;
    });
    next.reset();
    waiting_bytes = 0;
    for (const Waiting& item : waiting) waiting_bytes += item.size();
  }
}

std::optional<std::uint64_t> Journal::State::hash_after(Tick tick) {
  for (auto item = waiting.rbegin(); item != waiting.rend(); ++item)
    if (item->kind == Waiting::Kind::tick && item->tick == tick) return item->state_hash;
  if (tick >= written_before) return {};
  return reading([&]() -> std::optional<std::uint64_t> {
    Statement found = database.prepare("SELECT state_hash FROM ticks WHERE tick = ?1");
    found.bind(1, tick);
    if (!found.next()) return {};
    return static_cast<std::uint64_t>(found.number(0));
  });
}

Journal::Journal(std::unique_ptr<State> state) : state_(std::move(state)) {
}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

Journal Journal::open_or_create(const fs::path& file, const JournalHead& head) {
  auto lock = std::make_unique<JournalLock>(file);
  create_journal(file, head);
  Journal journal(std::make_unique<State>(std::move(lock), file, check_journal(file, Database::Access::write)));
  if (journal.head().session != head.session || journal.head().model_hash != head.model_hash)
    throw Error("The journal " + file.string() + " is of another session; name another file.", ErrorCode::refused);
  return journal;
}

Journal Journal::open(const fs::path& file) {
  auto lock = std::make_unique<JournalLock>(file);
  return Journal(std::make_unique<State>(std::move(lock), file, check_journal(file, Database::Access::write)));
}

Journal Journal::open_to_read(const fs::path& file) {
  return Journal(std::make_unique<State>(nullptr, file, check_journal(file, Database::Access::read)));
}

const JournalHead& Journal::head() const {
  return state_->head;
}

bool Journal::append(Tick tick, std::span<const std::byte> inputs, std::uint64_t state_hash) {
  if (tick < 0 || inputs.size() > k_most_inputs)
    throw Error("A journal takes ticks from 0 on, with inputs of at most a mebibyte.", ErrorCode::invalid_argument);
  if (state_->end && tick < *state_->end) return state_->hash_after(tick) == state_hash && state_->status.empty();
  if (tick != state_->next) {
    state_->next.reset();
    return false;
  }
  state_->next = state_->end = tick + 1;
  return state_->put({.kind = Waiting::Kind::tick, .tick = tick, .bytes = copy_of(inputs), .state_hash = state_hash});
}

bool Journal::snapshot(Tick tick, std::span<const std::byte> world, std::span<const std::byte> rest) {
  if (tick < 0 || world.size() + rest.size() > k_most_snapshot)
    throw Error("A journal takes snapshots of ticks from 0 on, of at most 128 mebibytes.", ErrorCode::invalid_argument);
  if (!state_->end || tick >= *state_->end) state_->next = tick;
  return state_->put({.kind = Waiting::Kind::snapshot, .tick = tick, .bytes = copy_of(world), .rest = copy_of(rest)});
}

bool Journal::note(Tick tick, std::string_view kind, std::string_view text, std::optional<std::uint32_t> hand) {
  return state_->put({.kind = Waiting::Kind::note,
                      .tick = tick,
                      .word = cut(printable(kind), k_longest_kind),
                      .text = cut(printable(text), k_longest_text),
                      .hand = hand});
}

bool Journal::flush() {
  return state_->flush();
}

bool Journal::rewind(Tick tick) {
  State& state = *state_;
  std::erase_if(state.waiting, [&](const Waiting& item) {
    return item.tick >= tick && (item.kind == Waiting::Kind::tick || item.kind == Waiting::Kind::snapshot);
  });
  state.waiting_bytes = 0;
  for (const Waiting& item : state.waiting) state.waiting_bytes += item.size();
  state.written_before = std::min(state.written_before, tick);
  if (state.end) state.end = std::min(*state.end, tick);
  state.next.reset();
  return state.put({.kind = Waiting::Kind::rewind, .tick = tick}) && state.flush();
}

bool Journal::needs_snapshot() const {
  return !state_->next;
}

const std::string& Journal::status() const {
  return state_->status;
}

std::optional<Tick> Journal::next_tick() const {
  return state_->next;
}

namespace {

JournalSnapshot snapshot_in(const Statement& row) {
  return {row.number(0), copy_of(row.bytes(1)), copy_of(row.bytes(2))};
}

}  // namespace

std::optional<JournalSnapshot> Journal::newest_snapshot() {
  State& state = *state_;
  const Waiting* newest = nullptr;
  for (const Waiting& item : state.waiting)
    if (item.kind == Waiting::Kind::snapshot && (newest == nullptr || item.tick >= newest->tick)) newest = &item;
  return state.reading([&]() -> std::optional<JournalSnapshot> {
    Statement found =
        state.database.prepare("SELECT tick, world, rest FROM snapshots WHERE tick < ?1 ORDER BY tick DESC LIMIT 1");
    found.bind(1, state.written_before);
    if (found.next() && (newest == nullptr || found.number(0) > newest->tick)) return snapshot_in(found);
    if (newest != nullptr) return JournalSnapshot{newest->tick, newest->bytes, newest->rest};
    return {};
  });
}

std::optional<JournalSnapshot> Journal::newest_beginning() {
  State& state = *state_;
  if (state.lock) state.flush();
  return state.reading([&]() -> std::optional<JournalSnapshot> {
    Statement found =
        state.database.prepare("SELECT tick, world, rest FROM snapshots WHERE begins = 1 ORDER BY tick DESC LIMIT 1");
    if (!found.next()) return {};
    return snapshot_in(found);
  });
}

std::vector<Tick> Journal::snapshot_ticks() {
  State& state = *state_;
  std::vector<Tick> ticks;
  state.reading([&] {
    Statement row = state.database.prepare("SELECT tick FROM snapshots WHERE tick < ?1");
    row.bind(1, state.written_before);
    while (row.next()) ticks.push_back(row.number(0));
  });
  for (const Waiting& item : state.waiting)
    if (item.kind == Waiting::Kind::snapshot) ticks.push_back(item.tick);
  std::sort(ticks.begin(), ticks.end());
  ticks.erase(std::unique(ticks.begin(), ticks.end()), ticks.end());
  return ticks;
}

std::vector<JournalNote> Journal::notes() {
  State& state = *state_;
  std::vector<JournalNote> notes;
  state.reading([&] {
    Statement row = state.database.prepare("SELECT tick, kind, text, hand FROM notes ORDER BY number");
    while (row.next()) notes.push_back(note_in(row));
  });
  for (const Waiting& item : state.waiting)
    if (item.kind == Waiting::Kind::note) notes.push_back({item.tick, item.word, item.text, item.hand});
  return notes;
}

std::uint64_t Journal::tick_count() {
  std::uint64_t count = 0;
  for_each_tick(0, [&](const JournalTick&) { return ++count > 0; });
  return count;
}

void Journal::for_each_tick(Tick from, const std::function<bool(const JournalTick&)>& show) {
  State& state = *state_;
  const bool all = state.reading([&] {
    Statement row = state.database.prepare(
        "SELECT tick, inputs, state_hash FROM ticks WHERE tick >= ?1 AND tick < ?2 ORDER BY tick");
    row.bind(1, from).bind(2, state.written_before);
    while (row.next())
      if (!show({row.number(0), row.bytes(1), static_cast<std::uint64_t>(row.number(2))})) return false;
    return true;
  });
  if (!all) return;
  for (const Waiting& item : state.waiting)
    if (item.kind == Waiting::Kind::tick && item.tick >= from && !show({item.tick, item.bytes, item.state_hash}))
      return;
}

}  // namespace cotouch

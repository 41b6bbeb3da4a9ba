#include <cotouch/session/journal.h>

#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/session/database.h>
#include <cotouch/session/journal_file.h>
#include <cotouch/session/journal_rows.h>
#include <cotouch/session/names.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <set>

namespace cotouch {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto k_flush_every = std::chrono::milliseconds(500);
constexpr std::size_t k_most_waiting = 32U << 20U;    // bytes, while the disk takes nothing
constexpr std::size_t k_most_inputs = 1U << 20U;      // bytes of a tick
constexpr std::size_t k_most_snapshot = 128U << 20U;  // bytes
constexpr std::size_t k_longest_kind = 32, k_longest_text = 1024;

std::string cut_to(std::string text, std::size_t most) {
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
  enum class Kind : std::uint8_t { tick, snapshot, note, cut };
  Kind kind;
  std::uint32_t line = 0;
  Tick tick = 0;
  std::vector<std::byte> bytes = {}, rest = {};
  std::uint64_t state_hash = 0;
  std::string word = {}, text = {};
  std::optional<std::uint32_t> hand = {};
  std::uint32_t to = 0;  // cut: the line that has the ticks from this one on then

  Tick key() const { return key_of(line, tick); }
  std::size_t size() const { return sizeof(Waiting) + bytes.size() + rest.size() + word.size() + text.size(); }
};

}  // namespace

struct Journal::State {
  State(std::unique_ptr<JournalLock> held, fs::path path, JournalContents contents)
      : lock(std::move(held)),
        file(std::move(path)),
        database(std::move(contents.database)),
        head(std::move(contents.head)),
        lines(std::move(contents.lines)),
        ends(std::move(contents.ends)) {
    const auto newest = std::max_element(lines.begin(), lines.end(),
                                         [](const JournalLine& a, const JournalLine& b) { return a.used < b.used; });
    line = newest->line;
  }
  ~State() {
    if (lock) flush();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::unique_ptr<JournalLock> lock;  // none if it is only read
  fs::path file;
  Database database;
  JournalHead head;
  std::vector<JournalLine> lines;
  std::vector<JournalEnd> ends;     // theirs, written or waiting; chains of what is written
  std::uint32_t line = 0;           // that is written, or shown
  std::set<std::uint32_t> changed;  // lines that are to be written anew
  std::deque<Waiting> waiting;
  std::size_t waiting_bytes = 0;
  Clock::time_point flushed = Clock::now();
  std::string status;

  JournalEnd& end() { return ends[line]; }
  std::uint32_t new_line(std::uint64_t branch, std::string_view reason);
  void use(std::uint32_t number);
  bool cut(std::uint32_t from, Tick tick, std::uint32_t to);
  bool put(Waiting item);
  bool flush();
  void write(const Waiting& item);
  void make_room();
  std::optional<std::uint64_t> hash_after(std::uint32_t number, Tick tick);
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
  JournalRows rows(database, ends);
  switch (item.kind) {
    case Waiting::Kind::tick: return rows.add_tick(item.line, {item.tick, item.bytes, item.state_hash});
    case Waiting::Kind::snapshot: return rows.add_snapshot(item.line, item.tick, item.bytes, item.rest);
    case Waiting::Kind::note: return rows.add_note(item.line, {item.tick, item.word, item.text, item.hand});
    case Waiting::Kind::cut: return rows.cut(item.line, item.tick, item.to);
  }
}

std::uint32_t Journal::State::new_line(std::uint64_t branch, std::string_view reason) {
  JournalLine made;
  made.line = static_cast<std::uint32_t>(lines.size());
  made.branch = branch;
  made.reason = cut_to(printable(reason), k_longest_text);
  changed.insert(made.line);
  lines.push_back(std::move(made));
  ends.emplace_back();
  return lines.back().line;
}

void Journal::State::use(std::uint32_t number) {
  std::int64_t newest = 0;
  for (const JournalLine& other : lines) newest = std::max(newest, other.used);
  line = number;
  lines[number].used = newest + 1;
  changed.insert(number);
}

// The ticks from this one on are another line's.
bool Journal::State::cut(std::uint32_t from, Tick tick, std::uint32_t to) {
  lines[to].parent = from;
  lines[to].left = lines[to].agreed = tick;
  ends[to].end = ends[from].end;
  ends[to].next = ends[from].next;
  if (ends[from].end) ends[from].end = std::min(*ends[from].end, tick);
  ends[from].next.reset();
  return put({.kind = Waiting::Kind::cut, .line = from, .tick = tick, .to = to}) && flush();
}

bool Journal::State::flush() {
  flushed = Clock::now();
  if (waiting.empty() && changed.empty()) return status.empty();
  const std::vector<JournalEnd> before = ends;
  try {
    database.run("BEGIN IMMEDIATE");
    for (const Waiting& item : waiting) write(item);
    for (const std::uint32_t number : changed) write_line(database, lines[number]);
    database.run("COMMIT");
  } catch (const DatabaseError& error) {
    ends = before;
    status = unwritable(file, error);
    try {
      database.run("ROLLBACK");
    } catch (const DatabaseError&) {  // SQLite has done it already
    }
    return false;
  }
  waiting.clear();
  waiting_bytes = 0;
  changed.clear();
  status.clear();
  return true;
}

// The oldest ticks go, up to a snapshot, so that what is left is whole from there on; if there is none, all of them,
// and the next snapshot begins anew. Notes are small and stay as long as they are few.
void Journal::State::make_room() {
  const auto is_snapshot = [](const Waiting& item) { return item.kind == Waiting::Kind::snapshot; };
  const auto newest = std::find_if(waiting.rbegin(), waiting.rend(), is_snapshot);
  const bool none = newest == waiting.rend() || newest->size() > k_most_waiting / 2;
  // What follows it builds on it. Before it, what stands in another line leads nowhere once a piece of that is missing,
  // nor does what a cut has moved to another line since.
  std::size_t followed = waiting.size(), moved = 0, number = 0;
  if (!none) {
    followed = static_cast<std::size_t>(waiting.rend() - newest) - 1;
    for (std::size_t i = 0; i < followed; ++i)
      if (waiting[i].kind == Waiting::Kind::cut && waiting[i].line == newest->line) moved = i;
  }
  const std::uint32_t its_line = none ? 0 : newest->line;
  const Tick from = none ? k_never : newest->tick;
  constexpr std::size_t k_most_notes = 1000;
  std::size_t notes = 0;
  std::erase_if(waiting, [&](const Waiting& item) {
    const std::size_t i = number++;
    switch (item.kind) {
      case Waiting::Kind::tick:
      case Waiting::Kind::snapshot: return i < followed && (i < moved || item.line != its_line || item.tick < from);
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
    end().next.reset();
    waiting_bytes = 0;
    for (const Waiting& item : waiting) waiting_bytes += item.size();
  }
}

std::optional<std::uint64_t> Journal::State::hash_after(std::uint32_t number, Tick tick) {
  for (auto item = waiting.rbegin(); item != waiting.rend(); ++item)
    if (item->kind == Waiting::Kind::tick && item->line == number && item->tick == tick) return item->state_hash;
  return reading([&]() -> std::optional<std::uint64_t> {
    Statement found = database.prepare("SELECT state_hash FROM ticks WHERE tick = ?1");
    found.bind(1, key_of(number, tick));
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
  if (tick < 0 || tick >= k_line_ticks - 1 || inputs.size() > k_most_inputs)
    throw Error("A journal takes ticks from 0 on, with inputs of at most a mebibyte.", ErrorCode::invalid_argument);
  JournalEnd& line = state_->end();
  if (line.end && tick < *line.end)
    return state_->hash_after(state_->line, tick) == state_hash && state_->status.empty();
  if (tick != line.next) {
    line.next.reset();
    return false;
  }
  line.next = line.end = tick + 1;
  return state_->put({.kind = Waiting::Kind::tick,
                      .line = state_->line,
                      .tick = tick,
                      .bytes = copy_of(inputs),
                      .state_hash = state_hash});
}

bool Journal::snapshot(Tick tick, std::span<const std::byte> world, std::span<const std::byte> rest) {
  if (tick < 0 || tick >= k_line_ticks - 1 || world.size() + rest.size() > k_most_snapshot)
    throw Error("A journal takes snapshots of ticks from 0 on, of at most 128 mebibytes.", ErrorCode::invalid_argument);
  JournalEnd& line = state_->end();
  if (!line.end || tick >= *line.end) line.next = tick;
  return state_->put({.kind = Waiting::Kind::snapshot,
                      .line = state_->line,
                      .tick = tick,
                      .bytes = copy_of(world),
                      .rest = copy_of(rest)});
}

bool Journal::note(Tick tick, std::string_view kind, std::string_view text, std::optional<std::uint32_t> hand) {
  return state_->put({.kind = Waiting::Kind::note,
                      .line = state_->line,
                      .tick = std::clamp<Tick>(tick, 0, k_line_ticks - 1),
                      .word = cut_to(printable(kind), k_longest_kind),
                      .text = cut_to(printable(text), k_longest_text),
                      .hand = hand});
}

bool Journal::flush() {
  return state_->flush();
}

void Journal::agree(Tick before) {
  state_->lines[state_->line].agreed = before;
  state_->changed.insert(state_->line);
}

bool Journal::branch_off(std::uint64_t branch, std::string_view reason) {
  const std::uint32_t parent = state_->line, made = state_->new_line(branch, reason);
  state_->use(made);
  return state_->cut(parent, state_->lines[parent].agreed, made);
}

bool Journal::begin(std::uint64_t branch, const JournalSnapshot& snapshot, std::string_view reason) {
  State& state = *state_;
  const auto known = std::find_if(state.lines.begin(), state.lines.end(), [&](const JournalLine& line) {
    return branch == 0 ? line.line == 0 : line.branch == branch;
  });
  const std::uint32_t line = known != state.lines.end() ? known->line : state.new_line(branch, "joined");
  const Tick agreed = state.lines[line].agreed;
  // Ticks that lead to a state of the session are the session's, agreed or not.
  const bool leads_here = state.hash_after(line, snapshot.tick - 1) == hash_bytes(snapshot.world);
  const Tick kept = leads_here ? std::max(snapshot.tick, agreed) : std::min(snapshot.tick, agreed);
  if (state.ends[line].end && *state.ends[line].end > kept) state.cut(line, kept, state.new_line(0, reason));
  state.use(line);
  JournalEnd& end = state.end();
  end.next = end.end && *end.end > snapshot.tick ? end.end : std::nullopt;
  return this->snapshot(snapshot.tick, snapshot.world, snapshot.rest);
}

const std::vector<JournalLine>& Journal::lines() const {
  return state_->lines;
}

const JournalLine& Journal::line() const {
  return state_->lines[state_->line];
}

void Journal::show(std::uint32_t line) {
  if (state_->lock || line >= state_->lines.size())
    throw Error("The journal " + state_->file.string() + " has no branch " + std::to_string(line) + ".",
                ErrorCode::not_found);
  state_->line = line;
}

std::string Journal::finish() {
  State& state = *state_;
  if (!state.lock) return {};
  std::string problem;
  if (!state.flush())
    problem = "The end of the session is missing in the journal " + state.file.string() + ": it could not be written. ";
  problem += put_into_one_file(state.file, state.database);
  return problem;
}

bool Journal::needs_snapshot() const {
  return !state_->end().next;
}

const std::string& Journal::status() const {
  return state_->status;
}

std::optional<Tick> Journal::next_tick() const {
  return state_->end().next;
}

namespace {

JournalSnapshot snapshot_in(const Statement& row) {
  return {row.number(0) % k_line_ticks, copy_of(row.bytes(1)), copy_of(row.bytes(2))};
}

}  // namespace

std::optional<JournalSnapshot> Journal::newest_snapshot() {
  State& state = *state_;
  const Waiting* newest = nullptr;
  for (const Waiting& item : state.waiting)
    if (item.kind == Waiting::Kind::snapshot && item.line == state.line &&
        (newest == nullptr || item.tick >= newest->tick))
      newest = &item;
  return state.reading([&]() -> std::optional<JournalSnapshot> {
    Statement found = state.database.prepare(
        "SELECT tick, world, rest FROM snapshots WHERE tick >= ?1 AND tick < ?2 ORDER BY tick DESC LIMIT 1");
    found.bind(1, key_of(state.line, 0)).bind(2, key_of(state.line + 1, 0));
    if (found.next() && (newest == nullptr || found.number(0) > newest->key())) return snapshot_in(found);
    if (newest != nullptr) return JournalSnapshot{newest->tick, newest->bytes, newest->rest};
    return {};
  });
}

std::optional<JournalSnapshot> Journal::newest_beginning(Tick before) {
  State& state = *state_;
  if (state.lock) state.flush();
  return state.reading([&]() -> std::optional<JournalSnapshot> {
    Statement found = state.database.prepare(
        "SELECT tick, world, rest FROM snapshots WHERE begins = 1 AND tick >= ?1 AND tick < ?2"
        " ORDER BY tick DESC LIMIT 1");
    found.bind(1, key_of(state.line, 0)).bind(2, key_of(state.line, std::min(before, k_line_ticks)));
    if (!found.next()) return {};
    return snapshot_in(found);
  });
}

std::vector<Tick> Journal::snapshot_ticks() {
  State& state = *state_;
  std::vector<Tick> ticks;
  state.reading([&] {
    Statement row = state.database.prepare("SELECT tick FROM snapshots WHERE tick >= ?1 AND tick < ?2");
    row.bind(1, key_of(state.line, 0)).bind(2, key_of(state.line + 1, 0));
    while (row.next()) ticks.push_back(row.number(0) % k_line_ticks);
  });
  for (const Waiting& item : state.waiting)
    if (item.kind == Waiting::Kind::snapshot && item.line == state.line) ticks.push_back(item.tick);
  std::sort(ticks.begin(), ticks.end());
  ticks.erase(std::unique(ticks.begin(), ticks.end()), ticks.end());
  return ticks;
}

std::vector<JournalNote> Journal::notes() {
  State& state = *state_;
  std::vector<JournalNote> notes;
  std::vector<Tick> until(state.lines.size());  // notes of lines before this tick lead to the one that is shown
  Tick left = k_line_ticks;
  for (std::uint32_t line = state.line;; line = state.lines[line].parent) {
    until[line] = left;
    if (line == 0 || state.lines[line].left == 0) break;
    left = std::min(left, state.lines[line].left);
  }
  const auto show = [&](JournalNote note) {
    const auto line = static_cast<std::size_t>(note.tick / k_line_ticks);
    note.tick %= k_line_ticks;
    if (line < until.size() && note.tick < until[line]) notes.push_back(std::move(note));
  };
  state.reading([&] {
    Statement row = state.database.prepare("SELECT tick, kind, text, hand FROM notes ORDER BY number");
    while (row.next()) show(note_in(row));
  });
  for (const Waiting& item : state.waiting)
    if (item.kind == Waiting::Kind::note) show({item.key(), item.word, item.text, item.hand});
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
    row.bind(1, key_of(state.line, from)).bind(2, key_of(state.line + 1, 0));
    while (row.next())
      if (!show({row.number(0) % k_line_ticks, row.bytes(1), static_cast<std::uint64_t>(row.number(2))})) return false;
    return true;
  });
  if (!all) return;
  for (const Waiting& item : state.waiting)
    if (item.kind == Waiting::Kind::tick && item.line == state.line && item.tick >= from &&
        !show({item.tick, item.bytes, item.state_hash}))
      return;
}

}  // namespace cotouch

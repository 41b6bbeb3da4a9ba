#include <cotouch/session/journal_file.h>

#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t k_application = 0x434f544a;  // "COTJ", SQLite's mark of what a database is for
constexpr std::int64_t k_version = 2, k_without_lines = 1;

constexpr const char* k_lines =
    "CREATE TABLE lines(line INTEGER PRIMARY KEY, branch INTEGER NOT NULL, parent INTEGER NOT NULL,"
    " left_at INTEGER NOT NULL, agreed INTEGER NOT NULL, used INTEGER NOT NULL, reason TEXT NOT NULL,"
    " checksum INTEGER NOT NULL)";
constexpr const char* k_tables[] = {
    k_lines,
    "CREATE TABLE head(session TEXT NOT NULL, scene TEXT NOT NULL, model_hash TEXT NOT NULL, folder TEXT NOT NULL,"
    " checksum INTEGER NOT NULL)",
    "CREATE TABLE ticks(tick INTEGER PRIMARY KEY, inputs BLOB NOT NULL, state_hash INTEGER NOT NULL,"
    " chain INTEGER NOT NULL)",
    "CREATE TABLE snapshots(tick INTEGER PRIMARY KEY, world BLOB NOT NULL, rest BLOB NOT NULL, begins INTEGER NOT NULL,"
    " checksum INTEGER NOT NULL)",
    "CREATE TABLE notes(number INTEGER PRIMARY KEY, tick INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL,"
    " hand INTEGER, checksum INTEGER NOT NULL)",
};

void add_sized(Hasher& hasher, std::span<const std::byte> bytes) {
  hasher.add(std::uint64_t{bytes.size()});
  hasher.add_bytes(bytes);
}

std::uint64_t head_checksum(const JournalHead& head) {
  const std::string model_hash = hex(head.model_hash);
  Hasher hasher;
  add_sized(hasher, std::as_bytes(std::span(head.session)));
  add_sized(hasher, std::as_bytes(std::span(head.scene)));
  add_sized(hasher, std::as_bytes(std::span(model_hash)));
  add_sized(hasher, std::as_bytes(std::span(head.folder)));
  return hasher.digest();
}

std::uint64_t bits(std::int64_t number) {
  return static_cast<std::uint64_t>(number);
}

std::uint64_t line_checksum(const JournalLine& line) {
  Hasher hasher;
  hasher.add(line.line);
  hasher.add(line.branch);
  hasher.add(line.parent);
  for (const std::int64_t number : {line.left, line.agreed, line.used}) hasher.add(number);
  add_sized(hasher, std::as_bytes(std::span(line.reason)));
  return hasher.digest();
}

[[noreturn]] void throw_damaged(const fs::path& file, const std::string& what) {
  throw Error("The journal " + file.string() + " is damaged: " + what + " Use an intact copy, or begin a new one.",
              ErrorCode::damaged_file);
}

[[noreturn]] void throw_foreign(const fs::path& file) {
  throw Error(file.string() + " is not the journal of a session; name another file.", ErrorCode::damaged_file);
}

[[noreturn]] void throw_missing(const fs::path& file) {
  std::error_code ignored;
  if (fs::exists(file, ignored)) throw_foreign(file);
  throw Error("There is no journal " + file.string() + ".", ErrorCode::not_found);
}

// SQLite opens its logs like any file: of a pipe it would wait for a writer that never comes.
void check_logs(const fs::path& file) {
  for (const char* ending : {"-journal", "-wal", "-shm"}) {
    const fs::path log = file.string() + ending;
    std::error_code ignored;
    if (fs::exists(log, ignored) && !fs::is_regular_file(log, ignored))
      throw Error("The journal " + file.string() + " cannot be used: " + log.filename().string() +
                      " beside it is no file. Move that away.",
                  ErrorCode::invalid_argument);
  }
}

std::int64_t asked(Database& database, const char* sql) {
  Statement statement = database.prepare(sql);
  return statement.next() ? statement.number(0) : 0;
}

void check_form(Database& database, const fs::path& file) {
  if (asked(database, "PRAGMA application_id") != k_application) throw_foreign(file);
  if (asked(database, "PRAGMA user_version") > k_version)
    throw Error("The journal " + file.string() + " was made by a newer version of cotouch; use that one.",
                ErrorCode::unsupported);
  // In the place of a table a view could go on for ever.
  if (asked(database, "SELECT count(*) FROM sqlite_schema WHERE type NOT IN ('table', 'index')") != 0)
    throw_damaged(file, "it has views or triggers, which no journal has.");
  Statement check = database.prepare("PRAGMA quick_check(1)");
  if (!check.next() || check.text(0) != "ok") throw_damaged(file, "its database is not in order.");
}

void write_head(Database& database, const JournalHead& head) {
  database.prepare("INSERT INTO head VALUES (?1, ?2, ?3, ?4, ?5)")
      .bind(1, head.session)
      .bind(2, head.scene)
      .bind(3, hex(head.model_hash))
      .bind(4, head.folder)
      .bind(5, static_cast<std::int64_t>(head_checksum(head)))
      .run();
}

JournalHead read_head(Database& database, const fs::path& file) {
  Statement row = database.prepare("SELECT session, scene, model_hash, folder, checksum FROM head");
  if (!row.next()) throw_damaged(file, "it does not say which session it is of.");
  JournalHead head;
  head.session = row.text(0);
  head.scene = row.text(1);
  const std::string hash = row.text(2);
  const auto [end, error] = std::from_chars(hash.data(), hash.data() + hash.size(), head.model_hash, 16);
  head.folder = row.text(3);
  if (error != std::errc{} || end != hash.data() + hash.size() || head_checksum(head) != bits(row.number(4)))
    throw_damaged(file, "what it says about its session was changed.");
  return head;
}

void set_version(Database& database) {
  database.run(("PRAGMA user_version = " + std::to_string(k_version)).c_str());
}

std::vector<JournalLine> read_lines(Database& database, const fs::path& file) {
  std::vector<JournalLine> lines;
  Statement row =
      database.prepare("SELECT line, branch, parent, left_at, agreed, reason, used, checksum FROM lines ORDER BY line");
  while (row.next()) {
    const auto number = static_cast<std::uint32_t>(row.number(0)), parent = static_cast<std::uint32_t>(row.number(2));
    lines.push_back({number, bits(row.number(1)), parent, row.number(3), row.number(4), row.text(5), row.number(6)});
    const bool in_order = number == lines.size() - 1 && (number == 0 || parent < number);
    if (!in_order || line_checksum(lines.back()) != bits(row.number(7)))
      throw_damaged(file, "what it says about its branches was changed.");
  }
  if (lines.empty()) throw_damaged(file, "what it says about its branches is missing.");
  return lines;
}

// How far the line is written that a row is of.
JournalEnd& end_of(Tick key, JournalContents& contents, const fs::path& file) {
  if (key < 0 || key / k_line_ticks >= static_cast<Tick>(contents.lines.size()))
    throw_damaged(file, "it has ticks of a branch that it does not know.");
  return contents.ends[static_cast<std::size_t>(key / k_line_ticks)];
}

// Every snapshot is sound; returns the ticks at which a stretch begins.
std::vector<Tick> check_snapshots(Database& database, const fs::path& file) {
  std::vector<Tick> beginnings;
  Statement row = database.prepare("SELECT tick, world, rest, begins, checksum FROM snapshots ORDER BY tick");
  while (row.next()) {
    const bool begins = row.number(3) != 0;
    if (checksum_of(row.number(0), row.bytes(1), row.bytes(2), begins) != bits(row.number(4)))
      throw_damaged(file, "the snapshot of tick " + std::to_string(row.number(0)) + " was changed.");
    if (begins) beginnings.push_back(row.number(0));
  }
  return beginnings;
}

void check_ticks(const fs::path& file, const std::vector<Tick>& beginnings, JournalContents& contents) {
  Statement row = contents.database.prepare("SELECT tick, inputs, state_hash, chain FROM ticks ORDER BY tick");
  auto beginning = beginnings.begin();
  while (row.next()) {
    const JournalTick tick{row.number(0), row.bytes(1), bits(row.number(2))};
    while (beginning != beginnings.end() && *beginning < tick.tick) ++beginning;
    const bool begins = beginning != beginnings.end() && *beginning == tick.tick;
    JournalEnd& line = end_of(tick.tick, contents, file);
    const Tick number = tick.tick % k_line_ticks;
    line.chain = chain_of(line.chain, tick);
    if (line.chain != bits(row.number(3)) || (!begins && line.end != number))
      throw_damaged(file, "tick " + std::to_string(number) + " or one before it was changed or is missing.");
    line.end = number + 1;
  }
  for (JournalEnd& line : contents.ends) line.next = line.end;
  Statement newest = contents.database.prepare("SELECT max(tick) FROM snapshots GROUP BY tick >> 48");
  while (newest.next()) {
    JournalEnd& line = end_of(newest.number(0), contents, file);
    const Tick number = newest.number(0) % k_line_ticks;
    if (!line.end || number > *line.end) line.next = number;
  }
}

void check_notes(Database& database, const fs::path& file) {
  Statement row = database.prepare("SELECT tick, kind, text, hand, checksum FROM notes ORDER BY number");
  while (row.next())
    if (checksum_of(note_in(row)) != bits(row.number(4)))
      throw_damaged(file, "a note of tick " + std::to_string(row.number(0)) + " was changed.");
}

// A log that does not exist yet cannot be made by somebody who may only read the folder.
Database open_database(const fs::path& file, Database::Access access) {
  try {
    Database database(file, access);
    database.prepare("PRAGMA schema_version").run();
    return database;
  } catch (const DatabaseError& error) {
    std::error_code ignored;
    if (access != Database::Access::read || error.kind() != DatabaseError::Kind::other ||
        fs::exists(file.string() + "-wal", ignored))
      throw;
    return {file, Database::Access::read_unchanging};
  }
}

}  // namespace

JournalLock::JournalLock(const fs::path& journal) : file_(journal.string() + "-lock") {
  for (;;) {
    descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor_ < 0)
      throw Error("The journal " + journal.string() + " cannot be written: " + std::strerror(errno) +
                      ". Name a file in a folder that you may write to.",
                  ErrorCode::io);
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      ::close(descriptor_);
      throw Error("The journal " + journal.string() +
                      " is being written by another program; end that one first or name another file.",
                  ErrorCode::busy);
    }
    // Its last owner may have removed it between the two.
    struct stat held {
    }, named{};
    if (::fstat(descriptor_, &held) == 0 && ::stat(file_.c_str(), &named) == 0 && held.st_ino == named.st_ino) return;
    ::close(descriptor_);
  }
}

JournalLock::~JournalLock() {
  ::unlink(file_.c_str());
  ::close(descriptor_);
}

void create_journal(const fs::path& file, const JournalHead& head) {
  std::error_code ignored;
  if (fs::exists(file, ignored) && (!fs::is_regular_file(file, ignored) || fs::file_size(file, ignored) > 0)) return;
  check_logs(file);
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0)
    throw Error("The journal " + file.string() + " cannot be written: " + std::strerror(errno) + ".", ErrorCode::io);
  ::close(descriptor);
  try {
    Database database(file, Database::Access::write);
    // One transaction in the old kind of log: the file is a journal, or still empty.
    database.run("BEGIN IMMEDIATE");
    for (const char* table : k_tables) database.run(table);
    database.run(("PRAGMA application_id = " + std::to_string(k_application)).c_str());
    set_version(database);
    write_line(database, {});
    write_head(database, head);
    database.run("COMMIT");
  } catch (const DatabaseError& error) {
    ::unlink(file.c_str());
    throw Error(unwritable(file, error), ErrorCode::io);
  }
}

JournalContents check_journal(const fs::path& file, Database::Access access) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) throw_missing(file);
  check_logs(file);
  try {
    JournalContents contents{open_database(file, access), {}, std::vector<JournalLine>(1), {}};
    Database& database = contents.database;
    if (access == Database::Access::write) {
      database.run("PRAGMA journal_mode = WAL");
      database.run("PRAGMA synchronous = FULL");  // what was flushed survives a power failure
    }
    database.run("BEGIN");  // all of it as it is now
    check_form(database, file);
    contents.head = read_head(database, file);
    const bool has_lines = asked(database, "PRAGMA user_version") > k_without_lines;
    if (has_lines) contents.lines = read_lines(database, file);
    contents.ends.resize(contents.lines.size());
    const std::vector<Tick> beginnings = check_snapshots(database, file);
    check_ticks(file, beginnings, contents);
    check_notes(database, file);
    if (!has_lines) contents.lines[0].agreed = contents.ends[0].end.value_or(0);
    if (!has_lines && access == Database::Access::write) {
      database.run(k_lines);
      write_line(database, contents.lines[0]);
      set_version(database);
    }
    if (access == Database::Access::write) database.run("COMMIT");
    return contents;
  } catch (const DatabaseError& error) {
    throw_unreadable(file, error);
  }
}

std::string put_into_one_file(const fs::path& file, Database& database) {
  std::string reason = "another program reads it";
  try {
    Statement mode = database.prepare("PRAGMA journal_mode = DELETE");
    if (mode.next() && mode.text(0) == "delete") return {};
  } catch (const DatabaseError& error) {
    reason = error.kind() == DatabaseError::Kind::full ? "the disk is full" : error.what();
  }
  return "The journal " + file.string() + " could not be put into one file (" + reason +
         "): " + file.filename().string() + "-wal beside it belongs to it. Keep the two together, and copy both.";
}

std::uint64_t chain_of(std::uint64_t before, const JournalTick& tick) {
  Hasher hasher;
  hasher.add(before);
  hasher.add(tick.tick);
  hasher.add(tick.state_hash);
  hasher.add_bytes(tick.inputs);
  return hasher.digest();
}

std::uint64_t checksum_of(Tick tick, std::span<const std::byte> world, std::span<const std::byte> rest, bool begins) {
  Hasher hasher;
  hasher.add(tick);
  add_sized(hasher, world);
  add_sized(hasher, rest);
  hasher.add(std::int64_t{begins});
  return hasher.digest();
}

std::uint64_t checksum_of(const JournalNote& note) {
  Hasher hasher;
  hasher.add(note.tick);
  add_sized(hasher, std::as_bytes(std::span(note.kind)));
  add_sized(hasher, std::as_bytes(std::span(note.text)));
  hasher.add(note.hand ? std::int64_t{*note.hand} : std::int64_t{-1});
  return hasher.digest();
}

void write_line(Database& database, const JournalLine& line) {
  database.prepare("INSERT OR REPLACE INTO lines VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")
      .bind(1, std::int64_t{line.line})
      .bind(2, static_cast<std::int64_t>(line.branch))
      .bind(3, std::int64_t{line.parent})
      .bind(4, line.left)
      .bind(5, line.agreed)
      .bind(6, line.used)
      .bind(7, line.reason)
      .bind(8, static_cast<std::int64_t>(line_checksum(line)))
      .run();
}

JournalNote note_in(const Statement& row) {
  JournalNote note{row.number(0), row.text(1), row.text(2), {}};
  if (row.has(3)) note.hand = static_cast<std::uint32_t>(row.number(3));
  return note;
}

void throw_unreadable(const fs::path& file, const DatabaseError& error) {
  if (error.kind() == DatabaseError::Kind::foreign) throw_foreign(file);
  if (error.kind() == DatabaseError::Kind::damaged)
    throw_damaged(file, std::string("SQLite says: ") + error.what() + ".");
  throw Error("The journal " + file.string() + " cannot be read: " + error.what() +
                  ". If you may not write to its folder, copy it and the file " + file.filename().string() +
                  "-wal beside it to a folder of your own.",
              ErrorCode::io);
}

std::string unwritable(const fs::path& file, const DatabaseError& error) {
  if (error.kind() == DatabaseError::Kind::full)
    return "The disk is full: the journal " + file.string() +
           " cannot be written. The session goes on; make room, and what is missing will be written.";
  return "The journal " + file.string() + " cannot be written: " + error.what() +
         ". The session goes on, and it will be tried again.";
}

}  // namespace cotouch

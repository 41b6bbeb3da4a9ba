#include <cotouch/session/journal_rows.h>

#include <cotouch/base/hash.h>

namespace cotouch {
namespace {

std::int64_t signed_bits(std::uint64_t number) {
  return static_cast<std::int64_t>(number);
}

}  // namespace

void JournalRows::add_tick(std::uint32_t line, const JournalTick& tick) {
  const Tick key = key_of(line, tick.tick);
  std::uint64_t& chain = ends_[line].chain;
  chain = chain_of(chain, {key, tick.inputs, tick.state_hash});
  database_.prepare("INSERT INTO ticks VALUES (?1, ?2, ?3, ?4)")
      .bind(1, key)
      .bind(2, tick.inputs)
      .bind(3, signed_bits(tick.state_hash))
      .bind(4, signed_bits(chain))
      .run();
}

void JournalRows::add_snapshot(std::uint32_t line, Tick tick, std::span<const std::byte> world,
                               std::span<const std::byte> rest) {
  write_snapshot(line, tick, world, rest);
  database_
      .prepare(
          "DELETE FROM snapshots WHERE begins = 0 AND tick BETWEEN ?1 AND ?2"
          " AND tick NOT IN (SELECT tick FROM snapshots WHERE tick BETWEEN ?1 AND ?2 ORDER BY tick DESC LIMIT 2)"
          " AND tick NOT IN (SELECT min(tick) FROM snapshots WHERE tick BETWEEN ?1 AND ?2"
          " GROUP BY (tick - ?1) / 6000)")
      .bind(1, key_of(line, 0))
      .bind(2, key_of(line + 1, 0) - 1)
      .run();
}

void JournalRows::write_snapshot(std::uint32_t line, Tick tick, std::span<const std::byte> world,
                                 std::span<const std::byte> rest) {
  const Tick key = key_of(line, tick);
  Statement before = database_.prepare("SELECT state_hash FROM ticks WHERE tick = ?1");
  before.bind(1, key - 1);
  const bool begins = !before.next() || before.number(0) != signed_bits(hash_bytes(world));
  database_.prepare("INSERT OR REPLACE INTO snapshots VALUES (?1, ?2, ?3, ?4, ?5)")
      .bind(1, key)
      .bind(2, world)
      .bind(3, rest)
      .bind(4, std::int64_t{begins})
      .bind(5, signed_bits(checksum_of(key, world, rest, begins)))
      .run();
}

void JournalRows::add_note(std::uint32_t line, JournalNote note) {
  note.tick = key_of(line, note.tick);
  Statement row = database_.prepare("INSERT INTO notes(tick, kind, text, hand, checksum) VALUES (?1, ?2, ?3, ?4, ?5)");
  row.bind(1, note.tick).bind(2, note.kind).bind(3, note.text);
  if (note.hand) row.bind(4, std::int64_t{*note.hand});
  row.bind(5, signed_bits(checksum_of(note))).run();
}

void JournalRows::cut(std::uint32_t line, Tick tick, std::uint32_t to) {
  Statement newest = database_.prepare("SELECT coalesce(max(tick), ?2) FROM snapshots WHERE tick BETWEEN ?1 AND ?2");
  newest.bind(1, key_of(line, 0)).bind(2, key_of(line, tick));
  copy_from(line, newest.next() ? newest.number(0) - key_of(line, 0) : tick, to);
  move_notes(line, tick, to);
  remove_from(line, tick);
}

void JournalRows::copy_from(std::uint32_t line, Tick from, std::uint32_t to) {
  const Tick first = key_of(line, 0), end = key_of(line + 1, 0);
  Statement ticks =
      database_.prepare("SELECT tick, inputs, state_hash FROM ticks WHERE tick >= ?1 AND tick < ?2 ORDER BY tick");
  ticks.bind(1, first + from).bind(2, end);
  while (ticks.next())
    add_tick(to, {ticks.number(0) - first, ticks.bytes(1), static_cast<std::uint64_t>(ticks.number(2))});
  Statement snapshots =
      database_.prepare("SELECT tick, world, rest FROM snapshots WHERE tick >= ?1 AND tick < ?2 ORDER BY tick");
  snapshots.bind(1, first + from).bind(2, end);
  while (snapshots.next()) write_snapshot(to, snapshots.number(0) - first, snapshots.bytes(1), snapshots.bytes(2));
}

void JournalRows::move_notes(std::uint32_t line, Tick from, std::uint32_t to) {
  Statement notes =
      database_.prepare("SELECT tick, kind, text, hand, number FROM notes WHERE tick >= ?1 AND tick < ?2");
  notes.bind(1, key_of(line, from)).bind(2, key_of(line + 1, 0));
  while (notes.next()) {
    JournalNote note = note_in(notes);
    note.tick += key_of(to, 0) - key_of(line, 0);
    database_.prepare("UPDATE notes SET tick = ?1, checksum = ?2 WHERE number = ?3")
        .bind(1, note.tick)
        .bind(2, signed_bits(checksum_of(note)))
        .bind(3, notes.number(4))
        .run();
  }
}

// A snapshot of the state before this tick stays.
void JournalRows::remove_from(std::uint32_t line, Tick tick) {
  const Tick key = key_of(line, tick), end = key_of(line + 1, 0);
  database_.prepare("DELETE FROM ticks WHERE tick >= ?1 AND tick < ?2").bind(1, key).bind(2, end).run();
  database_.prepare("DELETE FROM snapshots WHERE tick > ?1 AND tick < ?2").bind(1, key).bind(2, end).run();
  Statement last =
      database_.prepare("SELECT chain FROM ticks WHERE tick >= ?1 AND tick < ?2 ORDER BY tick DESC LIMIT 1");
  last.bind(1, key_of(line, 0)).bind(2, end);
  ends_[line].chain = last.next() ? static_cast<std::uint64_t>(last.number(0)) : 0;
}

}  // namespace cotouch

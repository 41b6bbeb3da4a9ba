#include <cotouch/session/journal_export.h>

#include <cotouch/base/error.h>
#include <cotouch/session/tick_record.h>

#include <algorithm>
#include <array>

namespace cotouch {
namespace {

constexpr std::array<std::string_view, 6> k_kinds{"joined", "left", "said", "marked", "reset", "leads"};

// Who had come before the stretch began is there from its first tick on.
void append_notes(Recording& recording, const std::vector<JournalNote>& notes, Tick first) {
  for (const JournalNote& note : notes) {
    const auto kind = std::find(k_kinds.begin(), k_kinds.end(), note.kind == "dropped" ? "left" : note.kind);
    if (kind == k_kinds.end()) continue;
    RecordedEvent event;
    event.kind = static_cast<RecordedEvent::Kind>(kind - k_kinds.begin());
    using Kind = RecordedEvent::Kind;
    const bool stays = event.kind == Kind::joined || event.kind == Kind::left || event.kind == Kind::leads;
    if (note.tick < first && !stays) continue;
    event.tick = static_cast<std::uint64_t>(std::max<Tick>(0, note.tick - first));
    event.hand = note.hand;
    event.text = note.text;
    append_event(recording, std::move(event));
  }
}

[[noreturn]] void throw_damaged(Tick tick) {
  throw Error("The journal is damaged at tick " + std::to_string(tick) + ". Use an intact copy.",
              ErrorCode::damaged_file);
}

}  // namespace

Recording recording_of(Journal& journal, const std::shared_ptr<const WorldModel>& model,
                       const std::function<void(double)>& done) {
  const Tick before = journal.line().line == 0 ? journal.line().agreed : k_never;
  const std::optional<JournalSnapshot> start = journal.newest_beginning(before);
  if (!start)
    throw Error("The journal has no tick that is known to be agreed. Export a branch, if there is one (--branch).",
                ErrorCode::not_found);
  WorldState state(*model);
  if (model->hash() != journal.head().model_hash || !state.restore(start->world)) throw_damaged(start->tick);
  Recording recording = begin_shared_recording(*model, state, journal.head().scene);
  const Tick end = std::min(before, journal.next_tick().value_or(start->tick));
  const auto count = static_cast<double>(std::max<Tick>(1, end - start->tick));
  StepScratch scratch(*model);
  const std::vector<JournalNote> notes = journal.notes();
  const auto is_reset = [&](Tick tick) {
    return std::any_of(notes.begin(), notes.end(),
                       [tick](const JournalNote& note) { return note.tick == tick && note.kind == "reset"; });
  };
  std::vector<HandInput> inputs;
  journal.for_each_tick(start->tick, [&](const JournalTick& tick) {
    if (tick.tick >= before) return false;
    if (!decode_tick(tick.inputs, inputs)) throw_damaged(tick.tick);
    if (is_reset(tick.tick)) state = WorldState(*model);
    step(*model, state, inputs, scratch);
    if (state.hash() != tick.state_hash)
      throw Error("Tick " + std::to_string(tick.tick) +
                      " of the journal leads elsewhere here, so that a recording of it "
                      "would not be what was agreed. Use the version of cotouch that wrote it.",
                  ErrorCode::refused);
    append_tick(recording, inputs, state);
    if (done) done(static_cast<double>(recording.samples.size()) / count);
    return true;
  });
  append_notes(recording, notes, start->tick);
  return recording;
}

}  // namespace cotouch

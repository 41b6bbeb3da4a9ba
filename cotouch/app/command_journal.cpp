#include <cotouch/app/command.h>
#include <cotouch/app/progress_bar.h>
#include <cotouch/app/say.h>
#include <cotouch/app/scene_argument.h>
#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/hash.h>
#include <cotouch/session/journal_export.h>
#include <cotouch/session/names.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <map>

namespace cotouch {
namespace {

using Json = nlohmann::ordered_json;

// Ticks that follow each other.
struct Stretch {
  Tick from = 0, to = 0;  // the tick after the last
};

std::vector<Stretch> stretches_of(Journal& journal) {
  std::vector<Stretch> stretches;
  journal.for_each_tick(0, [&](const JournalTick& tick) {
    if (stretches.empty() || stretches.back().to != tick.tick) stretches.push_back({tick.tick, tick.tick});
    ++stretches.back().to;
    return true;
  });
  return stretches;
}

Json json_of(const JournalHead& head, const RecordedScene& scene, const std::vector<Stretch>& stretches,
             const std::vector<Tick>& snapshots, const std::vector<JournalNote>& notes) {
  Json json;
  json["session"] = printable(head.session);
  json["scene"] = printable(scene.name);
  json["model_hash"] = hex(head.model_hash);
  json["tick_seconds"] = scene.pace.tick;
  json["stretches"] = Json::array();
  for (const Stretch& stretch : stretches)
    json["stretches"].push_back(Json{{"from_tick", stretch.from}, {"to_tick", stretch.to}});
  json["snapshots"] = snapshots;
  json["notes"] = Json::array();
  for (const JournalNote& note : notes)
    json["notes"].push_back(Json{{"tick", note.tick},
                                 {"hand", note.hand ? Json(*note.hand) : Json(nullptr)},
                                 {"kind", printable(note.kind)},
                                 {"text", printable(note.text)}});
  return json;
}

void write_export(const JournalCommand& command, Journal& journal) {
  ProgressBar bar(command.json);
  const MadeIn made{command.journal, command.scene, journal.head().scene, journal.head().model_hash,
                    journal.head().folder};
  const Scene scene = load_scene_of(made, bar);
  const Recording recording = recording_of(journal, model_of(made, scene), [&](double share) {
    bar.update("Stepping it again", share);
    if (interrupted()) throw Cancelled();
  });
  write_recording(recording, command.recording);
}

}  // namespace

void run_journal(const JournalCommand& command) {
  if (!command.recording.empty()) {
    check_not_input(command.recording, command.journal);
    check_writable(command.recording);
  }
  Journal journal = Journal::open_to_read(command.journal);
  const RecordedScene scene = parse_recorded_scene(journal.head().scene);
  const std::vector<Stretch> stretches = stretches_of(journal);
  const std::vector<Tick> snapshots = journal.snapshot_ticks();
  const std::vector<JournalNote> notes = journal.notes();
  if (!command.recording.empty()) write_export(command, journal);
  if (command.json) {
    fmt::print("{}\n", json_of(journal.head(), scene, stretches, snapshots, notes).dump(2));
    return;
  }
  const auto line = [](const char* word, const std::string& text) { say(fmt::format("  {:<10} {}", word, text)); };
  const auto seconds = [&](Tick tick) { return static_cast<double>(tick) * scene.pace.tick; };
  line("session", journal.head().session);
  line("scene", scene.name.empty() ? "without a name" : scene.name);
  for (const Stretch& stretch : stretches)
    line("ticks", fmt::format("{} to {}, {:.1f} s", stretch.from, stretch.to - 1, seconds(stretch.to - stretch.from)));
  if (stretches.empty()) line("ticks", "none");
  line("snapshots",
       snapshots.empty() ? "none" : fmt::format("{}, the newest of tick {}", snapshots.size(), snapshots.back()));
  std::map<std::uint32_t, std::string> owners;  // of hands
  for (const JournalNote& note : notes) {
    const bool comes_or_goes = note.kind == "joined" || note.kind == "left" || note.kind == "dropped";
    if (note.kind == "joined" && note.hand) owners[*note.hand] = clean_name(note.text);
    std::string who = comes_or_goes ? clean_name(note.text) : "";
    if (who.empty() && note.hand)
      who = owners.contains(*note.hand) ? owners[*note.hand] : fmt::format("hand {}", *note.hand + 1);
    say(fmt::format("  {:9.2f} s  {}{}{}", seconds(note.tick), who.empty() ? "" : who + " ", note.kind,
                    comes_or_goes || note.text.empty() ? "" : ": " + note.text));
  }
  if (command.recording.empty()) return;
  line("recording", command.recording.string());
  if (const auto file = received_scene(journal.head().folder); file && command.scene.empty())
    line("its scene", "came from the session: cotouch replay --scene " + file->string());
}

}  // namespace cotouch

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

// A line of the journal (journal.h): the session's, or a branch.
struct Contents {
  JournalLine line;
  std::vector<Stretch> stretches;
  std::vector<Tick> snapshots;
  std::vector<JournalNote> notes;
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

// The last of it may be in a log beside it: while it is written, and after that if the disk was full.
std::vector<std::string> files_of(const std::filesystem::path& journal) {
  std::vector<std::string> files{journal.string()};
  const std::string log = journal.string() + "-wal";
  std::error_code error;
  if (const auto size = std::filesystem::file_size(log, error); !error && size > 0) files.push_back(log);
  return files;
}

std::vector<Contents> contents_of(Journal& journal) {
  std::vector<Contents> all;
  for (const JournalLine& line : journal.lines()) {
    journal.show(line.line);
    all.push_back({line, stretches_of(journal), journal.snapshot_ticks(), journal.notes()});
  }
  return all;
}

void put_contents(Json& json, const Contents& contents) {
  json["agreed_to_tick"] = contents.line.agreed;
  json["stretches"] = Json::array();
  for (const Stretch& stretch : contents.stretches)
    json["stretches"].push_back(Json{{"from_tick", stretch.from}, {"to_tick", stretch.to}});
  json["snapshots"] = contents.snapshots;
  json["notes"] = Json::array();
  for (const JournalNote& note : contents.notes)
    json["notes"].push_back(Json{{"tick", note.tick},
                                 {"hand", note.hand ? Json(*note.hand) : Json(nullptr)},
                                 {"kind", printable(note.kind)},
                                 {"text", printable(note.text)}});
}

Json json_of(const JournalHead& head, const RecordedScene& scene, const std::vector<Contents>& lines) {
  Json json;
  json["session"] = printable(head.session);
  json["scene"] = printable(scene.name);
  json["model_hash"] = hex(head.model_hash);
  json["tick_seconds"] = scene.pace.tick;
  put_contents(json, lines[0]);
  json["branches"] = Json::array();
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const JournalLine& line = lines[i].line;
    Json branch{{"branch", line.line}, {"parent", line.parent}, {"left_at_tick", line.left}};
    branch["name"] = line.branch == 0 ? Json(nullptr) : Json(hex(line.branch));  // as --json of its members has it
    branch["reason"] = printable(line.reason);
    put_contents(branch, lines[i]);
    json["branches"].push_back(std::move(branch));
  }
  return json;
}

void write_export(const JournalCommand& command, Journal& journal) {
  journal.show(command.branch);
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
  const std::vector<std::string> files = files_of(command.journal);
  const RecordedScene scene = parse_recorded_scene(journal.head().scene);
  const std::vector<Contents> lines = contents_of(journal);
  if (!command.recording.empty()) write_export(command, journal);
  if (command.json) {
    Json json = json_of(journal.head(), scene, lines);
    json["files"] = files;
    fmt::print("{}\n", json.dump(2));
    return;
  }
  const auto line = [](const char* word, const std::string& text) { say(fmt::format("  {:<10} {}", word, text)); };
  const auto seconds = [&](Tick tick) { return static_cast<double>(tick) * scene.pace.tick; };
  line("session", journal.head().session);
  line("scene", scene.name.empty() ? "without a name" : scene.name);
  const auto say_contents = [&](const Contents& contents) {
    for (const Stretch& stretch : contents.stretches)
      line("ticks",
           fmt::format("{} to {}, {:.1f} s", stretch.from, stretch.to - 1, seconds(stretch.to - stretch.from)));
    if (contents.stretches.empty()) line("ticks", "none");
    line("snapshots", contents.snapshots.empty() ? "none"
                                                 : fmt::format("{}, the newest of tick {}", contents.snapshots.size(),
                                                               contents.snapshots.back()));
  };
  say_contents(lines[0]);
  if (files.size() > 1) line("files", fmt::format("{} and {}, which belong together", files[0], files[1]));
  const Tick agreed = lines[0].line.agreed;
  if (lines[0].stretches.empty() && files.size() == 1)
    line("", "If this is a copy: what the observer wrote last may be in the file with -wal beside the original.");
  if (!lines[0].stretches.empty())
    line("agreed", agreed == 0
                       ? "nothing is known to be"
                       : fmt::format("up to tick {}{}", agreed - 1,
                                     lines[0].stretches.back().to > agreed ? "; what follows is not known to be" : ""));
  std::map<std::uint32_t, std::string> owners;  // of hands
  for (const JournalNote& note : lines[0].notes) {
    if (note.kind == "leads") continue;  // a second hand, for recordings made of this
    const bool comes_or_goes = note.kind == "joined" || note.kind == "left" || note.kind == "dropped";
    if (note.kind == "joined" && note.hand) owners[*note.hand] = clean_name(note.text);
    std::string who = comes_or_goes ? clean_name(note.text) : "";
    if (who.empty() && note.hand)
      who = owners.contains(*note.hand) ? owners[*note.hand] : fmt::format("hand {}", *note.hand + 1);
    say(fmt::format("  {:9.2f} s  {}{}{}", seconds(note.tick), who.empty() ? "" : who + " ", note.kind,
                    comes_or_goes || note.text.empty() ? "" : ": " + note.text));
  }
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const JournalLine& branch = lines[i].line;
    say(fmt::format("  branch {}, not of the session: {}", branch.line, branch.reason));
    if (branch.left > 0) line("left", fmt::format("at tick {}", branch.left));
    say_contents(lines[i]);
  }
  if (command.recording.empty()) return;
  line("recording",
       command.recording.string() + (command.branch > 0 ? fmt::format(", of branch {}", command.branch) : ""));
  if (const auto file = received_scene(journal.head().folder); file && command.scene.empty())
    line("its scene", "came from the session: cotouch replay --scene " + file->string());
}

}  // namespace cotouch

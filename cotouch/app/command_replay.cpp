#include <cotouch/app/command.h>
#include <cotouch/app/progress_bar.h>
#include <cotouch/app/say.h>
#include <cotouch/app/scene_argument.h>
#include <cotouch/app/whole_recording.h>
#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/experiment/viewer_pictures.h>
#include <cotouch/session/names.h>
#include <cotouch/session/recorded_events.h>
#include <cotouch/session/recording_store.h>
#include <cotouch/session/running_world.h>
#include <cotouch/session/shown_scene.h>

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace cotouch {

namespace {

nlohmann::ordered_json people_json(const Recording& recording) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const RecordedPerson& person : recorded_people(recording)) {
    nlohmann::ordered_json json;
    json["name"] = clean_name(person.name);
    json["hand"] = person.hand ? nlohmann::ordered_json(*person.hand) : nlohmann::ordered_json(nullptr);
    json["from_tick"] = person.from;
    json["to_tick"] = person.to;
    all.push_back(json);
  }
  return all;
}

nlohmann::ordered_json events_json(const Recording& recording) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const NamedEvent& named : named_events(recording)) {
    const RecordedEvent& event = named.event;
    nlohmann::ordered_json json;
    json["tick"] = event.tick;
    json["hand"] = event.hand ? nlohmann::ordered_json(*event.hand) : nlohmann::ordered_json(nullptr);
    json["name"] = named.who;
    json["kind"] = word_of(event.kind);
    json["text"] = event.text;
    all.push_back(json);
  }
  return all;
}

void say_events(const Recording& recording) {
  for (const NamedEvent& named : named_events(recording)) {
    const RecordedEvent& event = named.event;
    const bool has_text = event.kind == RecordedEvent::Kind::said || event.kind == RecordedEvent::Kind::marked;
    say(fmt::format("  {:9.2f} s  {} {}{}", static_cast<double>(event.tick) * recording.limits.period, named.who,
                    word_of(event.kind), has_text ? ": " + event.text : ""));
  }
}

}  // namespace

void run_replay(const ReplayCommand& command) {
  for (const std::filesystem::path& output : {command.csv, command.svg}) {
    check_not_input(output, command.recording);
    if (!output.empty()) check_writable(output);
  }
  const Recording recording = read_recording(command.recording);
  check_holds_samples(recording, command.recording);
  const RecordedScene recorded = parse_recorded_scene(recording.scene);
  ProgressBar bar(command.json);
  const MadeIn made{command.recording, command.scene, recording.scene, recording.model_hash, {}};
  const std::shared_ptr<const ShownScene> scene = show(load_scene_of(made, bar));
  const std::shared_ptr<const WorldModel> model = model_of(made, scene->scene);
  Replay replay(recording, model);
  double largest = 0;  // newtons
  const auto count = static_cast<double>(recording.samples.size());
  for (std::size_t i = 0; replay.next(); ++i) {
    if (i % 1000 == 0) bar.update("Feeling it again", static_cast<double>(i) / count);
    for (std::uint32_t hand = 0; hand < recording.hands; ++hand)
      largest =
          std::max(largest, norm(replay.sample().hand(hand).felt.force - recording.samples[i].hand(hand).felt.force));
  }
  bar.clear();
  if (!command.csv.empty()) write_file(command.csv, to_csv(recording, model));
  if (!command.svg.empty()) write_svg(plot_summary(summarise(recording, scene)), command.svg);

  const std::string& name = recorded.name.empty() ? command.scene : recorded.name;
  const double seconds = count * recording.limits.period;
  const double differs_at = static_cast<double>(replay.same()) * recording.limits.period;
  if (command.json) {
    nlohmann::ordered_json json;
    json["scene"] = printable(name);
    json["seconds"] = seconds;
    json["samples"] = recording.samples.size();
    json["finished"] = recording.finished;
    json["unread_bytes"] = recording.unread;
    json["hands"] = recording.hands;
    json["bodies"] = model->bodies().size();
    json["shared"] = !recording.limited;
    json["peak_force_n"] = peak_force(recording);
    json["identical"] = replay.identical();
    json["first_difference_s"] =
        replay.identical() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(differs_at);
    json["largest_difference_n"] = largest;
    json["people"] = people_json(recording);
    json["events"] = events_json(recording);
    fmt::print("{}\n", json.dump(2));
  } else {
    say(fmt::format("{}: {:.1f} s, {} {}, up to {:.2f} N", name, seconds, recording.samples.size(),
                    recording.limited ? "cycles" : "ticks of a shared session", peak_force(recording)));
    say_events(recording);
    if (replay.identical())
      fmt::print("{} force and every body is the same, bit for bit.\n",
                 recording.finished ? "Every" : "Up to there every");
  }
  std::fflush(stdout);
  if (!replay.identical())
    throw Error(fmt::format("It differs from {:.3f} s on, in force by up to {:.3g} N.", differs_at, largest));
  check_whole(recording, command.recording);
}

}  // namespace cotouch

#include <cotouch/app/command.h>
#include <cotouch/app/progress_bar.h>
#include <cotouch/app/web_folder.h>
#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/experiment/viewer_pictures.h>
#include <cotouch/session/recording_store.h>
#include <cotouch/session/running_world.h>
#include <cotouch/session/scene_library.h>
#include <cotouch/session/shown_scene.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace cotouch {

void run_replay(const ReplayCommand& command) {
  for (const std::filesystem::path& output : {command.csv, command.svg}) check_not_input(output, command.recording);
  const Recording recording = read_recording(command.recording);
  const RecordedScene recorded = parse_recorded_scene(recording.scene);
  FolderLibrary library(state_folder() / "scenes", nullptr);
  ProgressBar bar(command.json);
  const std::shared_ptr<const ShownScene> scene = show(library.load(recorded.name, bar));
  const std::shared_ptr<const WorldModel> model = recorded_model(recording, scene->scene);
  Replay replay(recording, model);
  double largest = 0;  // newtons
  const auto count = static_cast<double>(recording.samples.size());
  for (std::size_t i = 0; replay.next(); ++i) {
    if (i % 1000 == 0) bar.update("Feeling it again", static_cast<double>(i) / count);
    for (std::uint32_t hand = 0; hand < recording.hands; ++hand)
      largest =
          std::max(largest, norm(replay.sample().hands[hand].felt.force - recording.samples[i].hands[hand].felt.force));
  }
  bar.clear();
  if (!command.csv.empty()) write_file(command.csv, to_csv(recording, model));
  if (!command.svg.empty()) write_svg(plot_summary(summarise(recording, scene)), command.svg);

  const double seconds = count * recording.limits.period;
  const double differs_at = static_cast<double>(replay.same()) * recording.limits.period;
  if (command.json) {
    nlohmann::ordered_json json;
    json["scene"] = recorded.name;
    json["seconds"] = seconds;
    json["samples"] = recording.samples.size();
    json["hands"] = recording.hands;
    json["bodies"] = model->bodies().size();
    json["peak_force_n"] = peak_force(recording);
    json["identical"] = replay.identical();
    json["first_difference_s"] =
        replay.identical() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(differs_at);
    json["largest_difference_n"] = largest;
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{}: {:.1f} s, {} cycles, up to {:.2f} N\n", recorded.name, seconds, recording.samples.size(),
               peak_force(recording));
    if (replay.identical()) fmt::print("Every force and every body is the same, bit for bit.\n");
  }
  if (replay.identical()) return;
  std::fflush(stdout);
  throw Error(fmt::format("It differs from {:.3f} s on, in force by up to {:.3g} N.", differs_at, largest));
}

}  // namespace cotouch

#include <cotouch/app/command.h>
#include <cotouch/app/progress_bar.h>
#include <cotouch/app/web_folder.h>
#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/hash.h>
#include <cotouch/experiment/viewer_pictures.h>
#include <cotouch/serve/touch_session.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace cotouch {

void run_replay(const ReplayCommand& command) {
  for (const std::filesystem::path& output : {command.csv, command.svg}) check_not_input(output, command.recording);
  const Recording recording = read_recording(command.recording);
  const RecordedScene recorded = parse_recorded_scene(recording.scene);
  FolderLibrary library(state_folder() / "scenes", nullptr);
  ProgressBar bar(command.json);
  const auto scene = std::make_shared<const LoadedScene>(library.load(recorded.name, bar));
  bar.clear();
  const bool same_bodies = recorded.bodies.empty() || recorded.bodies == hex(scene->content_hash());
  const ReplayResult result = replay(recording, *scene, recorded.feel);

  double largest = 0;  // newtons
  for (std::size_t i = 0; i < std::min(result.samples.size(), recording.samples.size()); ++i)
    largest = std::max(largest, norm(result.samples[i].felt.force - recording.samples[i].felt.force));
  if (!command.csv.empty()) write_file(command.csv, to_csv(result.samples));
  if (!command.svg.empty()) write_svg(plot_summary(summarise(recording, scene)), command.svg);

  const double seconds = static_cast<double>(recording.samples.size()) * recording.limits.period;
  const double differs_at = static_cast<double>(result.first_difference) * recording.limits.period;
  if (command.json) {
    nlohmann::ordered_json json;
    json["scene"] = recorded.name;
    json["seconds"] = seconds;
    json["samples"] = recording.samples.size();
    json["peak_force_n"] = peak_force(recording);
    json["identical"] = result.identical;
    json["same_bodies"] = same_bodies;
    json["first_difference_s"] =
        result.identical ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(differs_at);
    json["largest_difference_n"] = largest;
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{}: {:.1f} s, {} cycles, up to {:.2f} N\n", recorded.name, seconds, recording.samples.size(),
               peak_force(recording));
    if (result.identical) fmt::print("Every force is the same, bit for bit.\n");
  }
  if (result.identical) return;
  std::fflush(stdout);
  throw Error(fmt::format("The forces differ from {:.3f} s on, by up to {:.3g} N.{}", differs_at, largest,
                          same_bodies ? "" : " The scene's parts are not those of the recording."));
}

}  // namespace cotouch

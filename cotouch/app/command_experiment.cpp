#include <cotouch/app/command.h>
#include <cotouch/app/progress_bar.h>
#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/experiment/experiment.h>

#include <fmt/format.h>

namespace cotouch {

void run_experiment(const ExperimentCommand& command) {
  const Experiment* chosen = nullptr;
  std::string names;
  for (const Experiment& experiment : experiments()) {
    if (experiment.name == command.name) chosen = &experiment;
    names += fmt::format("  {:<16} {}\n", experiment.name, experiment.summary);
  }
  if (command.name.empty()) {
    if (!command.json.empty()) throw Error("Which experiment? Its name comes before --json. There are:\n" + names);
    fmt::print("{}", names);
    return;
  }
  if (chosen == nullptr) throw Error(fmt::format("There is no experiment '{}'. There are:\n{}", command.name, names));

  std::error_code error;
  std::filesystem::create_directories(command.folder, error);
  if (error) throw Error(fmt::format("Cannot make the folder {}: {}.", command.folder.string(), error.message()));
  const bool print_json = command.json == "-";
  if (!command.json.empty() && !print_json) check_writable(command.json);
  ProgressBar bar;
  ExperimentOptions options;
  options.quick = command.quick;
  options.seed = command.seed;
  options.folder = command.folder;
  options.minutes = command.minutes;
  options.before = command.before;
  options.progress = &bar;
  const ExperimentReport report = chosen->run(options);
  bar.clear();
  const std::string json = to_json(*chosen, options, report);
  if (!command.json.empty() && !print_json) write_file(command.json, json);
  fmt::print("{}", print_json ? json : format_table(*chosen, report));
  if (const std::size_t failed = report.failures.size(); failed > 0)
    throw Error(fmt::format("The experiment failed. {}{}", report.failures.front(),
                            failed > 1 ? fmt::format(" And {} more, see above.", failed - 1) : ""));
}

}  // namespace cotouch

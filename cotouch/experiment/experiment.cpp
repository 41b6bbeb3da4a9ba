#include <cotouch/experiment/experiment.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

namespace cotouch {
namespace {

// The processor's name where the system tells it; figures mean little without it.
std::string machine_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string model, implementer, part;
  for (std::string line; std::getline(info, line);) {
    const auto value_of = [&](const char* key, std::string& value) {
      if (value.empty() && line.starts_with(key)) value = line.substr(std::min(line.size(), line.find(':') + 2));
    };
    value_of("model name", model);
    value_of("CPU implementer", implementer);
    value_of("CPU part", part);
  }
  if (model.empty() && !part.empty()) model = "arm64 implementer " + implementer + " part " + part;
  if (model.empty()) model = "unknown processor";
  return fmt::format("{}, {} threads", model, std::thread::hardware_concurrency());
}

std::string format_number(double value) {
  const double size = std::abs(value);
  if (size < 1e9 && value == std::trunc(value)) return fmt::format("{:.0f}", value + 0.0);  // not "-0"
  if (size >= 100) return fmt::format("{:.0f}", value);
  if (size >= 0.01) return fmt::format("{:.3g}", value);
  return fmt::format("{:.2e}", value);
}

}  // namespace

void ExperimentReport::add(std::string name, double value, std::string unit, std::optional<double> paper,
                           std::optional<double> peer) {
  results.push_back({std::move(name), value, std::move(unit), paper, peer});
}

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> k_experiments{
      {"contact-table", "Table I: nodes visited, contacts and times, of rigid scenes and of what bends",
       run_contact_table},
      {"degradation", "Figures 11 and 16: force, work and level of detail with and without degradation",
       run_degradation},
      {"detail", "Figure 14: bumps felt as the shell gets finer", run_detail},
      {"asymmetry", "Figure 15: the contact force when shell and field swap roles", run_asymmetry},
      {"stability", "The stiffest stable coupling against the passivity limit of the device", run_stability},
      {"world", "Many bodies: rest, momentum, periods and energy; stiffness and depth of contact; time a step takes",
       run_world},
      {"viewer-load", "What the touch loop notices of 1, 10 and 50 viewers", run_viewer_load},
      {"siege", "What honest viewers and the touch loop notice while every attack we know of runs at once", run_siege},
      {"docking", "Paper 004, part 1: two people dock a box over LAN and WAN, synchronised and not", run_docking_study},
      {"prediction", "Paper 004, part 2: what prediction of remote hands does to the divergence of views",
       run_prediction_study},
      {"peers", "2 to 16 peers on good and bad networks: agreement, divergence, rollbacks, bytes and processor time",
       run_peers_study},
      {"faults", "Crashes, partitions, sleep and bad networks in simulated time: is anything agreed on ever different?",
       run_fault_search},
      {"beam", "Bending of a cantilever against theory: five frequencies, and the elastica", run_beam},
      {"modal-table", "Paper 000, Table 2: computing modes, updating whole surfaces, and a touch step",
       run_modal_table},
      {"deformed-field", "Figure 10: distances to a bent body, approximate against exact, with one and several domains",
       run_deformed_field},
      {"seams", "What can be exchanged: engines and devices, what that costs, and what hostile devices are given",
       run_seams},
  };
  return k_experiments;
}

std::string format_table(const Experiment& experiment, const ExperimentReport& report) {
  std::size_t width = 4;
  for (const ExperimentResult& r : report.results) width = std::max(width, r.name.size());
  std::string text = fmt::format("{}\n{}\n\n{:<{}}  {:>12}  {:>12}  {:>12}  unit\n", experiment.name,
                                 experiment.summary, "what", width, "ours", "paper", "peer");
  const auto optional_number = [](const std::optional<double>& value) {
    return value ? format_number(*value) : std::string("-");
  };
  for (const ExperimentResult& r : report.results)
    text += fmt::format("{:<{}}  {:>12}  {:>12}  {:>12}  {}\n", r.name, width, format_number(r.value),
                        optional_number(r.paper), optional_number(r.peer), r.unit);
  if (!report.notes.empty()) text += '\n';
  for (const std::string& note : report.notes) text += note + '\n';
  for (const std::string& failure : report.failures) text += "Failed: " + failure + '\n';
  for (const auto& figure : report.figures) text += fmt::format("Figure: {}\n", figure.string());
  return text;
}

std::string to_json(const Experiment& experiment, const ExperimentOptions& options, const ExperimentReport& report) {
  nlohmann::ordered_json json;
  json["experiment"] = experiment.name;
  json["machine"] = machine_name();
  json["seed"] = options.seed;
  json["quick"] = options.quick;
  json["results"] = nlohmann::ordered_json::array();
  const auto optional_number = [](const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  for (const ExperimentResult& r : report.results)
    json["results"].push_back({{"name", r.name},
                               {"value", r.value},
                               {"unit", r.unit},
                               {"paper", optional_number(r.paper)},
                               {"peer", optional_number(r.peer)}});
  json["notes"] = report.notes;
  json["failures"] = report.failures;
  json["figures"] = nlohmann::ordered_json::array();
  for (const auto& figure : report.figures) json["figures"].push_back(figure.string());
  return json.dump(2) + "\n";
}

}  // namespace cotouch

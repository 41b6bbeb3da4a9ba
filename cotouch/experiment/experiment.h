// Experiments: each repeats a table or figure of the papers and puts our figure beside theirs.
#pragma once

#include <cotouch/base/progress.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cotouch {

struct ExperimentResult {
  std::string name;  // "<row>/<quantity>"
  double value = 0;
  std::string unit;
  std::optional<double> paper;  // what the paper reports
  std::optional<double> peer;   // what another program does on the same input in the same run
};

struct ExperimentReport {
  std::vector<ExperimentResult> results;
  std::vector<std::filesystem::path> figures;
  std::vector<std::string> notes;     // what a reader must know to judge the figures: inputs, stand-ins, definitions
  std::vector<std::string> failures;  // a sentence for each promise that was not kept: then the command fails, too

  void add(std::string name, double value, std::string unit, std::optional<double> paper = {},
           std::optional<double> peer = {});
};

struct ExperimentOptions {
  bool quick = false;
  std::uint64_t seed = 1;
  std::filesystem::path folder = ".";  // where figures go
  double minutes = 0;                  // simulated, of the search for faults; 0: an hour, or less if quick
  std::filesystem::path before = {};   // another cotouch program, to measure preparing against; empty: none
  std::filesystem::path program = "/proc/self/exe";  // this cotouch program, to be measured when it prepares
  Progress* progress = nullptr;                      // never null when an experiment runs
};

struct Experiment {
  std::string name;
  std::string summary;  // one line for --help
  std::function<ExperimentReport(const ExperimentOptions&)> run;
};

const std::vector<Experiment>& experiments();

ExperimentReport run_contact_table(const ExperimentOptions& options);
ExperimentReport run_degradation(const ExperimentOptions& options);
ExperimentReport run_detail(const ExperimentOptions& options);
ExperimentReport run_asymmetry(const ExperimentOptions& options);
ExperimentReport run_stability(const ExperimentOptions& options);
ExperimentReport run_world(const ExperimentOptions& options);
ExperimentReport run_viewer_load(const ExperimentOptions& options);
ExperimentReport run_siege(const ExperimentOptions& options);
ExperimentReport run_docking_study(const ExperimentOptions& options);
ExperimentReport run_prediction_study(const ExperimentOptions& options);
ExperimentReport run_peers_study(const ExperimentOptions& options);
ExperimentReport run_fault_search(const ExperimentOptions& options);
ExperimentReport run_beam(const ExperimentOptions& options);
ExperimentReport run_modal_table(const ExperimentOptions& options);
ExperimentReport run_deformed_field(const ExperimentOptions& options);
ExperimentReport run_seams(const ExperimentOptions& options);

// The report as a table for people, and as {"experiment", "machine", "seed", "results": [...]} for programs.
std::string format_table(const Experiment& experiment, const ExperimentReport& report);
std::string to_json(const Experiment& experiment, const ExperimentOptions& options, const ExperimentReport& report);

}  // namespace cotouch

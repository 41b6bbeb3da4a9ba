// A served scene under every attack that we know of at once, and what honest people notice of it.
#pragma once

#include <cotouch/experiment/besiegers.h>
#include <cotouch/experiment/experiment.h>
#include <cotouch/experiment/served_scene.h>
#include <cotouch/experiment/siege_datagrams.h>
#include <cotouch/experiment/siege_drivers.h>
#include <cotouch/experiment/siege_files.h>
#include <cotouch/experiment/upload_desk.h>
#include <cotouch/experiment/viewer_crowd.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cotouch {

struct SiegeSettings {
  std::string scene = "bridge-creature";
  std::uint32_t honest = 10;        // viewers
  std::uint32_t corners = 200'000;  // of the polygons that are uploaded
  double seconds = 10;              // of a turn
};

class Siege {
 public:
  // To be made while there are no threads.
  Siege(const ExperimentOptions& options, const SiegeSettings& settings);

  // `loaded`: the processors are as busy as in a siege, and nobody is attacked. `besieged_freely`: nobody holds
  // anything and nobody else is in the scene, so that besiegers may change settings, and record.
  enum class Turn : std::uint8_t { calm, loaded, besieged, besieged_freely };
  // Once it was besieged freely, nothing is held or shared any more.
  void take(Turn turn);

  static std::vector<AttackKind> kinds();
  // A sentence for each kind that did less than it has to: what is not attacked stands anything.
  std::vector<std::string> idle_attacks() const;
  ExperimentReport report();

 private:
  struct Noticed {
    std::vector<double> loop_p99_us, frames_per_second;
  };
  struct Attacked {
    AttackTally tally;
    std::uint64_t turns = 0;
  };
  std::filesystem::path part() const { return folder_.path / "part.cot"; }
  void begin_attacks();
  void end_attacks();
  void add(const std::string& kind, const AttackTally& tally);
  Attacked of(const AttackKind& kind) const;
  // siege_report.cpp
  void report_attacks(ExperimentReport& report) const;
  void report_viewers(ExperimentReport& report);
  void report_others(ExperimentReport& report) const;
  void report_broken_promises(std::vector<std::string>& failures) const;
  std::string noticed_of(const std::string& kind, const AttackTally& tally) const;

  SiegeSettings settings_;
  ViewerCrowd crowd_;  // processes first, while there are no threads
  Besiegers besiegers_;
  FileChangers files_;
  PassingFolder folder_;
  LateNetwork network_;
  bool is_shared_ = true;
  ServedScene served_;
  UploadDesk desk_;
  DriverPairs drivers_;

  std::map<std::string, Attacked> attacked_;
  std::map<Turn, Noticed> noticed_;
  std::uint32_t lost_ = 0;  // viewers
  double calm_memory_ = 0;  // MB
  LateDatagrams late_;
  HungDrivers hung_;
  ChangedFiles changed_;
  UploadWaits uploads_;
};

// The most memory this process has ever had at once.
double peak_megabytes();

}  // namespace cotouch

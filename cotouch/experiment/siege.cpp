// What honest viewers and the hand notice while every attack we know of runs at once: as little as possible.
#include <cotouch/experiment/besiegers.h>
#include <cotouch/experiment/inputs.h>
#include <cotouch/experiment/served_scene.h>
#include <cotouch/experiment/viewer_crowd.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <thread>

namespace cotouch {
namespace {

constexpr std::uint32_t k_honest = 10;
constexpr const char* k_scene = "bridge-creature";

// The most memory this process has ever had at once.
double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (double kilobytes = 0; word == "VmHWM:" && status >> kilobytes) return kilobytes / 1024;
  return 0;
}

double megabytes_in(const std::filesystem::path& folder) {
  std::error_code error;
  double bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error))
    if (entry.is_regular_file(error)) bytes += static_cast<double>(entry.file_size(error));
  return bytes / (1 << 20);
}

enum class Turn { calm, loaded, besieged, besieged_free };

struct Noticed {
  std::vector<double> loop_p99_us, frames_per_second;
};

}  // namespace

ExperimentReport run_siege(const ExperimentOptions& options) {
  ViewerCrowd crowd;  // both first, while there are no threads
  Besiegers besiegers;
  ServedScene served(options, "siege", k_scene);
  const int rounds = options.quick ? 2 : 6;
  const double seconds = options.quick ? 3 : 10;

  std::map<Turn, Noticed> noticed;
  std::map<std::string, AttackCount> attacks;
  std::uint32_t lost = 0;
  double calm_memory = 0;
  served.take_longest_task();  // opening the scene is nobody's attack
  // Calm, loaded and besieged by turns while the hand is led; then nobody holds anything, so that the besiegers may do
  // more: change settings, and record.
  for (int i = 0; i < 4 * rounds; ++i) {
    const Turn turn = i < 3 * rounds ? static_cast<Turn>(i % 3) : Turn::besieged_free;
    const bool besieged = turn == Turn::besieged || turn == Turn::besieged_free;
    if (i == 3 * rounds) served.let_go();
    options.progress->update(besieged ? "under siege" : "calm", i / (4.0 * rounds));
    crowd.connect(served.port(), served.key(), k_honest);
    if (besieged) besiegers.attack(served.port(), served.key(), seconds + 1);
    if (turn == Turn::loaded) besiegers.only_load(seconds + 1);
    crowd.begin_counting(seconds);
    served.start_over();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const CycleWindow window(served.cycle_times());
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    Noticed& now = noticed[turn];
    now.loop_p99_us.push_back(window.quantile_us(0.99));
    const CrowdResult result = crowd.result();
    now.frames_per_second.insert(now.frames_per_second.end(), result.frames_per_second.begin(),
                                 result.frames_per_second.end());
    lost += result.failed;
    if (i == 0) calm_memory = peak_megabytes();
    if (turn == Turn::calm) continue;
    for (const AttackCount& count : besiegers.result()) {
      AttackCount& sum = attacks[count.kind];
      sum.tried += count.tried;
      sum.refused += count.refused;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }

  ExperimentReport report;
  std::uint64_t tried = 0, refused = 0;
  for (const auto& [kind, count] : attacks) {
    tried += count.tried;
    refused += count.refused;
    report.add("siege/" + kind + "-tried", static_cast<double>(count.tried), "");
    report.add("siege/" + kind + "-refused", static_cast<double>(count.refused), "");
  }
  report.add("siege/attacks", static_cast<double>(attacks.size()), "");
  // The one that gets least: an average would hide somebody who was thrown out.
  const auto least = [](const std::vector<double>& rate) { return *std::min_element(rate.begin(), rate.end()); };
  const auto rate = [&noticed](Turn turn) -> const auto& {
    return noticed[turn].frames_per_second;
  };
  report.add("siege/honest-frames-per-second", least(rate(Turn::besieged)), "1/s");
  report.add("siege/honest-frames-per-second-nothing-held", least(rate(Turn::besieged_free)), "1/s");
  report.add("siege/honest-frames-per-second-median", median(rate(Turn::besieged)), "1/s");
  report.add("siege/calm-frames-per-second-median", median(rate(Turn::calm)), "1/s");
  report.add("siege/honest-viewers-lost", lost, "");
  const auto p99 = [&noticed](Turn turn) { return median(noticed[turn].loop_p99_us); };
  const auto share = [&p99](Turn turn) { return p99(Turn::calm) > 0 ? p99(turn) / p99(Turn::calm) : 0; };
  report.add("siege/loop-p99-us", p99(Turn::besieged), "us");
  report.add("siege/loop-p99-share", share(Turn::besieged), "of calm");
  report.add("siege/load-p99-share", share(Turn::loaded), "of calm, processors as busy and no attack");
  report.add("siege/longest-task-ms", served.take_longest_task() * 1e3, "ms, of the thread that makes frames");
  report.add("siege/refused-share", tried > 0 ? static_cast<double>(refused) / static_cast<double>(tried) : 0, "");
  report.add("siege/memory-calm-mb", calm_memory, "MB");
  report.add("siege/memory-peak-mb", peak_megabytes(), "MB");
  report.add("siege/recordings-mb", megabytes_in(served.recordings()), "MB");
  report.notes.push_back(fmt::format(
      "{} honest viewers ask for 60 frames a second with everything; the hand is led along the script of '{}'. Calm, "
      "a load that attacks nobody, and siege take turns, {} times {:.0f} s; as often again nobody holds anything, so "
      "that settings may be changed and recordings made. Attackers hold a link that may do everything, and run with "
      "low priority on this machine's processors, which the load does too: what it costs is not the attacks' doing.",
      k_honest, k_scene, rounds, seconds));
  report.notes.emplace_back(
      "Refused is what was answered with an error, closed or not taken in. Who only waits or is slow to read is left "
      "waiting at no cost to others, which is not counted.");
  return report;
}

}  // namespace cotouch

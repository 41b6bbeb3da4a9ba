// How much the touch loop notices of those who watch it: nothing, it should be.
#include <cotouch/experiment/inputs.h>
#include <cotouch/experiment/served_scene.h>
#include <cotouch/experiment/viewer_crowd.h>

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <map>
#include <thread>

namespace cotouch {
namespace {

constexpr std::array<std::uint32_t, 4> k_crowds{0, 1, 10, 50};
constexpr const char* k_scene = "bridge-creature";

}  // namespace

ExperimentReport run_viewer_load(const ExperimentOptions& options) {
  ViewerCrowd crowd;  // first, while there are no threads
  ServedScene served(options, "viewer-load", k_scene);

  struct Row {
    std::vector<double> p99, p50, rate, bytes;
  };
  std::map<std::uint32_t, Row> rows;
  std::uint32_t failed = 0;
  const int rounds = options.quick ? 3 : 9;
  const double seconds = options.quick ? 2 : 5;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t turn = 0; turn < k_crowds.size(); ++turn) {
      // Another order in every round, so that a slow moment of the machine does not always meet the same crowd.
      const std::uint32_t viewers = k_crowds[(turn + static_cast<std::size_t>(round)) % k_crowds.size()];
      const double done = static_cast<double>(static_cast<std::size_t>(round) * k_crowds.size() + turn);
      options.progress->update("watching", done / static_cast<double>(rounds) / static_cast<double>(k_crowds.size()));
      crowd.connect(served.port(), served.key(), viewers);
      crowd.begin_counting(seconds + 0.2);
      served.start_over();
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
      const CycleWindow window(served);
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      Row& row = rows[viewers];
      row.p99.push_back(window.quantile_us(0.99));
      row.p50.push_back(window.quantile_us(0.5));
      const CrowdResult result = crowd.result();
      failed += result.failed;
      row.rate.insert(row.rate.end(), result.frames_per_second.begin(), result.frames_per_second.end());
      if (result.bytes_per_frame > 0) row.bytes.push_back(result.bytes_per_frame);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }

  ExperimentReport report;
  for (const std::uint32_t viewers : k_crowds) {
    const Row& row = rows[viewers];
    const auto add = [&](const char* what, double value, const char* unit) {
      report.add(fmt::format("viewers-{}/{}", viewers, what), value, unit);
    };
    add("cycle-p99-us", median(row.p99), "us");
    add("cycle-p50-us", median(row.p50), "us");
    if (viewers == 0) continue;
    add("frames-per-second-median", median(row.rate), "1/s");
    add("bytes-per-frame", median(row.bytes), "byte");
  }
  const double none = median(rows[0].p99), all = median(rows[k_crowds.back()].p99);
  report.add("viewers-50/p99-share-of-none", none > 0 ? all / none : 0, "");
  report.notes.push_back(
      fmt::format("The hand is led along the script of '{}'; each viewer asks for 60 frames a second, traversed points "
                  "and nearness.",
                  k_scene));
  report.notes.push_back(fmt::format(
      "Medians over {} rounds of {:.0f} s each, the crowds taking turns. The viewers share this machine's processors.",
      rounds, seconds));
  if (failed > 0) report.notes.push_back(fmt::format("{} viewers lost their connection.", failed));
  return report;
}

}  // namespace cotouch

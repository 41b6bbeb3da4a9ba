// The search for faults as an experiment: many seeds, one after another, on all cores.
#include <cotouch/base/parallel.h>
#include <cotouch/base/realtime.h>
#include <cotouch/experiment/fault_search.h>
#include <cotouch/experiment/inputs.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

namespace cotouch {
namespace {

constexpr double k_minutes = 60, k_quick_minutes = 12;  // simulated
constexpr double k_run_minutes = 6;                     // of one seed, at least
constexpr std::size_t k_told = 10;                      // failing seeds

}  // namespace

ExperimentReport run_fault_search(const ExperimentOptions& options) {
  const double wanted = options.minutes > 0 ? options.minutes : options.quick ? k_quick_minutes : k_minutes;
  const auto count = static_cast<std::size_t>(std::ceil(wanted / k_run_minutes));
  const auto world = fault_world();
  FaultRun sum;
  double processor = 0;
  std::vector<std::pair<std::uint64_t, std::string>> failed;
  std::mutex telling;
  std::size_t finished = 0;
  parallel_for(count, 1, [&](std::size_t begin, std::size_t) {
    const std::uint64_t seed = options.seed + begin;
    const std::int64_t start = processor_ns();
    const FaultRun run = run_faults(world, {.seed = seed});
    const double seconds = static_cast<double>(processor_ns() - start) * 1e-9;
    const std::lock_guard lock(telling);
    processor += seconds;
    sum.minutes += run.minutes;
    sum.faults += run.faults;
    sum.confirmed += run.confirmed;
    sum.mismatches += run.mismatches;
    sum.overruled += run.overruled;
    sum.stuck += run.stuck;
    if (!run.first_trouble.empty()) failed.emplace_back(seed, run.first_trouble);
    options.progress->update("Looking for faults", static_cast<double>(++finished) / static_cast<double>(count));
  });
  std::sort(failed.begin(), failed.end());

  ExperimentReport report;
  report.add("faults/simulated-minutes", sum.minutes, "min");
  report.add("faults/faults", static_cast<double>(sum.faults), "crashes, partitions, pauses, ...");
  report.add("faults/mismatches", static_cast<double>(sum.mismatches), "objective states that differ");
  report.add("faults/overruled", static_cast<double>(sum.overruled), "agreed states that were not kept");
  report.add("faults/stuck", static_cast<double>(sum.stuck), "times that calm did not bring all together");
  report.add("faults/objective-states", static_cast<double>(sum.confirmed), "compared, of all machines");
  report.add("faults/processor-s", processor, "s");
  report.notes.push_back(fmt::format("Seeds {} to {}, {} machines at most; each run is the same every time.",
                                     options.seed, options.seed + count - 1, 5));
  for (std::size_t i = 0; i < std::min(failed.size(), k_told); ++i)
    report.notes.push_back(fmt::format("Seed {0} failed: {1}. Again: cotouch experiment faults --seed {0} --minutes 1",
                                       failed[i].first, failed[i].second));
  if (failed.size() > k_told) report.notes.push_back(fmt::format("And {} more.", failed.size() - k_told));
  return report;
}

}  // namespace cotouch

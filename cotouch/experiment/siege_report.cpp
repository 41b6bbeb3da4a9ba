// What is said of a siege: what was attacked, how much was done, and what honest people noticed.
#include <cotouch/experiment/inputs.h>
#include <cotouch/experiment/siege.h>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace cotouch {
namespace {

constexpr double k_slowest_clock = 95, k_fastest_clock = 105;  // ticks a second of a world that should have 100

double megabytes_in(const std::filesystem::path& folder) {
  std::error_code error;
  double bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error))
    if (entry.is_regular_file(error)) bytes += static_cast<double>(entry.file_size(error));
  return bytes / (1 << 20);
}

double least_of(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}
double most_of(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

}  // namespace

double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (double kilobytes = 0; word == "VmHWM:" && status >> kilobytes) return kilobytes / 1024;
  return 0;
}

ExperimentReport Siege::report() {
  ExperimentReport report;
  report_attacks(report);
  report_viewers(report);
  report_others(report);
  report.failures = idle_attacks();
  report_broken_promises(report.failures);
  return report;
}

void Siege::report_attacks(ExperimentReport& report) const {
  report.notes.push_back(fmt::format("{:<20} {:<22} {:>8}  {:<20} {}", "attack", "against", "done", "", "noticed"));
  for (const AttackKind& kind : kinds()) {
    const AttackTally tally = of(kind).tally;
    report.add(fmt::format("siege/{}-tried", kind.name), static_cast<double>(tally.tried), kind.what);
    report.notes.push_back(fmt::format("{:<20} {:<22} {:>8}  {:<20} {}", kind.name, kind.against, tally.tried,
                                       kind.what, noticed_of(kind.name, tally)));
  }
  std::uint64_t tried = 0, refused = 0;
  for (const AttackKind& kind : Besiegers::kinds()) {
    const AttackTally tally = of(kind).tally;
    tried += tally.tried;
    refused += tally.refused;
    report.add(fmt::format("siege/{}-refused", kind.name), static_cast<double>(tally.refused), "");
  }
  report.add("siege/refused-share", tried > 0 ? static_cast<double>(refused) / static_cast<double>(tried) : 0, "");
  report.add("siege/attacks", static_cast<double>(kinds().size() - idle_attacks().size()), "that took place");
}

std::string Siege::noticed_of(const std::string& kind, const AttackTally& tally) const {
  if (kind == LateNetwork::kind().name)
    return fmt::format("alone {} times, {:.1f} to {:.1f} ticks/s", late_.times_alone, least_of(late_.ticks_per_second),
                       most_of(late_.ticks_per_second));
  if (kind == DriverPairs::kind().name) return fmt::format("{} left on, {:.2f} N", hung_.left_on, hung_.force_left);
  if (kind == FileChangers::kind().name)
    return fmt::format("{} readers died, {} felt something else", changed_.deaths, changed_.felt_other);
  if (kind == Besiegers::k_polygons)
    return fmt::format("honest files: {} done, {} not, {:.1f} s at most", uploads_.done, uploads_.given_up,
                       uploads_.longest);
  return fmt::format("{} refused", tally.refused);
}

void Siege::report_viewers(ExperimentReport& report) {
  // The one that gets least: an average would hide somebody who was thrown out.
  const auto rate = [this](Turn turn) -> const auto& {
    return noticed_[turn].frames_per_second;
  };
  report.add("siege/honest-frames-per-second", least_of(rate(Turn::besieged)), "1/s");
  report.add("siege/honest-frames-per-second-nothing-held", least_of(rate(Turn::besieged_freely)), "1/s");
  report.add("siege/honest-frames-per-second-median", median(rate(Turn::besieged)), "1/s");
  report.add("siege/calm-frames-per-second-median", median(rate(Turn::calm)), "1/s");
  report.add("siege/honest-viewers-lost", lost_, "");
  const auto p99 = [this](Turn turn) { return median(noticed_[turn].loop_p99_us); };
  const auto share = [&p99](Turn turn) { return p99(Turn::calm) > 0 ? p99(turn) / p99(Turn::calm) : 0; };
  report.add("siege/loop-p99-us", p99(Turn::besieged), "us");
  report.add("siege/loop-p99-share", share(Turn::besieged), "of calm");
  report.add("siege/load-p99-share", share(Turn::loaded), "of calm, processors as busy and no attack");
  report.add("siege/longest-task-ms", served_.take_longest_task() * 1e3, "ms, of the thread that makes frames");
  report.add("siege/memory-calm-mb", calm_memory_, "MB");
  report.add("siege/memory-peak-mb", peak_megabytes(), "MB");
  report.add("siege/recordings-mb", megabytes_in(served_.recordings()), "MB");
}

void Siege::report_others(ExperimentReport& report) const {
  report.add("siege/late-times-alone", static_cast<double>(late_.times_alone), "times that a member was dropped");
  report.add("siege/late-ticks-per-second-least", least_of(late_.ticks_per_second), "1/s");
  report.add("siege/late-ticks-per-second-most", most_of(late_.ticks_per_second), "1/s");
  report.add("siege/hung-left-on", static_cast<double>(hung_.left_on), "pairs that pushed after half a second");
  report.add("siege/hung-force-left", hung_.force_left, "N");
  report.add("siege/changed-files-deaths", static_cast<double>(changed_.deaths), "of those who felt them");
  report.add("siege/changed-files-felt-other", static_cast<double>(changed_.felt_other), "who felt something else");
  report.add("siege/honest-uploads", static_cast<double>(uploads_.done), "beside endless polygons");
  report.add("siege/honest-uploads-given-up", static_cast<double>(uploads_.given_up), "");
  report.add("siege/honest-upload-longest-s", uploads_.longest, "s");
}

void Siege::report_broken_promises(std::vector<std::string>& failures) const {
  const auto must_be_none = [&](std::uint64_t count, const char* what) {
    if (count > 0) failures.push_back(fmt::format("{} {}.", count, what));
  };
  must_be_none(lost_, "honest viewers were thrown out");
  must_be_none(late_.times_alone, "times a member was dropped because datagrams came late");
  must_be_none(hung_.left_on, "pairs of hung drivers were left with force on");
  must_be_none(changed_.deaths, "processes died of a file that changed in place");
  must_be_none(changed_.felt_other, "processes felt something else when a file changed in place");
  must_be_none(uploads_.given_up, "honest uploads were not done within half a minute");
  for (const double ticks : late_.ticks_per_second)
    if (ticks < k_slowest_clock || ticks > k_fastest_clock)
      failures.push_back(fmt::format("With late datagrams the world went at {:.1f} ticks a second.", ticks));
}

ExperimentReport run_siege(const ExperimentOptions& options) {
  const int rounds = options.quick ? 2 : 6;
  SiegeSettings settings;
  if (options.quick) settings.seconds = 3;
  Siege siege(options, settings);
  // Calm, loaded and besieged by turns while the hand is led; then nobody holds anything.
  for (int i = 0; i < 4 * rounds; ++i) {
    const auto turn = i < 3 * rounds ? static_cast<Siege::Turn>(i % 3) : Siege::Turn::besieged_freely;
    options.progress->update(turn < Siege::Turn::besieged ? "calm" : "under siege", i / (4.0 * rounds));
    siege.take(turn);
  }
  ExperimentReport report = siege.report();
  report.notes.push_back(fmt::format(
      "{} honest viewers ask for 60 frames a second with everything; the hand is led along the script of '{}', which "
      "another member shares. Calm, a load that attacks nobody, and siege take turns, {} times {:.0f} s; as often "
      "again "
      "nobody holds or shares anything, so that settings may be changed and recordings made. Attackers hold a link "
      "that "
      "may do everything, and run with low priority on this machine's processors, which the load does too: what it "
      "costs is not the attacks' doing.",
      settings.honest, settings.scene, rounds, settings.seconds));
  report.notes.emplace_back(
      "Refused is what was answered with an error, closed or not taken in. Who only waits or is slow to read is left "
      "waiting at no cost to others, which is not counted. An attack counts if it did the least that it has to in "
      "every "
      "turn.");
  return report;
}

}  // namespace cotouch

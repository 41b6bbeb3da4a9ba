#include <cotouch/experiment/siege.h>
#include <cotouch/part/asset.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace cotouch {
namespace {

constexpr const char* k_siege = "siege";

}  // namespace

Siege::Siege(const ExperimentOptions& options, const SiegeSettings& settings)
    : settings_(settings),
      folder_("siege-files"),
      network_(folder_.path / "network"),
      served_(options, k_siege, settings.scene, ServedSharing{network_.host_settings(), network_.host_listener()}),
      drivers_(options) {
  network_.join(served_.invite());
  write_asset(*served_.part(), part());
  served_.take_longest_task();  // opening the scene is nobody's attack
}

std::vector<AttackKind> Siege::kinds() {
  std::vector<AttackKind> kinds = Besiegers::kinds();
  for (const AttackKind& beside : {LateNetwork::kind(), DriverPairs::kind(), FileChangers::kind()})
    kinds.push_back(beside);
  return kinds;
}

void Siege::take(Turn turn) {
  const bool besieged = turn == Turn::besieged || turn == Turn::besieged_freely;
  if (turn == Turn::besieged_freely && std::exchange(is_shared_, false)) {
    served_.let_go();
    network_.leave();
  }
  crowd_.connect(served_.port(), served_.key(), settings_.honest);
  if (besieged) begin_attacks();
  if (turn == Turn::loaded) besiegers_.only_load(settings_.seconds + 1);
  crowd_.begin_counting(settings_.seconds);
  served_.start_over();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const CycleWindow window(served_);
  std::this_thread::sleep_for(std::chrono::duration<double>(settings_.seconds));
  Noticed& now = noticed_[turn];
  now.loop_p99_us.push_back(window.quantile_us(0.99));
  const CrowdResult result = crowd_.result();
  now.frames_per_second.insert(now.frames_per_second.end(), result.frames_per_second.begin(),
                               result.frames_per_second.end());
  lost_ += result.failed;
  if (calm_memory_ == 0) calm_memory_ = peak_megabytes();
  if (besieged) end_attacks();
  if (turn == Turn::loaded) besiegers_.result();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
}

void Siege::begin_attacks() {
  const double seconds = settings_.seconds + 1;
  if (is_shared_) network_.attack(seconds);
  besiegers_.attack({served_.port(), served_.key()}, {desk_.port(), desk_.key()}, settings_.corners, seconds);
  files_.attack(part(), seconds);
  drivers_.attack(seconds);
  desk_.begin(seconds);
}

void Siege::end_attacks() {
  for (const AttackCount& count : besiegers_.result()) add(count.kind, count.tally);
  const ChangedFiles changed = files_.result();
  add(FileChangers::kind().name, {changed.changed, 0});
  changed_ += changed;
  const HungDrivers hung = drivers_.result();
  add(DriverPairs::kind().name, {hung.pairs, 0});
  hung_ += hung;
  if (is_shared_) {
    const LateDatagrams late = network_.result();
    add(LateNetwork::kind().name, {late.held_back, 0});
    late_ += late;
  }
  uploads_ += desk_.result();
}

void Siege::add(const std::string& kind, const AttackTally& tally) {
  Attacked& attacked = attacked_[kind];
  attacked.turns += 1;
  attacked.tally.tried += tally.tried;
  attacked.tally.refused += tally.refused;
}

std::vector<std::string> Siege::idle_attacks() const {
  std::vector<std::string> idle;
  for (const AttackKind& kind : kinds()) {
    const Attacked attacked = of(kind);
    const std::uint64_t least = kind.least * std::max<std::uint64_t>(attacked.turns, 1);
    if (attacked.tally.tried < least)
      idle.push_back(fmt::format("The attack '{}' did not take place: {} {} in {} turns, and at least {} are needed.",
                                 kind.name, attacked.tally.tried, kind.what, attacked.turns, least));
  }
  return idle;
}

Siege::Attacked Siege::of(const AttackKind& kind) const {
  const auto found = attacked_.find(kind.name);
  return found == attacked_.end() ? Attacked{} : found->second;
}

}  // namespace cotouch

#include <cotouch/base/error.h>
#include <cotouch/experiment/served_scene.h>
#include <cotouch/world/hand_path.h>

#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

namespace cotouch {
namespace {

constexpr auto k_sharing_patience = std::chrono::seconds(60);

SessionSettings settings_with(const std::filesystem::path& recordings, const std::optional<ServedSharing>& sharing) {
  SessionSettings settings;
  settings.recordings = recordings;
  if (sharing) settings.sharing = sharing->settings;
  return settings;
}

}  // namespace

ServedScene::ServedScene(const ExperimentOptions& options, const std::string& name, const std::string& scene,
                         const std::optional<ServedSharing>& sharing)
    : recordings_(name),
      served_(name, settings_with(recordings_.path, sharing), sharing ? &sharing->listener : nullptr) {
  Scene shown = served_.library().load(scene, *options.progress);
  const HandScript script = shown.scripts.at(0);
  served_.command(ShowScene{std::move(shown)});
  if (sharing) share();
  hand_ = lead_hand(script);
}

// Returns once the scene's world is the shared one: who holds a hand before loses it.
void ServedScene::share() {
  const std::uint32_t alone = served_.session().snapshot().generation;
  served_.command(StartSharing{});
  const auto end = std::chrono::steady_clock::now() + k_sharing_patience;
  for (;;) {
    const SessionSnapshot now = served_.session().snapshot();
    if (now.generation != alone && !now.sharing.invite.empty()) return;
    if (now.sharing.state == SharingStatus::State::failed || std::chrono::steady_clock::now() > end)
      throw Error("The scene could not be shared. " + now.sharing.reason);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::shared_ptr<const Part> ServedScene::part() {
  return served_.session().snapshot().scene->scene.bodies.at(0).parts.at(0).part;
}

// At the pace of a page: a pose every ten milliseconds.
std::jthread ServedScene::lead_hand(const HandScript& script) {
  served_.command(GraspBody{HandId::none, script.body, std::nullopt});
  const SessionSnapshot now_shown = served_.session().snapshot();
  HandMotion motion;
  motion.generation = now_shown.generation;
  for (const HandView& hand : now_shown.hands)
    if (hand.holder == served_.own()) motion.hand = hand.id;
  return std::jthread([this, motion, path = HandPath(script.keys, script.speed)](const std::stop_token& stop) {
    HandMotion wanted = motion;
    while (!stop.stop_requested()) {
      ++wanted.sequence;
      wanted.pose = path.at(std::fmod(now() - script_began_, path.duration()));
      served_.session().move_hand(served_.own(), wanted);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
}

void ServedScene::let_go() {
  hand_ = {};
  served_.session().command_and_wait(served_.own(), ReleaseHand{});
  if (!invite().empty()) served_.command(LeaveSharing{});
}

ServedScene::~ServedScene() {
  hand_ = {};
}

CycleWindow::CycleWindow(ServedScene& served) : served_(served), times_(served.cycle_times()) {
  for (std::size_t i = 0; times_ != nullptr && i < CycleHistogram::k_buckets; ++i) before_[i] = times_->in_bucket(i);
}

double CycleWindow::quantile_us(double share) const {
  const CycleHistogram* const times = served_.cycle_times();
  if (times == nullptr) return 0;
  std::vector<std::uint64_t> fresh(CycleHistogram::k_buckets);
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < fresh.size(); ++i)
    count += fresh[i] = times->in_bucket(i) - (times == times_ ? before_[i] : 0);
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    below += fresh[i];
    if (count > 0 && static_cast<double>(below) >= share * static_cast<double>(count))
      return static_cast<double>((i + 1) * CycleHistogram::k_bucket_ns) * 1e-3;
  }
  return 0;
}

}  // namespace cotouch

#include <cotouch/base/error.h>
#include <cotouch/experiment/served_scene.h>
#include <cotouch/serve/access.h>
#include <cotouch/world/hand_path.h>

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <vector>

namespace cotouch {

ServedScene::ServedScene(const ExperimentOptions& options, const std::string& name, const std::string& scene)
    : links_(make_token()),
      recordings_(std::filesystem::temp_directory_path() / fmt::format("cotouch-{}-{}", name, ::getpid())) {
  library_ = std::make_unique<FolderLibrary>(options.folder / (name + "-scenes"), nullptr);
  Scene shown = library_->load(scene, *options.progress);
  const HandScript script = shown.scripts.at(0);

  server_ = std::make_unique<HttpServer>(ServerSettings{});
  SessionSettings settings;
  settings.recordings = recordings_;
  session_ = std::make_unique<Session>(settings, *library_);
  PageHostSettings pages;
  pages.version = name;
  host_ = std::make_unique<PageHost>(pages, *session_, *server_, links_);
  session_->start();
  server_->start(*host_, *host_, links_);
  who_ = session_->join(ParticipantKind::program, name);
  session_->command_and_wait(who_, ShowScene{std::move(shown)});
  hand_ = lead_hand(script);
}

// At the pace of a page: a pose every ten milliseconds.
std::jthread ServedScene::lead_hand(const HandScript& script) {
  const CommandResult result = session_->command_and_wait(who_, GraspBody{HandId::none, script.body, std::nullopt});
  if (!result.done()) throw Error(result.reason);
  const SessionSnapshot now_shown = session_->snapshot();
  HandMotion motion;
  motion.generation = now_shown.generation;
  for (const HandView& hand : now_shown.hands)
    if (hand.holder == who_) motion.hand = hand.id;
  return std::jthread([this, motion, path = HandPath(script.keys, script.speed)](const std::stop_token& stop) {
    HandMotion wanted = motion;
    while (!stop.stop_requested()) {
      ++wanted.sequence;
      wanted.pose = path.at(std::fmod(now() - script_began_, path.duration()));
      session_->move_hand(who_, wanted);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
}

void ServedScene::let_go() {
  hand_ = {};
  session_->command_and_wait(who_, ReleaseHand{});
}

// Viewers leave before what serves them does.
ServedScene::~ServedScene() {
  hand_ = {};
  server_->stop();
  session_->stop();
  std::error_code ignored;
  std::filesystem::remove_all(recordings_, ignored);
}

CycleWindow::CycleWindow(const CycleHistogram& times) : times_(times) {
  for (std::size_t i = 0; i < CycleHistogram::k_buckets; ++i) before_[i] = times.in_bucket(i);
}

double CycleWindow::quantile_us(double share) const {
  std::vector<std::uint64_t> fresh(CycleHistogram::k_buckets);
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < fresh.size(); ++i) count += fresh[i] = times_.in_bucket(i) - before_[i];
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    below += fresh[i];
    if (count > 0 && static_cast<double>(below) >= share * static_cast<double>(count))
      return static_cast<double>((i + 1) * CycleHistogram::k_bucket_ns) * 1e-3;
  }
  return 0;
}

}  // namespace cotouch

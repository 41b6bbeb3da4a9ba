// How much the touch loop notices of those who watch it: nothing, it should be.
#include <cotouch/base/error.h>
#include <cotouch/experiment/inputs.h>
#include <cotouch/experiment/viewer_crowd.h>
#include <cotouch/serve/access.h>
#include <cotouch/serve/page_host.h>
#include <cotouch/world/hand_path.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <thread>

namespace cotouch {
namespace {

constexpr std::array<std::uint32_t, 4> k_crowds{0, 1, 10, 50};
constexpr const char* k_scene = "bridge-creature";

// Leads a body along its script, round and round, at the pace of a page: a pose every ten milliseconds.
class Driver {
 public:
  Driver(Session& session, ParticipantId who, const HandScript& script) {
    const CommandResult result = session.command_and_wait(who, GraspBody{HandId::none, script.body, std::nullopt});
    if (!result.done()) throw Error(result.reason);
    const SessionSnapshot now = session.snapshot();
    HandMotion motion;
    motion.generation = now.generation;
    for (const HandView& hand : now.hands)
      if (hand.holder == who) motion.hand = hand.id;
    thread_ =
        std::jthread([&session, who, motion, path = HandPath(script.keys, script.speed)](const std::stop_token& stop) {
          HandMotion wanted = motion;
          const auto start = std::chrono::steady_clock::now();
          while (!stop.stop_requested()) {
            const double time = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            ++wanted.sequence;
            wanted.pose = path.at(std::fmod(time, path.duration()));
            session.move_hand(who, wanted);
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
          }
        });
  }

 private:
  std::jthread thread_;
};

// Cycle times between two looks at a histogram.
class CycleWindow {
 public:
  explicit CycleWindow(const CycleHistogram& times) : times_(times) {
    for (std::size_t i = 0; i < CycleHistogram::k_buckets; ++i) before_[i] = times.in_bucket(i);
  }
  double quantile_us(double share) const {
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

 private:
  const CycleHistogram& times_;
  std::array<std::uint64_t, CycleHistogram::k_buckets> before_{};
};

}  // namespace

ExperimentReport run_viewer_load(const ExperimentOptions& options) {
  ViewerCrowd crowd;  // first, while there are no threads
  FolderLibrary library(options.folder / "viewer-load-scenes", nullptr);
  Scene scene = library.load(k_scene, *options.progress);
  const HandScript script = scene.scripts.at(0);

  ServerSettings server_settings;
  server_settings.token = make_token();
  HttpServer server(server_settings);
  SessionSettings session_settings;
  session_settings.recordings = options.folder / "viewer-load-recordings";
  Session session(session_settings, library);
  PageHostSettings pages;
  pages.version = "viewer-load";
  PageHost host(pages, session, server);
  const Closing closing{server};
  session.start();
  server.start(host, host);
  const ParticipantId who = session.join(ParticipantKind::program, "viewer-load");
  session.command_and_wait(who, ShowScene{std::move(scene)});
  const Driver driver(session, who, script);

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
      crowd.connect(server.port(), server_settings.token, viewers);
      crowd.begin_counting(seconds + 0.2);
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
      const CycleWindow window(*session.cycle_times());
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
  server.stop();
  session.stop();

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

// A scene that is served to pages while a hand is led through it, for experiments about those who watch.
#pragma once

#include <cotouch/experiment/experiment.h>
#include <cotouch/experiment/served_session.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

namespace cotouch {

// For a scene that others join over the network.
struct ServedSharing {
  SharedSessionSettings settings;
  SessionListener& listener;  // must outlive the scene
};

class ServedScene {
 public:
  // `name` is the experiment's: its scenes are kept in a folder named after it. Recordings go when this goes.
  ServedScene(const ExperimentOptions& options, const std::string& name, const std::string& scene,
              const std::optional<ServedSharing>& sharing = std::nullopt);
  ~ServedScene();
  ServedScene(const ServedScene&) = delete;
  ServedScene& operator=(const ServedScene&) = delete;

  std::uint16_t port() const { return served_.port(); }
  std::string key() const { return served_.key(); }
  // For others to join with; empty if it is not shared.
  std::string invite() { return served_.session().snapshot().sharing.invite; }
  // Any of the scene.
  std::shared_ptr<const Part> part();
  // The hand goes back to where its script begins, so that what is compared meets the same contacts.
  void start_over() { script_began_ = now(); }
  // Nobody holds anything any more, and nobody else is in the scene.
  void let_go();
  // Of the loop that runs now; null if there is none.
  const CycleHistogram* cycle_times() { return served_.session().cycle_times(); }
  double take_longest_task() { return served_.session().take_longest_task(); }  // seconds, see session.h
  const std::filesystem::path& recordings() const { return recordings_.path; }

 private:
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  void share();
  std::jthread lead_hand(const HandScript& script);

  PassingFolder recordings_;
  ServedSession served_;
  std::atomic<double> script_began_ = now();  // seconds
  std::jthread hand_;                         // leads a body along its script, round and round
};

// Cycle times between two looks at a scene's loop; of a loop that was begun in between, all.
class CycleWindow {
 public:
  explicit CycleWindow(ServedScene& served);
  double quantile_us(double share) const;

 private:
  ServedScene& served_;
  const CycleHistogram* times_;
  std::array<std::uint64_t, CycleHistogram::k_buckets> before_{};
};

}  // namespace cotouch

// A scene that is served to pages while a hand is led through it, for experiments about those who watch.
#pragma once

#include <cotouch/experiment/experiment.h>
#include <cotouch/serve/page_host.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

namespace cotouch {

class ServedScene {
 public:
  // `name` is the experiment's: its scenes are kept in a folder named after it. Recordings go when this goes.
  ServedScene(const ExperimentOptions& options, const std::string& name, const std::string& scene);
  ~ServedScene();
  ServedScene(const ServedScene&) = delete;
  ServedScene& operator=(const ServedScene&) = delete;

  std::uint16_t port() const { return server_->port(); }
  // With which a client comes in that calls the server 127.0.0.1.
  std::string key() const { return links_.own_key("127.0.0.1:" + std::to_string(port())); }
  // The hand goes back to where its script begins, so that what is compared meets the same contacts.
  void start_over() { script_began_ = now(); }
  // Nobody holds anything any more.
  void let_go();
  const CycleHistogram& cycle_times() const { return *session_->cycle_times(); }
  double take_longest_task() { return session_->take_longest_task(); }  // seconds, see session.h
  const std::filesystem::path& recordings() const { return recordings_; }

 private:
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  std::jthread lead_hand(const HandScript& script);

  LinkBook links_;
  std::filesystem::path recordings_;
  std::unique_ptr<FolderLibrary> library_;
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<PageHost> host_;
  ParticipantId who_{};
  std::atomic<double> script_began_ = now();  // seconds
  std::jthread hand_;                         // leads a body along its script, round and round
};

// Cycle times between two looks at a histogram.
class CycleWindow {
 public:
  explicit CycleWindow(const CycleHistogram& times);
  double quantile_us(double share) const;

 private:
  const CycleHistogram& times_;
  std::array<std::uint64_t, CycleHistogram::k_buckets> before_{};
};

}  // namespace cotouch

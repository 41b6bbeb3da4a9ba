// A server that takes files, and somebody honest who brings it one small file after another and waits for each.
//
// With a session of its own: one that is shared takes no parts.
#pragma once

#include <cotouch/experiment/served_session.h>

#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <thread>

namespace cotouch {

struct UploadWaits {
  std::uint64_t done = 0, given_up = 0;
  double longest = 0;  // seconds from the first try until the part was there, or until the patience was over

  UploadWaits& operator+=(const UploadWaits& other);
};

class UploadDesk final : private SessionListener {
 public:
  static constexpr double k_patience = 30;  // seconds

  // Whoever finds a full scene waits for nothing, so the desk is cleared once so many bodies lie on it.
  explicit UploadDesk(std::size_t most = k_most_bodies / 2);

  std::uint16_t port() const { return served_.port(); }
  std::string key() const { return served_.key(); }
  std::size_t bodies() { return served_.session().snapshot().scene->scene.bodies.size(); }
  // The honest one brings files for so long.
  void begin(double seconds);
  // Waits until the last of them is a part, or the patience is over; then clears the desk of all that was brought.
  UploadWaits result();

 private:
  void job_changed(const JobStatus& job) override;
  void bring_files(double seconds);
  bool bring_one(std::chrono::steady_clock::time_point end);
  void clear();
  void show_empty();
  void make_room();

  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::map<std::uint32_t, JobState> jobs_;
  UploadWaits waits_;  // the honest one's while it runs
  PassingFolder recordings_;
  ServedSession served_;  // its thread uses everything above
  std::jthread honest_;
};

}  // namespace cotouch

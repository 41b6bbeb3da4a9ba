// Long work in the background: opening scenes, and preparing parts. Of each of the two, one piece after another; a mesh
// that takes minutes does not keep a scene from opening.
#pragma once

#include <cotouch/base/progress.h>

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace cotouch {

enum class JobLane : std::uint8_t { scenes, parts };
inline constexpr std::size_t k_job_lanes = 2;

enum class JobState { running, done, failed, cancelled };

struct JobStatus {
  std::uint32_t id = 0;
  std::string name, stage;
  double progress = 0;  // 0..1 over all
  JobState state = JobState::running;
  std::string reason;  // a sentence, where it failed
};

class JobQueue {
 public:
  using Work = std::function<void(Progress&)>;
  using Report = std::function<void(const JobStatus&)>;

  // `report` is called when a job starts to wait, at most ten times a second while it goes on, and when it ends; from
  // the jobs' threads, add() and cancel(), one call at a time and in order. It must not call the queue.
  explicit JobQueue(Report report, std::size_t max_waiting = 8);
  // Cancels everything and waits for the jobs that run.
  ~JobQueue();
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  // Nothing where too many wait already in that lane.
  std::optional<std::uint32_t> add(JobLane lane, std::string name, Work work);
  // False where there is no such unfinished job.
  bool cancel(std::uint32_t id);
  // Where the unfinished jobs stand, in order with the other reports.
  void tell_unfinished(const Report& report) const;

 private:
  struct Job;
  class JobProgress;
  struct Lane {
    std::deque<std::shared_ptr<Job>> waiting;
    std::shared_ptr<Job> current;
  };
  void run(Lane& lane, const std::stop_token& stop);
  void perform(Job& job);

  Report report_;
  std::size_t max_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::array<Lane, k_job_lanes> lanes_;
  std::uint32_t last_id_ = 0;
  std::array<std::jthread, k_job_lanes> threads_;
};

}  // namespace cotouch

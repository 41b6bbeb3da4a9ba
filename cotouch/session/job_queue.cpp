#include <cotouch/session/job_queue.h>

#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/base/realtime.h>

#include <algorithm>
#include <atomic>
#include <new>

namespace cotouch {

struct JobQueue::Job {
  JobStatus status;  // guarded by the queue's mutex
  Work work;
  std::atomic<bool> cancelled{false};
};

class JobQueue::JobProgress final : public Progress {
 public:
  JobProgress(JobQueue& queue, Job& job) : queue_(queue), job_(job) {}

  void update(std::string_view stage, double fraction) override {
    if (job_.cancelled.load(std::memory_order_relaxed)) throw Cancelled();
    const std::int64_t now = monotonic_ns();
    constexpr std::int64_t k_interval_ns = 100'000'000;
    const std::scoped_lock lock(queue_.mutex_);
    // How many stages follow is not known; each takes half of what is left, so the bar only ever moves forward.
    if (stage != job_.status.stage && !job_.status.stage.empty()) base_ += (1 - base_) / 2;
    job_.status.stage = stage;
    job_.status.progress = std::max(job_.status.progress, base_ + (1 - base_) / 2 * std::clamp(fraction, 0.0, 1.0));
    if (now - last_report_ns_ < k_interval_ns) return;
    last_report_ns_ = now;
    queue_.report_(job_.status);
  }

 private:
  JobQueue& queue_;
  Job& job_;
  double base_ = 0;
  std::int64_t last_report_ns_ = 0;
};

JobQueue::JobQueue(Report report, std::size_t max_waiting) : report_(std::move(report)), max_waiting_(max_waiting) {
  for (std::size_t i = 0; i < k_job_lanes; ++i)
    threads_[i] = std::jthread([this, i](const std::stop_token& stop) { run(lanes_[i], stop); });
}

JobQueue::~JobQueue() {
  {
    const std::scoped_lock lock(mutex_);
    for (Lane& lane : lanes_) {
      lane.waiting.clear();
      if (lane.current) lane.current->cancelled = true;
    }
  }
  for (std::jthread& thread : threads_) thread.request_stop();
  for (std::jthread& thread : threads_) thread.join();
}

std::optional<std::uint32_t> JobQueue::add(JobLane which, std::string name, Work work) {
  auto job = std::make_shared<Job>();
  job->status.name = std::move(name);
  job->status.stage = "waiting";
  job->work = std::move(work);
  const std::scoped_lock lock(mutex_);
  Lane& lane = lanes_[static_cast<std::size_t>(which)];
  if (lane.waiting.size() >= max_waiting_) return std::nullopt;
  job->status.id = ++last_id_;
  lane.waiting.push_back(job);
  report_(job->status);
  wake_.notify_all();
  return job->status.id;
}

bool JobQueue::cancel(std::uint32_t id) {
  const std::scoped_lock lock(mutex_);
  for (Lane& lane : lanes_) {
    if (lane.current && lane.current->status.id == id) {
      lane.current->cancelled = true;
      return true;
    }
    const auto found = std::find_if(lane.waiting.begin(), lane.waiting.end(),
                                    [id](const std::shared_ptr<Job>& job) { return job->status.id == id; });
    if (found == lane.waiting.end()) continue;
    (*found)->status.state = JobState::cancelled;
    report_((*found)->status);
    lane.waiting.erase(found);
    return true;
  }
  return false;
}

void JobQueue::tell_unfinished(const Report& report) const {
  const std::scoped_lock lock(mutex_);
  for (const Lane& lane : lanes_)
    if (lane.current) report(lane.current->status);
  for (const Lane& lane : lanes_)
    for (const std::shared_ptr<Job>& job : lane.waiting) report(job->status);
}

void JobQueue::run(Lane& lane, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [&] { return !lane.waiting.empty(); })) return;
      lane.current = lane.waiting.front();
      lane.waiting.pop_front();
      lane.current->status.stage.clear();
    }
    perform(*lane.current);
    const std::scoped_lock lock(mutex_);
    report_(lane.current->status);
    lane.current.reset();
  }
}

void JobQueue::perform(Job& job) {
  JobState state = JobState::done;
  std::string reason;
  try {
    JobProgress progress(*this, job);
    const CancelScope scope([&job] { return job.cancelled.load(std::memory_order_relaxed); });
    job.work(progress);
  } catch (const Cancelled&) {
    state = JobState::cancelled;
  } catch (const std::bad_alloc&) {
    state = JobState::failed;
    reason = "There is not enough memory for this.";
  } catch (const std::exception& error) {
    state = JobState::failed;
    reason = error.what();
  }
  job.work = nullptr;
  const std::scoped_lock lock(mutex_);
  job.status.state = state;
  job.status.reason = std::move(reason);
  if (state == JobState::done) job.status.progress = 1;
}

}  // namespace cotouch

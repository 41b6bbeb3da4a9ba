#include <cotouch/base/cancel.h>
#include <cotouch/session/job_queue.h>

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace cotouch::this_file {
namespace {

// Remembers the ends of jobs in their order.
class Ends {
 public:
  JobQueue::Report report() {
    return [this](const JobStatus& status) {
      if (status.state == JobState::running) return;
      const std::scoped_lock lock(mutex_);
      ends_.push_back({status.id, status.state});
      changed_.notify_all();
    };
  }
  struct End {
    std::uint32_t id;
    JobState state;
  };
  std::vector<End> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::minutes(1), [&] { return ends_.size() >= count; });
    return ends_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<End> ends_;
};

TEST(JobQueue, WorkThatReportsNothingEndsWhereItAsks) {
  Ends ends;
  JobQueue jobs(ends.report());
  std::atomic<bool> begun{false}, cancelled{false};
  const auto first = jobs.add(JobLane::parts, "silent", [&](Progress&) {
    begun = true;
    begun.notify_all();
    while (!cancelled) throw_if_cancelled();
    throw_if_cancelled();
  });
  const auto second = jobs.add(JobLane::parts, "next", [](Progress&) { throw_if_cancelled(); });
  ASSERT_TRUE(first && second);
  begun.wait(false);
  EXPECT_TRUE(jobs.cancel(*first));
  cancelled = true;
  const std::vector<Ends::End> seen = ends.wait_for(2);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].id, *first);
  EXPECT_EQ(seen[0].state, JobState::cancelled);
  EXPECT_EQ(seen[1].id, *second);
  EXPECT_EQ(seen[1].state, JobState::done);
}

}  // namespace
}  // namespace cotouch::this_file

#include <cotouch/session/background.h>

#include <sys/resource.h>
#include <unistd.h>

#include <exception>
#include <utility>

namespace cotouch {
namespace {

// No more than views have: somebody may wait for it, and others on this machine would leave it nothing.
constexpr int k_niceness = 5;

}  // namespace

Background::Background() : thread_([this] { run(); }) {
}

Background::~Background() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Background::post(std::function<void()> task) {
  {
    const std::scoped_lock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
}

void Background::run() {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), k_niceness);
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    try {
      task();
    } catch (const std::exception&) {
      // See post().
    }
  }
}

}  // namespace cotouch

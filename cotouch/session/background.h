// A thread for what takes a moment and must not hold up the session's own: reading and deleting files, saving what was
// not saved, making ready what is shown next. In the order in which it was given.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace cotouch {

class Background {
 public:
  Background();
  ~Background();  // does what is left first
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // What it throws is lost: whoever cares catches it.
  void post(std::function<void()> task);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace cotouch

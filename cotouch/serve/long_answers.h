// Answers that take long to make or long to send, so that whoever asks for many of them waits for themselves and nobody
// else does.
#pragma once

#include <cotouch/serve/link_book.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace cotouch {

// Work of minutes, such as stepping a recording again: one at a time on a thread of its own, the links in turn.
class LongAnswers {
 public:
  ~LongAnswers();
  void start();
  // Finishes what it is doing. What waits is not done, and kept until this object goes.
  void stop();
  // Forgotten if `asker` goes before its turn comes.
  void add(const std::string& link, std::weak_ptr<const void> asker, std::function<void()> work);

 private:
  struct Waiting {
    std::weak_ptr<const void> asker;
    std::function<void()> work;
  };
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<std::string, std::deque<Waiting>> waiting_;  // by link; none of them is empty
  std::string last_;                                    // link whose turn it was
  bool stopping_ = false;
  std::thread thread_;
};

// How much memory is held by answers that were made and have not been taken yet. Any thread may use it.
class UnsentAnswers {
 public:
  // `most` for one link, four times as much for all; owners have their own share whatever others do.
  explicit UnsentAnswers(std::uint64_t most) : most_(most), counts_(std::make_shared<Counts>()) {}

  // Asked before an answer is made, whose size is not known then.
  bool has_room_for(const Visitor& visitor) const;
  // The same body, which counts as long as it lives.
  std::shared_ptr<const std::string> counted(const Visitor& visitor, std::shared_ptr<const std::string> body);

 private:
  struct Counts {
    std::mutex mutex;
    std::map<std::string, std::uint64_t> bytes;  // by link
    std::uint64_t all = 0;
  };
  struct Share;

  std::uint64_t most_;
  std::shared_ptr<Counts> counts_;  // bodies may outlive this
};

}  // namespace cotouch

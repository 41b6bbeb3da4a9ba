// A recording that goes to disk while it is made. Whoever makes it hands over what there is and never waits: a thread
// of its own writes it, twice a second, and makes sure that it is on the disk. Memory does not grow with its length.
//
// If the program is killed, all but the last second can be read (recording.h). If the disk is full or slow, or the
// recording grows beyond its allowance, it ends there; what was written stays and problem() says why.
#pragma once

#include <cotouch/touch/recording.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace cotouch {

class RecordingStream {
 public:
  // What became of it.
  struct Result {
    std::string scene;  // as the recording's head has it
    std::uint64_t samples = 0, bytes = 0;
    double seconds = 0, peak_force = 0;  // of what was written
    std::string problem;                 // a sentence, if not everything was
  };
  // Called once, on the stream's thread, when the file is closed. Without a single byte there is none.
  using Finished = std::function<void(const Result&)>;

  // `most_bytes` may be written. The file must not be there yet.
  RecordingStream(std::filesystem::path file, std::uint64_t most_bytes, Finished finished);
  ~RecordingStream();  // as finish(), and waits for it
  RecordingStream(const RecordingStream&) = delete;
  RecordingStream& operator=(const RecordingStream&) = delete;

  // Takes the samples and events out of the recording, and the first time its head.
  void take(Recording& recording);
  // Nothing is taken any more; the rest is written and the file closed, which this does not wait for.
  void finish();
  // Why it takes nothing any more; empty if all is well.
  std::string problem() const;
  double seconds() const;  // of what was taken

  static constexpr std::size_t k_most_waiting = 32U << 20U;  // bytes, while the disk takes its time

 private:
  // What one block's worth of things became.
  struct Waiting {
    std::vector<std::byte> head, samples, events;
    std::uint32_t sample_count = 0, event_count = 0;
    double peak_force = 0;
  };
  void run();
  bool write(const Waiting& waiting, bool last);         // false: it goes no further
  std::string append(std::span<const std::byte> bytes);  // a reason if it could not be

  const std::filesystem::path file_;
  const std::uint64_t most_bytes_;
  Finished finished_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Waiting waiting_;
  std::string problem_;
  std::uint64_t taken_ = 0;
  double period_ = 0;
  bool begun_ = false, finishing_ = false;
  // The thread's.
  int fd_ = -1;
  std::uint64_t chain_ = 0, events_ = 0;
  Result result_;
  std::thread thread_;
};

}  // namespace cotouch

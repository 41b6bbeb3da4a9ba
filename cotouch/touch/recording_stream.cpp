#include <cotouch/touch/recording_stream.h>

#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/touch/recording_format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace cotouch {

using namespace recording_format;

namespace {

constexpr auto k_interval = std::chrono::milliseconds(400);

}  // namespace

RecordingStream::RecordingStream(std::filesystem::path file, std::uint64_t most_bytes, Finished finished)
    : file_(std::move(file)), most_bytes_(most_bytes), finished_(std::move(finished)), thread_([this] { run(); }) {
}

RecordingStream::~RecordingStream() {
  finish();
  thread_.join();
}

void RecordingStream::take(Recording& recording) {
  {
    const std::scoped_lock lock(mutex_);
    if (problem_.empty() && !finishing_) {
      if (!std::exchange(begun_, true)) {
        Writer head;
        write_head(head, recording);
        waiting_.head = std::move(head.bytes);
        period_ = recording.limits.period;
        result_.scene = recording.scene;
      }
      const std::uint32_t version = version_of(recording);
      Writer samples{std::move(waiting_.samples)}, events{std::move(waiting_.events)};
      for (const RecordedSample& sample : recording.samples) {
        visit(samples, sample, recording.hands, recording.pairs, version);
        for (const HandSample& hand : sample.hands)
          waiting_.peak_force = std::max(waiting_.peak_force, norm(hand.felt.force));
      }
      for (const RecordedEvent& event : recording.events) visit(events, event, recording.hands, version);
      waiting_.sample_count += static_cast<std::uint32_t>(recording.samples.size());
      waiting_.event_count += static_cast<std::uint32_t>(recording.events.size());
      taken_ += recording.samples.size();
      waiting_.samples = std::move(samples.bytes);
      waiting_.events = std::move(events.bytes);
      if (waiting_.samples.size() + waiting_.events.size() > k_most_waiting)
        problem_ = "The disk is too slow, so the recording was stopped; what was written is kept.";
    }
  }
  recording.handed_on += recording.samples.size();
  recording.events_handed_on += recording.events.size();
  recording.samples.clear();
  recording.events.clear();
}

void RecordingStream::finish() {
  {
    const std::scoped_lock lock(mutex_);
    finishing_ = true;
  }
  wake_.notify_one();
}

std::string RecordingStream::problem() const {
  const std::scoped_lock lock(mutex_);
  return problem_;
}

double RecordingStream::seconds() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<double>(taken_) * period_;
}

void RecordingStream::run() {
  // Whoever made this thread may be more urgent than others; this one is not.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 5);
  for (bool last = false, goes_on = true; !last;) {
    Waiting waiting;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, k_interval, [this] { return finishing_; });
      last = finishing_;
      std::swap(waiting, waiting_);
    }
    if (goes_on) goes_on = write(waiting, last);
  }
  if (fd_ >= 0) ::close(fd_);
  result_.seconds = static_cast<double>(result_.samples) * period_;
  result_.problem = problem();
  if (finished_) finished_(result_);
}

std::string RecordingStream::append(std::span<const std::byte> bytes) {
  if (result_.bytes + bytes.size() > most_bytes_)
    return "Recordings take all the room they may, so this one was stopped; delete some of them. What was written is "
           "kept.";
  const std::uint64_t before = result_.bytes;
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const std::string reason = std::strerror(errno);
      // Half a block is of no use, and without it there may be room for the end.
      if (::ftruncate(fd_, static_cast<off_t>(before)) == 0) ::lseek(fd_, static_cast<off_t>(before), SEEK_SET);
      result_.bytes = before;
      return "The recording was stopped because it cannot be written (" + reason + "); what was written is kept.";
    }
    result_.bytes += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

bool RecordingStream::write(const Waiting& waiting, bool last) {
  std::string reason;
  if (!waiting.head.empty()) {
    try {
      if (file_.has_parent_path()) make_folders(file_.parent_path());
    } catch (const Error&) {
      // Opening the file says why.
    }
    fd_ = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0)
      reason = "Nothing is recorded: cannot write " + file_.string() + ": " + std::strerror(errno) + ".";
    else
      ::flock(fd_, LOCK_EX | LOCK_NB);  // others on this machine see that it is still being made
    std::memcpy(&chain_, waiting.head.data() + waiting.head.size() - sizeof chain_, sizeof chain_);
    if (reason.empty()) reason = append(waiting.head);
  }
  if (fd_ >= 0 && reason.empty() && (waiting.sample_count > 0 || waiting.event_count > 0)) {
    // Events first: a reset comes before its tick.
    Writer out;
    std::uint64_t chain = chain_;
    if (waiting.event_count > 0) write_block(out, Block::events, waiting.event_count, waiting.events, chain);
    if (waiting.sample_count > 0) write_block(out, Block::samples, waiting.sample_count, waiting.samples, chain);
    reason = append(out.bytes);
    if (reason.empty()) {
      chain_ = chain;
      events_ += waiting.event_count;
      result_.samples += waiting.sample_count;
      result_.peak_force = std::max(result_.peak_force, waiting.peak_force);
    }
  }
  if (fd_ >= 0 && (last || !reason.empty())) {
    Writer end;
    std::uint64_t chain = chain_;
    write_end(end, result_.samples, events_, chain);
    // A few bytes beyond the allowance do no harm; if the disk has no room for them, it breaks off.
    if (result_.bytes > 0 && ::write(fd_, end.bytes.data(), end.bytes.size()) == static_cast<ssize_t>(end.bytes.size()))
      result_.bytes += end.bytes.size();
  }
  if (fd_ >= 0) ::fdatasync(fd_);
  if (reason.empty()) return true;
  const std::scoped_lock lock(mutex_);
  problem_ = reason;
  return false;
}

}  // namespace cotouch

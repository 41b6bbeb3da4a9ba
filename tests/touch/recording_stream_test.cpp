// Recordings on disk while they are made: killed, on a full disk, beyond what they may take.
#include <cotouch/touch/recording_stream.h>

#include <cotouch/base/error.h>
#include <cotouch/touch/recording_format.h>

#include "fixtures.h"
#include "support/child_process.h"
#include "support/eventually.h"
#include "support/heap.h"
#include "support/sanitized.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>

#include <future>

namespace cotouch::this_file {
namespace {

using testing::peg_model;

Recording head() {
  const auto model = peg_model();
  Recording recording = begin_shared_recording(*peg_model(3e4, testing::k_tip, {}, 1e-3, {}, 2),
                                               WorldState(*peg_model(3e4, testing::k_tip, {}, 1e-3, {}, 2)), "pegs");
  return recording;
}

// The next hundredth of a second.
void go_on(Recording& recording, std::uint64_t& cycle) {
  for (int i = 0; i < 10; ++i, ++cycle) {
    RecordedSample& sample = recording.samples.emplace_back();
    sample.time = static_cast<double>(cycle) * recording.limits.period;
    sample.state_hash = cycle;
    sample.hands.resize(1);
    sample.hands[0].input.present = true;
    sample.hands[0].felt.force = {0, 0, static_cast<double>(cycle % 1000) * 1e-3};
  }
}

void expect_in_order(const Recording& recording) {
  for (std::size_t i = 0; i < recording.samples.size(); ++i) ASSERT_EQ(recording.samples[i].state_hash, i);
}

TEST(RecordingStream, WritesWhatWasTakenAndSaysWhatItWas) {
  const TemporaryFolder folder;
  std::promise<RecordingStream::Result> promise;
  Recording recording = head();
  std::uint64_t cycle = 0;
  {
    RecordingStream stream(folder / "a.cotrec", 1U << 30U,
                           [&](const RecordingStream::Result& result) { promise.set_value(result); });
    for (int i = 0; i < 120; ++i) {
      go_on(recording, cycle);
      if (i == 50) append_event(recording, {cycle, 1, RecordedEvent::Kind::said, "half"});
      stream.take(recording);
      EXPECT_TRUE(recording.samples.empty() && recording.events.empty());
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_DOUBLE_EQ(stream.seconds(), 1.2);
    EXPECT_EQ(stream.problem(), "");
  }
  const RecordingStream::Result result = promise.get_future().get();
  EXPECT_EQ(result.scene, "pegs");
  EXPECT_EQ(result.samples, 1200U);
  EXPECT_DOUBLE_EQ(result.seconds, 1.2);
  EXPECT_DOUBLE_EQ(result.peak_force, 0.999);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.bytes, std::filesystem::file_size(folder / "a.cotrec"));
  const Recording read = read_recording(folder / "a.cotrec");
  EXPECT_TRUE(read.finished);
  ASSERT_EQ(read.samples.size(), 1200U);
  expect_in_order(read);
  ASSERT_EQ(read.events.size(), 1U);
  EXPECT_EQ(read.events[0].text, "half");
}

// Seventeen megabytes of samples. What waits for the disk is memory, so each look is taken when all of it is written.
TEST(RecordingStream, TakesNoMoreMemoryThanWaitsForTheDisk) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer brings its own allocator";
  const TemporaryFolder folder;
  Recording recording = head();
  std::uint64_t cycle = 0;
  go_on(recording, cycle);
  recording_format::Writer written;
  visit(written, recording.samples[0], recording.hands, recording.pairs, recording_format::version_of(recording));
  const std::size_t each = written.bytes.size();
  RecordingStream stream(folder / "a.cotrec", 1U << 30U, nullptr);
  const auto run = [&] {
    for (int i = 0; i < 2000; ++i, go_on(recording, cycle)) stream.take(recording);
    return eventually([&] {
      std::error_code none_yet;
      const std::uintmax_t size = std::filesystem::file_size(folder / "a.cotrec", none_yet);
      return !none_yet && size > (cycle - 10) * each;
    });
  };
  ASSERT_TRUE(run());
  const std::size_t before = heap_bytes();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(run());
  EXPECT_GT(cycle * each, 16U << 20U);
  EXPECT_LT(heap_bytes(), before + (4U << 20U));
  EXPECT_EQ(stream.problem(), "");
}

// Returns how many of the samples that it had taken were lost.
std::uint64_t lost_by_a_kill() {
  const TemporaryFolder folder;
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    RecordingStream stream(folder / "a.cotrec", 1U << 30U, nullptr);
    Recording recording = head();
    for (std::uint64_t cycle = 0;;) {
      go_on(recording, cycle);
      stream.take(recording);
      if (write(ends[1], &cycle, sizeof cycle) != sizeof cycle) _exit(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  close(ends[1]);
  std::uint64_t taken = 0;
  while (taken < 2500 && read(ends[0], &taken, sizeof taken) == ssize_t{sizeof taken}) continue;
  EXPECT_GE(taken, 2500U);
  kill(child, SIGKILL);
  for (std::uint64_t more; read(ends[0], &more, sizeof more) == ssize_t{sizeof more};) taken = more;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  const Recording left = read_recording(folder / "a.cotrec");
  EXPECT_FALSE(left.finished);
  EXPECT_LE(left.samples.size(), taken + 10);
  expect_in_order(left);
  return taken - std::min<std::uint64_t>(taken, left.samples.size());
}

TEST(RecordingStream, OfAKilledProgramLacksNoMoreThanTheLastSecond) {
  // A busy disk may take its time, but not every time.
  std::uint64_t least = lost_by_a_kill();
  for (int tries = 1; tries < 3 && least > 1000; ++tries) least = std::min(least, lost_by_a_kill());
  EXPECT_LE(least, 1000U);
}

TEST(RecordingStream, OnAFullDiskEndsWithASentenceAndKeepsWhatIsThere) {
  const TemporaryFolder folder;
  EXPECT_EQ(in_a_child([&] {
              signal(SIGXFSZ, SIG_IGN);
              allow_bytes(200'000);
              std::string problem;
              {
                RecordingStream stream(folder / "a.cotrec", 1U << 30U,
                                       [&](const RecordingStream::Result& result) { problem = result.problem; });
                Recording recording = head();
                std::uint64_t cycle = 0;
                while (stream.problem().empty() && cycle < 1'000'000) {
                  go_on(recording, cycle);
                  stream.take(recording);
                  std::this_thread::sleep_for(std::chrono::milliseconds(10));
                }
              }
              return problem.find("cannot be written") == std::string::npos ? 1 : 7;
            }),
            7);
  const Recording left = read_recording(folder / "a.cotrec");
  EXPECT_GE(left.samples.size(), 100U);
  expect_in_order(left);
}

TEST(RecordingStream, OnAFullDiskHalfABlockMakesRoomForTheEnd) {
  const TemporaryFolder folder;
  EXPECT_EQ(in_a_child([&] {
              signal(SIGXFSZ, SIG_IGN);
              allow_bytes(100'000);
              RecordingStream stream(folder / "a.cotrec", 1U << 30U, nullptr);
              Recording recording = head();
              std::uint64_t cycle = 0;
              while (cycle < 100) go_on(recording, cycle);
              stream.take(recording);
              const auto written = [&] {
                try {
                  return read_recording(folder / "a.cotrec").samples.size() == 100;
                } catch (const Error&) {
                  return false;  // not even its beginning is there yet
                }
              };
              if (!eventually(written)) return 1;
              while (cycle < 10'000) go_on(recording, cycle);
              stream.take(recording);
              return eventually([&] { return !stream.problem().empty(); }) ? 7 : 2;
            }),
            7);
  const Recording left = read_recording(folder / "a.cotrec");
  EXPECT_EQ(left.samples.size(), 100U);
  EXPECT_TRUE(left.finished);
}

// The thread that writes has not even woken up when all of this is there.
TEST(RecordingStream, OnADiskThatIsTooSlowDoesNotFillTheMemory) {
  const TemporaryFolder folder;
  RecordingStream stream(folder / "a.cotrec", 1U << 30U, nullptr);
  Recording recording = head();
  std::uint64_t cycle = 0;
  while (cycle < 600'000) go_on(recording, cycle);
  stream.take(recording);
  EXPECT_NE(stream.problem().find("too slow"), std::string::npos) << stream.problem();
}

TEST(RecordingStream, EndsWhenItHasTakenAllItMay) {
  const TemporaryFolder folder;
  RecordingStream stream(folder / "a.cotrec", 200'000, nullptr);
  Recording recording = head();
  std::uint64_t cycle = 0;
  EXPECT_TRUE(eventually([&] {
    go_on(recording, cycle);
    stream.take(recording);
    return !stream.problem().empty();
  }));
  EXPECT_NE(stream.problem().find("delete some"), std::string::npos);
  EXPECT_LE(std::filesystem::file_size(folder / "a.cotrec"), 200'100U);
  EXPECT_TRUE(eventually([&] { return read_recording(folder / "a.cotrec").finished; }));
  // And does not write over another one.
  RecordingStream again(folder / "a.cotrec", 1U << 30U, nullptr);
  again.take(recording);
  EXPECT_TRUE(eventually([&] { return !again.problem().empty(); }));
}

}  // namespace
}  // namespace cotouch::this_file

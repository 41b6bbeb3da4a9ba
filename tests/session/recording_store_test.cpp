// The list of recordings, also if the disk has no room for it.
#include <cotouch/base/error.h>
#include <cotouch/session/recording_store.h>

#include "session/shared_recording.h"
#include "support/child_process.h"
#include "support/error_code.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>

namespace cotouch::this_file {
namespace {

using namespace testing_session;

constexpr rlim_t k_no_room = 10;  // bytes of a file: less than the shortest note

RecordingStream::Result made_by_stream(const RecordingStore& store, const std::string& id) {
  RecordingStream::Result made;
  RecordingStream stream(store.new_file(id), 1U << 30U, [&](const RecordingStream::Result& result) { made = result; });
  Recording recording = shared_press();
  stream.take(recording);
  stream.finish();
  return made;
}

TEST(RecordingStore, ListsWhatWasKeptThoughTheDiskHasNoRoomForTheList) {
  const TemporaryFolder folder;
  const RecordingStream::Result made = made_by_stream(RecordingStore(folder.path()), "a");
  ASSERT_EQ(made.samples, 100U);
  EXPECT_EQ(in_a_child([&] {
              signal(SIGXFSZ, SIG_IGN);
              allow_bytes(k_no_room);
              const RecordingStore store(folder.path());
              if (!code_of([&] { store.keep("a", made); })) return 1;  // whoever asked is told
              const std::vector<RecordingEntry> now = store.list();
              if (now.size() != 1 || now[0].seconds != made.seconds) return 2;
              // A program that is started while the disk is still full.
              const RecordingStore next(folder.path());
              if (next.recover() != 0) return 3;  // it does not break off
              const std::vector<RecordingEntry> found = next.list();
              if (found.size() != 1 || found[0].seconds != made.seconds || found[0].scene != "balls") return 4;
              if (!next.remove("a") || !next.list().empty()) return 5;
              return 0;
            }),
            0);
}

TEST(RecordingStore, WritesTheListOnceThereIsRoom) {
  const TemporaryFolder folder;
  made_by_stream(RecordingStore(folder.path()), "a");
  const RecordingStore store(folder.path());
  EXPECT_EQ(store.recover(), 0U);
  EXPECT_TRUE(std::filesystem::exists(folder / "a.json"));
  ASSERT_EQ(RecordingStore(folder.path()).list().size(), 1U);
  EXPECT_FALSE(RecordingStore(folder.path()).list()[0].recovered);
}

TEST(RecordingStore, WaitsForNoPipe) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "a.cotrec").c_str(), 0600), 0);
  made_by_stream(RecordingStore(folder.path()), "b");
  EXPECT_EQ(in_a_child([&] {
              alarm(60);
              const RecordingStore store(folder.path());
              return store.recover() == 0 && store.list().size() == 1 ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace cotouch::this_file

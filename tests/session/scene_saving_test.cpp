// A scene is saved whole or not at all, whoever is killed and whoever else saves.
#include <cotouch/base/file.h>
#include <cotouch/session/scene_file.h>

#include "session/session_fixture.h"
#include "support/child_process.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/ptrace.h>

#include <atomic>
#include <fstream>
#include <optional>
#include <set>
#include <thread>

namespace cotouch::this_file {
namespace {

using namespace testing_session;
namespace fs = std::filesystem;

// The same two balls, one of them another part and both elsewhere.
Scene other_balls() {
  Scene scene = two_balls();
  auto part = std::make_shared<Part>(*ball());
  part->name = "another";
  scene.bodies[0].parts[0].part = part;  // the first: numbers would name both alike
  for (SceneBody& body : scene.bodies) body.pose.position.z += 0.01;
  return scene;
}

// All that a scene is, in words: the file, and the parts' contents.
std::string told(const Scene& scene) {
  SceneFile file{scene, {}};
  for (const SceneBody& body : scene.bodies) {
    std::vector<PartSource>& sources = file.sources.emplace_back();
    for (const ScenePart& part : body.parts) sources.push_back({part.part->name + ".cot", {}, {}, {}});
  }
  return format_scene_file(file) + std::to_string(make_model(scene)->hash());
}

std::string told(const fs::path& folder) {
  NoProgress quiet;
  return told(load_scene_file(folder / "scene.toml", quiet));
}

std::set<std::string> files_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

// Runs `work` in a child that is killed as it is about to ask the system for the `last`-th time, counted from 0.
// Returns whether it was; otherwise the child came to its end.
template <class Work>
bool killed_at(int last, const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  for (int stops = 0;; ++stops) {
    // Two stops a call: before it and after it.
    if (stops == 2 * last + 1) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return true;
    }
    ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), 0);
      return false;
    }
    if (!WIFSTOPPED(status)) return false;
  }
}

TEST(SceneSaving, ASaverThatIsKilledAnywhereLeavesTheOldSceneOrTheNewOne) {
  const TemporaryFolder folder;
  const fs::path place = folder / "mine";
  // The one has a part that the other lacks: once it comes, and once it has to go.
  for (const bool shrinks : {false, true}) {
    const Scene old_scene = shrinks ? other_balls() : two_balls(), new_scene = shrinks ? two_balls() : other_balls();
    save_scene(old_scene, "mine", place);
    const std::string old_told = told(place);
    save_scene(new_scene, "mine", place);
    const std::string new_told = told(place);
    ASSERT_NE(old_told, new_told);

    int olds = 0, news = 0;
    bool killed = true;
    for (int call = 0; killed; ++call) {
      ASSERT_LT(call, 2000);
      fs::remove_all(place);
      save_scene(old_scene, "mine", place);
      killed = killed_at(call, [&] { save_scene(new_scene, "mine", place); });
      std::string now;
      ASSERT_NO_THROW(now = told(place)) << "killed at call " << call;
      ASSERT_TRUE(now == old_told || now == new_told) << "killed at call " << call << "\n" << now;
      (now == old_told ? olds : news)++;
      // Whatever it left is gone with the next save.
      save_scene(new_scene, "mine", place);
      ASSERT_EQ(files_in(place).size(), shrinks ? 2U : 3U) << "killed at call " << call;
    }
    EXPECT_GT(olds, 10);
    EXPECT_GT(news, 3);
  }
}

TEST(SceneSaving, AFullDiskLeavesTheOldScene) {
  const TemporaryFolder folder;
  const fs::path place = folder / "mine";
  save_scene(two_balls(), "mine", place);
  const std::string before = told(place);
  EXPECT_EQ(in_a_child([&] {
              signal(SIGXFSZ, SIG_IGN);
              allow_bytes(1000);
              try {
                save_scene(other_balls(), "mine", place);
              } catch (const Error& error) {
                return error.code() == ErrorCode::io ? 7 : 8;
              }
              return 0;
            }),
            7);
  EXPECT_EQ(told(place), before);
}

TEST(SceneSaving, TwoWhoSaveAtOnceDoNotMix) {
  const TemporaryFolder folder;
  const fs::path place = folder / "mine";
  const Scene one = two_balls(), two = other_balls();
  save_scene(two, "mine", place);
  const std::string told_two = told(place);
  save_scene(one, "mine", place);
  const std::string told_one = told(place);
  std::vector<pid_t> savers;
  for (const Scene* scene : {&one, &two})
    if (savers.push_back(fork()); savers.back() == 0) {
      int code = 0;
      try {
        for (int i = 0; i < 40; ++i) save_scene(*scene, "mine", place);
      } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        code = 1;
      }
      _exit(code);
    }
  // Whoever opens it meanwhile gets one of the two as well.
  int reads = 0;
  for (std::size_t ended = 0; ended < savers.size();) {
    std::string now;
    EXPECT_NO_THROW(now = told(place));
    EXPECT_TRUE(now == told_one || now == told_two);
    ++reads;
    int status = 0;
    while (waitpid(-1, &status, WNOHANG) > 0) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      ++ended;
    }
  }
  EXPECT_GE(reads, 1);
  const std::string last = told(place);
  EXPECT_TRUE(last == told_one || last == told_two);
  EXPECT_EQ(files_in(place).size(), last == told_one ? 2U : 3U);
}

TEST(SceneSaving, WhoReadsWaitsForWhoSavesAndTheOtherWayRound) {
  const TemporaryFolder folder;
  const fs::path place = folder / "mine";
  save_scene(two_balls(), "mine", place);
  for (const bool reads : {true, false}) {
    std::optional<FolderLock> lock = reads ? FolderLock::to_write(place) : FolderLock::to_read(place);
    std::atomic<bool> done{false};
    std::jthread other([&] {
      reads ? static_cast<void>(told(place)) : static_cast<void>(save_scene(two_balls(), "mine", place));
      done.store(true);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_FALSE(done.load()) << reads;
    lock.reset();
    other.join();
    EXPECT_TRUE(done.load());
  }
}

TEST(SceneSaving, ASceneIsReplacedOnlyIfThatIsWanted) {
  const TemporaryFolder folder;
  const fs::path place = folder / "mine";
  save_scene(two_balls(), "mine", place, Replacing::refused);
  const std::string before = told(place);
  try {
    save_scene(other_balls(), "mine", place, Replacing::refused);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::exists);
  }
  EXPECT_EQ(told(place), before);
  save_scene(other_balls(), "mine", place, Replacing::wanted);
  EXPECT_NE(told(place), before);
}

}  // namespace
}  // namespace cotouch::this_file

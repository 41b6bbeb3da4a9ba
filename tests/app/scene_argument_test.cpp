// Scenes as users name them: what was not saved, whatever other programs do meanwhile.
#include <cotouch/app/scene_argument.h>

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

#include "session/session_fixture.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;
namespace fs = std::filesystem;

class SceneArgument : public ::testing::Test {
 protected:
  // As another program left it, at this time.
  std::shared_ptr<UnsavedPlace> keep(const Scene& scene, std::chrono::hours before) {
    std::shared_ptr<UnsavedPlace> place = other_.keep_unsaved(scene, nullptr);
    const fs::path file = folder_ / "scenes" / place->name() / "scene.toml";
    fs::last_write_time(file, fs::file_time_type::clock::now() - before);
    return place;
  }

  TemporaryFolder folder_;
  FolderLibrary other_{folder_ / "scenes", nullptr}, library_{folder_ / "scenes", nullptr};
  NoProgress quiet_;
};

TEST_F(SceneArgument, UnsavedIsTheNewestAndGoesOnInItsPlace) {
  const std::string oldest = keep(two_balls(), std::chrono::hours(3))->name();
  const std::string newest = keep(three_balls(), std::chrono::hours(1))->name();
  keep(two_balls(), std::chrono::hours(2));
  const OpenedScene opened = open_scene("unsaved", library_, quiet_);
  EXPECT_EQ(opened.scene.bodies.size(), 3U);
  ASSERT_TRUE(opened.place);
  EXPECT_EQ(opened.place->name(), newest);
  const OpenedScene named = open_scene(oldest, library_, quiet_);
  ASSERT_TRUE(named.place);
  EXPECT_EQ(named.place->name(), oldest);
  EXPECT_FALSE(open_scene((folder_ / "scenes" / oldest).string(), library_, quiet_).place);
}

// Otherwise what is loaded is not what is claimed, and one overwrites the other.
TEST_F(SceneArgument, UnsavedIsOneSceneThoughAnotherProgramKeepsANewerOneMeanwhile) {
  std::shared_ptr<UnsavedPlace> open_there = keep(two_balls(), std::chrono::hours(1));
  const std::string wanted = open_there->name();
  auto opening = std::async(std::launch::async, [&] { return open_scene("unsaved", library_, quiet_); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it waits for the other program to leave the scene
  keep(three_balls(), std::chrono::hours(0));
  open_there.reset();
  const OpenedScene opened = opening.get();
  const std::string claimed = opened.place ? opened.place->name() : "";
  EXPECT_EQ(opened.scene.bodies.size(), claimed == wanted || claimed.empty() ? 2U : 3U);
}

}  // namespace
}  // namespace cotouch::this_file

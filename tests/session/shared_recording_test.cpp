#include "session/shared_recording.h"

#include <cotouch/session/recording_store.h>

#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cotouch::this_file {
namespace {

using namespace testing_session;

TEST(SharedRecordings, FindTheirModelInTheSceneAndPlayBackTheSame) {
  const TemporaryFolder folder;
  const RecordingStore store(folder.path());
  const RecordingEntry entry = store.save("together", shared_press());
  EXPECT_EQ(entry.scene, "balls");
  EXPECT_DOUBLE_EQ(entry.seconds, 1.0);  // a hundred ticks of 10 ms
  EXPECT_GT(entry.peak_force, 0.5);
  const Recording recording = read_recording(store.file("together"));
  const auto model = recorded_model(recording, two_balls());
  EXPECT_EQ(model->settings().tick, 0.01);
  EXPECT_EQ(model->settings().hands, 16U);
  Replay replay(recording, model);
  std::uint32_t touching = 0;
  while (replay.next()) touching += replay.sample().in_contact > 0 ? 1U : 0U;
  EXPECT_EQ(replay.same(), 100U);
  EXPECT_GT(touching, 10U);
}

TEST(SharedRecordings, AreNotPlayedInASceneThatChanged) {
  Scene heavier = two_balls();
  heavier.bodies[1].density = 2000;
  EXPECT_THROW(recorded_model(shared_press(1), heavier), Error);
}

TEST(SharedRecordings, AsATableHaveTheHandsThatWereThere) {
  const Recording recording = shared_press();
  const std::string csv = to_csv(recording, recorded_model(recording, two_balls()));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 101);
  for (const char* column : {"hand4_x_m", "hand16_x_m", "body2_x_m"}) EXPECT_NE(csv.find(column), std::string::npos);
  EXPECT_EQ(csv.find("hand1_"), std::string::npos);
  // The second column is the number of points in contact, which only the replay knows.
  const std::string last = csv.substr(csv.rfind('\n', csv.size() - 2) + 1);
  EXPECT_GT(std::stoi(last.substr(last.find(',') + 1)), 0);
}

TEST(SharedRecordings, SummariseThePathOfTheFirstHandThatWasThere) {
  const RecordingSummary summary = summarise(shared_press(), show(two_balls()));
  ASSERT_EQ(summary.path.size(), 100U);
  EXPECT_EQ(summary.path[50].z, press_of_two(50)[k_ann].pose.position.z);
  EXPECT_EQ(summary.clearance.size(), 100U);
}

TEST(RecordedScenes, KnowHowTheirWorldStepped) {
  RecordedScene scene{"balls", {}, {0.01, 16}};
  scene.feel.warm_nodes = 1234;
  const RecordedScene back = parse_recorded_scene(format_recorded_scene(scene));
  EXPECT_EQ(back.name, "balls");
  EXPECT_EQ(back.feel.warm_nodes, 1234U);
  EXPECT_EQ(back.pace.tick, 0.01);
  EXPECT_EQ(back.pace.hands, 16U);
}

TEST(RecordedScenes, OfOlderRecordingsStepWithTheTouchLoop) {
  for (const char* text : {R"({"scene":"balls","stiffness":30000.0,"max_force":8.0,"nodes":0})", "balls",
                           R"({"scene":"balls","tick":-1,"hands":17})"}) {
    const RecordedScene back = parse_recorded_scene(text);
    EXPECT_EQ(back.name, "balls");
    EXPECT_EQ(back.pace.tick, 1e-3);
    EXPECT_EQ(back.pace.hands, 8U);
  }
}

}  // namespace
}  // namespace cotouch::this_file

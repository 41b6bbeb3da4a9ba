// What a session accepts can be saved, read again, and does not fall through itself.
#include <cotouch/session/scene_limits.h>
#include <cotouch/session/session.h>

#include <gtest/gtest.h>

#include <set>

#include "session/session_fixture.h"
#include "support/eventually.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

class SceneLimits : public ::testing::Test {
 protected:
  SceneLimits() : session_({.recordings = folder_ / "recordings"}, library_) {
    session_.start();
    me_ = session_.join(ParticipantKind::program, "me");
  }
  ~SceneLimits() override { session_.stop(); }

  CommandResult asks(SessionCommand command) { return session_.command_and_wait(me_, std::move(command)); }
  Scene now() { return session_.snapshot().scene->scene; }
  // The session's scene from its file.
  Scene saved_and_read() {
    const CommandResult saved = session_.save_scene(me_, "limits");
    EXPECT_TRUE(saved.done()) << saved.reason;
    NoProgress none;
    return library_.load("limits", none);
  }
  void expect_refused(SessionCommand command, const std::string& word) {
    const std::uint32_t generation = session_.snapshot().generation;
    const CommandResult result = asks(std::move(command));
    EXPECT_FALSE(result.done());
    EXPECT_NE(result.reason.find(word), std::string::npos) << result.reason;
    EXPECT_EQ(session_.snapshot().generation, generation);
  }
  // Free balls far enough from each other, each of so many parts.
  static Scene balls(std::size_t bodies, std::size_t parts) {
    Scene scene = two_balls();
    scene.name.clear();
    const SceneBody one = scene.bodies[1];
    scene.bodies.clear();
    for (std::size_t i = 0; i < bodies; ++i) {
      SceneBody& body = scene.bodies.emplace_back(one);
      body.id = static_cast<BodyId>(i + 1);
      body.pose.position = {0.1 * static_cast<double>(i), 0, 0};
      body.parts.resize(parts, one.parts[0]);
    }
    return scene;
  }

  TemporaryFolder folder_;
  TestLibrary library_{folder_ / "scenes"};
  Session session_;
  ParticipantId me_;
};

TEST_F(SceneLimits, AFullSceneIsSavedAndReadAndTakesNoMoreParts) {
  ASSERT_TRUE(asks(ShowScene{balls(8, 16)}).done());
  expect_refused(CopyBody{1}, "128 parts");
  Scene mine = balls(8, 16);
  mine.editable = true;
  ASSERT_TRUE(asks(ShowScene{mine}).done());
  expect_refused(AddPart{"box",
                         [](Progress&) {
                           return std::vector<AddedMesh>{{make_box({0.02, 0.02, 0.02})}};
                         }},
                 "full");  // before it is prepared
  EXPECT_EQ(saved_and_read().bodies.size(), 8U);
  expect_refused(ShowScene{balls(1, 17)}, "16");
}

TEST_F(SceneLimits, CopiesOfCopiesHaveShortNamesThatDiffer) {
  Scene scene = balls(1, 1);
  scene.bodies[0].name = std::string(60, 'x') + "öö";
  ASSERT_TRUE(asks(ShowScene{scene}).done());
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(asks(CopyBody{static_cast<BodyId>(now().bodies.size())}).done());
  std::set<std::string> names;
  for (const SceneBody& body : now().bodies) {
    EXPECT_LE(body.name.size(), 64U);
    names.insert(body.name);
  }
  EXPECT_EQ(names.size(), 7U);
  const Scene again = saved_and_read();
  for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(again.bodies[i].name, now().bodies[i].name);

  scene.bodies[0].name = "gear";
  ASSERT_TRUE(asks(ShowScene{scene}).done());
  ASSERT_TRUE(asks(CopyBody{1}).done());
  ASSERT_TRUE(asks(CopyBody{2}).done());
  EXPECT_EQ(now().bodies[1].name, "gear copy");
  EXPECT_EQ(now().bodies[2].name, "gear copy 2");
}

TEST_F(SceneLimits, NothingIsPutFartherAwayThanAFileMaySay) {
  Scene scene = balls(2, 1);
  scene.bodies[1].pose.position.x = 999.95;
  ASSERT_TRUE(asks(ShowScene{scene}).done());
  expect_refused(CopyBody{1}, "kilometre");
  EXPECT_EQ(saved_and_read().bodies[1].pose.position.x, 999.95);
  scene.bodies[1].pose.position.x = 1001;
  expect_refused(ShowScene{scene}, "kilometre");
}

TEST_F(SceneLimits, WhatFellOutOfTheWorldIsSavedAtItsStart) {
  Scene scene = balls(2, 1);
  scene.gravity = {0, 0, -20};
  scene.bodies[1].pose.position = {0, 0, -999.99};
  ASSERT_TRUE(asks(ShowScene{scene}).done());
  ASSERT_TRUE(eventually([&] { return session_.snapshot().bodies.at(1).pose.position.z < -1000; }));
  EXPECT_EQ(saved_and_read().bodies[1].pose.position, (Vec3d{0, 0, -999.99}));
}

TEST_F(SceneLimits, ChangedMassesComeBackAsTheSameWorld) {
  ASSERT_TRUE(asks(ShowScene{balls(3, 2)}).done());
  ASSERT_TRUE(asks(SetBody{.body = 1, .mass = 0.123}).done());
  ASSERT_TRUE(asks(SetBody{.body = 2, .density = 7850}).done());
  ASSERT_TRUE(asks(SetGravity{3.7}).done());
  ASSERT_TRUE(asks(SetGravity{0}).done());
  const Scene after = saved_and_read();
  Scene before = now();
  for (std::size_t i = 0; i < before.bodies.size(); ++i) before.bodies[i].pose = after.bodies[i].pose;  // they fell
  EXPECT_EQ(make_model(after)->hash(), make_model(before)->hash());
}

TEST_F(SceneLimits, GravityOnAndOffLeavesTheSettingsAsTheyWere) {
  for (const double drag : {20.0, 0.1}) {
    Scene scene = two_balls();
    scene.drag = drag;
    ASSERT_TRUE(asks(ShowScene{scene}).done());
    const std::uint64_t before = make_model(now())->hash();
    ASSERT_TRUE(asks(SetGravity{9.81}).done());
    EXPECT_LE(now().drag, 0.2);
    ASSERT_TRUE(asks(CopyBody{2}).done());  // what is changed meanwhile does not matter
    ASSERT_TRUE(asks(RemoveBody{3}).done());
    ASSERT_TRUE(asks(SetGravity{5}).done());
    ASSERT_TRUE(asks(SetGravity{0}).done());
    EXPECT_EQ(now().drag, drag);
    Scene here = now();
    here.bodies[1].pose = scene.bodies[1].pose;  // it fell a little
    EXPECT_EQ(make_model(here)->hash(), before);
  }
  // The next scene has a drag of its own.
  ASSERT_TRUE(asks(ShowScene{two_balls()}).done());
  ASSERT_TRUE(asks(SetGravity{9.81}).done());
  Scene other = two_balls();
  other.drag = 0.15;
  ASSERT_TRUE(asks(ShowScene{other}).done());
  ASSERT_TRUE(asks(SetGravity{0}).done());
  EXPECT_EQ(now().drag, 0.15);
}

TEST_F(SceneLimits, NothingIsHeavierThanWhatItLiesOnCanBear) {
  // m g = k h: the ball's field has cells of 40 mm / 24 and some room around it.
  const double cell = static_cast<double>(ball()->field.spacing());
  const double most = 30'000 * cell / 20;
  ASSERT_LT(most, 10);  // within the range of masses
  ASSERT_TRUE(asks(ShowScene{two_balls()}).done());
  ASSERT_TRUE(asks(SetBody{.body = 2, .mass = 10}).done());  // without gravity nothing sinks
  expect_refused(SetGravity{20}, "would sink");
  EXPECT_EQ(now().gravity.z, 0);
  ASSERT_TRUE(asks(SetBody{.body = 2, .mass = 0.99 * most}).done());
  ASSERT_TRUE(asks(SetGravity{20}).done());
  expect_refused(SetBody{.body = 2, .mass = 1.01 * most}, "would sink");
  expect_refused(ChangeSettings{.contact_stiffness = 29'000}, "would sink");
  EXPECT_EQ(session_.snapshot().feel.contact_stiffness, 30'000);
  EXPECT_TRUE(asks(ChangeSettings{.contact_stiffness = 31'000}).done());

  Scene heavy = two_balls();
  heavy.gravity = {0, 0, -20};
  heavy.bodies[1].mass = MassProperties{1.01 * most, {}, Mat3::identity() * 1e-3};
  expect_refused(ShowScene{heavy}, "'ball' would sink");
  // A file says so as well, and which.
  save_scene(heavy, "heavy", folder_ / "scenes/heavy");
  NoProgress none;
  try {
    library_.load("heavy", none);
    ADD_FAILURE() << "it was read";
  } catch (const Error& error) {
    const std::string sentence = error.what();
    EXPECT_NE(sentence.find("heavy/scene.toml"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("contact stiffness"), std::string::npos) << sentence;
  }
}

}  // namespace
}  // namespace cotouch::this_file

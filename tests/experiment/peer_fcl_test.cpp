#include <cotouch/experiment/peer_fcl.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

TEST(PeerFcl, FindsContactsWhereTwoBoxesCross) {
  const TriangleMesh box = make_box({0.1, 0.1, 0.1});
  const auto pair = make_fcl_pair(box, box);
  if (!pair) GTEST_SKIP() << "built without FCL";
  const Pose turned{{0.06, 0.01, 0.02}, quat_from_rotation_vector({0.2, 0.3, 0.1})};
  EXPECT_GT(pair->collide({}, turned, 1000).contacts, 0U);
  EXPECT_EQ(pair->collide({}, {{0.3, 0, 0}, {}}, 1000).contacts, 0U);
}

TEST(PeerFcl, IsComparedByMedians) {
  ExperimentReport report;
  add_peer_rows({"hole", {12, 34}, {10, 11, 900}, {50, 44, 4000}, 7}, report);
  ASSERT_EQ(report.results.size(), 2U);
  EXPECT_EQ(report.results[0].value, 11);
  EXPECT_EQ(report.results[0].peer, 50);
  EXPECT_EQ(report.results[1].name, "hole/faster-than-fcl");
  EXPECT_EQ(report.results[1].value, 50.0 / 11);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_NE(report.notes[0].find("12 and 34 triangles"), std::string::npos) << report.notes[0];
}

TEST(PeerFcl, ThatIsAbsentIsSaidToBeAbsent) {
  ExperimentReport report;
  add_peer_rows({"hole", {12, 34}, {10}, {}, 0}, report);
  ASSERT_EQ(report.results.size(), 1U);
  EXPECT_FALSE(report.results[0].peer);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_NE(report.notes[0].find("built without it"), std::string::npos) << report.notes[0];
}

}  // namespace
}  // namespace cotouch::this_file

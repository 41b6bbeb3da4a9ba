#include <cotouch/elastic/anchor.h>
#include <cotouch/shapes/shapes.h>

#include "support/error_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace cotouch::this_file {
namespace {

const TetMesh& bar() {
  static const TetMesh mesh = tet_box({0.4, 0.1, 0.1}, {8, 2, 2});  // nodes 0.05 m apart
  return mesh;
}

std::vector<std::uint32_t> held(const std::vector<std::string>& texts) {
  std::vector<Anchor> anchors;
  for (const std::string& text : texts) anchors.push_back(parse_anchor(text));
  return anchored_nodes(bar(), anchors);
}

// The nodes that a condition holds for.
template <class Condition>
std::vector<std::uint32_t> all(const Condition& condition) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t i = 0; i < bar().nodes.size(); ++i)
    if (condition(bar().nodes[i])) nodes.push_back(i);
  return nodes;
}

std::string refusal(const std::vector<std::string>& texts) {
  try {
    held(texts);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "";
}

TEST(Anchor, APlaneHoldsOneSide) {
  EXPECT_EQ(held({"x<0.07"}), all([](const Vec3d& p) { return p.x < 0.07; }));
  EXPECT_EQ(held({"y>0.07"}), all([](const Vec3d& p) { return p.y > 0.07; }));
  EXPECT_EQ(held({"z>=0.03"}), all([](const Vec3d& p) { return p.z > 0.03; }));
  EXPECT_EQ(held({"x<0.07"}).size(), 2 * 9U);
}

TEST(Anchor, NodesOnAPlaneBelongToIt) {
  EXPECT_EQ(held({"x<0"}).size(), 9U);
  EXPECT_EQ(held({"x<=0"}), held({"x<0"}));
  EXPECT_EQ(held({"x>0.4"}).size(), 9U);
}

TEST(Anchor, ABoxHoldsWhatIsInItAndOnIt) {
  EXPECT_EQ(held({"box:0,0,0,0,0.1,0"}), all([](const Vec3d& p) { return p.x == 0 && p.z == 0; }));
  EXPECT_EQ(held({"box: 0.09, -1, -1, 0.16, 1, 1"}), all([](const Vec3d& p) { return p.x > 0.09 && p.x < 0.16; }));
}

TEST(Anchor, APointHoldsTheNearestSurfaceNodeAndWhatIsWithinItsRadius) {
  EXPECT_EQ(held({"point:0.21,0.12,0.11"}), all([](const Vec3d& p) { return norm(p - Vec3d{0.2, 0.1, 0.1}) < 1e-9; }));
  EXPECT_EQ(held({"point:0.2,0.1,0.1@0.06"}).size(), 1 + 4U);
  // Inside at 5 cm from the surface: the node there is not held without a radius, one on the surface is.
  const auto inside = held({"point:0.2,0.05,0.051"});
  ASSERT_EQ(inside.size(), 1U);
  EXPECT_EQ(bar().nodes[inside[0]].z, 0.1);
}

TEST(Anchor, SeveralHoldTogetherEachNodeOnce) {
  const auto both = held({"x<0.06", "box:0,0,0,0.16,0.1,0.1"});
  EXPECT_EQ(both, all([](const Vec3d& p) { return p.x < 0.16; }));
  EXPECT_TRUE(std::is_sorted(both.begin(), both.end()));
  EXPECT_TRUE(anchored_nodes(bar(), {}).empty());
}

TEST(Anchor, OneThatHoldsNothingIsNamedWithTheBodysPlace) {
  const std::string sentence = refusal({"x<0.1", "z>5"});
  EXPECT_NE(sentence.find("'z>=5' holds no node"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("(0.4, 0.1, 0.1)"), std::string::npos) << sentence;
  EXPECT_NE(refusal({"box:1,1,1,2,2,2"}), "");
  EXPECT_NE(refusal({"x<0.1", "z>5"}).find("the nearest is 4.9e+03 mm away"), std::string::npos) << sentence;
  // More tetrahedra help only where the body is near.
  EXPECT_EQ(sentence.find("tetrahedra"), std::string::npos) << sentence;
  EXPECT_NE(refusal({"z>0.11"}).find("more tetrahedra"), std::string::npos) << refusal({"z>0.11"});
  EXPECT_NE(refusal({"point:0.2,0.3,0.1@0.05"}).find("the nearest is 150 mm away"), std::string::npos);
}

// Feet at the end of the bar that are thinner than its tetrahedra, and so are without any.
TriangleMesh with_feet(double length) {
  TriangleMesh figure = make_box({0.4, 0.1, 0.1});
  for (Vec3d& v : figure.vertices) v += Vec3d{0.2, 0.05, 0.05};
  for (const double y : {0.01, 0.09}) {
    TriangleMesh foot = make_box({length, 0.01, 0.01});
    for (Vec3d& v : foot.vertices) v += Vec3d{0.4 + length / 2, y, 0.05};
    append(figure, foot);
  }
  return figure;
}

std::vector<std::uint32_t> held(const std::string& anchor, const TriangleMesh& surface) {
  return anchored_nodes(bar(), std::vector<Anchor>{parse_anchor(anchor)}, surface);
}

TEST(Anchor, OfThinEndsTheNearestNodesAreHeld) {
  const TriangleMesh figure = with_feet(0.06);
  EXPECT_NE(refusal({"x>0.44"}), "");
  for (const char* anchor : {"x>0.44", "box:0.44,0,0,1,0.1,0.1"}) {
    const std::vector<std::uint32_t> nodes = held(anchor, figure);
    // Some behind either foot, all of them at the end, and not on one line: that would let it turn.
    bool low = false, high = false;
    Vec3d from = bar().nodes[nodes.front()], along;
    double farthest = 0;
    for (const std::uint32_t node : nodes) {
      const Vec3d& p = bar().nodes[node];
      EXPECT_EQ(p.x, 0.4);
      low = low || p.y == 0;
      high = high || p.y == 0.1;
      if (norm(p - from) > norm(along)) along = p - from;
    }
    for (const std::uint32_t node : nodes) farthest = std::max(farthest, norm(cross(bar().nodes[node] - from, along)));
    EXPECT_TRUE(low && high) << anchor;
    EXPECT_GT(farthest, 0) << anchor;
  }
  // A click on one foot holds that foot.
  for (const std::uint32_t node : held("point:0.46,0.09,0.05@0.01", figure)) EXPECT_GE(bar().nodes[node].y, 0.05);
}

TEST(Anchor, EndsThatNodesReachAreHeldAsWithoutTheSurface) {
  const TriangleMesh figure = with_feet(0.06);
  for (const char* anchor : {"x<0.07", "x>0.36", "box:0.09,-1,-1,0.16,1,1", "point:0.2,0.1,0.1@0.06"})
    EXPECT_EQ(held(anchor, figure), held({anchor})) << anchor;
}

TEST(Anchor, NodesFarBehindAnEndAreNotTakenForIt) {
  EXPECT_EQ(code_of([] { held("x>1.9", with_feet(2)); }), ErrorCode::invalid_argument);
}

TEST(Anchor, HoldingEverythingIsRefused) {
  EXPECT_NE(refusal({"x<1"}).find("whole body"), std::string::npos);
  EXPECT_NE(refusal({"x<0.21", "x>0.19"}).find("whole body"), std::string::npos);
  EXPECT_EQ(code_of([] { anchored_nodes({}, std::vector<Anchor>{PlaneAnchor{}}); }), ErrorCode::invalid_argument);
}

TEST(Anchor, TextIsReadAsItIsWritten) {
  EXPECT_EQ(parse_anchor("x<0.01"), Anchor(PlaneAnchor{0, false, 0.01}));
  EXPECT_EQ(parse_anchor(" z >= -0.2 "), Anchor(PlaneAnchor{2, true, -0.2}));
  EXPECT_EQ(parse_anchor("y<=1e-3"), Anchor(PlaneAnchor{1, false, 1e-3}));
  EXPECT_EQ(parse_anchor("box:-1,0,.5,1,2,+3"), Anchor(BoxAnchor{{-1, 0, 0.5}, {1, 2, 3}}));
  EXPECT_EQ(parse_anchor("point:1,2,3@0.005"), Anchor(PointAnchor{{1, 2, 3}, 0.005}));
  EXPECT_EQ(parse_anchor("point:1,2,3"), Anchor(PointAnchor{{1, 2, 3}, 0}));
}

TEST(Anchor, TextAndBackIsTheSameToTheLastBit) {
  const double third = 1.0 / 3, tiny = 1e-17;
  for (const Anchor& anchor :
       {Anchor(PlaneAnchor{1, true, third}), Anchor(PlaneAnchor{2, false, -tiny}),
        Anchor(BoxAnchor{{-third, 0, tiny}, {third, 1e4, 0.1}}), Anchor(PointAnchor{{third, -third, 0.1}, third})})
    EXPECT_EQ(parse_anchor(to_string(anchor)), anchor) << to_string(anchor);
  EXPECT_EQ(to_string(PlaneAnchor{0, false, 0.01}), "x<=0.01");
  EXPECT_EQ(to_string(BoxAnchor{{0, 0, 0}, {1, 1, 1}}), "box:0,0,0,1,1,1");
}

TEST(Anchor, OtherTextIsRefusedWithExamples) {
  for (const char* text : {"",
                           " ",
                           "w<1",
                           "x",
                           "x=1",
                           "x<",
                           "x<one",
                           "x<1m",
                           "x<nan",
                           "x>inf",
                           "x<1e5",
                           "x<<1",
                           "box:",
                           "box:1,2,3",
                           "box:0,0,0,1,1,1,1",
                           "box:0,0,0,1,1,-1",
                           "box:0,0,,1,1,1",
                           "point:1,2",
                           "point:1,2,3@",
                           "point:1,2,3@-1",
                           "point:1,2,3@1@2",
                           "X<1",
                           "anchor"}) {
    try {
      parse_anchor(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(error.what()).find("'x<0.01'"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("'" + std::string(text) + "'"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace cotouch::this_file

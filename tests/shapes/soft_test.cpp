#include <cotouch/shapes/soft.h>

#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/mesh/mass.h>
#include <mesh/mesh_checks.h>
#include <shapes/fit_checks.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

TEST(SoftShapes, AreClosedSolids) {
  for (const TriangleMesh& mesh :
       {make_hanging_hose(), make_fitting(), make_frame(), make_bar_rest(0.16), make_clip()}) {
    SCOPED_TRACE(mesh.name);
    EXPECT_TRUE(is_closed_and_consistent(mesh));
    EXPECT_TRUE(is_solid(mesh));
  }
  // A bar is cut into triangles that lie in one plane by the hundreds: only closed is certain.
  const TriangleMesh bar = make_soft_bar({0.2, 0.03, 0.02});
  EXPECT_TRUE(is_closed_and_consistent(bar));
  EXPECT_NEAR(mass_properties(bar, 1).mass, 0.2 * 0.03 * 0.02, 0.02 * 0.2 * 0.03 * 0.02);
}

TEST(SoftShapes, AHangingHoseHasTheVolumeOfItsArc) {
  // An arc of sag s over a chord 2 a has the radius (a^2 + s^2) / 2 s and half the angle asin(a / R). A circle drawn as
  // 24 corners has less area by a share of 1 - sin(15 deg) / (15 deg) = 0.0114.
  const HangingHoseShape shape;
  const double a = 0.5 * shape.length, circle = (a * a + shape.sag * shape.sag) / (2 * shape.sag);
  const double length = 2 * circle * angle_of(a, circle - shape.sag);
  const double volume = 0.9886 * k_pi * shape.radius * shape.radius * length;
  EXPECT_NEAR(mass_properties(make_hanging_hose(shape), 1).mass, volume, 0.002 * volume);
}

TEST(SoftShapes, BendingPartsHaveNoLongEdges) {
  for (const auto& [mesh, longest] :
       {std::pair{make_soft_bar({0.2, 0.03, 0.02}), 0.008}, {make_clip(), 0.006}, {make_hanging_hose(), 0.009}})
    for (const Triangle& t : mesh.triangles)
      for (std::size_t i = 0; i < 3; ++i)
        ASSERT_LE(norm(mesh.vertices[t[i]] - mesh.vertices[t[(i + 1) % 3]]), longest + 1e-12) << mesh.name;
}

TEST(SoftShapes, AClipThatIsInTouchesItsLatchWithItsBaseOnly) {
  const ClipShape shape;
  const FitPart clip(make_clip(shape)), latch(make_latch(shape));
  const auto raised = [&](double z) { return clearance(clip, {{0, 0, z}, {}}, latch, {}); };
  // It lies on the rim. Raised by the room behind its hooks, these touch the ridges; a little more, and they are in
  // them. Along the slope's normal the room is narrower.
  EXPECT_NEAR(raised(0), 0, 1e-9);
  EXPECT_GT(raised(0.5 * shape.room_behind), 0.3 * shape.room_behind);
  EXPECT_NEAR(raised(shape.room_behind), 0, 1e-9);
  EXPECT_LT(raised(shape.room_behind + 0.0005), -0.0002);
  // On the way in the hooks must bend by what they stand out beyond the side room.
  double deepest = 0;
  for (int i = 0; i <= 10; ++i) deepest = std::min(deepest, raised(0.001 * i));
  EXPECT_NEAR(deepest, -(shape.hook - shape.side_room), 0.1 * shape.hook);
}

TEST(SoftShapes, ImpossibleSettingsAreRefused) {
  HangingHoseShape hose;
  hose.sag = 0.5 * hose.length;
  EXPECT_THROW(make_hanging_hose(hose), Error);
  ClipShape clip;
  clip.hook = clip.side_room;
  EXPECT_THROW(make_clip(clip), Error);
  clip = {};
  clip.way_out = 90;
  EXPECT_THROW(make_latch(clip), Error);
  EXPECT_THROW(make_fitting({0.01, 0.01}), Error);
  EXPECT_THROW(make_frame({0.04, 0.13, 0.03, 0.02}), Error);
}

}  // namespace
}  // namespace cotouch::this_file

#include <cotouch/mesh/mass.h>
#include <cotouch/shapes/gearbox.h>
#include <mesh/mesh_checks.h>
#include <shapes/fit_checks.h>

#include <gtest/gtest.h>

#include <set>

namespace cotouch::this_file {
namespace {

class Gearbox : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    parts = make_gearbox();
    for (const GearboxPart& part : parts) fits.emplace_back(part.mesh);
  }
  static void TearDownTestSuite() {
    parts.clear();
    fits.clear();
  }
  static Pose raised(const Pose& pose, double by) { return {pose.position + Vec3d{0, 0, by}, pose.rotation}; }

  static inline std::vector<GearboxPart> parts;
  static inline std::vector<FitPart> fits;
};
using GearboxSlow = Gearbox;

TEST_F(Gearbox, HasADozenSolidParts) {
  EXPECT_EQ(parts.size(), 12u);
  std::set<std::string> names;
  for (const GearboxPart& part : parts) {
    SCOPED_TRACE(part.name);
    names.insert(part.name);
    EXPECT_TRUE(is_closed_and_consistent(part.mesh));
    EXPECT_TRUE(is_solid(part.mesh));
    EXPECT_FALSE(part.mesh.name.empty());
    EXPECT_GT(part.mesh.triangles.size(), 500u);
    EXPECT_LT(part.mesh.triangles.size(), 20'000u);
  }
  EXPECT_EQ(names.size(), parts.size());
  const Vec3d size = parts[0].mesh.bounds().size();
  EXPECT_NEAR(size.x, 0.152, 1e-9);
  EXPECT_LT(size.z, 0.06);
}

TEST_F(GearboxSlow, AssembledPartsKeepTheirDistance) {
  double least = 1;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    double held = 1;
    for (std::size_t j = 0; j < parts.size(); ++j) {
      if (i == j) continue;
      const double d = clearance(fits[i], parts[i].assembled, fits[j], parts[j].assembled);
      held = std::min(held, d);
      if (i < j) {
        EXPECT_GT(d, 0.0005) << parts[i].name << " and " << parts[j].name;
      }
    }
    // Each is held by something: nothing floats.
    EXPECT_LT(held, 0.001) << parts[i].name;
    least = std::min(least, held);
  }
  EXPECT_LT(least, 0.00071);
}

TEST_F(GearboxSlow, PartsGoInFromAboveInTheirOrder) {
  for (std::size_t i = 1; i < parts.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      for (double rise = 0; rise < 0.1; rise += 0.004)
        ASSERT_GT(clearance(fits[i], raised(parts[i].assembled, rise), fits[j], parts[j].assembled, 0.002), 0.0005)
            << parts[i].name << " past " << parts[j].name << ", " << rise << " m above its place";
}

TEST_F(GearboxSlow, TheOrderMatters) {
  // A bearing does not get past the shaft's gear, a gear not past the upper bearing, and the cover keeps all in.
  const auto index = [&](const char* name) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i].name == name) return i;
    ADD_FAILURE() << name;
    return std::size_t{0};
  };
  const auto blocked = [&](const char* late, const char* early) {
    const std::size_t i = index(late), j = index(early);
    double least = 1;
    for (double rise = 0; rise < 0.1; rise += 0.004)
      least = std::min(least, clearance(fits[i], raised(parts[i].assembled, rise), fits[j], parts[j].assembled, 0.002));
    return least < 0;
  };
  EXPECT_TRUE(blocked("input bearing, lower", "input shaft"));
  EXPECT_TRUE(blocked("pinion", "input bearing, upper"));
  EXPECT_TRUE(blocked("wheel", "cover"));
  EXPECT_TRUE(blocked("cover", "screw, left"));
}

TEST_F(Gearbox, LaidOutPartsLieApartOnTheTable) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Box3d bounds;
    for (const Vec3d& v : parts[i].mesh.vertices) bounds.add(transform(parts[i].laid_out, v));
    EXPECT_NEAR(bounds.low.z, k_gearbox_table + 0.0005, 1e-9) << parts[i].name;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      EXPECT_GT(bounds.low[axis], -0.2) << parts[i].name;
      EXPECT_LT(bounds.high[axis], 0.2) << parts[i].name;
    }
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_GT(clearance(fits[i], parts[i].laid_out, fits[j], parts[j].laid_out), 0.005)
          << parts[i].name << " and " << parts[j].name;
  }
}

}  // namespace
}  // namespace cotouch::this_file

// How even the shells of intricate parts are, at the finest level too: threads, ribs, sheets and clutter.
#include <cotouch/shapes/shapes.h>
#include <cotouch/shell/build.h>

#include <gtest/gtest.h>
#include <support/soups.h>

#include <cstdio>

namespace cotouch::this_file {
namespace {

TEST(IntricateShellSlow, SpacingIsEvenAtEveryLevelOfIntricateParts) {
  NoProgress quiet;
  const std::pair<const char*, TriangleMesh> parts[]{{"clutter", make_clutter()},
                                                     {"bracket", make_bracket()},
                                                     {"threaded block", make_threaded_block()},
                                                     {"gear", make_gear()},
                                                     {"torn ring", soup_test::torn_ring()}};
  for (const auto& [name, mesh] : parts) {
    const Field field = build_field(mesh, {.resolution = 128}, quiet);
    ShellQuality quality;
    build_shell(field, {.points = 65536}, quiet, &quality);
    ASSERT_EQ(quality.levels.back().points, 65536U);
    for (const auto& level : quality.levels) {
      std::printf("%s: %u points, variation %.3f, spacing %.2f cells\n", name, level.points, level.variation,
                  level.mean_spacing / static_cast<double>(field.spacing()));
      EXPECT_LE(level.variation, 0.15) << name << ", " << level.points << " points";
    }
  }
}

}  // namespace
}  // namespace cotouch::this_file

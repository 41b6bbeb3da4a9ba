// What a shared world compares before it begins: everything that answers depend on.
#include "contact/support.h"

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

using namespace contact_test;

TEST(EngineHash, OfTheSamePointsOnOtherLevelsDiffers) {
  const Shell shell = ball_shell(0.02, 200, 3);
  auto flat = std::make_shared<ShellArrays>();
  flat->level_begin = {0, shell.point_count() + 1};
  flat->positions.assign(shell.data().positions.begin(), shell.data().positions.end());
  flat->normals.assign(shell.data().inward_normals.begin(), shell.data().inward_normals.end());
  Part leveled, flattened;
  leveled.shell = shell;
  flattened.shell = Shell({{}, flat->level_begin, flat->positions, flat->normals}, flat);
  leveled.field = flattened.field = box_field({0.05, 0.05, 0.05}, 24);
  ASSERT_NE(leveled.shell.levels(), flattened.shell.levels());
  EXPECT_NE(engine_kind("exhaustive").hash(leveled), engine_kind("exhaustive").hash(flattened));
}

}  // namespace
}  // namespace cotouch::this_file

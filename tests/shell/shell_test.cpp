#include <cotouch/base/error.h>
#include <cotouch/shell/shell.h>

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <vector>

namespace cotouch::this_file {
namespace {

// Two points on top; five in all. Written by hand from the rules in shell.h.
struct SmallShell {
  std::vector<Vec3f> positions{{0, 0, 0}, {10, 0, 0}, {1, 0, 0}, {0, 2, 0}, {11, 0, 0}};
  std::vector<Vec3f> normals = std::vector<Vec3f>(5, {0, 0, -1});
  std::vector<ShellNode> nodes{
      {{0, 0, 0}, 2, 3, 0},  {{10, 0, 0}, 1, 6, 1}, {{0, 0, 0}, 0, 8, 0},                         // level 0
      {{0, 0, 0}, 0, 0, 0},  {{1, 0, 0}, 0, 0, 2},  {{0, 2, 0}, 0, 0, 3}, {{10, 0, 0}, 0, 0, 1},  // level 1
      {{11, 0, 0}, 0, 0, 4}, {{0, 0, 0}, 0, 0, 0},
  };
  std::vector<std::uint32_t> level_begin{0, 3, 9};

  Shell make() const { return Shell({nodes, level_begin, positions, normals}, nullptr); }
};

TEST(Shell, AcceptsWhatFollowsTheRules) {
  const SmallShell small;
  const Shell shell = small.make();
  EXPECT_EQ(shell.levels(), 2U);
  EXPECT_EQ(shell.points_to_level(0), 2U);
  EXPECT_EQ(shell.points_to_level(1), 5U);
  EXPECT_EQ(shell.point_count(), 5U);
  EXPECT_GE(shell.reach(), 11);
  EXPECT_LT(shell.reach(), 11.00001F);
}

TEST(Shell, RefusesEveryKindOfDamage) {
  constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float k_infinity = std::numeric_limits<float>::infinity();
  const std::vector<std::pair<const char*, std::function<void(SmallShell&)>>> damages{
      {"no levels", [](SmallShell& s) { s.level_begin.clear(); }},
      {"only an end", [](SmallShell& s) { s.level_begin = {0}; }},
      {"too many levels", [](SmallShell& s) { s.level_begin.assign(1000, 0); }},
      {"levels beyond the nodes", [](SmallShell& s) { s.level_begin.back() = 10; }},
      {"levels not from the start", [](SmallShell& s) { s.level_begin.front() = 1; }},
      {"levels backwards",
       [](SmallShell& s) {
         s.level_begin = {0, 9, 3, 9};
       }},
      {"a level of a sentinel only",
       [](SmallShell& s) {
         s.level_begin = {0, 1, 9};
       }},
      {"a level smaller than the one above",
       [](SmallShell& s) {
         s.level_begin = {0, 6, 9};
       }},
      {"nodes missing", [](SmallShell& s) { s.nodes.pop_back(); }},
      {"points missing", [](SmallShell& s) { s.positions.pop_back(); }},
      {"normals missing", [](SmallShell& s) { s.normals.pop_back(); }},
      {"position not a number", [](SmallShell& s) { s.positions[2].y = s.nodes[4].position.y = k_nan; }},
      {"position infinite", [](SmallShell& s) { s.positions[2].y = s.nodes[4].position.y = k_infinity; }},
      {"normal too long",
       [](SmallShell& s) {
         s.normals[3] = {0, 1, 1};
       }},
      {"normal zero", [](SmallShell& s) { s.normals[3] = {}; }},
      {"normal not a number", [](SmallShell& s) { s.normals[3].x = k_nan; }},
      {"node away from its point", [](SmallShell& s) { s.nodes[4].position.x = 1.5F; }},
      {"point out of range", [](SmallShell& s) { s.nodes[7].point = 5; }},
      {"points swapped on top",
       [](SmallShell& s) {
         std::swap(s.nodes[0].point, s.nodes[1].point);
         std::swap(s.nodes[0].position, s.nodes[1].position);
       }},
      {"points swapped below",
       [](SmallShell& s) {
         std::swap(s.nodes[4].point, s.nodes[5].point);
         std::swap(s.nodes[4].position, s.nodes[5].position);
       }},
      {"copy not first",
       [](SmallShell& s) {
         std::swap(s.nodes[6].point, s.nodes[7].point);
         std::swap(s.nodes[6].position, s.nodes[7].position);
       }},
      {"first child too early", [](SmallShell& s) { s.nodes[0].first_child = 2; }},
      {"first child too late", [](SmallShell& s) { s.nodes[0].first_child = 4; }},
      {"child of another", [](SmallShell& s) { s.nodes[1].first_child = 5; }},
      {"children out of range", [](SmallShell& s) { s.nodes[1].first_child = 0xffffffff; }},
      {"no children", [](SmallShell& s) { s.nodes[1].first_child = 3; }},
      {"sentinel too far", [](SmallShell& s) { s.nodes[2].first_child = 9; }},
      {"sentinel too near", [](SmallShell& s) { s.nodes[2].first_child = 7; }},
      {"children below the deepest level", [](SmallShell& s) { s.nodes[5].first_child = 3; }},
      {"sentinel of the deepest level", [](SmallShell& s) { s.nodes[8].first_child = 3; }},
      {"radius too small", [](SmallShell& s) { s.nodes[0].radius = 1.9999F; }},
      {"radius negative", [](SmallShell& s) { s.nodes[0].radius = -2; }},
      {"radius not a number", [](SmallShell& s) { s.nodes[0].radius = k_nan; }},
      {"radius infinite", [](SmallShell& s) { s.nodes[0].radius = k_infinity; }},
      {"radius on the deepest level", [](SmallShell& s) { s.nodes[4].radius = 1; }},
  };
  for (const auto& [name, damage] : damages) {
    SmallShell small;
    damage(small);
    EXPECT_THROW(small.make(), Error) << name;
  }
}

}  // namespace
}  // namespace cotouch::this_file

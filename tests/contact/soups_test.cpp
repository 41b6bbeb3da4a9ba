// The tree against visiting every point, where both shell and field come from soup: sheets, caps and thin walls.
#include "contact/pairs.h"

#include <support/soups.h>

namespace cotouch::this_file {
namespace {

using namespace contact_test;
using soup_test::soups;

// The shell of each soup against the field of the next, and a formula's ball against each field.
const std::vector<PartPair>& soup_pairs() {
  static const std::vector<PartPair> all = [] {
    std::vector<PartPair> made;
    NoProgress quiet;
    for (std::size_t i = 0; i < soups().size(); ++i) {
      const auto& next = soups()[(i + 1) % soups().size()];
      made.push_back({next.name, build_shell(soups()[i].field, {.points = 2000}, quiet), next.field});
      made.push_back({soups()[i].name, ball_shell(0.01, 800, 4), soups()[i].field});
    }
    return made;
  }();
  return all;
}

TEST(NestedContactOfSoup, TreeEqualsVisitingEveryPointBitForBitAtEveryLevel) {
  Random random(11);
  for (const PartPair& pair : soup_pairs()) {
    SCOPED_TRACE(pair.name);
    Evaluator tree(pair.shell, pair.field), every(pair.shell, pair.field);
    std::size_t touching = 0, culled = 0;
    for (std::uint32_t level = 0; level < pair.shell.levels(); ++level)
      for (int i = 0; i < 60; ++i) {
        const BodyState field{random_pose(random, 1), i % 3 == 0 ? 0.0005 * i / 60 : 0};
        const BodyState shell{field.pose * random_pose(random, i % 10 == 9 ? 10.0 : 0.08)};
        tree.at(shell, field, Detail::at(level));
        every.everywhere(shell, field, level);
        EXPECT_TRUE(same_bits(tree.contact, every.contact));
        EXPECT_TRUE(same_points(tree.scratch.touching(), every.scratch.touching()));
        touching += tree.contact.stats.in_contact > 0;
        culled += tree.contact.stats.visited < every.contact.stats.visited / 2;
      }
    EXPECT_GT(touching, 10U);
    EXPECT_GT(culled, 10U);
  }
}

// Slow motion in contact, with what earlier cycles knew: the same bits as without.
TEST(NestedContactOfSoup, ACacheChangesNoBit) {
  Random random(14);
  for (const PartPair& pair : soup_pairs()) {
    SCOPED_TRACE(pair.name);
    Evaluator with(pair.shell, pair.field), without(pair.shell, pair.field);
    CoherenceCache cache;
    const double cell = static_cast<double>(pair.field.spacing());
    int touching = 0, saved = 0;
    for (int start = 0; start < 20; ++start) {
      Pose relative = random_pose(random, 0.05);
      Vec6 motion{random.direction() * (0.1 * cell), random.direction() * (0.1 * cell / with.engine.extent().radius)};
      for (int cycle = 0; cycle < 60; ++cycle) {
        if (cycle % 30 == 29) motion = {-motion.linear, -motion.angular};
        relative = moved(relative, motion);
        with.at({relative}, {}, {}, &cache);
        without.at({relative}, BodyState{});
        ASSERT_TRUE(same_bits(with.contact, without.contact)) << "start " << start << ", cycle " << cycle;
        ASSERT_TRUE(same_points(with.scratch.touching(), without.scratch.touching()));
        touching += with.contact.stats.in_contact > 0;
        saved += with.contact.stats.visited < without.contact.stats.visited;
      }
    }
    EXPECT_GT(touching, 50);
    EXPECT_GT(saved, 50);
  }
}

}  // namespace
}  // namespace cotouch::this_file

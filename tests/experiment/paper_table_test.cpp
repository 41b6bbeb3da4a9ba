// What the paper columns of `contact-table` say, against the text of Table I.
#include <cotouch/experiment/paper_table.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

// The paper's total is the sum of its parts: virtual coupling, StVK and traversal.
TEST(PaperTable, TotalsAreTheSumsThatThePaperPrints) {
  for (const PaperRow& row : {table_one::k_knight_axe, table_one::k_bridge_dinosaur, table_one::k_cad_scene_1,
                              table_one::k_dragon_hole, table_one::k_dragon_dinosaur})
    EXPECT_EQ(row.cycle_us, table_one::k_coupling_us + row.elastic_us + row.contact_us) << row.contact_us;
}

TEST(PaperTable, CoherenceSavesNodesAndLevelsExist) {
  for (const PaperRow& row : {table_one::k_knight_axe, table_one::k_bridge_dinosaur, table_one::k_cad_scene_1,
                              table_one::k_dragon_hole, table_one::k_dragon_dinosaur}) {
    EXPECT_LT(row.visited, row.visited_no_coherence);
    EXPECT_LT(row.in_contact, row.visited);
    EXPECT_LE(row.level, row.levels);
    EXPECT_LT(row.cycle_us, row.treeless_us);
  }
}

}  // namespace
}  // namespace cotouch::this_file

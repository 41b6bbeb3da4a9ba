// A tree or a field whose links lead out of it, as broken memory would leave them: it is noticed before anything is
// read or written outside. The address sanitizer sees whether that is true.
#include <cotouch/base/invariant.h>

#include "contact/pairs.h"

#include <gtest/gtest.h>

#include <string>

namespace cotouch::this_file {
namespace {

using namespace contact_test;

// So deep that every point touches, and no node is dropped.
const BodyState k_inside{};

struct Bent {
  Shell shell = ball_shell(0.02, 700, 4);
  Field field = box_field({0.05, 0.05, 0.05}, 32);

  // What was read from memory of our own may be changed there.
  ShellBranch& branch(std::uint32_t node) { return const_cast<ShellBranch&>(shell.branches()[node]); }
  ShellNode& node(std::uint32_t node) { return const_cast<ShellNode&>(shell.data().nodes[node]); }
};

std::vector<std::uint32_t> bad_links(std::uint32_t nodes) {
  return {0, nodes, nodes + 1, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff};
}

// Of nodes whose children are points only, side by side, just the outer links are read.
TEST(BrokenTree, AWalkNoticesALinkThatLeadsElsewhere) {
  Bent bent;
  Evaluator sound(bent.shell, bent.field), tree(bent.shell, bent.field);
  sound.at(k_inside, k_inside, Detail::everything());
  ASSERT_EQ(sound.contact.stats.in_contact, bent.shell.point_count());
  const auto nodes = static_cast<std::uint32_t>(bent.shell.data().nodes.size());
  const std::uint32_t all_read = bent.shell.data().level_begin[bent.shell.levels() - 2];
  for (std::uint32_t i = 0; i < bent.shell.branch_count(); ++i) {
    const std::uint32_t good = bent.branch(i).first_child;
    for (const std::uint32_t bad : bad_links(nodes)) {
      bent.branch(i).first_child = bad;
      const InvariantWatch watch;
      tree.at(k_inside, k_inside, Detail::everything());
      SCOPED_TRACE("node " + std::to_string(i) + ", link " + std::to_string(bad) + " for " + std::to_string(good));
      if (i < all_read || watch.broken() != nullptr)
        EXPECT_STREQ(watch.broken(), k_tree_invariant);
      else
        EXPECT_TRUE(same_bits(tree.contact, sound.contact));
    }
    bent.branch(i).first_child = good;
  }
  const InvariantWatch watch;
  tree.at(k_inside, k_inside, Detail::everything());
  EXPECT_EQ(watch.broken(), nullptr);
  EXPECT_TRUE(same_bits(tree.contact, sound.contact));
}

// Also one that a cache has made shorter.
TEST(BrokenTree, NoLinkLeadsAWalkWithACacheOutOfIt) {
  Bent bent;
  Evaluator tree(bent.shell, bent.field);
  const auto nodes = static_cast<std::uint32_t>(bent.shell.data().nodes.size());
  Random random(3);
  std::size_t noticed = 0;
  for (int i = 0; i < 2000; ++i) {
    CoherenceCache cache;
    const BodyState at{random_pose(random, 0.06)};
    tree.at(at, k_inside, Detail::everything(), &cache);
    const auto which = static_cast<std::uint32_t>(random.below(bent.shell.branch_count()));
    const std::uint32_t good = bent.branch(which).first_child;
    const auto links = bad_links(nodes);
    bent.branch(which).first_child = links[random.below(links.size())];
    const InvariantWatch watch;
    tree.at({at.pose * Pose{random.vector(0, 1e-3), {}}}, k_inside, Detail::everything(), &cache);
    noticed += watch.broken() != nullptr ? 1U : 0U;
    bent.branch(which).first_child = good;
  }
  EXPECT_GT(noticed, 100U);
}

TEST(BrokenTree, TheGapIsNothingIfALinkOrAPointLeadsElsewhere) {
  Bent bent;
  const NestedContact engine(bent.shell, bent.field, {});
  const auto workspace = engine.make_workspace();
  // Beside each other, and no closer than the ball is large, so that the whole tree is of interest.
  const PairState apart{{{{0.08, 0, 0}, {}}}, {}};
  const auto gap = [&] { return engine.gap(apart, 1, ~0U, *workspace); };
  const double sound = gap();
  ASSERT_GT(sound, 0.002);
  const std::uint32_t roots = bent.shell.points_to_level(0);
  std::size_t noticed = 0;
  for (std::uint32_t i = 0; i <= roots; ++i) {
    const ShellNode good = bent.node(i);
    for (const std::uint32_t bad : bad_links(1'000'000)) {
      for (const bool link : {true, false}) {
        bent.node(i) = good;
        (link ? bent.node(i).first_child : bent.node(i).point) = bad;
        const InvariantWatch watch;
        const double found = gap();
        EXPECT_EQ(watch.broken() != nullptr, found == 0) << i;
        noticed += watch.broken() != nullptr ? 1U : 0U;
      }
    }
    bent.node(i) = good;
  }
  EXPECT_GT(noticed, roots * std::size_t{5});
  EXPECT_EQ(gap(), sound);
}

TEST(BrokenTree, AWorkspaceOfASmallerShellIsNotWrittenTo) {
  const Bent bent;
  const Shell small = ball_shell(0.02, 60, 2);
  for (const char* name : {"nested", "exhaustive"}) {
    Part parts[2], large;
    parts[0].shell = small;
    parts[1].field = bent.field;
    large.shell = bent.shell;
    const EngineKind& kind = engine_kind(name);
    const auto workspace = kind.make(parts[0], parts[1], {})->make_workspace();
    const auto engine = kind.make(large, parts[1], {});
    const InvariantWatch watch;
    PairContact contact;
    engine->evaluate({k_inside, k_inside}, Detail::everything(), *workspace, nullptr, contact);
    EXPECT_STREQ(watch.broken(), k_workspace_invariant) << name;
    EXPECT_EQ(contact.stats.in_contact, 0U);
    EXPECT_EQ(norm(contact.on_shell.wrench.force), 0);
  }
}

}  // namespace
}  // namespace cotouch::this_file

// Shared sessions with real sockets, real encryption and real clocks, on one machine.
#include <cotouch/base/invariant.h>
#include <cotouch/world/state.h>

#include "session/program.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

TEST(SharedSession, TwoProgramsAgreeOnEveryTick) {
  Program anna("Anna"), ben("Ben");
  meet(anna, ben);
  EXPECT_EQ(anna.people()[1].name, "Ben");
  EXPECT_EQ(ben.people()[0].name, "Anna");
  pass(anna, ben, 500);
  EXPECT_GT(agreed_ticks(anna, ben), 100U);
  anna.session().say("hello");
  ben.session().mark(2, {0, 0, 0.02});
  EXPECT_TRUE(eventually([&] { return ben.lines().size() == 1 && anna.lines().size() == 1; }));
  EXPECT_TRUE(eventually([&] { return ben.marks() == 1 && anna.marks() == 1; }));
  EXPECT_TRUE(eventually([&] { return anna.peers().peers.size() == 2; }));
  ben.stop();
  EXPECT_TRUE(eventually([&] { return anna.people().size() == 1; }));
}

TEST(SharedSession, PeopleOfTheSameNameAreToldApart) {
  Program anna("Anna"), ben("Ben"), other("Ben");
  meet(anna, ben);
  other.join(anna.invite());
  for (const Program* program : {&anna, &ben, &other}) {
    ASSERT_TRUE(eventually([&] { return program->people().size() == 3; })) << other.status().reason;
    EXPECT_EQ(program->people()[1].name, "Ben");
    EXPECT_EQ(program->people()[2].name, "Ben 2");
  }
}

// What a world's memory holds is nothing that others should hear of, and no reason to end the program.
TEST(SharedSession, ABrokenInvariantLeavesTheSessionWithAReport) {
  Program anna("Anna"), ben("Ben");
  meet(anna, ben);
  {
    const InjectedFault fault(k_layout_invariant);
    for (const Program* program : {&anna, &ben}) {
      ASSERT_TRUE(eventually([&] { return program->status().state == SharingStatus::State::failed; }));
      EXPECT_NE(program->status().reason.find("This is a fault in cotouch itself"), std::string::npos)
          << program->status().reason;
    }
  }
}

// As when some were removed in the page.
TEST(SharedSession, TheBodiesOfASharedSceneMayHaveAnyNumbers) {
  Program anna("Anna"), ben("Ben");
  Scene scene = three_balls();
  scene.name.clear();
  for (SceneBody& body : scene.bodies) body.id += 3;
  anna.host(scene);
  ben.join(anna.invite());
  ASSERT_TRUE(eventually([&] { return are_two(anna, ben); })) << ben.status().reason;
  pass(anna, ben, 100);
  EXPECT_GT(agreed_ticks(anna, ben), 50U);
}

}  // namespace
}  // namespace cotouch::this_file

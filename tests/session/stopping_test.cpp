// A session ends soon after it is told to, whatever it is about to show.
#include <cotouch/base/realtime.h>
#include <cotouch/mesh/subdivide.h>
#include <cotouch/session/session.h>

#include <gtest/gtest.h>

#include <ctime>

#include "session/session_fixture.h"
#include "support/slivers.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;  // of all threads
}

// Parts that take most of a second each to be drawn: slivers around one corner, just not too many for edges to be
// collapsed, and enough others that it is done at all.
Scene slow_to_draw(int parts) {
  TriangleMesh mesh = fan_of_slivers(40'000, 0.1);
  append(mesh, make_sphere(0.5, 6));
  Scene scene = two_balls();
  for (int i = 0; i < parts; ++i) {
    auto part = std::make_shared<Part>(*ball());
    part->mesh = mesh;
    scene.bodies[0].parts.push_back(scene.bodies[0].parts[0]);
    scene.bodies[0].parts.back().part = part;
  }
  return scene;
}

TEST(Stopping, DoesNotWaitForPicturesThatNobodyWillSee) {
  const TemporaryFolder folder;
  TestLibrary library{folder / "scenes"};
  SessionSettings settings;
  settings.recordings = folder / "recordings";
  Session session(settings, library);
  session.start();
  constexpr int k_parts = 40;
  const double start = processor_seconds();
  const auto one = make_picture(slow_to_draw(1).bodies[0].parts[1].part);
  const double takes = processor_seconds() - start;
  session.command(session.join(ParticipantKind::program, "play"), ShowScene{slow_to_draw(k_parts), nullptr});
  session.snapshot();  // what was asked for before has begun
  const double before = processor_seconds();
  session.stop();
  EXPECT_LT(processor_seconds() - before, k_parts / 4 * takes);
}

}  // namespace
}  // namespace cotouch::this_file

// A small scene with a body that bends.
#pragma once

#include <support/elastic_parts.h>

#include "session/session_fixture.h"

namespace cotouch::testing_session {

// A rubber bar along x, 20 cm long and 2 cm thick, held at its low end, and a ball of 2 cm radius above its middle.
inline Scene bar_and_ball(ElasticLaw law = ElasticLaw::stvk) {
  Scene scene = two_balls();
  scene.name = "bar";
  scene.title = "Bar and ball";
  scene.bodies[0].name = "bar";
  scene.bodies[0].parts[0].name = "bar";
  scene.bodies[0].parts[0].part = elastic_test::held_bar(law);
  scene.bodies[1].pose.position = {0, 0, 0.1};
  return scene;
}

}  // namespace cotouch::testing_session

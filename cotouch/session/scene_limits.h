// What a scene must keep to so that it can be saved, opened again, and felt without bodies passing through each other.
// A session checks both before every change, so whatever it holds keeps to them.
#pragma once

#include <cotouch/world/scene.h>

namespace cotouch {

// Throws Error with a sentence if a file of this scene could be written but not read: too many parts, a place too far
// away, a number outside its range. The sentence begins with `refusal`.
void check_savable(const Scene& scene,
                   const std::string& refusal = "This could not be opened again once it is saved: ");

// Can users make this body bend? It is theirs, of one part, and does not follow a path.
bool can_bend(const Scene& scene, const SceneBody& body);

// Throws Error if the weight of a free body, m g, would press a single point deeper than a cell of the finest field
// that the body meets: m g > k h. That is the least that contact gives; most bodies lie on many points, which are
// stiffer. In the built-in scenes, with other densities and stiffnesses, the first bodies fell through the table at 6 k
// h, so what lies on a body has some of that margin.
void check_weight(const WorldModel& model);

}  // namespace cotouch

// Hands for scenes that have none of their own.
#pragma once

#include <cotouch/world/scene.h>

#include <vector>

namespace cotouch {

// The scene's own hands; if it has none, two that take a free body each, push it to where the next one is, turn it on
// the way, and take it back.
std::vector<HandScript> pushing_hands(const Scene& scene);

}  // namespace cotouch

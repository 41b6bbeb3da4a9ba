// Where two states of a world differ first, in words: what the desync alarm says.
#pragma once

#include <cotouch/world/state.h>

#include <string>

namespace cotouch {

// "velocity z of body 'box' is 0.1 here and 0.2 there"; empty if they are the same. Both must be of this model.
std::string first_difference(const WorldModel& model, const WorldState& here, const WorldState& there);

}  // namespace cotouch

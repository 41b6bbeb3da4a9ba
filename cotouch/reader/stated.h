// What a file or its format says about unit and axes.
#pragma once

#include <cotouch/mesh/readers.h>

#include <string>

struct aiScene;

namespace cotouch {

struct Stated {
  double metres_per_unit = 0;  // zero: nothing
  char up_axis = 0;            // 'x', 'y' or 'z'; zero: nothing
};

bool is_collada(const std::string& extension);

// The scene is what assimp made of the file. Where `unit_is_known`, a unit that makes no sense is no reason to throw.
Stated what_is_stated(const std::string& extension, FileBytes bytes, const aiScene& scene, bool unit_is_known);

}  // namespace cotouch

// Scenes and worlds in which every pair has the same contact engine.
#pragma once

#include <cotouch/world/scene.h>

#include <string>
#include <vector>

namespace cotouch {

// For bodies with the ids 1 to `count`.
inline std::vector<PairRule> rules_for_all(std::uint32_t count, std::string_view engine) {
  std::vector<PairRule> rules;
  for (std::uint32_t a = 1; a <= count; ++a)
    for (std::uint32_t b = a + 1; b <= count; ++b) rules.push_back({a, b, true, std::string(engine)});
  return rules;
}

inline Scene with_engine(Scene scene, std::string_view engine) {
  for (const SceneBody& a : scene.bodies)
    for (const SceneBody& b : scene.bodies)
      // What does not touch still does not: the first rule about a pair holds.
      if (a.id < b.id) scene.rules.push_back({a.id, b.id, true, std::string(engine)});
  return scene;
}

}  // namespace cotouch

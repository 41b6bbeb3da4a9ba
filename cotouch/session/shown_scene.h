// A prepared scene with what is drawn of it: a picture for every part.
#pragma once

#include <cotouch/elastic/deformation.h>
#include <cotouch/mesh/closest.h>
#include <cotouch/session/display_mesh.h>
#include <cotouch/session/participant.h>
#include <cotouch/world/scene.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

inline constexpr std::size_t k_most_bodies = 64;

// What is drawn of a part: its mesh, divided or simplified.
struct PartPicture {
  std::shared_ptr<const Part> part;
  TriangleMesh mesh;
  bool decimated = false;                // simplified
  ClosestTriangle closest;               // to the mesh
  std::vector<EmbeddedPoint> embedding;  // of the mesh's vertices; empty if the part is rigid
};
std::shared_ptr<const PartPicture> make_picture(std::shared_ptr<const Part> part, const DisplayLimits& limits = {});

// Where the vertices of a picture are if its part is bent.
std::vector<Vec3d> bent_vertices(const PartPicture& picture, Deformation& shape);

struct ShownPart {
  std::uint32_t id = 0;  // from 1, in this scene
  BodyId body = 0;
  std::size_t index = 0;  // among the body's parts
  std::string color;      // "#rrggbb"
  std::shared_ptr<const PartPicture> picture;
};

struct ShownScene {
  Scene scene;  // prepared
  std::vector<ShownPart> parts;

  const ShownPart* find_part(std::uint32_t id) const;
  const ScenePart& scene_part(const ShownPart& part) const;
};
// Pictures that `known` has already are taken from there: bodies that come and go cost nothing.
std::shared_ptr<const ShownScene> show(Scene scene, const ShownScene* known = nullptr);

// The colour of a part that has none of its own, "#rrggbb", by whether its body moves and its place among such parts.
// Greys for what rests, cool colours for what moves, so that warm is free to mean near.
std::string_view palette_color(bool moves, std::size_t order);

}  // namespace cotouch

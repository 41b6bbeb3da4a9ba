// From a part that can be touched to one that bends: tetrahedra, finite elements, modes, and its surface tied to them.
#pragma once

#include <cotouch/base/progress.h>
#include <cotouch/elastic/anchor.h>
#include <cotouch/elastic/elastic_model.h>
#include <cotouch/elastic/material.h>
#include <cotouch/elastic/modes.h>
#include <cotouch/elastic/proxies.h>
#include <cotouch/elastic/stuffing.h>
#include <cotouch/mesh/mesh.h>
#include <cotouch/shell/shell.h>

#include <cstdint>
#include <vector>

namespace cotouch {

struct ElasticSettings {
  Material material;
  ElasticLaw law = ElasticLaw::stvk;
  std::uint32_t coordinates = 15;
  TetSettings tets;
  std::uint32_t domains = 1;    // of its deformed distance field (deformed_field.h)
  std::vector<Anchor> anchors;  // none: the part is free and moves as a whole besides

  friend bool operator==(const ElasticSettings&, const ElasticSettings&) = default;
};

constexpr std::size_t k_most_anchors = 64;

// Throws Error with what to change if a setting makes no sense, as far as that is known without the part.
void check_elastic(const ElasticSettings& settings);

// What the part is made of otherwise.
struct ElasticParts {
  const TriangleMesh& mesh;
  const Field& field;
  const Shell& shell;
};

// In which ways a part bends.
struct ElasticShapes {
  Shapes shapes;                      // mass-orthonormal
  std::vector<double> omega_squared;  // warped: of each, (rad/s)^2
  bool anchored = false;              // some nodes do not move
};

// Ties the part's surface, its shell and its field to a mesh that bends in these shapes.
ElasticModel tie_to_shapes(const ElasticParts& parts, const TetMesh& mesh, const ElasticShapes& shapes,
                           const ElasticSettings& settings, Progress& progress);

// The same arguments give the same bits on any machine. `given` are tetrahedra that fill the part, instead of those
// that the settings ask for. Throws Error if a setting makes no sense, if the tetrahedra are too coarse for the part or
// fall into pieces.
ElasticModel prepare_elastic(const ElasticParts& parts, const ElasticSettings& settings, Progress& progress,
                             const TetMesh* given = nullptr);

}  // namespace cotouch

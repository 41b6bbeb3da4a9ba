// Builds a distance field from any triangle mesh (paper 001, II-C), or from a function for tests.
#pragma once

#include <cotouch/base/progress.h>
#include <cotouch/field/field.h>
#include <cotouch/mesh/mesh.h>

#include <functional>

namespace cotouch {

constexpr int k_lowest_resolution = 8, k_highest_resolution = 1024;

struct FieldSettings {
  int resolution = 128;        // cells along the longest side of the part
  double sheet_thickness = 1;  // open sheets and walls thinner than a cell become solid by this many cells to each side
  bool operator==(const FieldSettings&) const = default;
};

// What the signing found, for the user.
struct FieldReport {
  std::size_t flipped = 0;   // triangles whose orientation was turned
  std::size_t enclosed = 0;  // triangles inside the solid, dropped
  std::size_t sheets = 0;    // triangles of open sheets and of walls thinner than a cell, thickened
  std::size_t caps = 0;      // triangles added where wide holes were closed
};

Field build_field(const TriangleMesh& mesh, const FieldSettings& settings, Progress& progress,
                  FieldReport* report = nullptr);

// Samples `distance` (metres, negative inside, 1-Lipschitz) over a box that holds the part. `distance` is called from
// several threads at once.
Field build_field(const std::function<double(const Vec3d&)>& distance, const Box3d& part,
                  const FieldSettings& settings);

}  // namespace cotouch

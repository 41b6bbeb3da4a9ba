// Winding numbers by summing the solid angle of every triangle (van Oosterom & Strackee 1983), with the system's own
// arctangent: slow, exact to rounding, and nothing of what is tested is in it but vectors.
#pragma once

#include <cotouch/base/vec.h>
#include <cotouch/mesh/mesh.h>

#include <cmath>
#include <cstddef>
#include <numbers>

namespace cotouch::testing_support {

inline double exact_winding_number(const TriangleMesh& mesh, const Vec3d& p) {
  double sum = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [a, b, c] = mesh.corners(t);
    const Vec3d u = a - p, v = b - p, w = c - p;
    const double lu = norm(u), lv = norm(v), lw = norm(w);
    sum += std::atan2(dot(u, cross(v, w)), lu * lv * lw + dot(u, v) * lw + dot(v, w) * lu + dot(w, u) * lv);
  }
  return sum / (2 * std::numbers::pi);
}

}  // namespace cotouch::testing_support

// Bodies and displacement fields that the tests of St. Venant-Kirchhoff bodies share.
#pragma once

#include <cotouch/base/random.h>
#include <cotouch/elastic/stvk_full.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace cotouch::test {

using Field3 = std::vector<double>;  // x, y and z of every node in turn

inline const Material k_rubber{.young = 2e6, .poisson = 0.3, .density = 1000};

inline TetMesh small_box() {
  return tet_box({0.2, 0.1, 0.15}, {3, 2, 2});
}

inline Field3 random_field(std::size_t size, double amplitude, std::uint64_t seed) {
  Random random(seed);
  Field3 field(size);
  for (double& x : field) x = random.uniform(-amplitude, amplitude);
  return field;
}

// u(X) = G X at every node.
inline Field3 affine(const TetMesh& mesh, const Mat3& g) {
  Field3 field;
  for (const Vec3d& node : mesh.nodes) {
    const Vec3d u = g * node;
    field.insert(field.end(), {u.x, u.y, u.z});
  }
  return field;
}

inline Field3 sum(const Field3& a, double s, const Field3& b) {
  Field3 c(a);
  for (std::size_t i = 0; i < c.size(); ++i) c[i] += s * b[i];
  return c;
}

inline double dot(const Field3& a, const Field3& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

inline double largest(const Field3& a) {
  double most = 0;
  for (const double x : a) most = std::max(most, std::abs(x));
  return most;
}

inline Field3 force(const StvkFull& body, const Field3& u) {
  Field3 f(body.size());
  body.force(u, f);
  return f;
}

inline Field3 tangent(const StvkFull& body, const Field3& u, const Field3& v) {
  Field3 f(body.size());
  body.tangent_times(u, v, f);
  return f;
}

}  // namespace cotouch::test

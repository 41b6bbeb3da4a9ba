// Shells made by brute force and fields of shapes with a formula, so that contact is tested against algebra.
#pragma once

#include <cotouch/base/random.h>
#include <cotouch/base/trig.h>
#include <cotouch/contact/exhaustive/exhaustive.h>
#include <cotouch/contact/nested/nested.h>
#include <cotouch/field/build.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

namespace cotouch::contact_test {

struct OrientedPoint {
  Vec3d position, inward;
};

struct ShellArrays {
  std::vector<ShellNode> nodes;
  std::vector<std::uint32_t> level_begin;
  std::vector<Vec3f> positions, normals;
};

// Links points into a tree: every fourth belongs to the level above, every sixteenth to the one above that, and so on;
// a point's parent is the nearest node of the level above, found by trying all.
inline Shell link_naively(const std::vector<OrientedPoint>& points, std::uint32_t levels) {
  auto a = std::make_shared<ShellArrays>();
  std::vector<std::vector<OrientedPoint>> fresh(levels);
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::uint32_t level = levels - 1;
    for (std::size_t step = 4; level > 0 && i % step == 0; step *= 4) --level;
    fresh[level].push_back(points[i]);
  }
  const auto add_node = [&](std::uint32_t point) { a->nodes.push_back({a->positions[point], 0, 0, point}); };
  const auto add_point = [&](const OrientedPoint& p) {
    a->positions.push_back(Vec3f(p.position));
    a->normals.push_back(normalized(Vec3f(p.inward)));
    add_node(static_cast<std::uint32_t>(a->positions.size() - 1));
  };
  const auto here = [&] { return static_cast<std::uint32_t>(a->nodes.size()); };
  a->level_begin.push_back(0);
  for (const OrientedPoint& p : fresh[0]) add_point(p);
  a->nodes.push_back({});
  for (std::uint32_t l = 1; l < levels; ++l) {
    const std::uint32_t parents_begin = a->level_begin.back(), parents_end = here() - 1;
    a->level_begin.push_back(here());
    std::vector<std::vector<OrientedPoint>> children(parents_end - parents_begin);
    for (const OrientedPoint& p : fresh[l]) {
      std::uint32_t nearest = 0;
      double nearest_squared = std::numeric_limits<double>::infinity();
      for (std::uint32_t i = parents_begin; i < parents_end; ++i) {
        const double squared = norm_squared(Vec3d(a->nodes[i].position) - p.position);
        if (squared < nearest_squared) {
          nearest_squared = squared;
          nearest = i - parents_begin;
        }
      }
      children[nearest].push_back(p);
    }
    for (std::uint32_t i = parents_begin; i < parents_end; ++i) {
      a->nodes[i].first_child = here();
      add_node(a->nodes[i].point);
      for (const OrientedPoint& p : children[i - parents_begin]) add_point(p);
    }
    a->nodes[parents_end].first_child = here();
    a->nodes.push_back({});
  }
  a->level_begin.push_back(here());
  // A node's ball must hold its children's balls, which is more than needed and simple.
  for (std::uint32_t l = levels - 1; l-- > 0;)
    for (std::uint32_t i = a->level_begin[l]; i + 1 < a->level_begin[l + 1]; ++i)
      for (std::uint32_t c = a->nodes[i].first_child; c < a->nodes[i + 1].first_child; ++c) {
        const double far =
            norm(Vec3d(a->nodes[c].position) - Vec3d(a->nodes[i].position)) + static_cast<double>(a->nodes[c].radius);
        a->nodes[i].radius = std::max(a->nodes[i].radius, static_cast<float>(far * (1 + 1e-6)));
      }
  return Shell({a->nodes, a->level_begin, a->positions, a->normals}, a);
}

// A Fibonacci spiral on the sphere; neighbouring indices are far apart, so every subset of a stride is spread out too.
inline Shell ball_shell(double radius, std::uint32_t count, std::uint32_t levels) {
  std::vector<OrientedPoint> points;
  for (std::uint32_t i = 0; i < count; ++i) {
    const double z = 1 - (2.0 * i + 1) / count;
    const SinCos turn = sin_cos(2.399963229728653 * i);
    const double ring = std::sqrt(1 - z * z);
    const Vec3d outward{ring * turn.cos, ring * turn.sin, z};
    points.push_back({outward * radius, -outward});
  }
  return link_naively(points, levels);
}

// A square patch of n x n points in the plane z = 0, cell-centred, as the lower face of a part: inward is +z.
inline Shell patch_shell(double side, std::uint32_t n, std::uint32_t levels) {
  std::vector<OrientedPoint> points;
  for (std::uint32_t j = 0; j < n; ++j)
    for (std::uint32_t i = 0; i < n; ++i)
      points.push_back({{side * ((i + 0.5) / n - 0.5), side * ((j + 0.5) / n - 0.5), 0}, {0, 0, 1}});
  return link_naively(points, levels);
}

inline double box_distance(const Vec3d& p, const Vec3d& half) {
  const Vec3d q{std::fabs(p.x) - half.x, std::fabs(p.y) - half.y, std::fabs(p.z) - half.z};
  return norm(max(q, Vec3d{})) + std::min(std::max({q.x, q.y, q.z}), 0.0);
}

inline Field box_field(const Vec3d& half, int resolution) {
  Box3d part;
  part.add(-half);
  part.add(half);
  return build_field([half](const Vec3d& p) { return box_distance(p, half); }, part, {.resolution = resolution});
}

inline Field ball_field(double radius, int resolution) {
  Box3d part;
  part.add({-radius, -radius, -radius});
  part.add({radius, radius, radius});
  return build_field([radius](const Vec3d& p) { return norm(p) - radius; }, part, {.resolution = resolution});
}

inline Field torus_field(double ring, double tube, int resolution) {
  Box3d part;
  part.add({-ring - tube, -ring - tube, -tube});
  part.add({ring + tube, ring + tube, tube});
  const auto distance = [ring, tube](const Vec3d& p) {
    const double across = std::sqrt(p.x * p.x + p.y * p.y) - ring;
    return std::sqrt(across * across + p.z * p.z) - tube;
  };
  return build_field(distance, part, {.resolution = resolution});
}

// An engine with memory of its own for one evaluation after another.
class Evaluator {
 public:
  Evaluator(const Shell& shell, const Field& field, const ContactSettings& settings = {},
            std::uint32_t deepest_level = ~0U)
      : engine(shell, field, settings, deepest_level), exhaustive(shell, field, settings, deepest_level) {
    scratch.reserve(shell.point_count());
  }
  const PairContact& at(const BodyState& shell, const BodyState& field, const Detail& detail = {},
                        CoherenceCache* cache = nullptr) {
    engine.evaluate({shell, field}, detail, scratch, cache, contact);
    return contact;
  }
  const PairContact& at(const Pose& shell, const Pose& field = {}) { return at(BodyState{shell}, BodyState{field}); }
  const PairContact& everywhere(const BodyState& shell, const BodyState& field, std::uint32_t level) {
    exhaustive.evaluate({shell, field}, Detail::at(level), scratch, nullptr, contact);
    return contact;
  }
  std::vector<Vec3d> point_forces(const BodyState& shell, const BodyState& field) const {
    std::vector<TouchingPoint> points(scratch.touching().size());
    engine.touching({shell, field}, scratch, contact, points);
    std::vector<Vec3d> forces;
    for (const TouchingPoint& point : points) forces.push_back(point.force);
    return forces;
  }

  NestedContact engine;
  ExhaustiveContact exhaustive;  // of the same pair
  NestedWorkspace scratch;       // good for both
  PairContact contact;
};

// What a stored sample may be off by: half a quantum. The interpolated value can be off by no more, but for its own
// rounding.
inline double rounding(const Field& field) {
  return static_cast<double>(field.data().quantum) / 2 + 1e-8;
}

inline Pose random_pose(Random& random, double farthest) {
  return {random.vector(0, farthest), quat_from_rotation_vector(random.vector(0, 3))};
}

}  // namespace cotouch::contact_test

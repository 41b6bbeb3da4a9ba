// Shells and fields of many kinds, and what it means that two answers are the same.
#pragma once

#include "contact/support.h"

#include <cotouch/shell/build.h>

#include <gtest/gtest.h>

#include <cstring>

namespace cotouch::contact_test {

struct PartPair {
  const char* name;
  Shell shell;
  Field field;
};

// Convex against convex, a hole to sit in, an offset copy of the same shape, a shell with its origin far from its
// points, a shell as the product makes it, and one level only.
inline const std::vector<PartPair>& pairs() {
  static const std::vector<PartPair> all = [] {
    std::vector<PartPair> made;
    made.push_back({"ball on box", ball_shell(0.03, 1500, 4), box_field({0.05, 0.04, 0.02}, 40)});
    made.push_back({"ball in torus", ball_shell(0.025, 1000, 3), torus_field(0.03, 0.01, 48)});
    made.push_back({"ball in ball", ball_shell(0.03, 1200, 4), ball_field(0.0301, 32)});
    made.push_back({"plate on box", patch_shell(0.05, 32, 4), box_field({0.03, 0.03, 0.03}, 24)});
    std::vector<OrientedPoint> away;
    const Shell ball = ball_shell(0.02, 600, 1);
    for (const Vec3f& p : ball.data().positions)
      away.push_back({Vec3d(p) + Vec3d{0.05, 0.01, 0}, normalized(-Vec3d(p))});
    made.push_back({"eccentric ball on box", link_naively(away, 3), box_field({0.04, 0.04, 0.04}, 64)});
    NoProgress progress;
    const Field torus = torus_field(0.03, 0.01, 48);
    made.push_back({"torus in torus", build_shell(torus, {.points = 2000}, progress), torus});
    made.push_back({"one level", ball_shell(0.02, 100, 1), ball_field(0.02, 16)});
    return made;
  }();
  return all;
}

inline std::vector<double> numbers_of(const PairContact& c) {
  std::vector<double> all{c.sums.depth8, c.weight, c.on_shell.scale};
  const auto add = [&](const Vec3d& v) { all.insert(all.end(), {v.x, v.y, v.z}); };
  for (const Wrench& w : {c.sums.push, c.on_shell.wrench}) add(w.force), add(w.torque);
  for (const Mat6& m : {c.sums.spread, c.on_shell.stiffness})
    for (std::size_t i = 0; i < 36; ++i) all.push_back(m(i / 6, i % 6));
  for (const Mat3& m : {c.sums.moment, c.on_shell.moment}) all.insert(all.end(), m.m.begin(), m.m.end());
  return all;
}

// Everything but the work: forces, gradients, what touches.
inline bool same_bits(const PairContact& a, const PairContact& b) {
  const std::vector<double> one = numbers_of(a), other = numbers_of(b);
  return std::memcmp(one.data(), other.data(), one.size() * sizeof(double)) == 0 &&
         a.stats.in_contact == b.stats.in_contact && a.stats.deepest == b.stats.deepest &&
         a.stats.level == b.stats.level;
}

inline bool same_points(std::span<const ContactPoint> a, std::span<const ContactPoint> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ContactPoint& p, const ContactPoint& q) {
    return p.point == q.point && p.distance == q.distance;
  });
}

}  // namespace cotouch::contact_test

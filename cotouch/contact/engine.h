// What a contact engine answers: given two bodies' poses, the wrench between them, how it changes with a small motion,
// and how much work that took. One interface for every engine (nested pointshell now, voxel sampling later).
//
// Signs and frames: world axes; the wrench acts on the moving body, its torque is taken about that body's position
// (pose.position); the gradient is d(wrench)/d(small motion of the moving body), in the sense of moved(pose, motion).
#pragma once

#include <cotouch/base/pose.h>

#include <cstdint>
#include <span>

namespace cotouch {

enum class Moving { shell, field };

struct ContactStats {
  std::uint32_t visited = 0;     // tree nodes whose distance was needed
  std::uint32_t skipped = 0;     // tree nodes ruled out by temporal coherence
  std::uint32_t in_contact = 0;  // points with negative distance
  std::uint32_t level = 0;       // deepest tree level rendered
  float deepest = 0;             // largest penetration, metres
};

struct ContactResult {
  Wrench wrench;
  Mat6 gradient;
  ContactStats stats;
};

// One point in contact, for pictures and for engines that act on single points.
struct ContactPoint {
  std::uint32_t point;  // index in the shell
  float distance;       // negative, metres
};

class ContactEngine {
 public:
  virtual ~ContactEngine() = default;

  // No allocation, no lock, no exception. Work is bounded by count.
  virtual void evaluate(const Pose& shell, const Pose& field, Moving moving, ContactResult& result) noexcept = 0;
  // The contacts of the last evaluation, in the order they were summed.
  virtual std::span<const ContactPoint> contacts() const noexcept = 0;
  // Forgets everything remembered from earlier evaluations (temporal coherence, level-of-detail hysteresis).
  virtual void reset() noexcept = 0;
};

}  // namespace cotouch

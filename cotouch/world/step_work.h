// The inside of a step, shared by its source files.
#pragma once

#include <cotouch/world/step.h>

#include <array>

namespace cotouch {

// A body during a substep.
struct BodyWork {
  enum class Role : std::uint8_t { still, path, held, free };  // held: quasi-statically
  Role role = Role::still;
  std::int32_t unknown = -1;  // its place among the free bodies of this substep
  Pose pose;
  Vec3d center;        // of mass, in the world
  Vec6 velocity;       // of the centre; known for all but free bodies
  Mat3 inertia;        // world axes
  ContactSums shared;  // of the contacts that share one potential, about the body's position
  ContactForce force;  // what they mean
  ContactStats stats;
  double clearance = 0;
  double travel = 0;     // metres that any of its points may move within the tick
  bool near = false;     // something may be within reach in this tick
  bool touched = false;  // its statistics hold a pair already
  Pose next;             // after this substep; not of free bodies
};

// Something that pushes two bodies apart or together, at one point: a contact, its friction, or (with one body) a
// grasp.
struct Link {
  std::int32_t a = -1, b = -1;  // bodies; -1: none
  Vec3d at;                     // world; wrench and matrices are about it
  Wrench wrench;                // on a
  Mat6 stiffness, damping;      // of the relative motion of a against b
  Mat6 matrix;                  // h^2 C + h D, for this substep
  bool active = true;
  bool may_pull = false;
};

struct SymmetricBlock {  // L D L' of a 6 x 6 matrix
  std::array<double, 21> l{};
};

struct StepScratch::Work {
  ContactScratch contact;
  std::vector<CoherenceCache> caches;  // one a pair, or none
  std::vector<PairContact> pairs;
  std::vector<std::uint32_t> candidates;  // pairs that may come near within this tick
  std::vector<BodyWork> bodies;
  std::vector<Link> links;
  std::uint32_t link_count = 0;
  std::uint32_t substeps = 0;
  // Conjugate gradients: one entry a free body.
  std::vector<std::uint32_t> unknowns;  // bodies
  std::vector<Vec6> change, residual, direction, product, preconditioned;
  std::vector<Mat6> diagonal;
  std::vector<SymmetricBlock> blocks;
};

// Velocity of a point that moves with something whose twist is `v` at `center`, and the transposed map for wrenches.
inline Vec6 velocity_at(const Vec6& v, const Vec3d& center, const Vec3d& at) {
  return {v.linear + cross(v.angular, at - center), v.angular};
}
inline Vec6 wrench_about(const Vec6& w, const Vec3d& at, const Vec3d& center) {
  return {w.linear, w.angular + cross(at - center, w.linear)};
}

// step_contact.cpp
void find_candidates(const WorldModel& model, const WorldState& state, StepScratch::Work& work) noexcept;
void evaluate_contacts(const WorldModel& model, WorldState& state, const StepDetail& detail, bool first,
                       StepScratch::Work& work) noexcept;
// step_solve.cpp
void solve_velocities(const WorldModel& model, double h, StepScratch::Work& work) noexcept;

}  // namespace cotouch

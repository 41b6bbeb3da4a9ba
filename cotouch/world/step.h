// One step of a world: a function of the model, the state and what the hands do. No clock, no randomness, no
// allocation, the same bits everywhere.
//
// Bodies that may meet within the tick form islands, and each island is stepped for itself, in substeps of h seconds.
// Between two looks at a contact nothing moves by more than a tenth of the thinnest wall, and near hands and thin
// things by half a cell or 0.4 mm; nothing gets more than half as deep into what it meets before that is seen. All of
// it follows from state and inputs alone. In each substep:
//
// 1. Contact of all pairs that may touch (contact.h). All contacts of a body in a hand share one potential, so that
//    several neighbours together are no stiffer to the hand than the promise for one; so do those of a free body with
//    everything that is not free.
// 2. Bodies held quasi-statically go half of the way to the pose where contacts and grasps balance (paper 001, V), near
//    something at most a third of a cell or 0.2 mm beyond what is surely free: twice in a millisecond if they are cut
//    short, oftener while looks are cheap.
// 3. Free bodies, linearly implicit: with velocities v, masses M, wrenches f, stiffness C and damping D of contacts,
//    grasps and friction,
//      (M + h D + h^2 C) dv = h f - (h D + h^2 C) v,
//    a symmetric positive definite system for all bodies at once, solved by conjugate gradients. A contact that would
//    pull is left out and the system solved again.
// 4. Everything moves. Free rotation is the implicit midpoint rule in the body's frame, which keeps the energy and the
//    size of the angular momentum exactly.
//
// A contact is damped in the directions in which it pushes: what is in another gets out within 5 ms, and two bodies
// that collide part with the share of their speed that is their restitution.
//
// Friction is Coulomb's with a slip speed below which it is viscous: a block on a slope creeps, at most 0.2 mm/s. What
// rolls meets a torque of its load times 0.4 mm, so that a shaft on a table comes to rest.
#pragma once

#include <cotouch/world/input.h>
#include <cotouch/world/model.h>
#include <cotouch/world/state.h>

#include <array>
#include <span>
#include <vector>

namespace cotouch {

// Pieces of engines' data that a step did without, because they were not in memory when it began (contact/engine.h).
struct MissingPieces {
  struct Piece {
    std::uint32_t pair = 0, piece = 0;
    friend bool operator==(const Piece&, const Piece&) = default;
  };
  static constexpr std::size_t k_most = 96;

  std::array<Piece, k_most> all{};
  std::uint32_t count = 0;

  std::span<const Piece> pieces() const noexcept { return {all.data(), count}; }
};

// How deep contacts are rendered (contact/detail.h), and how stiff grasps are. In a shared world by state, within the
// model's budget; in a local one by work, within this machine's; in a replay exactly as recorded.
struct StepDetail {
  Detail::Rule rule = Detail::Rule::by_state;
  WorkBudget budget;                     // by work: this machine's; by state the model's counts
  std::span<const std::uint8_t> levels;  // exactly: one for each of the model's pairs
  // Exactly: what was missing then. By work engines are asked; by state nothing may be missing, so that the world's
  // maker asks WorldModel::check_data_is_there.
  std::span<const MissingPieces::Piece> missing = {};
  // The share of the coupling's stiffness that each hand is held with, 0 to 1: less than all of it for a device that
  // is served too seldom to bear more (touch/softening.h). Hands beyond the last have all of it, and in a shared world
  // everybody has.
  std::span<const double> stiffness = {};
};

// Memory of steps. What is in it may be thrown away between any two steps and changes nothing but the time they take.
class StepScratch {
 public:
  // `coherence` keeps a cache for each pair: worth it if steps follow each other closely.
  explicit StepScratch(const WorldModel& model, bool coherence = false);
  StepScratch(StepScratch&&) noexcept;
  StepScratch& operator=(StepScratch&&) noexcept;
  ~StepScratch();

  void clear_caches() noexcept;

  // What the last step found, for pictures and statistics. A pair that was not near has no contact.
  const PairContact& contact(std::size_t pair) const noexcept;
  const ContactStats& body_stats(
      std::size_t body) const noexcept;  // of all its pairs; the level is the coarsest rendered
  ContactStats stats() const noexcept;   // of everything
  std::uint32_t substeps() const noexcept;
  // What engines did without, for when the step is taken again. All of it if no more than MissingPieces::k_most pairs
  // were looked at; pairs beyond that do without everything.
  const MissingPieces& missing() const noexcept;
  std::uint64_t nodes() const noexcept;  // visited in all looks at contacts, however many substeps it took

  struct Work;
  Work& work() noexcept { return *work_; }

 private:
  std::unique_ptr<Work> work_;
};

// Hands beyond inputs.size() are absent. The scratch must have been made for this model.
void step(const WorldModel& model, WorldState& state, std::span<const HandInput> inputs, StepScratch& scratch,
          const StepDetail& detail = {}) noexcept;

// Where a hand would be without a load: its frame on the body that it holds, or on the point of it that it holds. For
// pictures: it allocates if the body bends.
Pose held_pose(const WorldModel& model, const WorldState& state, const HandRecord& hand);

// Joules: kinetic energy of free bodies and their height over the origin, and of bodies that bend what they store;
// without what contacts and grasps store.
struct WorldEnergy {
  double kinetic = 0, potential = 0;
};
WorldEnergy energy(const WorldModel& model, const WorldState& state) noexcept;
// Of the free bodies, kg m/s.
Vec3d momentum(const WorldModel& model, const WorldState& state) noexcept;

}  // namespace cotouch

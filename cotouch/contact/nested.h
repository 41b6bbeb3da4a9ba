// Time-critical contact between a nested pointshell and a distance field (paper 001, II-A, III, V).
//
// Force of a point: F = -k d N on the shell (d < 0 the field's value there, N the inward normal; contact_sum.h has the
// torque and the gradient). From `scaling_threshold` L contacts on, everything is scaled by L / l. The paper counts l
// in whole points, which makes the force jump when a point enters; here a point counts in proportion to its depth until
// it is `count_ramp` deep, so the force is continuous.
//
// The tree is walked breadth first. A node whose ball lies in free space is dropped, otherwise its children are queued.
// Contacts are met in the order of the point arrays, and both culling and temporal coherence drop only points whose
// looked-up value is surely not negative, so the answer is bit for bit that of visiting every point of levels 0..level.
#pragma once

#include <cotouch/contact/engine.h>
#include <cotouch/field/field.h>
#include <cotouch/shell/shell.h>

#include <limits>
#include <memory>

namespace cotouch {

struct ContactSettings {
  double stiffness = 1000;        // k_C, newtons per metre per point
  double scaling_threshold = 10;  // L, points
  double count_ramp = 0;          // metres; 0 chooses a twentieth of the field's cell
  bool coherence = true;
};

// Level-of-detail control by visited nodes (paper 001, III): a level already rendered in the last cycle may be entered
// while the count stays below `warm`, a deeper one only while it would stay below `cold` with none of its nodes
// skipped. A level is rendered as a whole or not at all; level 0 always is. Nodes skipped by temporal coherence count
// too, four for one visited node. Copies on the deepest level have neither a force nor children of their own; they are
// not visited and not counted.
struct WorkBudget {
  std::uint32_t warm = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t cold = std::numeric_limits<std::uint32_t>::max();

  static WorkBudget unlimited() { return {}; }
  static WorkBudget of(std::uint32_t warm_nodes) { return {warm_nodes, static_cast<std::uint32_t>(warm_nodes * 0.8)}; }
};

class NestedContact final : public ContactEngine {
 public:
  // Keeps its own references to shell and field data. `deepest_level` caps the level of detail.
  // Throws Error where the shell or the field is empty or a setting makes no sense.
  NestedContact(const Shell& shell, const Field& field, const ContactSettings& settings,
                const WorkBudget& budget = WorkBudget::unlimited(), std::uint32_t deepest_level = ~0U);
  ~NestedContact() override;

  // Poses that are not finite, or so far apart that nothing could touch, give no contact.
  void evaluate(const Pose& shell, const Pose& field, Moving moving, ContactResult& result) noexcept override;
  std::span<const ContactPoint> contacts() const noexcept override;
  void reset() noexcept override;

  void set_budget(const WorkBudget& budget) noexcept;
  const WorkBudget& budget() const noexcept;
  // The points looked up in the last evaluation, level by level, for pictures ("traversed points").
  std::span<const std::uint32_t> visited_points() const noexcept;

  // The same answer point by point, without the tree: the oracle for tests and the paper's tree-less column.
  // Remembers nothing for later evaluations.
  void evaluate_exhaustively(const Pose& shell, const Pose& field, Moving moving, std::uint32_t to_level,
                             ContactResult& result) noexcept;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

// How many nodes fit in `microseconds` on this machine, measured on this pair in touching poses without coherence.
// The slowest of several poses decides (each the median of repeated traversals) and a fifth is kept in reserve.
WorkBudget calibrate_budget(const Shell& shell, const Field& field, double microseconds);

}  // namespace cotouch

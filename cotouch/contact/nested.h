// Contact between a nested pointshell and a distance field (paper 001, II-A and III); contact.h has the force.
//
// An evaluation is a function of its arguments: the same states and the same level give the same bits with a cold
// cache, a warm one or none, on any machine.
#pragma once

#include <cotouch/contact/coherence.h>
#include <cotouch/contact/contact.h>
#include <cotouch/contact/detail.h>
#include <cotouch/contact/elastic_sums.h>
#include <cotouch/contact/point_sums.h>
#include <cotouch/contact/scratch.h>
#include <cotouch/field/field.h>
#include <cotouch/shell/shell.h>

#include <span>

namespace cotouch {

struct ContactSettings {
  double stiffness = 30'000;  // k, newtons per metre of a single point
};

// How a pair of bodies is evaluated. Whole evaluations are virtual, nothing inside them is.
class ContactEngine {
 public:
  virtual ~ContactEngine() = default;

  // No allocation, no lock, no exception. Work is bounded by count. `cache` may be null; it belongs to this pair.
  // `bending` is filled if a body bends and it is not null; it must have been reset to these sizes once before.
  virtual void evaluate(const BodyState& shell, const BodyState& field, const Detail& detail, ContactScratch& scratch,
                        CoherenceCache* cache, PairContact& out, ElasticSums* bending = nullptr) const noexcept = 0;
};

class NestedContact final : public ContactEngine {
 public:
  // Keeps its own references to shell and field data. `deepest_level` caps the level of detail.
  // Throws Error if the shell or the field is empty or a setting makes no sense.
  NestedContact(const Shell& shell, const Field& field, const ContactSettings& settings,
                std::uint32_t deepest_level = ~0U);

  // Poses that are not finite, or so far apart that nothing could touch, give no contact. The scratch must have room
  // for the shell's points. The clearances of the two bodies add up; the field's largest_clearance() is the most that
  // counts.
  void evaluate(const BodyState& shell, const BodyState& field, const Detail& detail, ContactScratch& scratch,
                CoherenceCache* cache, PairContact& out, ElasticSums* bending = nullptr) const noexcept override;

  // The same answer point by point, without the tree: the oracle for tests and the paper's tree-less column.
  void evaluate_exhaustively(const BodyState& shell, const BodyState& field, std::uint32_t to_level,
                             ContactScratch& scratch, PairContact& out) const noexcept;

  // The force on the shell at each point in contact, newtons in world axes, as `out.on_shell` adds them up. For the
  // evaluation that filled `scratch` and `contact`; `forces` has room for scratch.touching().
  void point_forces(const BodyState& shell, const BodyState& field, const ContactScratch& scratch,
                    const PairContact& contact, std::span<Vec3d> forces) const noexcept;

  // A lower bound of the gap between the two: while they move against each other by less than that, nothing touches, on
  // any level. No more than `wanted` is looked for, and no level of more than `most_nodes` nodes is opened further: few
  // are enough to tell that bodies are far apart, some hundred for a bound that is tight where they nearly touch. Zero
  // if something touches.
  double gap(const BodyState& shell, const BodyState& field, double wanted, std::uint32_t most_nodes,
             ContactScratch& scratch) const noexcept;

  const Shell& shell() const noexcept { return shell_; }
  const Field& field() const noexcept { return field_; }
  const ContactSettings& settings() const noexcept { return settings_; }
  // A ball around all points of the shell, in its frame.
  const Vec3d& center() const noexcept { return center_; }
  double radius() const noexcept { return radius_; }
  // The most that this pair's contact can be, N/m (see contact.h).
  double largest_stiffness() const noexcept;

 private:
  struct Placement;
  bool place(const BodyState& shell, const BodyState& field, Placement& placement) const noexcept;
  void sum(const Placement& placement, const ContactScratch& scratch, PairContact& out,
           ElasticSums* bending) const noexcept;
  // Of a field that bends it finds the gradients, too. `out` may be null.
  void add_bending(const Placement& placement, std::span<const ContactPoint> touching, PointSums::Block& block,
                   ElasticSums* out) const noexcept;
  void finish_bending(const Placement& placement, const ContactScratch& scratch, const PairContact& contact,
                      ElasticSums& out) const noexcept;
  Vec3f point_at(const Placement& placement, std::uint32_t point) const noexcept;
  float distance_at(const Placement& placement, const Vec3f& point) const noexcept;
  Vec3d slope_at(const Placement& placement, const Vec3f& point) const noexcept;
  template <class Source>
  double gap_of(const Source& source, double wanted, std::uint32_t most_nodes, ContactScratch& scratch) const noexcept;

  Shell shell_;
  Field field_;
  ContactSettings settings_;
  std::uint32_t last_ = 0;  // deepest level that may be rendered
  Vec3d center_;            // of the shell's points
  double radius_ = 0;       // around it
};

// How many nodes fit in `microseconds` on this machine, measured on this pair in touching poses without coherence and
// with cold processor caches. The slowest of several poses decides (each the median of repeated traversals) and a tenth
// is kept in reserve.
WorkBudget calibrate_budget(const Shell& shell, const Field& field, double microseconds);

}  // namespace cotouch

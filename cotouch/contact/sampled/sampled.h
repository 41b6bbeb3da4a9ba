// Contact of a pointshell with a distance field, whichever way the points in contact are found (paper 001, II-A and
// III; contact.h has the force). Engines that look for them in different ways inherit this: `nested` walks a tree,
// `exhaustive` asks every point. Given the same points in contact on the same level, their answers have the same bits.
#pragma once

#include <cotouch/contact/engine.h>
#include <cotouch/contact/sampled/point_sums.h>
#include <cotouch/contact/sampled/sources.h>
#include <cotouch/contact/sampled/workspace.h>

namespace cotouch {

class SampledContact : public ContactEngine {
 public:
  const ContactSettings& settings() const noexcept final { return settings_; }
  void touching(const PairState& state, const ContactWorkspace& workspace, const PairContact& contact,
                std::span<TouchingPoint> points) const noexcept final;
  PairExtent extent() const noexcept final;
  std::uint32_t levels() const noexcept final { return shell_.levels(); }
  std::uint32_t points_to_level(std::uint32_t level) const noexcept final {
    return shell_.points_to_level(std::min(level, shell_.levels() - 1));
  }
  double largest_stiffness() const noexcept final;
  bool has_data_of(const ContactEngine& other) const noexcept final;

  const Shell& shell() const noexcept { return shell_; }
  const Field& field() const noexcept { return field_; }

 protected:
  // Keeps its own references to shell and field data. `deepest_level` caps the level of detail.
  // Throws Error if the shell or the field is empty or a setting makes no sense.
  SampledContact(const Shell& shell, const Field& field, const ContactSettings& settings, std::uint32_t deepest_level);

  // Everything that depends on the poses.
  struct Placement {
    Pose shell, field;  // in the world
    Pose relative;      // the shell's in the field's frame
    Mat3 turn;          // its rotation
    RigidSource source;
    Deformation* shape;                  // of the shell; null if it is rigid
    Deformation* field_shape = nullptr;  // of the field, likewise
    const DeformedField* deformed = nullptr;

    BentSource bent_points() const noexcept { return {source, shape}; }
    BentFieldSource bent_field() const noexcept { return {bent_points(), deformed, turn, relative.position}; }
  };
  // False if nothing can touch: poses that are not finite, or too far apart for a float.
  bool place(const PairState& state, Placement& placement) const noexcept;
  // Prepares an answer: nothing touches, and `bending` has the sizes of what bends. Returns it, or null.
  static ElasticSums* begin(const PairState& state, PairContact& out, ElasticSums* bending) noexcept;
  // Adds up what was found on the level that `out.stats` names.
  void sum(const Placement& placement, const SampledWorkspace& workspace, PairContact& out,
           ElasticSums* bending) const noexcept;
  Vec3f point_at(const Placement& placement, std::uint32_t point) const noexcept;  // in the shell's frame
  float distance_at(const Placement& placement, const Vec3f& point) const noexcept;

  Shell shell_;
  Field field_;
  ContactSettings settings_;
  std::uint32_t last_ = 0;  // deepest level that may be rendered
  Vec3d center_;            // of a ball around all points of the shell, in its frame
  double radius_ = 0;

 private:
  // Of a field that bends it finds the gradients, too. `out` may be null.
  void add_bending(const Placement& placement, std::span<const ContactPoint> touching, PointSums::Block& block,
                   ElasticSums* out) const noexcept;
  void finish_bending(const Placement& placement, const SampledWorkspace& workspace, const PairContact& contact,
                      ElasticSums& out) const noexcept;
  Vec3d slope_at(const Placement& placement, const Vec3f& point) const noexcept;
};

// What kinds of such engines say alike.
class SampledKind : public EngineKind {
 public:
  std::string missing_as_shell(const Part& part) const override;
  std::string missing_as_field(const Part& part) const override;
  // The one with more points, unless it is so large that they lie more than twice as far apart: small things would fall
  // between the points of a large table. What bends brings its shell to what does not.
  bool first_is_shell(const Part& first, const Part& second) const override;
  PartExtent extent(const Part& part) const override;
  double reach(const Part& part, const Pose& place) const override;
  double thinnest_wall(const Part& part, double most) const override;
  std::uint64_t hash(const Part& part) const override;
};

}  // namespace cotouch

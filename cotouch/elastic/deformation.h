// The shape of an elastic part at some coordinates (paper 001, IV-A).
//
// Nothing is computed for the whole part: nodes are evaluated when a point first asks for them, points when contact
// asks for them. Memory, not state: the same coordinates give the same bits, whatever was asked for before.
#pragma once

#include <cotouch/elastic/elastic_model.h>
#include <cotouch/elastic/warp.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cotouch {

class Deformation {
 public:
  explicit Deformation(const ElasticModel& model);

  const ElasticModel& model() const noexcept { return *model_; }
  // Forgets what was evaluated, unless these are the same again. Coordinates that are not finite count as zero.
  void set(const double* q) noexcept;
  std::span<const float> coordinates() const noexcept { return {q_.data(), model_->size()}; }

  double largest_move() const noexcept { return largest_move_; }  // of any point, metres

  // Displacement and rotation as the modes have them; where a point is; how it has turned.
  struct Linear {
    Vec3d displacement, rotation;
  };
  Linear linear_at(const EmbeddedPoint& point) noexcept;
  Vec3d displacement_at(const EmbeddedPoint& point) noexcept;
  Quat turn_at(const EmbeddedPoint& point) noexcept;

  // du/dX at a proxy, and what add_gradient is for points: how v'(du/dX) a changes with each coordinate.
  Mat3 slope_at(std::uint32_t proxy) const noexcept;
  void add_slope_gradient(std::uint32_t proxy, const Vec3d& v, const Vec3d& a, double* out) const noexcept;

  // Where points of the shell are, metres, in the part's frame.
  void shell_points(const Vec3f* rest, const std::uint32_t* point, std::uint32_t count, Vec3f* out) noexcept;
  // By how much a ball around a branch's point must grow to hold every point below, metres, rounded up.
  float shell_growth(std::uint32_t branch, std::uint32_t point) noexcept;

  // Adds to `out` how fast the point moves along `direction`, and turns about `axis`, with each coordinate: the force
  // and the torque of these sizes as forces on the coordinates.
  void add_gradient(const EmbeddedPoint& point, const Vec3d& direction, const Vec3d& axis, double* out) noexcept;
  // The same of many forces: neighbours share nodes, and what a node gets is turned into forces on the coordinates
  // once. push() remembers, add_pushes() adds them and forgets them.
  void push(const EmbeddedPoint& point, const Vec3d& force) noexcept;
  void add_pushes(double* out) noexcept;

 private:
  struct Node {
    Vec3f displacement, rotation;  // the second is kept only if points are warped
  };
  const Node& node(std::uint32_t i) noexcept;
  struct Push {
    Vec3d along, around;  // on the node's displacement and rotation, as the modes have them
  };
  // What a force, and a torque, at a point do to the displacement and rotation there.
  Push linear_push(const EmbeddedPoint& point, const Vec3d& force, const Vec3d& torque) noexcept;
  Vec3f rotation_of(std::uint32_t node_index) noexcept;

  const ElasticModel* model_;
  std::vector<float> q_, size_;  // coordinates and their sizes, padded with zeros
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> evaluated_;  // in which round
  std::uint32_t round_ = 0;
  std::vector<Push> pushes_;           // of each node
  std::vector<std::uint32_t> pushed_;  // nodes that have one, in the order in which they got it
  std::vector<bool> is_pushed_;
  double largest_move_ = 0;
};

}  // namespace cotouch

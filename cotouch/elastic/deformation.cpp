#include <cotouch/elastic/deformation.h>

#include <cotouch/elastic/row_products.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace cotouch {
namespace {

// (rows' v) of one coordinate.
double times_rows(const float* rows, const Vec3d& v, std::uint32_t stride, std::uint32_t j) noexcept {
  return v.x * static_cast<double>(rows[j]) + v.y * static_cast<double>(rows[stride + j]) +
         v.z * static_cast<double>(rows[2 * stride + j]);
}

// Three rows of shapes and three of rotations, and what each is multiplied by.
struct NodeRows {
  const float *shapes, *rotations;
  Vec3d along, around;
};

// out += shapes' along + rotations' around, node by node, in one pass over what is written.
template <bool Rotates>
void add_nodes(const std::array<NodeRows, 4>& nodes, std::uint32_t size, std::uint32_t stride, double* out) noexcept {
  for (std::uint32_t j = 0; j < size; ++j) {
    double sum = out[j];
    for (const NodeRows& node : nodes) {
      sum += times_rows(node.shapes, node.along, stride, j);
      if constexpr (Rotates) sum += times_rows(node.rotations, node.around, stride, j);
    }
    out[j] = sum;
  }
}

}  // namespace

Deformation::Deformation(const ElasticModel& model)
    : model_(&model),
      q_(model.stride()),
      size_(model.stride()),
      nodes_(model.data().nodes.size()),
      evaluated_(nodes_.size()),
      pushes_(nodes_.size()),
      is_pushed_(nodes_.size()) {
  pushed_.reserve(nodes_.size());
}

void Deformation::set(const double* q) noexcept {
  bool same = round_ != 0;
  for (std::uint32_t j = 0; j < model_->size(); ++j) {
    auto value = static_cast<float>(q[j]);
    if (!std::isfinite(value)) value = 0;
    same = same && value == q_[j];
    q_[j] = value;
    size_[j] = std::fabs(value);
  }
  largest_move_ = model_->largest_move(q);
  if (same) return;
  if (++round_ == 0) {  // so many rounds that the number is used again
    std::fill(evaluated_.begin(), evaluated_.end(), 0U);
    round_ = 1;
  }
}

const Deformation::Node& Deformation::node(std::uint32_t i) noexcept {
  Node& node = nodes_[i];
  if (evaluated_[i] == round_) return node;
  evaluated_[i] = round_;
  const ElasticData& data = model_->data();
  const std::uint32_t stride = data.stride();
  node.displacement = dot_rows(data.shapes.data() + std::size_t{3} * stride * i, q_.data(), stride);
  if (data.law == ElasticLaw::warped)
    node.rotation = dot_rows(data.rotations.data() + std::size_t{3} * stride * i, q_.data(), stride);
  return node;
}

Vec3f Deformation::rotation_of(std::uint32_t i) noexcept {
  const ElasticData& data = model_->data();
  if (data.law == ElasticLaw::warped) return node(i).rotation;
  return dot_rows(data.rotations.data() + std::size_t{3} * data.stride() * i, q_.data(), data.stride());
}

Deformation::Linear Deformation::linear_at(const EmbeddedPoint& point) noexcept {
  Linear sum;
  for (std::size_t k = 0; k < 4; ++k) {
    const auto weight = static_cast<double>(point.weight[k]);
    sum.displacement += Vec3d(node(point.node[k]).displacement) * weight;
    sum.rotation += Vec3d(rotation_of(point.node[k])) * weight;
  }
  return sum;
}

Vec3d Deformation::displacement_at(const EmbeddedPoint& point) noexcept {
  if (model_->data().law == ElasticLaw::warped) {
    const Linear linear = linear_at(point);
    return warped(linear.displacement, linear.rotation);
  }
  Vec3d sum;
  for (std::size_t k = 0; k < 4; ++k)
    sum += Vec3d(node(point.node[k]).displacement) * static_cast<double>(point.weight[k]);
  return sum;
}

Quat Deformation::turn_at(const EmbeddedPoint& point) noexcept {
  return quat_from_rotation_vector(linear_at(point).rotation);
}

void Deformation::shell_points(const Vec3f* rest, const std::uint32_t* point, std::uint32_t count,
                               Vec3f* out) noexcept {
  const ElasticData& data = model_->data();
  if (data.law == ElasticLaw::warped) {
    for (std::uint32_t i = 0; i < count; ++i)
      out[i] = Vec3f(Vec3d(rest[point[i]]) + displacement_at(data.shell[point[i]]));
    return;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const EmbeddedPoint& embedded = data.shell[point[i]];
    Vec3f sum = rest[point[i]];
    for (std::size_t k = 0; k < 4; ++k) sum += node(embedded.node[k]).displacement * embedded.weight[k];
    out[i] = sum;
  }
}

// Of warped points: R~ of the two differs by at most half of what their rotations differ by (warp.h).
float Deformation::shell_growth(std::uint32_t branch, std::uint32_t point) noexcept {
  const ElasticData& data = model_->data();
  const std::uint32_t stride = data.stride();
  const float* const rows = data.spread.data() + std::size_t{2} * stride * branch;
  constexpr float k_up = 1.00001F;  // far more than the rounding of these sums
  const float apart = dot_row(rows, size_.data(), stride);
  if (data.law == ElasticLaw::stvk) return apart * k_up;
  const float turned = dot_row(rows + stride, size_.data(), stride);
  const auto moved = static_cast<float>(norm(linear_at(data.shell[point]).displacement));
  return (apart + 0.5F * turned * moved) * k_up;
}

Deformation::Push Deformation::linear_push(const EmbeddedPoint& point, const Vec3d& force,
                                           const Vec3d& torque) noexcept {
  const bool turns = norm_squared(torque) > 0, warps = model_->data().law == ElasticLaw::warped;
  Push push{force, {}};
  if (!turns && !warps) return push;
  const Linear linear = linear_at(point);
  if (turns) push.around = turn_gradient(linear.rotation).transposed() * torque;
  if (warps) {
    const WarpGradient warp = warp_gradient(linear.displacement, linear.rotation);
    push.along = warp.by_displacement.transposed() * force;
    push.around += warp.by_rotation.transposed() * force;
  }
  return push;
}

void Deformation::add_gradient(const EmbeddedPoint& point, const Vec3d& direction, const Vec3d& axis,
                               double* out) noexcept {
  const ElasticData& data = model_->data();
  const std::uint32_t size = data.size, stride = data.stride();
  const Push push = linear_push(point, direction, axis);
  std::array<NodeRows, 4> nodes;
  for (std::size_t k = 0; k < 4; ++k) {
    const auto weight = static_cast<double>(point.weight[k]);
    const std::size_t rows = std::size_t{3} * stride * point.node[k];
    nodes[k] = {data.shapes.data() + rows, data.rotations.data() + rows, push.along * weight, push.around * weight};
  }
  const bool rotates = norm_squared(axis) > 0 || data.law == ElasticLaw::warped;
  rotates ? add_nodes<true>(nodes, size, stride, out) : add_nodes<false>(nodes, size, stride, out);
}

void Deformation::push(const EmbeddedPoint& point, const Vec3d& force) noexcept {
  const Push push = linear_push(point, force, {});
  for (std::size_t k = 0; k < 4; ++k) {
    const std::uint32_t node = point.node[k];
    if (!is_pushed_[node]) {
      is_pushed_[node] = true;
      pushes_[node] = {};
      pushed_.push_back(node);
    }
    const auto weight = static_cast<double>(point.weight[k]);
    pushes_[node].along += push.along * weight;
    pushes_[node].around += push.around * weight;
  }
}

void Deformation::add_pushes(double* out) noexcept {
  const ElasticData& data = model_->data();
  const std::uint32_t size = data.size, stride = data.stride();
  for (std::size_t begin = 0; begin < pushed_.size(); begin += 4) {
    std::array<NodeRows, 4> nodes;
    for (std::size_t k = 0; k < 4; ++k) {
      // Of the last four, those that are missing are the first once more, with nothing.
      const std::uint32_t node = pushed_[begin + k < pushed_.size() ? begin + k : begin];
      const std::size_t rows = std::size_t{3} * stride * node;
      const Push push = begin + k < pushed_.size() ? pushes_[node] : Push{};
      nodes[k] = {data.shapes.data() + rows, data.rotations.data() + rows, push.along, push.around};
    }
    data.law == ElasticLaw::warped ? add_nodes<true>(nodes, size, stride, out)
                                   : add_nodes<false>(nodes, size, stride, out);
  }
  for (const std::uint32_t node : pushed_) is_pushed_[node] = false;
  pushed_.clear();
}

Mat3 Deformation::slope_at(std::uint32_t proxy) const noexcept {
  const std::uint32_t stride = model_->stride();
  const float* const rows = model_->data().slopes.data() + std::size_t{9} * stride * proxy;
  Mat3 slope;
  for (std::size_t i = 0; i < 9; ++i) slope.m[i] = static_cast<double>(dot_row(rows + i * stride, q_.data(), stride));
  return slope;
}

// Of a warped part only the symmetric half counts (deformed_field.h), the other is its rotation.
void Deformation::add_slope_gradient(std::uint32_t proxy, const Vec3d& v, const Vec3d& a, double* out) const noexcept {
  const std::uint32_t stride = model_->stride();
  const float* const rows = model_->data().slopes.data() + std::size_t{9} * stride * proxy;
  Mat3 factors = Mat3::outer(v, a);
  if (model_->data().law == ElasticLaw::warped) factors = (factors + factors.transposed()) * 0.5;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::uint32_t j = 0; j < model_->size(); ++j)
      out[j] += times_rows(rows + 3 * i * stride, {factors(i, 0), factors(i, 1), factors(i, 2)}, stride, j);
}

}  // namespace cotouch

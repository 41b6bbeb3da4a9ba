// Why free_radius is right.
//
// Let p have the value D > 0 and let q be the point nearest to p with D(q) = 0; no point closer to p than q is
// negative, since D is continuous. Write r = |p - q|. Facts used: (1) Interpolating samples of a 1-Lipschitz d loses at
// most sqrt(3)/2 h: with weights w_i at the corners c_i,
//     sum w_i |p - c_i| <= sqrt(sum w_i |p - c_i|^2) = sqrt(sum over axes of t(1-t)) h <= sqrt(3)/2 h.
//     Rounding the samples adds half a quantum, e = quantum / 2.
// (2) The builder replaces samples of fine bricks only where they touch a coarse brick, so |d| >= band there; outside
//     the part it replaces them by lower values that are still >= band. A cell with a replaced sample therefore has all
//     its samples, and its D, of one sign: q lies in a fine cell with no replaced sample, and d(q) <= sqrt(3)/2 h + e.
// (3) Everywhere with D > 0, D <= d + sqrt(3)/2 h + e: (1) in fine cells (replaced samples are lower still), and D <= d
//     in coarse bricks and outside the box.
// Far bound: r >= d(p) - d(q) >= D - sqrt(3) h - 2e.
// Near bound: either r >= band - 1.5 sqrt(3) h - e, or every point x between p and q has
//     d(x) <= d(q) + r < band - sqrt(3) h, which no point of a coarse brick or of a cell with a replaced sample has (a
//     sample with d >= band is at most sqrt(3) h away). Then the segment runs through cells where |grad D| <=
//     lipschitz, and r >= D / lipschitz. (D > 0 on the segment and D(x) <= d(x) + sqrt(3)/2 h + e < band - sqrt(3)/2 h
//     + e, so only cells with a positive sample and a sample below band - sqrt(3)/2 h + e matter for `lipschitz`.)
// Both hold, so the larger may be used. With a clearance o instead of zero, up to band - 1.5 sqrt(3) h - e, the same
// steps hold for D - o, and the near bound's limit shrinks by o.
// k_float_rounding pays for evaluating D and its argument in single precision:
// a cell coordinate below 2048 is rounded by 2^-14 at most, the interpolation itself by far less.
#include <cotouch/field/field.h>

#include <cotouch/base/error.h>
#include <cotouch/base/invariant.h>

#include <cmath>
#include <string>

namespace cotouch {
namespace {

constexpr float k_float_rounding = 1e-3F;  // cells

[[noreturn]] void refuse(const char* what) {
  throw Error(std::string("The distance field is damaged (") + what + "); prepare the part again.",
              ErrorCode::damaged_file);
}

void require(bool holds, const char* what) {
  if (!holds) refuse(what);
}

// How steep eight interpolated samples are along each axis, from sample to sample, at the place `at` between them:
// `step` is the difference of two samples, whose y- and z-neighbours are dy and dz away.
template <class Step, class Stride>
Vec3d slope_within(const Step& step, Stride dy, Stride dz, const Vec3d& at) noexcept {
  const auto mix = [](double a, double b, double t) { return a + t * (b - a); };
  const auto along = [&](Stride axis, Stride first, Stride second, double t, double u) {
    const auto from = [&](Stride corner) { return step(corner, corner + axis); };
    return mix(mix(from(0), from(first), t), mix(from(second), from(first + second), t), u);
  };
  return {along(1, dy, dz, at.y, at.z), along(dy, 1, dz, at.x, at.z), along(dz, 1, dy, at.x, at.y)};
}

}  // namespace

Field::Field(const FieldData& data, std::shared_ptr<const void> keep_alive)
    : data_(data), keep_alive_(std::move(keep_alive)) {
  require(is_finite(data.origin), "its origin is not a number");
  // The square of a length of the box must neither overflow nor vanish.
  require(data.spacing > 1e-15F && data.spacing < 1e15F, "its spacing is not a length");
  require(data.quantum > 0 && data.quantum <= data.spacing, "its quantum does not suit its spacing");
  require(data.band > 0 && std::isfinite(data.band), "its band is not a length");
  require(std::isfinite(data.boundary) && data.boundary > 0, "its box cuts through the part");
  require(data.lipschitz >= 1 && std::isfinite(data.lipschitz), "its slope is not a number");
  const auto& n = data.bricks;
  // 256 bricks are 2048 cells: the largest that single-precision cell coordinates resolve well.
  require(n.x >= 1 && n.y >= 1 && n.z >= 1 && n.x <= 256 && n.y <= 256 && n.z <= 256, "its size is impossible");
  const auto count = [](std::int32_t x, std::int32_t y, std::int32_t z) {
    return static_cast<std::size_t>(x) * static_cast<std::size_t>(y) * static_cast<std::size_t>(z);
  };
  require(data.brick_index.size() == count(n.x, n.y, n.z), "its bricks are incomplete");
  require(data.coarse.size() == count(n.x + 1, n.y + 1, n.z + 1), "its coarse values are incomplete");
  require(data.samples.size() % FieldData::k_brick_samples == 0, "its samples are incomplete");
  // Each has samples of its own, in order: bricks that share them would be work without bytes.
  const std::size_t slots = data.samples.size() / FieldData::k_brick_samples;
  std::size_t next = 0;
  for (const std::uint32_t slot : data.brick_index)
    require(slot == FieldData::k_coarse || (slot == next && next++ < slots), "a brick has no samples of its own");
  require(next == slots, "samples of no brick");
  slots_ = static_cast<std::uint32_t>(slots);
  for (const float value : data.coarse) require(std::isfinite(value), "a coarse value is not a number");

  inverse_spacing_ = 1 / data.spacing;
  cells_ = Vec3f(Index3{n.x * 8, n.y * 8, n.z * 8});
  const float h = data.spacing;
  rounding_ = k_float_rounding * h;
  far_loss_ = 1.7320509F * h + data.quantum + rounding_;
  const float limit = data.band - 2.5980763F * h - data.quantum / 2 - rounding_;
  near_limit_ = limit > 0 ? limit : 0;
  inverse_lipschitz_ = 1 / data.lipschitz;
}

bool Field::slot_is_broken() noexcept {
  return invariant(false, "A brick of a distance field lies outside of its samples");
}

Vec3f Field::beyond_box(const Vec3f& cell) const noexcept {
  const auto beyond = [](float x, float size) { return x < 0 ? x : x > size ? x - size : 0.0F; };
  return {beyond(cell.x, cells_.x), beyond(cell.y, cells_.y), beyond(cell.z, cells_.z)};
}

float Field::outside_distance(const Vec3f& cell) const noexcept {
  return norm(beyond_box(cell)) * data_.spacing + data_.boundary;
}

Vec3f Field::gradient(const Vec3f& point) const noexcept {
  const Vec3f c = to_cells(point);
  const auto slope = [&](const Vec3f& half) {
    return (distance_in_cells(c + half) - distance_in_cells(c - half)) * inverse_spacing_;
  };
  return {slope({0.5F, 0, 0}), slope({0, 0.5F, 0}), slope({0, 0, 0.5F})};
}

Vec3d Field::gradient_at(const Place& place, const Vec3f& cell) const noexcept {
  if (const std::int16_t* const s = place.sample) {
    const auto step = [s](int from, int to) { return static_cast<double>(s[to] - s[from]); };
    return slope_within(step, FieldData::k_brick_side, FieldData::k_brick_side * FieldData::k_brick_side,
                        Vec3d(place.at)) *
           (static_cast<double>(data_.quantum) / static_cast<double>(data_.spacing));
  }
  const Vec3d beyond(beyond_box(cell));
  const double far = norm(beyond);
  if (far > 0) return beyond / far;
  if (!is_in_box(cell)) return {};  // on the box's high sides, or not a number: the value is that of the box's surface
  const CoarsePlace coarse = locate_coarse(cell);
  const auto step = [&coarse](std::ptrdiff_t from, std::ptrdiff_t to) {
    return static_cast<double>(coarse.sample[to]) - static_cast<double>(coarse.sample[from]);
  };
  return slope_within(step, coarse.dy, coarse.dz, Vec3d(coarse.at)) /
         (FieldData::k_brick_cells * static_cast<double>(data_.spacing));
}

Box3f Field::box() const noexcept {
  Box3f box;
  box.low = data_.origin;
  box.high = data_.origin + cells_ * data_.spacing;
  return box;
}

std::size_t Field::memory_bytes() const noexcept {
  return data_.brick_index.size_bytes() + data_.samples.size_bytes() + data_.coarse.size_bytes();
}

}  // namespace cotouch

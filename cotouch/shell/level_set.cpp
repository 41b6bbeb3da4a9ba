#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/base/parallel.h>
#include <cotouch/base/random.h>
#include <cotouch/shell/level_set.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

// True where the eight corners of a cell allow a value in [low, high] between them.
bool meets(const std::int16_t* sample, float quantum, float low, float high) {
  constexpr int k_y = FieldData::k_brick_side, k_z = k_y * k_y;
  std::int16_t least = sample[0], most = sample[0];
  for (const int corner : {1, k_y, k_y + 1, k_z, k_z + 1, k_z + k_y, k_z + k_y + 1}) {
    least = std::min(least, sample[corner]);
    most = std::max(most, sample[corner]);
  }
  return static_cast<float>(least) * quantum <= high && static_cast<float>(most) * quantum >= low;
}

}  // namespace

LevelSet::LevelSet(const Field& field, double level_in_cells)
    : field_(field), cell_(field.spacing()), level_(static_cast<float>(level_in_cells) * field.spacing()) {
  const FieldData& data = field.data();
  if (!(std::fabs(level_) + half_layer() <= data.band))
    throw Error("The shell's offset leaves the band where the field is exact; choose an offset closer to 0.");
  const float low = level_ - half_layer(), high = level_ + half_layer();
  bool below = false, above = false;
  std::size_t brick = 0;
  for (std::int32_t bz = 0; bz < data.bricks.z; ++bz)
    for (std::int32_t by = 0; by < data.bricks.y; ++by)
      for (std::int32_t bx = 0; bx < data.bricks.x; ++bx, ++brick) {
        if (data.brick_index[brick] == FieldData::k_coarse) continue;
        throw_if_cancelled();
        const std::int16_t* samples =
            data.samples.data() + std::size_t{data.brick_index[brick]} * FieldData::k_brick_samples;
        for (std::int32_t z = 0; z < FieldData::k_brick_cells; ++z)
          for (std::int32_t y = 0; y < FieldData::k_brick_cells; ++y)
            for (std::int32_t x = 0; x < FieldData::k_brick_cells; ++x) {
              const std::int16_t* corner = samples + (z * FieldData::k_brick_side + y) * FieldData::k_brick_side + x;
              (static_cast<float>(*corner) * data.quantum < level_ ? below : above) = true;
              if (meets(corner, data.quantum, low, high))
                crossed_.emplace_back(bx * FieldData::k_brick_cells + x, by * FieldData::k_brick_cells + y,
                                      bz * FieldData::k_brick_cells + z);
            }
      }
  if (crossed_.empty() || !below || !above)
    throw Error(
        "The part has no surface at the shell's offset; check the mesh, or choose another offset or resolution.");
}

Vec3f LevelSet::outward_normal(const Vec3f& point) const noexcept {
  const Vec3f gradient = field_.gradient(point);
  const float length = norm(gradient);
  if (length > 0.05F) return gradient / length;
  // On a ridge of the distance the two sides cancel: look from farther away, where one of them wins.
  for (float step = cell_; step < 5 * cell_; step *= 2) {
    const auto along = [&](const Vec3f& axis) {
      return field_.distance(point + axis * step) - field_.distance(point - axis * step);
    };
    const Vec3f wide{along({1, 0, 0}), along({0, 1, 0}), along({0, 0, 1})};
    const float wide_length = norm(wide);
    if (wide_length > 0.05F * step) return wide / wide_length;
  }
  // Flat as far as can be seen (a point of exact symmetry): any direction is as right as another.
  return length > 0 ? gradient / length : Vec3f{0, 0, 1};
}

bool LevelSet::project(Vec3f& point, Vec3f& normal) const noexcept {
  Vec3f p = point;
  for (int attempt = 0; attempt < 3; ++attempt) {
    Vec3f n = outward_normal(p);
    if (follow(p, n)) {
      point = p;
      normal = n;
      return true;
    }
    // Halfway, then again with the gradient found there.
    p = p - n * std::clamp(value(p), -0.5F * cell_, 0.5F * cell_);
  }
  return false;
}

bool LevelSet::follow(Vec3f& point, Vec3f& normal) const noexcept {
  // The field's slope is about one, so the value is the step. Where it is not (creases), the secant through the last
  // two values corrects it; steps stay below half a cell.
  const float tolerance = k_tolerance * cell_;
  const float longest = 0.5F * cell_;
  float travelled = 0, slope = 1;
  Vec3f p = point;
  float v = value(p);
  for (int i = 0; i < 8 && std::fabs(v) > 0.5F * tolerance; ++i) {
    const float step = std::clamp(-v / slope, -longest, longest);
    travelled += step;
    p = point + normal * travelled;
    const float next = value(p);
    slope = std::clamp((next - v) / step, 0.2F, 2.0F);
    v = next;
  }
  if (!(std::fabs(v) <= tolerance) || std::fabs(travelled) > 2 * cell_) return false;
  point = p;
  normal = outward_normal(p);
  return true;
}

Vec3f LevelSet::draw_in_cells(std::uint64_t seed) const noexcept {
  Random random(seed);
  const Vec3<std::int32_t>& cell = crossed_[random.below(crossed_.size())];
  const double u = random.uniform(), v = random.uniform(), w = random.uniform();
  const Vec3d in_cells{cell.x + u, cell.y + v, cell.z + w};
  return Vec3f(Vec3d(field_.data().origin) + in_cells * static_cast<double>(cell_));
}

bool LevelSet::draw(std::uint64_t seed, Vec3f& point, Vec3f& normal) const noexcept {
  point = draw_in_cells(seed);
  return std::fabs(value(point)) < half_layer() && project(point, normal);
}

double LevelSet::estimate_area(std::uint64_t seed) const {
  constexpr std::size_t k_draws = 1 << 17, k_grain = 1 << 12;  // about 0.3 % of error
  std::vector<std::size_t> hits(k_draws / k_grain);
  parallel_for(k_draws, k_grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (std::fabs(value(draw_in_cells(Random(seed + i).bits()))) < half_layer()) ++hits[begin / k_grain];
  });
  std::size_t total = 0;
  for (const std::size_t h : hits) total += h;
  const auto cell = static_cast<double>(cell_);
  const double volume = cell * cell * cell * static_cast<double>(crossed_.size());
  return volume * (static_cast<double>(total) / k_draws) / (2 * static_cast<double>(half_layer()));
}

}  // namespace cotouch

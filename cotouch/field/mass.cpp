#include <cotouch/field/mass.h>

#include <cotouch/base/cancel.h>

#include <array>

namespace cotouch {
namespace {

constexpr std::size_t k_columns = 4;  // along each side of a crossed cell

// Sums moments of boxes in units of cells, measured from `from`.
class Moments {
 public:
  explicit Moments(const Vec3d& from) : from_(from) {}

  void add_box(const Vec3d& low, const Vec3d& size) {
    const double volume = size.x * size.y * size.z;
    const Vec3d c = low + size * 0.5 - from_;
    sum_.volume += volume;
    sum_.first += c * volume;
    sum_.squares +=
        Vec3d{c.x * c.x + size.x * size.x / 12, c.y * c.y + size.y * size.y / 12, c.z * c.z + size.z * size.z / 12} *
        volume;
    sum_.products += Vec3d{c.y * c.z, c.z * c.x, c.x * c.y} * volume;
  }

  // The same in metres.
  VolumeMoments scaled(double h) const {
    const double h3 = h * h * h;
    return {sum_.volume * h3, sum_.first * (h3 * h), sum_.squares * (h3 * h * h), sum_.products * (h3 * h * h)};
  }

 private:
  Vec3d from_;
  VolumeMoments sum_;
};

// D at the corners of a cell, x in the lowest bit of the index.
using Cell = std::array<double, 8>;

double bilinear(const Cell& d, std::size_t axis, bool high, double u, double v) {
  const std::size_t along = high ? std::size_t{1} << axis : 0;
  const std::size_t du = std::size_t{1} << (axis + 1) % 3, dv = std::size_t{1} << (axis + 2) % 3;
  const double low = d[along] + u * (d[along + du] - d[along]);
  const double up = d[along + dv] + u * (d[along + dv + du] - d[along + dv]);
  return low + v * (up - low);
}

// Along which axis D changes most from one face of the cell to the other.
std::size_t steepest_axis(const Cell& d) {
  std::size_t best = 0;
  double most = -1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double change = 0;
    for (std::size_t i = 0; i < 8; ++i) change += (i >> axis & 1) ? d[i] : -d[i];
    if (std::fabs(change) > most) {
      most = std::fabs(change);
      best = axis;
    }
  }
  return best;
}

void add_crossed_cell(Moments& moments, const Vec3d& corner, const Cell& d) {
  const std::size_t axis = steepest_axis(d);
  constexpr double k_width = 1.0 / k_columns;
  for (std::size_t i = 0; i < k_columns; ++i)
    for (std::size_t j = 0; j < k_columns; ++j) {
      const double u = (static_cast<double>(i) + 0.5) * k_width, v = (static_cast<double>(j) + 0.5) * k_width;
      const double bottom = bilinear(d, axis, false, u, v), top = bilinear(d, axis, true, u, v);
      if (bottom >= 0 && top >= 0) continue;
      double from = 0, to = 1;
      if (bottom >= 0) from = bottom / (bottom - top);
      if (top >= 0) to = bottom / (bottom - top);
      Vec3d low, size{k_width, k_width, k_width};
      low[axis] = from;
      low[(axis + 1) % 3] = u - 0.5 * k_width;
      low[(axis + 2) % 3] = v - 0.5 * k_width;
      size[axis] = to - from;
      moments.add_box(corner + low, size);
    }
}

void add_fine_brick(Moments& moments, const Index3& brick, const std::int16_t* samples) {
  constexpr std::int32_t k_cells = FieldData::k_brick_cells, k_side = FieldData::k_brick_side;
  for (std::int32_t z = 0; z < k_cells; ++z)
    for (std::int32_t y = 0; y < k_cells; ++y)
      for (std::int32_t x = 0; x < k_cells; ++x) {
        Cell d;
        int inside = 0;
        for (std::int32_t i = 0; i < 8; ++i) {
          const Index3 at = Index3{x, y, z} + cube_corner(i);
          const std::int16_t value = samples[flat_index(at, {k_side, k_side, k_side})];
          d[static_cast<std::size_t>(i)] = value;
          inside += value < 0;
        }
        if (inside == 0) continue;
        const Vec3d corner = Vec3d(brick * k_cells + Index3{x, y, z});
        if (inside == 8)
          moments.add_box(corner, {1, 1, 1});
        else
          add_crossed_cell(moments, corner, d);
      }
}

}  // namespace

MassProperties mass_properties(const Field& field, double density) {
  const FieldData& data = field.data();
  constexpr double k_cells = FieldData::k_brick_cells;
  const Vec3d middle = Vec3d(data.bricks) * (0.5 * k_cells);
  Moments moments(middle);
  const Index3 corners = data.bricks + Index3{1, 1, 1};
  std::size_t i = 0;
  for (std::int32_t z = 0; z < data.bricks.z; ++z)
    for (std::int32_t y = 0; y < data.bricks.y; ++y)
      for (std::int32_t x = 0; x < data.bricks.x; ++x) {
        throw_if_cancelled();
        const Index3 brick{x, y, z};
        const std::uint32_t slot = data.brick_index[i++];
        if (slot != FieldData::k_coarse)
          add_fine_brick(moments, brick, &data.samples[std::size_t{slot} * FieldData::k_brick_samples]);
        else if (data.coarse[flat_index(brick, corners)] < 0)  // the surface passes through no coarse brick
          moments.add_box(Vec3d(brick) * k_cells, {k_cells, k_cells, k_cells});
      }
  const auto h = static_cast<double>(data.spacing);
  return mass_properties(moments.scaled(h), Vec3d(data.origin) + middle * h, density);
}

}  // namespace cotouch

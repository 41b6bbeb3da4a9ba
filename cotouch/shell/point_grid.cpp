#include <cotouch/shell/point_grid.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace cotouch {
namespace {

// Puts two zero bits between the 21 low bits of x.
std::uint64_t spread(std::uint64_t x) noexcept {
  x &= 0x1fffff;
  x = (x | x << 32) & 0x001f00000000ffffULL;
  x = (x | x << 16) & 0x001f0000ff0000ffULL;
  x = (x | x << 8) & 0x100f00f00f00f00fULL;
  x = (x | x << 4) & 0x10c30c30c30c30c3ULL;
  x = (x | x << 2) & 0x1249249249249249ULL;
  return x;
}

struct Keyed {
  std::uint64_t key;
  std::uint32_t index;
};

// Byte by byte, least significant first: stable, so equal keys keep their order. Bytes all keys share are skipped.
void sort_by_key(std::vector<Keyed>& items) {
  std::vector<Keyed> other(items.size());
  for (int shift = 0; shift < 64; shift += 8) {
    std::size_t count[257] = {};
    for (const Keyed& item : items) ++count[((item.key >> shift) & 255) + 1];
    if (std::find(std::begin(count), std::end(count), items.size()) != std::end(count)) continue;
    for (std::size_t i = 0; i < 256; ++i) count[i + 1] += count[i];
    for (const Keyed& item : items) other[count[(item.key >> shift) & 255]++] = item;
    items.swap(other);
  }
}

Box3f bounds_of(std::span<const Vec3f> points) {
  Box3f box;
  for (const Vec3f& p : points) box.add(p);
  return box;
}

float longest_side(const Box3f& box) {
  const Vec3f size = box.size();
  return std::max({size.x, size.y, size.z, 0.0F});
}

}  // namespace

std::uint64_t morton_key(std::uint32_t x, std::uint32_t y, std::uint32_t z) noexcept {
  return spread(x) | spread(y) << 1 | spread(z) << 2;
}

std::vector<std::uint32_t> morton_order(std::span<const Vec3f> points) {
  const Box3f box = bounds_of(points);
  const float side = longest_side(box);
  const float scale = side > 0 ? 2097151.0F / side : 0;
  std::vector<Keyed> items(points.size());
  for (std::uint32_t i = 0; i < points.size(); ++i) {
    const Vec3f cell = (points[i] - box.low) * scale;
    items[i] = {morton_key(static_cast<std::uint32_t>(cell.x), static_cast<std::uint32_t>(cell.y),
                           static_cast<std::uint32_t>(cell.z)),
                i};
  }
  sort_by_key(items);
  std::vector<std::uint32_t> order(points.size());
  for (std::size_t i = 0; i < items.size(); ++i) order[i] = items[i].index;
  return order;
}

float typical_spacing(std::span<const Vec3f> points) {
  if (points.empty()) return 0;
  const Vec3d size(bounds_of(points).size());
  const double area = 2 * (size.x * size.y + size.y * size.z + size.z * size.x);
  return static_cast<float>(std::sqrt(area / static_cast<double>(points.size())));
}

PointGrid::PointGrid(std::span<const Vec3f> points, float cell_edge) {
  const Box3f box = bounds_of(points);
  if (points.empty()) {
    slots_.assign(2, {k_empty, 0, 0});
    return;
  }
  origin_ = box.low;
  edge_ = std::max(cell_edge, longest_side(box) * 0x1p-20F);
  if (!(edge_ > 0)) edge_ = 1;
  inverse_edge_ = 1 / edge_;
  last_ = Cell((box.high - origin_) * inverse_edge_);

  std::vector<Keyed> items(points.size());
  for (std::uint32_t i = 0; i < points.size(); ++i) {
    const Cell cell = cell_of(points[i]);
    items[i] = {morton_key(static_cast<std::uint32_t>(cell.x), static_cast<std::uint32_t>(cell.y),
                           static_cast<std::uint32_t>(cell.z)),
                i};
  }
  sort_by_key(items);
  points_.resize(points.size());
  index_.resize(points.size());
  std::size_t cells = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    index_[i] = items[i].index;
    points_[i] = points[items[i].index];
    if (i == 0 || items[i].key != items[i - 1].key) ++cells;
  }
  const std::size_t capacity = std::bit_ceil(2 * cells + 2);
  shift_ = 64 - std::countr_zero(capacity);
  slots_.assign(capacity, {k_empty, 0, 0});
  for (std::uint32_t begin = 0, end; begin < items.size(); begin = end) {
    for (end = begin + 1; end < items.size() && items[end].key == items[begin].key;) ++end;
    std::size_t slot = (items[begin].key * 0x9e3779b97f4a7c15ULL) >> shift_;
    while (slots_[slot].key != k_empty) slot = (slot + 1) & (capacity - 1);
    slots_[slot] = {items[begin].key, begin, end};
  }
}

PointGrid::Cell PointGrid::cell_of(const Vec3f& p) const noexcept {
  Cell cell;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const float c = (p[axis] - origin_[axis]) * inverse_edge_;
    // Clamped before the conversion, which is undefined for what does not fit.
    cell[axis] = c > 0 ? c < static_cast<float>(last_[axis]) ? static_cast<std::int32_t>(c) : last_[axis] : 0;
  }
  return cell;
}

}  // namespace cotouch

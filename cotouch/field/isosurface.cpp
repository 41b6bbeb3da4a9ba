#include <cotouch/field/isosurface.h>

#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace cotouch {
namespace {

constexpr std::int32_t k_side = FieldData::k_brick_side;
constexpr std::uint32_t k_none = std::numeric_limits<std::uint32_t>::max();

class Extractor {
 public:
  Extractor(const Field& field, float level)
      : field_(field.data()), level_(static_cast<double>(level) / static_cast<double>(field_.quantum)) {}

  TriangleMesh run() {
    for_each_fine_brick([this](const Index3& brick, std::uint32_t slot) { place_vertices(brick, slot); });
    for_each_fine_brick([this](const Index3& brick, std::uint32_t slot) { connect(brick, slot); });
    return std::move(mesh_);
  }

 private:
  template <class Work>
  void for_each_fine_brick(const Work& work) {
    block_of_slot_.resize(field_.samples.size() / FieldData::k_brick_samples, k_none);
    std::size_t i = 0;
    for (std::int32_t z = 0; z < field_.bricks.z; ++z)
      for (std::int32_t y = 0; y < field_.bricks.y; ++y)
        for (std::int32_t x = 0; x < field_.bricks.x; ++x)
          if (const std::uint32_t slot = field_.brick_index[i++]; slot != FieldData::k_coarse) {
            throw_if_cancelled();
            work({x, y, z}, slot);
          }
  }

  double sample(std::uint32_t slot, const Index3& p) const {
    const std::size_t offset = flat_index(p, {k_side, k_side, k_side});
    return field_.samples[std::size_t{slot} * FieldData::k_brick_samples + offset];
  }
  static std::size_t cell_in_block(const Index3& cell) {
    return flat_index({cell.x & 7, cell.y & 7, cell.z & 7}, {8, 8, 8});
  }

  // A vertex in the middle of the crossings of each crossed cell's edges.
  void place_vertices(const Index3& brick, std::uint32_t slot) {
    for (std::int32_t z = 0; z < 8; ++z)
      for (std::int32_t y = 0; y < 8; ++y)
        for (std::int32_t x = 0; x < 8; ++x) {
          std::array<double, 8> value;
          unsigned below = 0;
          for (std::int32_t i = 0; i < 8; ++i) {
            const double v = sample(slot, {x + (i & 1), y + (i >> 1 & 1), z + (i >> 2)}) - level_;
            value[static_cast<std::size_t>(i)] = v;
            below += v < 0;
          }
          if (below == 0 || below == 8) continue;
          if (block_of_slot_[slot] == k_none) {
            block_of_slot_[slot] = static_cast<std::uint32_t>(vertex_of_cell_.size() / 512);
            vertex_of_cell_.resize(vertex_of_cell_.size() + 512, k_none);
          }
          vertex_of_cell_[std::size_t{block_of_slot_[slot]} * 512 + cell_in_block({x, y, z})] =
              static_cast<std::uint32_t>(mesh_.vertices.size());
          const Index3 cell{brick.x * 8 + x, brick.y * 8 + y, brick.z * 8 + z};
          mesh_.vertices.push_back(Vec3d(field_.origin) +
                                   (Vec3d(cell) + crossing_mean(value)) * static_cast<double>(field_.spacing));
        }
  }

  static Vec3d crossing_mean(const std::array<double, 8>& value) {
    Vec3d sum;
    int count = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::size_t step = std::size_t{1} << axis;
      for (std::size_t i = 0; i < 8; ++i) {
        if ((i & step) || (value[i] < 0) == (value[i + step] < 0)) continue;
        Vec3d p{double(i & 1), double(i >> 1 & 1), double(i >> 2)};
        p[axis] = value[i] / (value[i] - value[i + step]);
        sum += p;
        ++count;
      }
    }
    return sum / count;
  }

  std::uint32_t vertex_at(const Index3& cell) const {
    const std::size_t brick = flat_index({cell.x >> 3, cell.y >> 3, cell.z >> 3}, field_.bricks);
    const std::uint32_t slot = field_.brick_index[brick];
    if (slot == FieldData::k_coarse || block_of_slot_[slot] == k_none) return k_none;
    return vertex_of_cell_[std::size_t{block_of_slot_[slot]} * 512 + cell_in_block(cell)];
  }

  // A quad across each crossed lattice edge that starts in this brick, joining the four cells around the edge.
  void connect(const Index3& brick, std::uint32_t slot) {
    if (block_of_slot_[slot] == k_none) return;
    for (std::int32_t z = 0; z < 8; ++z)
      for (std::int32_t y = 0; y < 8; ++y)
        for (std::int32_t x = 0; x < 8; ++x)
          for (std::size_t axis = 0; axis < 3; ++axis) {
            const Index3 from{x, y, z};
            Index3 to = from;
            ++to[axis];
            const bool from_below = sample(slot, from) < level_;
            if (from_below == (sample(slot, to) < level_)) continue;
            const Index3 cell{brick.x * 8 + x, brick.y * 8 + y, brick.z * 8 + z};
            add_quad(cell, (axis + 1) % 3, (axis + 2) % 3, from_below);
          }
  }

  // `b` and `c` are the axes across the edge, in right-handed order: their cells in turn face along the edge.
  void add_quad(const Index3& cell, std::size_t b, std::size_t c, bool facing_up) {
    std::array<std::uint32_t, 4> v;
    constexpr std::array<std::array<std::int32_t, 2>, 4> offsets{{{1, 1}, {0, 1}, {0, 0}, {1, 0}}};
    for (std::size_t i = 0; i < 4; ++i) {
      Index3 at = cell;
      at[b] -= offsets[i][0];
      at[c] -= offsets[i][1];
      // In a field made by the builders this never happens; a stranger's file may hold anything.
      if (at[b] < 0 || at[c] < 0 || (v[i] = vertex_at(at)) == k_none)
        throw Error("The distance field is damaged (its bricks do not fit together); prepare the part again.",
                    ErrorCode::damaged_file);
    }
    if (!facing_up) std::swap(v[1], v[3]);
    const auto& p = mesh_.vertices;
    // The shorter diagonal gives the better triangles.
    if (norm_squared(p[v[0]] - p[v[2]]) <= norm_squared(p[v[1]] - p[v[3]])) {
      mesh_.triangles.push_back({v[0], v[1], v[2]});
      mesh_.triangles.push_back({v[0], v[2], v[3]});
    } else {
      mesh_.triangles.push_back({v[0], v[1], v[3]});
      mesh_.triangles.push_back({v[1], v[2], v[3]});
    }
  }

  const FieldData& field_;
  double level_;                               // in stored units
  std::vector<std::uint32_t> block_of_slot_;   // where a fine brick's cells are in vertex_of_cell_, if it is crossed
  std::vector<std::uint32_t> vertex_of_cell_;  // 512 each
  TriangleMesh mesh_;
};

}  // namespace

TriangleMesh extract_isosurface(const Field& field, float level) {
  if (!(std::fabs(level) < field.band() - field.spacing()))
    throw Error("The field does not reach as far as the surface asked for; choose an offset within two cells.");
  return Extractor(field, level).run();
}

}  // namespace cotouch

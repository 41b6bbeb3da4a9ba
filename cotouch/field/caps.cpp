#include <cotouch/field/caps.h>

#include <cotouch/field/stage.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace cotouch {
namespace {

// Across a triangle the winding number jumps by one; between neighbouring lattice points in free space it changes by
// much less.
constexpr double k_jump = 0.5;

class HoleCloser {
 public:
  HoleCloser(const Space& space, const Sides& sides, const WindingNumber& winding, Progress& progress)
      : space_(space), sides_(sides), winding_(winding), progress_(progress) {}

  TriangleMesh run() {
    find_open_bricks();
    find_edges();
    place_vertices();
    for (const Edge& edge : edges_) add_quad(edge);
    return std::move(mesh_);
  }

 private:
  // A lattice edge that the closing surface crosses.
  struct Edge {
    Index3 point;
    std::uint8_t axis;
    bool from_inside;
  };

  double winding(const Index3& p) const { return winding_.at(Vec3d(p)); }

  std::size_t brick_at(const Index3& b) const { return flat_index(b, space_.lattice().bricks); }

  // Far bricks that the surface passes through, and their neighbours: there every lattice point is asked.
  void find_open_bricks() {
    const Lattice& lattice = space_.lattice();
    const Index3& n = lattice.bricks;
    std::vector<std::uint8_t> node_inside(lattice.node_count());
    for_each_reported(node_inside.size(), 256, progress_, k_stage_sides, 0, 0.2,
                      [&](std::size_t i) { node_inside[i] = winding(lattice.node(i)) > 0.5; });
    std::vector<std::uint8_t> crossed(lattice.brick_count());
    open_.assign(lattice.brick_count(), 0);
    for (std::size_t brick = 0; brick < crossed.size(); ++brick) {
      const Index3 c = lattice.brick_corner(brick);
      int count = 0;
      for (std::int32_t i = 0; i < 8; ++i)
        count += node_inside[flat_index(Index3{c.x / 8, c.y / 8, c.z / 8} + cube_corner(i), n + Index3{1, 1, 1})];
      crossed[brick] = count != 0 && count != 8;
    }
    for (std::size_t brick = 0; brick < crossed.size(); ++brick) {
      if (!crossed[brick]) continue;
      const Index3 c = lattice.brick_corner(brick);
      for (std::int32_t z = std::max(c.z / 8 - 1, 0); z <= std::min(c.z / 8 + 1, n.z - 1); ++z)
        for (std::int32_t y = std::max(c.y / 8 - 1, 0); y <= std::min(c.y / 8 + 1, n.y - 1); ++y)
          for (std::int32_t x = std::max(c.x / 8 - 1, 0); x <= std::min(c.x / 8 + 1, n.x - 1); ++x) {
            const std::size_t near = brick_at({x, y, z});
            open_[near] = space_.slot_of_brick(near) == FieldData::k_coarse;
          }
    }
  }

  bool inside(const Index3& p) const {
    const Space::Place place = space_.place(p);
    if (space_.is_far(place) && open_[brick_at({p.x >> 3, p.y >> 3, p.z >> 3})]) return winding(p) > 0.5;
    return sides_.inside[place] != 0;
  }

  // No part reaches the outermost bricks, so their edges need not be looked at and all neighbours exist.
  void find_edges() {
    const Lattice& lattice = space_.lattice();
    std::vector<std::vector<Edge>> found(lattice.brick_count());
    for_each_reported(found.size(), 64, progress_, k_stage_sides, 0.2, 0.9, [&](std::size_t brick) {
      const Index3 corner = lattice.brick_corner(brick);
      const Index3 b{corner.x / 8, corner.y / 8, corner.z / 8};
      for (std::size_t axis = 0; axis < 3; ++axis)
        if (b[axis] == 0 || b[axis] == lattice.bricks[axis] - 1) return;
      if (!open_[brick] && space_.slot_of_brick(brick) == FieldData::k_coarse) return;
      std::array<bool, 729> in;
      for (std::int32_t z = 0; z < 9; ++z)
        for (std::int32_t y = 0; y < 9; ++y)
          for (std::int32_t x = 0; x < 9; ++x) in[flat_index({x, y, z}, {9, 9, 9})] = inside(corner + Index3{x, y, z});
      for (std::int32_t z = 0; z < 8; ++z)
        for (std::int32_t y = 0; y < 8; ++y)
          for (std::int32_t x = 0; x < 8; ++x)
            for (std::uint8_t axis = 0; axis < 3; ++axis) {
              const std::size_t s = flat_index({x, y, z}, {9, 9, 9});
              constexpr std::array<std::size_t, 3> step{1, 9, 81};
              if (in[s] == in[s + step[axis]]) continue;
              const Index3 p = corner + Index3{x, y, z};
              if (is_free(p, axis)) found[brick].push_back({p, axis, in[s]});
            }
    });
    for (const auto& edges : found) edges_.insert(edges_.end(), edges.begin(), edges.end());
  }

  // Is there no triangle on the edge?
  bool is_free(const Index3& p, std::size_t axis) const {
    Index3 q = p;
    ++q[axis];
    if (space_.distance(space_.place(p)) + space_.distance(space_.place(q)) > k_units_per_cell + 2) return true;
    return std::fabs(winding(p) - winding(q)) < k_jump;
  }

  static bool before(const Index3& a, const Index3& b) { return std::tie(a.z, a.y, a.x) < std::tie(b.z, b.y, b.x); }

  std::array<Index3, 4> cells_around(const Edge& edge) const {
    const std::size_t b = (edge.axis + 1U) % 3, c = (edge.axis + 2U) % 3;
    std::array<Index3, 4> cells{edge.point, edge.point, edge.point, edge.point};
    --cells[0][b], --cells[0][c];
    --cells[1][c];
    --cells[3][b];
    return cells;
  }

  // One vertex in each cell with a crossed edge, in the middle of its crossings.
  void place_vertices() {
    for (const Edge& edge : edges_)
      for (const Index3& cell : cells_around(edge)) cells_.push_back(cell);
    std::sort(cells_.begin(), cells_.end(), before);
    cells_.erase(std::unique(cells_.begin(), cells_.end()), cells_.end());
    mesh_.vertices.resize(cells_.size());
    for_each_reported(cells_.size(), 64, progress_, k_stage_sides, 0.9, 1, [&](std::size_t i) {
      std::array<double, 8> w;
      for (std::int32_t k = 0; k < 8; ++k)
        w[static_cast<std::size_t>(k)] = winding(cells_[i] + Index3{k & 1, k >> 1 & 1, k >> 2}) - 0.5;
      Vec3d sum;
      int count = 0;
      for (std::size_t axis = 0; axis < 3; ++axis)
        for (std::size_t k = 0; k < 8; ++k) {
          const std::size_t step = std::size_t{1} << axis;
          if ((k & step) || (w[k] > 0) == (w[k + step] > 0) || std::fabs(w[k] - w[k + step]) >= k_jump) continue;
          Vec3d p{double(k & 1), double(k >> 1 & 1), double(k >> 2)};
          p[axis] = w[k] / (w[k] - w[k + step]);
          sum += p;
          ++count;
        }
      mesh_.vertices[i] = Vec3d(cells_[i]) + (count > 0 ? sum / count : Vec3d{0.5, 0.5, 0.5});
    });
  }

  void add_quad(const Edge& edge) {
    const auto cells = cells_around(edge);
    std::array<std::uint32_t, 4> v;
    for (std::size_t i = 0; i < 4; ++i)
      v[i] =
          static_cast<std::uint32_t>(std::lower_bound(cells_.begin(), cells_.end(), cells[i], before) - cells_.begin());
    if (!edge.from_inside) std::swap(v[1], v[3]);
    mesh_.triangles.push_back({v[0], v[1], v[2]});
    mesh_.triangles.push_back({v[0], v[2], v[3]});
  }

  const Space& space_;
  const Sides& sides_;
  const WindingNumber& winding_;
  Progress& progress_;
  std::vector<std::uint8_t> open_;  // of each brick
  std::vector<Edge> edges_;
  std::vector<Index3> cells_;
  TriangleMesh mesh_;
};

}  // namespace

TriangleMesh close_holes(const Space& space, const Sides& sides, const WindingNumber& winding, Progress& progress) {
  return HoleCloser(space, sides, winding, progress).run();
}

}  // namespace cotouch

#include <cotouch/field/caps.h>

#include <cotouch/base/cancel.h>
#include <cotouch/field/stage.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <tuple>

namespace cotouch {
namespace {

// Across a triangle the winding number jumps by one; between neighbouring lattice points in free space it changes by
// much less.
constexpr double k_jump = 0.5;

// Winding numbers at the lattice points of a brick and the first layer beyond, each computed when it is first needed.
class BrickWinding {
 public:
  BrickWinding(const Enclosure& enclosure, const Index3& corner) : enclosure_(enclosure), corner_(corner) {}

  double at(const Index3& point) {
    const std::size_t i = flat_index(point - corner_, {9, 9, 9});
    if (!known_[i]) values_[i] = enclosure_.winding(Vec3d(point));
    known_[i] = true;
    return values_[i];
  }

 private:
  const Enclosure& enclosure_;
  Index3 corner_;
  std::bitset<729> known_;
  std::array<double, 729> values_;
};

class HoleCloser {
 public:
  HoleCloser(const Space& space, const Sides& sides, const Enclosure& enclosure, Progress& progress)
      : space_(space), sides_(sides), enclosure_(enclosure), progress_(progress) {}

  TriangleMesh run() {
    find_edges();
    place_vertices();
    for_each_cancellable(edges_.size(), [&](std::size_t i) { add_quad(edges_[i]); });
    return std::move(mesh_);
  }

 private:
  // A lattice edge that the closing surface crosses.
  struct Edge {
    Index3 point;
    std::uint8_t axis;
    bool from_inside;
  };

  // Nothing is inside in the outermost bricks, so their edges need not be looked at and all neighbours exist. Bricks
  // that one answer speaks for agree with their neighbours.
  void find_edges() {
    const Lattice& lattice = space_.lattice();
    std::vector<std::vector<Edge>> found(lattice.brick_count());
    for_each_reported(found.size(), 64, progress_, k_stage_sides, 0, 0.8, [&](std::size_t brick) {
      const Index3 corner = lattice.brick_corner(brick);
      if (lattice.is_border(brick) || sides_.slot[brick] == FieldData::k_coarse) return;
      BrickWinding winding(enclosure_, corner);
      std::array<bool, 729> in;
      for (std::int32_t z = 0; z < 9; ++z)
        for (std::int32_t y = 0; y < 9; ++y)
          for (std::int32_t x = 0; x < 9; ++x)
            in[flat_index({x, y, z}, {9, 9, 9})] = sides_.inside(corner + Index3{x, y, z});
      for (std::int32_t z = 0; z < 8; ++z)
        for (std::int32_t y = 0; y < 8; ++y)
          for (std::int32_t x = 0; x < 8; ++x)
            for (std::uint8_t axis = 0; axis < 3; ++axis) {
              const std::size_t s = flat_index({x, y, z}, {9, 9, 9});
              constexpr std::array<std::size_t, 3> step{1, 9, 81};
              if (in[s] == in[s + step[axis]]) continue;
              const Index3 p = corner + Index3{x, y, z};
              if (is_free(p, axis, winding)) found[brick].push_back({p, axis, in[s]});
            }
    });
    for (const auto& edges : found) edges_.insert(edges_.end(), edges.begin(), edges.end());
  }

  // Is there surely no triangle on the edge? Where there are wide holes, the closing goes on up to their rims.
  bool is_free(const Index3& p, std::size_t axis, BrickWinding& winding) const {
    Index3 q = p;
    ++q[axis];
    if (space_.distance(space_.place(p)) + space_.distance(space_.place(q)) > k_units_per_cell + 2) return true;
    return sides_.leaks && std::fabs(winding.at(p) - winding.at(q)) < k_jump;
  }

  // Those of one brick next to each other.
  static bool before(const Index3& a, const Index3& b) {
    const Index3 u = brick_corner(a), v = brick_corner(b);
    return std::tie(u.z, u.y, u.x, a.z, a.y, a.x) < std::tie(v.z, v.y, v.x, b.z, b.y, b.x);
  }
  static Index3 brick_corner(const Index3& cell) { return {cell.x & ~7, cell.y & ~7, cell.z & ~7}; }

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
    for_each_cancellable(edges_.size(), [&](std::size_t i) {
      for (const Index3& cell : cells_around(edges_[i])) cells_.push_back(cell);
    });
    sort_cancellable(cells_.begin(), cells_.end(), before);
    cells_.erase(std::unique(cells_.begin(), cells_.end()), cells_.end());
    mesh_.vertices.resize(cells_.size());
    std::vector<std::size_t> starts;  // of the cells of each brick
    for (std::size_t i = 0; i < cells_.size(); ++i)
      if (i == 0 || brick_corner(cells_[i]) != brick_corner(cells_[i - 1])) starts.push_back(i);
    starts.push_back(cells_.size());
    for_each_reported(starts.size() - 1, 4, progress_, k_stage_sides, 0.8, 1, [&](std::size_t b) {
      BrickWinding winding(enclosure_, brick_corner(cells_[starts[b]]));
      for (std::size_t i = starts[b]; i < starts[b + 1]; ++i) mesh_.vertices[i] = vertex_in(cells_[i], winding);
    });
  }

  Vec3d vertex_in(const Index3& cell, BrickWinding& winding) const {
    std::array<double, 8> w;
    for (std::int32_t k = 0; k < 8; ++k) w[static_cast<std::size_t>(k)] = winding.at(cell + cube_corner(k)) - 0.5;
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
    const Vec3d vertex = Vec3d(cell) + (count > 0 ? sum / count : Vec3d{0.5, 0.5, 0.5});
    return min(max(vertex, enclosure_.bounds().low), enclosure_.bounds().high);
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
  const Enclosure& enclosure_;
  Progress& progress_;
  std::vector<Edge> edges_;
  std::vector<Index3> cells_;
  TriangleMesh mesh_;
};

}  // namespace

TriangleMesh close_holes(const Space& space, const Sides& sides, const Enclosure& enclosure, Progress& progress) {
  return HoleCloser(space, sides, enclosure, progress).run();
}

}  // namespace cotouch

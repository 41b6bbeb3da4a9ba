#include <cotouch/shapes/block_model.h>

#include <cotouch/base/trig.h>
#include <cotouch/shapes/solids.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace cotouch {
namespace {

constexpr double k_same_plane = 1e-7;     // metres; planes nearer than this are one
constexpr double k_tile_to_radius = 1.1;  // half the side of a tile to the largest radius in it

// Sorted, without those that are the same.
std::vector<double> distinct(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::vector<double> out;
  for (const double v : values)
    if (out.empty() || v > out.back() + k_same_plane) out.push_back(v);
  return out;
}

std::size_t index_of(const std::vector<double>& planes, double value) {
  const auto at = std::lower_bound(planes.begin(), planes.end(), value - k_same_plane);
  return static_cast<std::size_t>(at - planes.begin());
}

}  // namespace

void BlockModel::add_cylinder(double x, double y, double radius, double bottom, double top) {
  steps_.push_back({true, {x - radius, y - radius, bottom}, {x + radius, y + radius, top}, radius});
}

void BlockModel::remove_cylinder(double x, double y, double radius, double bottom, double top) {
  steps_.push_back({false, {x - radius, y - radius, bottom}, {x + radius, y + radius, top}, radius});
}

class BlockMesher {
 public:
  BlockMesher(const BlockModel& model, int around) : steps_(model.steps_), around_(static_cast<std::uint32_t>(around)) {
    find_axes();
    find_planes();
    find_tiles();
    fill_cells();
  }

  TriangleMesh run() {
    for (std::size_t k = 0; k < layers(); ++k)
      for (std::size_t j = 0; j <= rows(); ++j)
        for (std::size_t i = 0; i <= columns(); ++i) add_sides(i, j, k);
    for (std::size_t k = 0; k < planes_[2].size(); ++k) {
      for (std::size_t j = 0; j < rows(); ++j)
        for (std::size_t i = 0; i < columns(); ++i)
          if (!in_tile_[cell(i, j, k)]) add_flat(i, j, k);
      for (const Tile& tile : tiles_)
        if (k >= tile.low[2] && k <= tile.high[2]) add_rings(tile, k);
    }
    for (const Tile& tile : tiles_)
      for (std::size_t k = tile.low[2]; k < tile.high[2]; ++k) add_walls(tile, k);
    return std::move(mesh_);
  }

 private:
  using Step = BlockModel::Step;
  using Index = std::array<std::size_t, 3>;

  // The cells around an axis, between the planes low[i] and high[i], and the radii that occur in them.
  struct Tile {
    double x, y;
    std::vector<double> radii;
    double bottom, top;
    Index low{}, high{};
  };

  std::size_t columns() const { return planes_[0].size() - 1; }
  std::size_t rows() const { return planes_[1].size() - 1; }
  std::size_t layers() const { return planes_[2].size() - 1; }

  void find_axes() {
    for (const Step& step : steps_) {
      if (step.radius == 0) continue;
      const Vec3d c = (step.low + step.high) * 0.5;
      auto tile = std::find_if(tiles_.begin(), tiles_.end(), [&](const Tile& t) {
        return std::fabs(t.x - c.x) < k_same_plane && std::fabs(t.y - c.y) < k_same_plane;
      });
      if (tile == tiles_.end()) tile = tiles_.insert(tiles_.end(), {c.x, c.y, {}, step.low.z, step.high.z});
      tile->radii.push_back(step.radius);
      tile->bottom = std::min(tile->bottom, step.low.z);
      tile->top = std::max(tile->top, step.high.z);
    }
    for (Tile& tile : tiles_) tile.radii = distinct(tile.radii);
  }

  void find_planes() {
    std::array<std::vector<double>, 3> all;
    for (const Step& step : steps_)
      for (std::size_t axis = 0; axis < 3; ++axis)
        if (axis == 2 || step.radius == 0) all[axis].insert(all[axis].end(), {step.low[axis], step.high[axis]});
    for (const Tile& tile : tiles_) {
      const double half = k_tile_to_radius * tile.radii.back();
      all[0].insert(all[0].end(), {tile.x - half, tile.x + half});
      all[1].insert(all[1].end(), {tile.y - half, tile.y + half});
    }
    for (std::size_t axis = 0; axis < 3; ++axis) planes_[axis] = distinct(all[axis]);
    require(planes_[0].size() > 1 && planes_[1].size() > 1 && planes_[2].size() > 1, "A block model needs a volume.");
  }

  void find_tiles() {
    in_tile_.assign(columns() * rows() * planes_[2].size(), false);
    for (Tile& tile : tiles_) {
      const double half = k_tile_to_radius * tile.radii.back();
      tile.low = {index_of(planes_[0], tile.x - half), index_of(planes_[1], tile.y - half),
                  index_of(planes_[2], tile.bottom)};
      tile.high = {index_of(planes_[0], tile.x + half), index_of(planes_[1], tile.y + half),
                   index_of(planes_[2], tile.top)};
      for (std::size_t k = tile.low[2]; k <= tile.high[2]; ++k)
        for (std::size_t j = tile.low[1]; j < tile.high[1]; ++j)
          for (std::size_t i = tile.low[0]; i < tile.high[0]; ++i) {
            require(!in_tile_[cell(i, j, k)], "Two cylinders of a block model are too near to each other.");
            in_tile_[cell(i, j, k)] = true;
          }
    }
  }

  void fill_cells() {
    for (std::size_t k = 0; k < layers(); ++k)
      for (std::size_t j = 0; j < rows(); ++j)
        for (std::size_t i = 0; i < columns(); ++i)
          filled_.push_back(in_boxes({middle(0, i), middle(1, j), middle(2, k)}));
    for (const Tile& tile : tiles_)
      for (std::size_t k = tile.low[2]; k <= tile.high[2] + 1; ++k)  // one layer more below and above
        for (std::size_t j = tile.low[1]; j < tile.high[1]; ++j)
          for (std::size_t i = tile.low[0]; i < tile.high[0]; ++i)
            require(below(i, j, k) == below(tile.low[0], tile.low[1], k),
                    "The side of a box is too near to a cylinder of a block model.");
  }

  double middle(std::size_t axis, std::size_t i) const { return 0.5 * (planes_[axis][i] + planes_[axis][i + 1]); }
  std::size_t cell(std::size_t i, std::size_t j, std::size_t k) const { return (k * rows() + j) * columns() + i; }

  static bool covers(const Step& step, const Vec3d& p) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (p[axis] < step.low[axis] || p[axis] > step.high[axis]) return false;
    if (step.radius == 0) return true;
    const Vec3d r = p - (step.low + step.high) * 0.5;
    return r.x * r.x + r.y * r.y < step.radius * step.radius;
  }
  bool in_boxes(const Vec3d& p) const {
    bool filled = false;
    for (const Step& step : steps_)
      if (step.radius == 0 && covers(step, p)) filled = step.fill;
    return filled;
  }
  bool in_solid(const Vec3d& p) const {
    bool filled = false;
    for (const Step& step : steps_)
      if (covers(step, p)) filled = step.fill;
    return filled;
  }

  // Whether the cell is full, disregarding cylinders; what lies outside is empty.
  bool full(std::size_t i, std::size_t j, std::size_t k) const {
    return i < columns() && j < rows() && k < layers() && filled_[cell(i, j, k)];
  }
  bool below(std::size_t i, std::size_t j, std::size_t plane) const { return plane > 0 && full(i, j, plane - 1); }

  // Whether the tile is full between radius m - 1 and radius m, in a layer.
  bool zone(const Tile& tile, std::size_t m, std::size_t k) const {
    const double inner = m == 0 ? 0 : tile.radii[m - 1];
    return in_solid({tile.x + 0.5 * (inner + tile.radii[m]), tile.y, middle(2, k)});
  }

  std::uint32_t corner(std::size_t i, std::size_t j, std::size_t k) {
    const auto [at, added] = corners_.try_emplace({i, j, k}, static_cast<std::uint32_t>(mesh_.vertices.size()));
    if (added) mesh_.vertices.push_back({planes_[0][i], planes_[1][j], planes_[2][k]});
    return at->second;
  }
  // The first vertex of the ring of radius m of a tile at a plane.
  std::uint32_t ring(const Tile& tile, std::size_t m, std::size_t plane) {
    const auto [at, added] = rings_.try_emplace({static_cast<std::size_t>(&tile - tiles_.data()), m, plane},
                                                static_cast<std::uint32_t>(mesh_.vertices.size()));
    if (added)
      for (std::uint32_t s = 0; s < around_; ++s) {
        const SinCos t = sin_cos(2 * k_pi * s / around_);
        mesh_.vertices.push_back({tile.x + tile.radii[m] * t.cos, tile.y + tile.radii[m] * t.sin, planes_[2][plane]});
      }
    return at->second;
  }

  // Counter-clockwise seen from outside if `forward`.
  void add_triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c, bool forward) {
    mesh_.triangles.push_back(forward ? Triangle{a, b, c} : Triangle{a, c, b});
  }
  // In braces, where vertices are made in the order in which they are written: between the arguments of a call every
  // compiler chooses its own.
  void add_quad(const std::array<std::uint32_t, 4>& q, bool forward) {
    add_triangle(q[0], q[1], q[2], forward);
    add_triangle(q[0], q[2], q[3], forward);
  }

  // The faces of a cell towards lower x and lower y.
  void add_sides(std::size_t i, std::size_t j, std::size_t k) {
    const bool here = full(i, j, k);
    if (j < rows())
      if (const bool before = i > 0 && full(i - 1, j, k); before != here)
        add_quad({corner(i, j, k), corner(i, j + 1, k), corner(i, j + 1, k + 1), corner(i, j, k + 1)}, before);
    if (i < columns())
      if (const bool before = j > 0 && full(i, j - 1, k); before != here)
        add_quad({corner(i, j, k), corner(i, j, k + 1), corner(i + 1, j, k + 1), corner(i + 1, j, k)}, before);
  }

  void add_flat(std::size_t i, std::size_t j, std::size_t plane) {
    if (const bool under = below(i, j, plane); under != full(i, j, plane))
      add_quad({corner(i, j, plane), corner(i + 1, j, plane), corner(i + 1, j + 1, plane), corner(i, j + 1, plane)},
               under);
  }

  // The horizontal faces of a tile at a plane: around the largest ring, between rings, within the smallest.
  void add_rings(const Tile& tile, std::size_t plane) {
    const std::size_t last = tile.radii.size() - 1;
    if (const bool under = below(tile.low[0], tile.low[1], plane); under != full(tile.low[0], tile.low[1], plane))
      add_frame(tile, plane, under);
    for (std::size_t m = 0; m <= last; ++m) {
      const bool under = plane > 0 && zone(tile, m, plane - 1), over = plane < layers() && zone(tile, m, plane);
      if (under == over) continue;
      const std::uint32_t outer = ring(tile, m, plane);
      if (m == 0) {
        const auto centre = static_cast<std::uint32_t>(mesh_.vertices.size());
        mesh_.vertices.push_back({tile.x, tile.y, planes_[2][plane]});
        for (std::uint32_t s = 0; s < around_; ++s) add_triangle(centre, outer + s, outer + (s + 1) % around_, under);
      } else {
        add_band(outer, ring(tile, m - 1, plane), under);
      }
    }
  }

  void add_band(std::uint32_t right, std::uint32_t left, bool forward) {
    for (std::uint32_t s = 0; s < around_; ++s) {
      const std::uint32_t next = (s + 1) % around_;
      add_quad({right + s, right + next, left + next, left + s}, forward);
    }
  }

  // Between the largest ring and the border of the tile, whose corners are those of the cells in it. Walking around
  // both, the next triangle takes a step on the one whose next edge has its middle first, seen from the axis.
  void add_frame(const Tile& tile, std::size_t plane, bool forward) {
    std::vector<std::uint32_t> border;
    for (std::size_t i = tile.low[0]; i < tile.high[0]; ++i) border.push_back(corner(i, tile.low[1], plane));
    for (std::size_t j = tile.low[1]; j < tile.high[1]; ++j) border.push_back(corner(tile.high[0], j, plane));
    for (std::size_t i = tile.high[0]; i > tile.low[0]; --i) border.push_back(corner(i, tile.high[1], plane));
    for (std::size_t j = tile.high[1]; j > tile.low[1]; --j) border.push_back(corner(tile.low[0], j, plane));
    std::vector<double> angle;
    for (std::size_t i = 0; i <= border.size(); ++i) {
      const Vec3d& p = mesh_.vertices[border[i % border.size()]];
      double a = angle_of(p.y - tile.y, p.x - tile.x);
      if (!angle.empty() && a < angle.back()) a += 2 * k_pi;
      angle.push_back(a);
    }
    const std::uint32_t inner = ring(tile, tile.radii.size() - 1, plane);
    const double step = 2 * k_pi / around_;
    const double first = std::floor(angle[0] / step + 0.5);  // of the ring, from -around/2 to around/2
    const auto ring_vertex = [&, from = static_cast<std::uint32_t>(first + around_)](std::uint32_t s) {
      return inner + (from + s) % around_;
    };
    std::uint32_t s = 0;
    for (std::size_t i = 0; i < border.size() || s < around_;) {
      const double border_middle = i < border.size() ? 0.5 * (angle[i] + angle[i + 1]) : 1e9;
      const double ring_middle = s < around_ ? (first + s + 0.5) * step : 1e9;
      if (border_middle < ring_middle) {
        add_triangle(border[i], border[(i + 1) % border.size()], ring_vertex(s), forward);
        ++i;
      } else {
        add_triangle(border[i % border.size()], ring_vertex(s + 1), ring_vertex(s), forward);
        ++s;
      }
    }
  }

  // The upright faces along the rings of a tile in a layer.
  void add_walls(const Tile& tile, std::size_t k) {
    for (std::size_t m = 0; m < tile.radii.size(); ++m) {
      const bool inside = zone(tile, m, k);
      const bool outside = m + 1 < tile.radii.size() ? zone(tile, m + 1, k) : full(tile.low[0], tile.low[1], k);
      if (inside == outside) continue;
      const std::uint32_t lower = ring(tile, m, k);
      add_band(lower, ring(tile, m, k + 1), inside);
    }
  }

  const std::vector<Step>& steps_;
  std::uint32_t around_;
  std::vector<Tile> tiles_;
  std::array<std::vector<double>, 3> planes_;
  std::vector<bool> in_tile_;  // of a cell's lower side
  std::vector<bool> filled_;
  TriangleMesh mesh_;
  std::map<Index, std::uint32_t> corners_, rings_;
};

TriangleMesh BlockModel::mesh(std::string name, int around) const {
  require(around >= 8 && around % 4 == 0, "Circles of a block model need a multiple of four corners, at least eight.");
  TriangleMesh mesh = BlockMesher(*this, around).run();
  mesh.name = std::move(name);
  return mesh;
}

}  // namespace cotouch

#include <cotouch/mesh/report.h>

#include <cotouch/base/cancel.h>
#include <cotouch/base/salt.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <tuple>

namespace cotouch {
namespace {

constexpr std::uint32_t k_none = 0xffffffff;

// A grid over the mesh whose cells stand for one place each.
class PlaceGrid {
 public:
  using Cell = std::array<std::int64_t, 3>;

  explicit PlaceGrid(const Box3d& bounds) : low_(bounds.low) {
    const double diagonal = norm(bounds.size());
    cells_per_metre_ = diagonal > 0 ? 1 / (k_side * diagonal) : 0;
  }
  Cell cell_of(const Vec3d& v) const { return shifted(v, 0); }
  // The cells within reach of a vertex: mostly its own and no other.
  template <class Visit>
  void for_each_near(const Vec3d& v, const Visit& visit) const {
    const Cell first = shifted(v, -k_reach), last = shifted(v, k_reach);
    for (std::int64_t x = first[0]; x <= last[0]; ++x)
      for (std::int64_t y = first[1]; y <= last[1]; ++y)
        for (std::int64_t z = first[2]; z <= last[2]; ++z) visit(Cell{x, y, z});
  }

 private:
  static constexpr double k_side = 16e-10;     // of the diagonal
  static constexpr double k_reach = 1.0 / 16;  // of a cell: 1e-10 of the diagonal
  static constexpr double k_outermost =
      1.0 / 2;  // of a cell: keeps what lies in the box's faces off the borders of cells

  Cell shifted(const Vec3d& v, double by) const {
    const Vec3d place = (v - low_) * cells_per_metre_;
    const auto whole = [&](double d) { return static_cast<std::int64_t>(std::floor(d + k_outermost + by)); };
    return {whole(place.x), whole(place.y), whole(place.z)};
  }

  Vec3d low_;
  double cells_per_metre_ = 0;
};

std::uint64_t hash_of(const PlaceGrid::Cell& cell) {
  std::uint64_t h = table_salt();
  for (const std::int64_t i : cell) h = mixed(h, static_cast<std::uint64_t>(i));
  return h;
}

// Joins vertices in the same place; the first one stays. Returns how many went. The table is only looked up, never
// walked, so its order does not matter.
std::size_t weld(TriangleMesh& mesh) {
  const std::size_t count = mesh.vertices.size();
  const std::size_t size = std::bit_ceil(2 * count + 1);
  const PlaceGrid grid(mesh.bounds());
  std::vector<std::uint32_t> table(size, k_none), renamed(count);
  std::vector<Vec3d> kept;
  // Where in the table the vertex of a cell is, or belongs.
  const auto slot_of = [&](const PlaceGrid::Cell& cell) {
    std::size_t at = hash_of(cell) & (size - 1);
    while (table[at] != k_none && grid.cell_of(kept[table[at]]) != cell) at = (at + 1) & (size - 1);
    return at;
  };
  for (std::size_t i = 0; i < count; ++i) {
    throw_if_cancelled();
    const Vec3d& v = mesh.vertices[i];
    std::uint32_t found = k_none;
    grid.for_each_near(v, [&](const PlaceGrid::Cell& cell) { found = std::min(found, table[slot_of(cell)]); });
    if (found == k_none) {
      found = static_cast<std::uint32_t>(kept.size());
      table[slot_of(grid.cell_of(v))] = found;
      kept.push_back(v + Vec3d{});  // adding zero turns -0 into 0
    }
    renamed[i] = found;
  }
  for (Triangle& t : mesh.triangles)
    for (std::uint32_t& index : t) index = renamed[index];
  const std::size_t welded = count - kept.size();
  mesh.vertices = std::move(kept);
  return welded;
}

// Height below a millionth of a millionth of the length: nothing but rounding.
bool has_area(const std::array<Vec3d, 3>& c) {
  const double longest = std::max({norm_squared(c[1] - c[0]), norm_squared(c[2] - c[1]), norm_squared(c[0] - c[2])});
  return norm(cross(c[1] - c[0], c[2] - c[0])) > 1e-12 * longest;
}

std::size_t drop_without_area(TriangleMesh& mesh) {
  std::size_t kept = 0;
  for_each_cancellable(mesh.triangles.size(), [&](std::size_t t) {
    if (has_area(mesh.corners(t))) mesh.triangles[kept++] = mesh.triangles[t];
  });
  const std::size_t dropped = mesh.triangles.size() - kept;
  mesh.triangles.resize(kept);
  return dropped;
}

std::size_t drop_duplicates(TriangleMesh& mesh) {
  struct Key {
    Triangle corners;  // sorted
    std::uint32_t index;
    bool operator<(const Key& o) const { return std::tie(corners, index) < std::tie(o.corners, o.index); }
  };
  std::vector<Key> keys;
  keys.reserve(mesh.triangles.size());
  for_each_cancellable(mesh.triangles.size(), [&](std::size_t t) {
    Key key{mesh.triangles[t], static_cast<std::uint32_t>(t)};
    std::sort(key.corners.begin(), key.corners.end());
    keys.push_back(key);
  });
  sort_cancellable(keys.begin(), keys.end());
  std::vector<bool> again(mesh.triangles.size());
  for (std::size_t i = 1; i < keys.size(); ++i)
    if (keys[i].corners == keys[i - 1].corners) again[keys[i].index] = true;
  std::size_t kept = 0;
  for_each_cancellable(mesh.triangles.size(), [&](std::size_t t) {
    if (!again[t]) mesh.triangles[kept++] = mesh.triangles[t];
  });
  const std::size_t dropped = mesh.triangles.size() - kept;
  mesh.triangles.resize(kept);
  return dropped;
}

void drop_unused_vertices(TriangleMesh& mesh) {
  std::vector<std::uint32_t> renamed(mesh.vertices.size(), k_none);
  for_each_cancellable(mesh.triangles.size(), [&](std::size_t t) {
    for (const std::uint32_t index : mesh.triangles[t]) renamed[index] = 0;
  });
  std::uint32_t kept = 0;
  for_each_cancellable(renamed.size(), [&](std::size_t i) {
    if (renamed[i] == k_none) return;
    mesh.vertices[kept] = mesh.vertices[i];
    renamed[i] = kept++;
  });
  mesh.vertices.resize(kept);
  for_each_cancellable(mesh.triangles.size(), [&](std::size_t t) {
    for (std::uint32_t& index : mesh.triangles[t]) index = renamed[index];
  });
}

// Vertices that hang together.
class Groups {
 public:
  explicit Groups(std::size_t vertices) : parent_(vertices) { std::iota(parent_.begin(), parent_.end(), 0U); }

  // False if they were together already.
  bool join(std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    if (a == b) return false;
    parent_[std::max(a, b)] = std::min(a, b);
    return true;
  }

 private:
  std::uint32_t root(std::uint32_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }

  std::vector<std::uint32_t> parent_;
};

void count_edges(const TriangleMesh& mesh, MeshReport& report) {
  // Low vertex, high vertex and direction in one number: equal edges end up side by side, forward before backward.
  struct Edge {
    std::uint64_t ends;
    bool backward;
    bool operator<(const Edge& other) const {
      return ends != other.ends ? ends < other.ends : backward < other.backward;
    }
  };
  std::vector<Edge> edges;
  edges.reserve(3 * mesh.triangles.size());
  for (const Triangle& t : mesh.triangles)
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint32_t a = t[i], b = t[(i + 1) % 3];
      edges.push_back({std::uint64_t{std::min(a, b)} << 32 | std::max(a, b), a > b});
    }
  sort_cancellable(edges.begin(), edges.end());
  Groups rims(mesh.vertices.size());
  std::vector<bool> at_rim(mesh.vertices.size());
  const auto open = [&](std::uint64_t ends) {
    const auto a = static_cast<std::uint32_t>(ends >> 32), b = static_cast<std::uint32_t>(ends);
    for (const std::uint32_t v : {a, b})
      if (!at_rim[v]) {
        at_rim[v] = true;
        ++report.openings;
      }
    report.openings -= rims.join(a, b);
    ++report.open_edges;
  };
  for (std::size_t first = 0, next = 0; first < edges.size(); first = next) {
    throw_if_cancelled();
    while (next < edges.size() && edges[next].ends == edges[first].ends) ++next;
    if (next - first == 1) open(edges[first].ends);
    if (next - first > 2) ++report.nonmanifold_edges;
    if (next - first == 2 && edges[first].backward == edges[first + 1].backward) ++report.inconsistent_edges;
  }
}

std::size_t count_components(const TriangleMesh& mesh) {
  Groups groups(mesh.vertices.size());
  std::size_t components = mesh.vertices.size();
  for (const Triangle& t : mesh.triangles) {
    throw_if_cancelled();
    for (std::size_t i = 1; i < 3; ++i) components -= groups.join(t[0], t[i]);
  }
  return components;
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + ' ' + (count == 1 ? one : many);
}

// Units a person would use, each with the quantity it is used from, in SI units.
struct NamedUnit {
  double from, size;
  const char* name;
};
constexpr std::array<NamedUnit, 4> k_lengths{{{1e3, 1e3, "km"}, {1, 1, "m"}, {1e-4, 1e-3, "mm"}, {0, 1e-6, "um"}}};
constexpr std::array<NamedUnit, 4> k_areas{{{1e5, 1e6, "km2"}, {0.1, 1, "m2"}, {1e-5, 1e-4, "cm2"}, {0, 1e-6, "mm2"}}};
constexpr std::array<NamedUnit, 4> k_volumes{
    {{1e8, 1e9, "km3"}, {0.01, 1, "m3"}, {1e-7, 1e-6, "cm3"}, {0, 1e-9, "mm3"}}};

std::string measured(double quantity, const std::array<NamedUnit, 4>& units) {
  const NamedUnit& unit =
      *std::find_if(units.begin(), units.end() - 1, [&](const NamedUnit& u) { return quantity >= u.from; });
  const double number = quantity / unit.size;
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, number < 100 ? "%.3g %s" : "%.0f %s", number, unit.name);
  return buffer;
}

}  // namespace

MeshReport clean_mesh(TriangleMesh& mesh) {
  MeshReport report;
  report.vertices_read = mesh.vertices.size();
  report.triangles_read = mesh.triangles.size();
  drop_unused_vertices(mesh);  // a stray one far away would blur what the same place is
  report.welded = weld(mesh);
  report.without_area = drop_without_area(mesh);
  report.duplicates = drop_duplicates(mesh);
  drop_unused_vertices(mesh);
  report.vertices = mesh.vertices.size();
  report.triangles = mesh.triangles.size();
  report.components = count_components(mesh);
  count_edges(mesh, report);
  report.crossings = find_self_intersections(mesh);
  report.bounds = mesh.bounds();
  for_each_cancellable(mesh.triangles.size(), [&](std::size_t t) {
    const auto [a, b, c] = mesh.corners(t);
    report.area += 0.5 * norm(cross(b - a, c - a));
  });
  if (report.closed()) report.volume = std::fabs(signed_volume(mesh));
  return report;
}

std::vector<std::string> MeshReport::warnings() const {
  std::vector<std::string> out;
  if (open_edges > 0)
    out.push_back(counted(open_edges, "open edge", "open edges") + " around " +
                  counted(openings, "opening", "openings") +
                  ": the surface has holes, which will be filled, or is a sheet, which will be thickened");
  if (nonmanifold_edges > 0)
    out.push_back(counted(nonmanifold_edges, "edge", "edges") + " with more than two triangles");
  if (inconsistent_edges > 0)
    out.push_back(counted(inconsistent_edges, "edge", "edges") + " between triangles that face different ways");
  if (crossings.crossing > 0)
    out.push_back(std::to_string(crossings.crossing) + " of " + counted(crossings.tested, "triangle", "triangles") +
                  " looked at cross another one");
  out.insert(out.end(), doubts.begin(), doubts.end());
  return out;
}

std::vector<std::string> MeshReport::lines() const {
  std::vector<std::string> out;
  out.push_back(counted(triangles, "triangle", "triangles") + ", " + counted(vertices, "vertex", "vertices") + ", " +
                counted(components, "piece", "pieces"));
  if (!bounds.empty()) {
    const Vec3d size = bounds.size();
    out.push_back("size " + measured(size.x, k_lengths) + " x " + measured(size.y, k_lengths) + " x " +
                  measured(size.z, k_lengths) + ", surface " + measured(area, k_areas) +
                  (volume ? ", volume " + measured(*volume, k_volumes) : ""));
  }
  if (without_area > 0) out.push_back("dropped " + counted(without_area, "triangle", "triangles") + " without area");
  if (duplicates > 0) out.push_back("dropped " + counted(duplicates, "repeated triangle", "repeated triangles"));
  if (closed()) out.push_back("closed, every triangle facing the same way as its neighbours");
  const std::vector<std::string> odd = warnings();
  out.insert(out.end(), odd.begin(), odd.end());
  out.insert(out.end(), notes.begin(), notes.end());
  return out;
}

}  // namespace cotouch

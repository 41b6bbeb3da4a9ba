#include <cotouch/mesh/report.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>

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
  std::uint64_t h = 0;
  for (const std::int64_t i : cell) {
    h = (h ^ static_cast<std::uint64_t>(i)) * 0x9e3779b97f4a7c15ULL;
    h ^= h >> 29;
  }
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
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    if (has_area(mesh.corners(t))) mesh.triangles[kept++] = mesh.triangles[t];
  const std::size_t dropped = mesh.triangles.size() - kept;
  mesh.triangles.resize(kept);
  return dropped;
}

std::size_t drop_duplicates(TriangleMesh& mesh) {
  struct Key {
    Triangle corners;  // sorted
    std::uint32_t index;
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr): its comparison with 0
  };
  std::vector<Key> keys;
  keys.reserve(mesh.triangles.size());
  for (const Triangle& t : mesh.triangles) {
    Key key{t, static_cast<std::uint32_t>(keys.size())};
    std::sort(key.corners.begin(), key.corners.end());
    keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<bool> again(mesh.triangles.size());
  for (std::size_t i = 1; i < keys.size(); ++i)
    if (keys[i].corners == keys[i - 1].corners) again[keys[i].index] = true;
  std::size_t kept = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    if (!again[t]) mesh.triangles[kept++] = mesh.triangles[t];
  const std::size_t dropped = mesh.triangles.size() - kept;
  mesh.triangles.resize(kept);
  return dropped;
}

void drop_unused_vertices(TriangleMesh& mesh) {
  std::vector<std::uint32_t> renamed(mesh.vertices.size(), k_none);
  for (const Triangle& t : mesh.triangles)
    for (const std::uint32_t index : t) renamed[index] = 0;
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i < renamed.size(); ++i)
    if (renamed[i] != k_none) {
      mesh.vertices[kept] = mesh.vertices[i];
      renamed[i] = kept++;
    }
  mesh.vertices.resize(kept);
  for (Triangle& t : mesh.triangles)
    for (std::uint32_t& index : t) index = renamed[index];
}

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
  std::sort(edges.begin(), edges.end());
  for (std::size_t first = 0, next = 0; first < edges.size(); first = next) {
    while (next < edges.size() && edges[next].ends == edges[first].ends) ++next;
    if (next - first == 1) ++report.open_edges;
    if (next - first > 2) ++report.nonmanifold_edges;
    if (next - first == 2 && edges[first].backward == edges[first + 1].backward) ++report.inconsistent_edges;
  }
}

std::size_t count_components(const TriangleMesh& mesh) {
  std::vector<std::uint32_t> parent(mesh.vertices.size());
  std::iota(parent.begin(), parent.end(), 0u);
  const auto root = [&](std::uint32_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  std::size_t components = mesh.vertices.size();
  for (const Triangle& t : mesh.triangles)
    for (std::size_t i = 1; i < 3; ++i) {
      const std::uint32_t a = root(t[0]), b = root(t[i]);
      if (a == b) continue;
      parent[std::max(a, b)] = std::min(a, b);
      --components;
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
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [a, b, c] = mesh.corners(t);
    report.area += 0.5 * norm(cross(b - a, c - a));
  }
  if (report.closed()) report.volume = std::fabs(signed_volume(mesh));
  return report;
}

std::vector<std::string> MeshReport::warnings() const {
  std::vector<std::string> out;
  if (open_edges > 0)
    out.push_back(counted(open_edges, "open edge", "open edges") + ": the surface has holes or is a sheet");
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

// A signed field from polygon soup (paper 001, II-C; the steps are explained in sides.h and caps.h).
#include <cotouch/field/assemble.h>
#include <cotouch/field/caps.h>
#include <cotouch/field/pieces.h>
#include <cotouch/field/sides.h>
#include <cotouch/field/soup.h>
#include <cotouch/field/space.h>
#include <cotouch/field/stage.h>
#include <cotouch/field/walls.h>

#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/mesh/readers.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace cotouch {
namespace {

// On its inner side an open patch that encloses nothing has a winding number of about one half (exactly, if it is
// flat).
constexpr double k_sheet_winding = 0.6;

static_assert(k_most_part_triangles * k_bytes_per_triangle <= k_most_bytes);

void check(const TriangleMesh& mesh) {
  if (mesh.triangles.empty()) throw Error("The mesh has no triangles, so there is nothing to measure distances to.");
  if (mesh.triangles.size() > k_most_part_triangles)  // before it is sorted and put into trees
    throw Error("The mesh has " + std::to_string(mesh.triangles.size()) + " triangles, and a part is made of at most " +
                    std::to_string(k_most_part_triangles) + ", whatever its resolution. Simplify it first.",
                ErrorCode::too_large);
  for (const Triangle& t : mesh.triangles) {
    throw_if_cancelled();
    for (const std::uint32_t v : t) {
      if (v >= mesh.vertices.size()) throw Error("The mesh is damaged: a triangle names a corner that does not exist.");
      if (!is_finite(mesh.vertices[v])) throw Error("The mesh is damaged: a corner's position is not a number.");
    }
  }
}

Box3d used_bounds(const TriangleMesh& mesh) {
  Box3d box;
  for (const Triangle& t : mesh.triangles)
    for (const std::uint32_t v : t) box.add(mesh.vertices[v]);
  return box;
}

TriangleMesh in_cells(const TriangleMesh& mesh, const Lattice& lattice) {
  TriangleMesh result = mesh;
  const double scale = 1 / static_cast<double>(lattice.spacing);
  for (Vec3d& v : result.vertices) v = (v - Vec3d(lattice.origin)) * scale;
  return result;
}

// The triangles of patches that are not marked.
TriangleMesh without(const Soup& soup, const std::vector<std::uint8_t>& marked) {
  TriangleMesh mesh;
  mesh.vertices = soup.mesh.vertices;
  for (std::size_t t = 0; t < soup.mesh.triangles.size(); ++t)
    if (!marked[soup.patch[t]]) mesh.triangles.push_back(soup.mesh.triangles[t]);
  return mesh;
}

// Of the patches with free space on both sides, those that are sheets rather than scans of something solid.
std::vector<std::uint8_t> find_sheets(const Soup& soup, const std::vector<std::uint8_t>& undecided) {
  std::vector<std::uint8_t> sheet(soup.patches());
  if (std::none_of(undecided.begin(), undecided.end(), [](std::uint8_t u) { return u != 0; })) return sheet;
  const WindingNumber winding(soup.mesh);
  const std::size_t count = soup.mesh.triangles.size();
  std::vector<double> behind(count), area(count);
  parallel_for(count, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      if (!undecided[soup.patch[t]] || !soup.patch_open[soup.patch[t]]) continue;
      throw_if_cancelled();
      const auto [a, b, c] = soup.mesh.corners(t);
      const Vec3d twice = cross(b - a, c - a);
      area[t] = norm(twice);
      behind[t] = winding.at((a + b + c) / 3.0 - twice * (1e-3 / area[t]));
    }
  });
  std::vector<double> total(soup.patches()), weighted(soup.patches());
  for (std::size_t t = 0; t < count; ++t) {
    total[soup.patch[t]] += area[t];
    weighted[soup.patch[t]] += behind[t] * area[t];
  }
  for (std::size_t p = 0; p < sheet.size(); ++p) sheet[p] = total[p] > 0 && weighted[p] < k_sheet_winding * total[p];
  return sheet;
}

Field assemble(const Space& space, const Sides& sides, const ClosestTriangle& boundary, const ClosestTriangle& sheets,
               double thickness, Progress& progress) {
  const auto unsigned_distance = [](const ClosestTriangle& triangles, const Vec3d& p) {
    return std::sqrt(triangles.closest(p).distance_squared);
  };
  LatticeDistance distance;
  distance.at = [&](const Vec3d& cell) {
    throw_if_cancelled();
    const double d = unsigned_distance(boundary, cell) * (sides.inside(Index3(cell)) ? -1 : 1);
    return sheets.empty() ? d : std::min(d, unsigned_distance(sheets, cell) - thickness);
  };
  distance.brick = [&](const Index3& corner, std::span<float> samples) {
    const std::size_t brick = flat_index({corner.x / 8, corner.y / 8, corner.z / 8}, space.lattice().bricks);
    const auto from = space.distances(space.slot_of_brick(brick));
    std::size_t i = 0;
    for (std::int32_t z = 0; z < FieldData::k_brick_side; ++z)
      for (std::int32_t y = 0; y < FieldData::k_brick_side; ++y)
        for (std::int32_t x = 0; x < FieldData::k_brick_side; ++x, ++i) {
          throw_if_cancelled();
          const Index3 p = corner + Index3{x, y, z};
          const float size = static_cast<float>(from[i]) / k_units_per_cell;
          samples[i] = sides.inside(p) ? -size : size;
          // Only a sheet that comes nearer than this has a say.
          if (const double reach = static_cast<double>(samples[i]) + thickness; !sheets.empty() && reach > 0)
            if (const ClosestHit hit = sheets.closest(Vec3d(p), reach))
              samples[i] = std::min(samples[i], static_cast<float>(std::sqrt(hit.distance_squared) - thickness));
        }
  };
  return assemble_field(space.lattice(), distance, progress, k_stage_distances);
}

// Leaves out sheets that do not rise above the boundary by more than they would be thickened: folds and flaps of a
// scan, which thickening would turn into warts. They join the dropped triangles.
void drop_flaps(Sorted& sorted, const ClosestTriangle& boundary, double thickness) {
  // A large sheet may touch the boundary with its corners and be free in between.
  const double piece = piece_length(sorted.sheets, 4);
  const std::function<bool(const std::array<Vec3d, 3>&)> hidden = [&](const std::array<Vec3d, 3>& triangle) {
    throw_if_cancelled();
    for (const Vec3d& corner : triangle)
      if (!boundary.closest(corner, thickness)) return false;
    const auto halves = halve(triangle, piece);
    return !halves || (hidden((*halves)[0]) && hidden((*halves)[1]));
  };
  TriangleMesh kept;
  kept.vertices = sorted.sheets.vertices;
  for (std::size_t t = 0; t < sorted.sheets.triangles.size(); ++t) {
    const auto corners = sorted.sheets.corners(t);
    if (hidden(corners))
      add_triangle(sorted.dropped, corners);
    else
      kept.triangles.push_back(sorted.sheets.triangles[t]);
  }
  sorted.sheets = std::move(kept);
}

}  // namespace

Field build_field(const TriangleMesh& mesh, const FieldSettings& settings, Progress& progress, FieldReport* report) {
  check(mesh);
  const Lattice lattice = make_lattice(used_bounds(mesh), settings);
  Soup soup = clean_soup(in_cells(mesh, lattice));
  if (soup.mesh.triangles.empty())
    throw Error("None of the mesh's triangles has an area, so it has no surface; check the mesh.");

  // First with all triangles: what the flood cannot reach tells how the patches must face.
  ClosestTriangle closest(soup.mesh);
  auto space = std::make_unique<Space>(lattice, soup.mesh, closest, ClosestTriangle(), 0, progress);
  std::optional<Flood> flood(std::in_place, *space);
  const std::vector<std::uint8_t> undecided = orient_outward(soup, *flood);
  const std::vector<std::uint8_t> sheet_patch = find_sheets(soup, undecided);
  Enclosure enclosure(without(soup, sheet_patch), used_bounds(soup.mesh));
  Sides sides = find_sides(*flood, enclosure, progress);
  Sorted sorted = sort_triangles(soup, sheet_patch, *flood, sides, enclosure, progress);
  if (sorted.boundary.triangles.empty() && sorted.sheets.triangles.empty()) {
    // Nothing can be told apart: all that is left is to make it solid.
    sorted.sheets = soup.mesh;
    sorted.dropped = {};
  }

  FieldReport found;
  found.flipped = static_cast<std::size_t>(std::count(soup.turned.begin(), soup.turned.end(), 1));

  // Then with those that bound the solid. Nothing changes for a mesh that was closed and simple.
  ClosestTriangle sheets;
  const auto measure_again = [&](const TriangleMesh& changes) {
    closest = ClosestTriangle(sorted.boundary);
    const ClosestTriangle changed(changes);
    space = std::make_unique<Space>(lattice, sorted.boundary, closest, sheets, settings.sheet_thickness, progress,
                                    space.get(), &changed);
  };
  const TriangleMesh walls = thin_walls(sorted.boundary);
  if (!sorted.whole || !walls.triangles.empty()) {
    drop_flaps(sorted, ClosestTriangle(sorted.boundary), settings.sheet_thickness);
    append(sorted.sheets, walls);
    sheets = ClosestTriangle(sorted.sheets);
    TriangleMesh changes = sorted.dropped;
    append(changes, sorted.sheets);
    flood.reset();  // it takes more memory than the distances
    measure_again(changes);
    flood.emplace(*space);
    // What was dropped has no say any more: an enclosed part that is inside out would take from what encloses it. Where
    // there are wide holes it does have: pieces were told apart by where all triangles together say the closings go.
    if (sides.leaks) {
      sides = find_sides(*flood, enclosure, progress, &sides);
    } else {
      enclosure = Enclosure(sorted.boundary, enclosure.bounds());
      sides = find_sides(*flood, enclosure, progress);
    }
  }
  if (sides.leaks) settle_leaks(sides, *flood, enclosure, progress);
  flood.reset();
  const TriangleMesh caps = close_holes(*space, sides, enclosure, progress);
  if (!caps.triangles.empty()) {
    append(sorted.boundary, caps);
    measure_again(caps);
  }
  found.enclosed = sorted.dropped.triangles.size();
  found.sheets = sorted.sheets.triangles.size();
  found.caps = caps.triangles.size();
  if (report) *report = found;
  return assemble(*space, sides, closest, sheets, settings.sheet_thickness, progress);
}

}  // namespace cotouch

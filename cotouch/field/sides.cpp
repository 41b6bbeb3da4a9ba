#include <cotouch/field/sides.h>

#include <cotouch/base/cancel.h>
#include <cotouch/field/pieces.h>
#include <cotouch/field/stage.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace cotouch {
namespace {

using Place = Space::Place;

// An enclosed region this deep is a room that the flood could not enter: inside. A shallower one may be the bottom of a
// groove, which winding numbers judge better.
constexpr std::uint16_t k_room_depth = 2 * k_units_per_cell;
// Points of the exterior that the surface winds around: more than so many are no accident.
constexpr std::uint32_t k_few = 16;

}  // namespace

Flood::Flood(const Space& space) : space_(&space), region_(space.connected()) {
  // Number the regions in the order of their lowest place, the exterior first. A place is its own region's lowest
  // exactly where it is connected to itself, and comes before all others of the region.
  const Place exterior = region_[space.place({0, 0, 0})];
  std::vector<std::uint8_t> alone(region_.size(), 1);
  for_each_cancellable(region_.size(), [&](std::size_t p) {
    if (region_[p] != p) alone[region_[p]] = 0;
  });
  alone[exterior] = 0;
  deepest_.assign(1, 0);
  for_each_cancellable(region_.size(), [&](std::size_t i) {
    const auto p = static_cast<Place>(i);
    if (region_[p] != p)
      region_[p] = region_[region_[p]];
    else if (p == exterior)
      region_[p] = k_exterior;
    else if (alone[p] && !space.is_far(p))
      region_[p] = k_wall;
    else {
      region_[p] = static_cast<Region>(deepest_.size());
      deepest_.push_back(0);
    }
    if (region_[p] != k_wall) deepest_[region_[p]] = std::max(deepest_[region_[p]], space.distance(p));
  });
}

Index3 Flood::point_near(const Vec3d& cell) const {
  const Index3 top = space_->lattice().bricks;
  const auto nearest = [](double x, std::int32_t bricks) {
    return static_cast<std::int32_t>(std::clamp(std::floor(x + 0.5), 0.0, static_cast<double>(bricks * 8)));
  };
  return {nearest(cell.x, top.x), nearest(cell.y, top.y), nearest(cell.z, top.z)};
}

std::vector<std::uint8_t> orient_outward(Soup& soup, const Flood& flood) {
  const std::size_t patches = soup.patches();
  std::vector<double> vote(patches), area(patches), volume(patches);
  std::vector<Vec3d> center(patches);
  std::vector<double> enclosed(patches);
  const TriangleMesh& mesh = soup.mesh;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const std::uint32_t patch = soup.patch[t];
    const auto [a, b, c] = mesh.corners(t);
    const Vec3d twice = cross(b - a, c - a);
    const double size = norm(twice);
    throw_if_cancelled();
    const Vec3d middle = (a + b + c) / 3.0, step = twice * (1.5 / size);
    const Place front = flood.place_near(middle + step), back = flood.place_near(middle - step);
    if (flood.exterior(front) && flood.enclosed(back)) vote[patch] += size;
    if (flood.enclosed(front) && flood.exterior(back)) vote[patch] -= size;
    if (flood.enclosed(front) || flood.enclosed(back)) enclosed[patch] += size;
    area[patch] += size;
    center[patch] += middle * size;
  }
  for (std::size_t p = 0; p < patches; ++p) center[p] = center[p] / area[p];
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [a, b, c] = mesh.corners(t);
    const Vec3d& o = center[soup.patch[t]];
    volume[soup.patch[t]] += dot(a - o, cross(b - o, c - o));
  }

  std::vector<std::uint8_t> undecided(patches);
  for (std::size_t p = 0; p < patches; ++p) {
    if (vote[p] == 0) {
      undecided[p] = enclosed[p] < 0.1 * area[p];
      // Six times the volume against the area to the power 1.5; a flat patch has no say and stays as it came.
      vote[p] = std::fabs(volume[p]) > 1e-3 * area[p] * std::sqrt(area[p]) ? volume[p] : 0;
    }
  }
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    if (vote[soup.patch[t]] < 0) soup.turn(t);
  // A flat patch whose triangles were turned only to agree with the first keeps the side that most of it came with.
  std::vector<std::int64_t> balance(patches);
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) balance[soup.patch[t]] += soup.turned[t] ? 1 : -1;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    if (vote[soup.patch[t]] == 0 && balance[soup.patch[t]] > 0) soup.turn(t);
  return undecided;
}

bool Sides::inside(const Index3& p) const {
  // The last layer of lattice points belongs to no brick of its own; border bricks are far, so any point of theirs will
  // do.
  const Index3 q{std::min(p.x, bricks.x * 8 - 1), std::min(p.y, bricks.y * 8 - 1), std::min(p.z, bricks.z * 8 - 1)};
  const std::size_t brick = flat_index({q.x >> 3, q.y >> 3, q.z >> 3}, bricks);
  if (slot[brick] == FieldData::k_coarse) return whole[brick] != 0;
  return points[slot[brick]][flat_index({q.x & 7, q.y & 7, q.z & 7}, {8, 8, 8})];
}

Sides find_sides(const Flood& flood, const Enclosure& enclosure, Progress& progress, const Sides* previous) {
  const Space& space = flood.space();
  const std::size_t bricks = space.lattice().brick_count();
  Sides sides;
  sides.bricks = space.lattice().bricks;
  sides.slot.resize(bricks);
  for (std::size_t b = 0; b < bricks; ++b) sides.slot[b] = space.slot_of_brick(b);
  sides.points.resize(space.near_bricks());

  // Close to the surface every point is asked.
  sides.asked.resize(space.near_bricks());
  sides.answers.resize(space.near_bricks());
  for_each_reported(space.near_bricks(), 16, progress, k_stage_sides, 0, 0.9, [&](std::size_t s) {
    Sides::Points known;
    if (previous)
      if (const std::uint32_t slot = previous->slot[space.brick_of_slot(s)]; slot < previous->asked.size()) {
        known = previous->asked[slot];
        sides.answers[s] = previous->answers[slot];
      }
    for (std::size_t i = 0; i < 512; ++i) {
      const auto p = static_cast<Place>(s * 512 + i);
      if (space.distance(p) > k_units_per_cell && flood.region(p) != Flood::k_wall) continue;
      sides.asked[s][i] = true;
      if (!known[i]) sides.answers[s][i] = enclosure.holds(Vec3d(space.point(p)));
    }
    sides.points[s] = sides.answers[s];
  });
  // What they say about the regions they are connected to.
  std::vector<std::uint32_t> yes(flood.regions()), no(flood.regions());
  for_each_cancellable(space.near_bricks() * 512, [&](std::size_t i) {
    const auto p = static_cast<Place>(i);
    if (space.distance(p) <= k_units_per_cell && flood.region(p) != Flood::k_wall)
      ++(sides.points[p >> 9][p & 511] ? yes : no)[flood.region(p)];
  });
  sides.leaks = yes[Flood::k_exterior] > k_few;
  sides.cavity.resize(flood.regions());
  for (Flood::Region r = 1; r < flood.regions(); ++r)
    sides.cavity[r] = flood.deepest(r) >= k_room_depth && no[r] > yes[r];

  for_each_reported(space.near_bricks(), 16, progress, k_stage_sides, 0.9, 1, [&](std::size_t s) {
    for (std::size_t i = 0; i < 512; ++i) {
      const auto p = static_cast<Place>(s * 512 + i);
      const Flood::Region r = flood.region(p);
      if (r == Flood::k_wall) continue;
      if (r == Flood::k_exterior) {
        if (!sides.leaks) sides.points[s][i] = false;
      } else if (flood.deepest(r) >= k_room_depth) {
        sides.points[s][i] = true;
      } else if (!sides.asked[s][i]) {
        sides.points[s][i] = enclosure.holds(Vec3d(space.point(p)));
      }
    }
  });
  sides.whole.resize(bricks);
  for (std::size_t b = 0; b < bricks; ++b)
    if (sides.slot[b] == FieldData::k_coarse) sides.whole[b] = !flood.exterior(space.place_of_far_brick(b));
  return sides;
}

void settle_leaks(Sides& sides, const Flood& flood, const Enclosure& enclosure, Progress& progress) {
  const Space& space = flood.space();
  const Lattice& lattice = space.lattice();
  for_each_reported(space.near_bricks(), 16, progress, k_stage_sides, 0, 0.8, [&](std::size_t s) {
    for (std::size_t i = 0; i < 512; ++i)
      if (const auto p = static_cast<Place>(s * 512 + i); flood.exterior(p) && space.distance(p) > k_units_per_cell)
        sides.points[s][i] = enclosure.holds(Vec3d(space.point(p)));
  });
  const auto is_free = [&](std::size_t brick) {
    return sides.slot[brick] == FieldData::k_coarse && flood.exterior(space.place_of_far_brick(brick));
  };
  for_each_reported(lattice.brick_count(), 256, progress, k_stage_sides, 0.8, 0.9, [&](std::size_t brick) {
    if (is_free(brick)) sides.whole[brick] = enclosure.holds(Vec3d(lattice.brick_corner(brick) + Index3{4, 4, 4}));
  });

  // Do all points just before and just behind the face of a brick towards +axis agree?
  const auto agree = [&](const Index3& corner, std::size_t axis) {
    for (std::int32_t i = 0; i < 8; ++i)
      for (std::int32_t j = 0; j < 8; ++j) {
        Index3 p = corner;
        p[(axis + 1) % 3] += i;
        p[(axis + 2) % 3] += j;
        p[axis] += 7;
        const bool before = sides.inside(p);
        ++p[axis];
        if (sides.inside(p) != before) return false;
      }
    return true;
  };
  const std::size_t stride[3] = {
      1, static_cast<std::size_t>(lattice.bricks.x),
      static_cast<std::size_t>(lattice.bricks.x) * static_cast<std::size_t>(lattice.bricks.y)};
  std::vector<std::uint8_t> look(lattice.brick_count(), 1);  // at the faces of these bricks
  for (bool opened = true; opened;) {
    std::vector<std::uint8_t> open(lattice.brick_count());
    for (std::size_t brick = 0; brick < look.size(); ++brick) {
      throw_if_cancelled();
      const Index3 corner = lattice.brick_corner(brick);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        if (corner[axis] / 8 + 1 == lattice.bricks[axis]) continue;
        const std::size_t next = brick + stride[axis];
        if (!(look[brick] || look[next]) || !(is_free(brick) || is_free(next)) || agree(corner, axis)) continue;
        open[brick] = is_free(brick);
        open[next] = is_free(next);
      }
    }
    const std::size_t first = sides.points.size();
    std::vector<std::size_t> bricks;
    for (std::size_t brick = 0; brick < open.size(); ++brick)
      if (open[brick]) bricks.push_back(brick);
    sides.points.resize(first + bricks.size());
    for_each_reported(bricks.size(), 16, progress, k_stage_sides, 0.9, 1, [&](std::size_t b) {
      const Index3 corner = lattice.brick_corner(bricks[b]);
      for (std::size_t i = 0; i < 512; ++i)
        sides.points[first + b][i] = enclosure.holds(Vec3d(corner + unflatten(i, {8, 8, 8})));
    });
    for (std::size_t b = 0; b < bricks.size(); ++b) sides.slot[bricks[b]] = static_cast<std::uint32_t>(first + b);
    opened = !bricks.empty();
    look = std::move(open);
  }
}

namespace {

enum class Kind : std::uint8_t { boundary, sheet, enclosed, mixed };

// Sorts one triangle, halving its longest edge until the pieces are small, and keeps pieces of one kind together.
class TriangleSorter {
 public:
  TriangleSorter(const Flood& flood, const Sides& sides, const Enclosure& enclosure, double piece)
      : flood_(flood), sides_(sides), enclosure_(enclosure), piece_(piece) {}

  struct Piece {
    std::array<Vec3d, 3> corners;
    Kind kind;
  };
  // Pieces are added to `out` only where the triangle is not of one kind, which is then the answer.
  Kind sort(const std::array<Vec3d, 3>& t, const Vec3d& normal, std::vector<Piece>& out) const {
    const auto halves = halve(t, piece_);
    if (!halves) return judge(t, normal);
    const auto& [low, high] = *halves;
    const Kind first = sort(low, normal, out);
    const std::size_t before_second = out.size();
    const Kind second = sort(high, normal, out);
    if (first == second) return first;
    if (first != Kind::mixed) out.insert(out.begin() + static_cast<std::ptrdiff_t>(before_second), {low, first});
    if (second != Kind::mixed) out.push_back({high, second});
    return Kind::mixed;
  }

 private:
  // A piece is dropped only if all of it seems enclosed: a kept piece too many costs a little depth inside, a missing
  // one would be a hole.
  Kind judge(const std::array<Vec3d, 3>& t, const Vec3d& normal) const {
    const Vec3d middle = (t[0] + t[1] + t[2]) / 3.0;
    const Kind kind = judge(middle, normal);
    if (kind == Kind::enclosed)
      for (const Vec3d& corner : t)
        if (const Kind other = judge(corner * 0.9 + middle * 0.1, normal); other != Kind::enclosed) return other;
    return kind;
  }

  Kind judge(const Vec3d& p, const Vec3d& normal) const {
    // Free space on one side and a room the flood could not enter on the other: what most pieces of most meshes are,
    // told without asking for winding numbers. (A piece enclosed by less than the step is kept; that costs no hole.)
    if (!sides_.leaks) {
      const Index3 behind = flood_.point_near(p - normal * k_step);
      if (flood_.exterior(flood_.place_near(p + normal * k_step)) && flood_.enclosed(flood_.space().place(behind)) &&
          sides_.inside(behind))
        return Kind::boundary;
    }
    const bool front = inside(p, normal), back = inside(p, -normal);
    return front != back ? Kind::boundary : front ? Kind::enclosed : Kind::sheet;
  }

  // Just beside the triangle; or, in a room the flood could not enter, as far as the flood can tell.
  bool inside(const Vec3d& p, const Vec3d& normal) const {
    if (enclosure_.holds(p + normal * 1e-3)) return true;
    const Place beside = flood_.place_near(p + normal * k_step);
    const Flood::Region region = flood_.region(beside);
    return region != Flood::k_wall && sides_.cavity[region] != 0;
  }

  static constexpr double k_step = 1.5;  // cells beside a piece: beyond the wall that the flood cannot enter

  const Flood& flood_;
  const Sides& sides_;
  const Enclosure& enclosure_;
  double piece_;
};

}  // namespace

Sorted sort_triangles(const Soup& soup, const std::vector<std::uint8_t>& sheet_patch, const Flood& flood,
                      const Sides& sides, const Enclosure& enclosure, Progress& progress) {
  // Pieces of four cells; of more where the lattice is so fine that this would be millions.
  const Index3 n = flood.space().lattice().bricks;
  const double shortest = std::max(4.0, std::max({n.x, n.y, n.z}) * 8 / 64.0);
  const TriangleSorter sorter(flood, sides, enclosure, piece_length(soup.mesh, shortest));
  const std::size_t count = soup.mesh.triangles.size();
  std::vector<Kind> kinds(count);
  std::vector<std::vector<TriangleSorter::Piece>> pieces(count);
  for_each_reported(count, 64, progress, k_stage_sides, 0, 1, [&](std::size_t t) {
    if (sheet_patch[soup.patch[t]]) {
      kinds[t] = Kind::sheet;
      return;
    }
    const auto corners = soup.mesh.corners(t);
    const Vec3d normal = normalized(cross(corners[1] - corners[0], corners[2] - corners[0]));
    kinds[t] = sorter.sort(corners, normal, pieces[t]);
  });

  Sorted sorted;
  for (std::size_t t = 0; t < count; ++t) {
    const auto keep = [&](const std::array<Vec3d, 3>& corners, Kind kind) {
      if (kind == Kind::boundary) add_triangle(sorted.boundary, corners);
      if (kind == Kind::sheet) add_triangle(sorted.sheets, corners);
      if (kind == Kind::enclosed) add_triangle(sorted.dropped, corners);
    };
    if (kinds[t] != Kind::mixed) keep(soup.mesh.corners(t), kinds[t]);
    for (const auto& piece : pieces[t]) keep(piece.corners, piece.kind);
    sorted.whole = sorted.whole && kinds[t] == Kind::boundary;
  }
  return sorted;
}

}  // namespace cotouch

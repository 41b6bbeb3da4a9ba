// Which lattice points are inside, and which triangles have the inside on one side only (paper 001, II-C).
//
// The paper closes small gaps by an isosurface at an offset and drops everything it encloses. Here the same is said
// with labels: space that cannot be reached from the outside without coming closer to a triangle than a quarter of a
// cell is inside. Winding numbers add what a flood cannot know: the inside of scans with holes wider than that, and the
// side of points so close to the surface that the flood does not reach them.
#pragma once

#include <cotouch/base/cancel.h>
#include <cotouch/field/build.h>
#include <cotouch/field/soup.h>
#include <cotouch/field/space.h>
#include <cotouch/mesh/winding.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

namespace cotouch {

// What the flood alone says about a place. A region is a set of connected places.
class Flood {
 public:
  using Region = std::uint32_t;
  static constexpr Region k_wall = 0xffffffff;  // a place not even connected to a neighbour
  static constexpr Region k_exterior = 0;

  explicit Flood(const Space& space);

  const Space& space() const { return *space_; }
  std::size_t regions() const { return deepest_.size(); }
  Region region(Space::Place p) const { return region_[p]; }
  bool exterior(Space::Place p) const { return region_[p] == k_exterior; }
  bool enclosed(Space::Place p) const { return region_[p] != k_exterior && region_[p] != k_wall; }
  // The largest distance from any triangle in a region, in units.
  std::uint16_t deepest(Region r) const { return deepest_[r]; }
  // The lattice point nearest to a position in cells.
  Index3 point_near(const Vec3d& cell) const;
  Space::Place place_near(const Vec3d& cell) const { return space_->place(point_near(cell)); }

 private:
  const Space* space_;
  std::vector<Region> region_;          // of each place
  std::vector<std::uint16_t> deepest_;  // of each region
};

// Turns each patch so that its triangles face away from the inside. Returns, for each patch, whether the flood found
// free space on both of its sides (an open scan or a sheet), so that only its shape could decide.
std::vector<std::uint8_t> orient_outward(Soup& soup, const Flood& flood);

// How much the triangles enclose a point: their winding number, and nothing outside the box around them. Open layers
// that face alike add up, so that the winding number alone would pass one half far beyond all of them; closings that
// bulge end at the box.
class Enclosure {
 public:
  Enclosure(const TriangleMesh& mesh, const Box3d& bounds) : winding_(mesh), bounds_(bounds) {
    winding_.limit_terms(k_most_terms);
  }

  const Box3d& bounds() const { return bounds_; }
  double winding(const Vec3d& p) const {
    throw_if_cancelled();
    return max(p, bounds_.low) == p && min(p, bounds_.high) == p ? winding_.at(p) : 0;
  }
  bool holds(const Vec3d& p) const { return winding(p) > 0.5; }

 private:
  static constexpr std::size_t k_most_terms = 400;  // a hundred thousand triangles of crossing spheres take about 200

  WindingNumber winding_;
  Box3d bounds_;
};

// Inside or outside for every lattice point. Bricks that the flood calls far hold one answer for all their points,
// until they are opened because the closing of a wide hole passes through them.
struct Sides {
  using Points = std::bitset<512>;  // of a brick, x fastest

  std::vector<std::uint32_t> slot;  // of each brick in `points`; FieldData::k_coarse where `whole` speaks for it
  std::vector<std::uint8_t> whole;  // of each brick
  std::vector<Points> points;
  std::vector<Points> asked, answers;  // the points of near bricks where `enclosure` was asked, and what it said
  std::vector<std::uint8_t> cavity;    // of each region: enclosed, though nothing winds around it
  bool leaks = false;                  // outside is connected to inside: there are wide holes
  Index3 bricks;

  bool inside(const Index3& point) const;
};

// Where there are wide holes, this settles only what is near the surface or enclosed; `settle_leaks` does the rest.
// `previous` were found with the same enclosure: what was asked then is not asked again.
Sides find_sides(const Flood& flood, const Enclosure& enclosure, Progress& progress, const Sides* previous = nullptr);

// Settles free space that wide holes connect with the inside. Far bricks are opened until neighbours on both sides of
// any face between two bricks are both known point by point, or agree.
void settle_leaks(Sides& sides, const Flood& flood, const Enclosure& enclosure, Progress& progress);

// The triangles by what they separate, cut into smaller ones where different parts of one differ.
struct Sorted {
  TriangleMesh boundary;  // inside on one side only
  TriangleMesh sheets;    // outside on both sides
  TriangleMesh dropped;   // inside on both sides
  bool whole = true;      // are all triangles boundary, and none was cut?
};
Sorted sort_triangles(const Soup& soup, const std::vector<std::uint8_t>& sheet_patch, const Flood& flood,
                      const Sides& sides, const Enclosure& enclosure, Progress& progress);

}  // namespace cotouch

// Solids made like machined parts: boxes and upright cylinders added and removed one after the other.
//
// The result is one closed, outward-oriented mesh: space is cut along all planes that occur, cells are full or empty,
// and around each cylinder the cells give way to a tile with rings in it.
#pragma once

#include <cotouch/mesh/mesh.h>

#include <string>
#include <vector>

namespace cotouch {

class BlockModel {
 public:
  void add_box(const Vec3d& low, const Vec3d& high) { steps_.push_back({true, low, high, 0}); }
  void remove_box(const Vec3d& low, const Vec3d& high) { steps_.push_back({false, low, high, 0}); }
  // About an axis along z through (x, y), from `bottom` to `top`. Cylinders about the same axis may be nested and
  // stacked: bores with shoulders, tubes.
  void add_cylinder(double x, double y, double radius, double bottom, double top);
  void remove_cylinder(double x, double y, double radius, double bottom, double top);

  // Circles become polygons of `around` corners, a multiple of four, their corners on the circle.
  // Throws Error if the side of a box cuts through a cylinder or comes nearer to it than a tenth of its radius at its
  // heights, or if two cylinders about different axes come so near to each other.
  TriangleMesh mesh(std::string name, int around = 64) const;

 private:
  struct Step {
    bool fill;
    Vec3d low, high;
    double radius;  // zero: a box
  };
  friend class BlockMesher;

  std::vector<Step> steps_;
};

}  // namespace cotouch

// Blocks, plates and balls to stack, drop and roll: the parts of the scenes `stack` and `billiard`. Metres.
#pragma once

#include <cotouch/mesh/mesh.h>

namespace cotouch {

// A box with rounded edges and corners, centred; `steps` pieces from face to face around an edge.
TriangleMesh make_block(const Vec3d& size, double edge_radius, int steps = 8);

// A table top or floor, its upper side at z = 0.
struct PlateShape {
  Vec3d size{0.4, 0.4, 0.02};
  double edge_radius = 0.002;
};
TriangleMesh make_plate(const PlateShape& shape = {});

// A small billiard table: the bed's upper side at z = 0, the cushions' inner sides at half the length and width.
struct BilliardShape {
  double ball_radius = 0.0286;
  double length = 0.5, width = 0.3;  // of the bed between the cushions, along x and y
  double cushion_width = 0.03;
  double cushion_height = 0.036;  // above the balls' centres, so that they do not climb
  double bed = 0.02;              // thickness
};
TriangleMesh make_billiard_table(const BilliardShape& shape = {});
TriangleMesh make_billiard_ball(const BilliardShape& shape = {});

}  // namespace cotouch

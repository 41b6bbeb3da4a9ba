#include <cotouch/shapes/docking.h>

#include <cotouch/shapes/block_model.h>
#include <cotouch/shapes/solids.h>

namespace cotouch {
namespace {

constexpr double k_length = 0.12, k_width = 0.09, k_height = 0.07;  // of the box
constexpr double k_flange = 0.008;                                  // thickness
constexpr double k_lip_overlap = 0.007;                             // of the lips over the flange
constexpr double k_rail = 0.012, k_lip = 0.006;                     // width of a rail, thickness of a lip
constexpr double k_mouth = 0.012, k_mouth_room = 0.002;             // the wider part of the rails at the front

// A pin on the base goes into a notch at the back of the flange, off the middle: turned around, the box does not dock.
constexpr double k_pin_x = -0.054, k_pin_y = 0.020, k_pin = 0.004;

void check(const DockingShape& shape) {
  require(shape.clearance > 0 && shape.clearance <= 0.003, "The docking box needs a clearance of up to 3 mm.");
}

}  // namespace

TriangleMesh make_engine_bracket(const DockingShape& shape) {
  check(shape);
  const double c = shape.clearance;
  const double back = -0.5 * k_length - c, front = 0.5 * k_length + 0.005;
  const double inner = 0.5 * k_width + c, outer = inner + k_rail, lip = 0.5 * k_width - k_lip_overlap;
  const double under_lip = k_flange + 2 * c, top = under_lip + k_lip;
  BlockModel model;
  model.add_box({back - 0.03, -outer - 0.016, -0.012}, {front + 0.01, outer + 0.016, 0});
  for (const double side : {-1.0, 1.0}) {
    const auto beside = [&](double x0, double x1, double y0, double y1, double z0, double z1, bool add) {
      const Vec3d low{x0, side > 0 ? y0 : -y1, z0}, high{x1, side > 0 ? y1 : -y0, z1};
      add ? model.add_box(low, high) : model.remove_box(low, high);
    };
    beside(back - 0.014, front, inner, outer, 0, top, true);
    beside(back - 0.014, front, lip, inner, under_lip, top, true);
    // The mouth is wider and higher, so that the flange finds its way in.
    beside(front - k_mouth, front, lip, inner + k_mouth_room, 0, under_lip + k_mouth_room, false);
    // Ribs that hold the rails from the outside.
    for (const double x : {-0.045, 0.0, 0.045}) beside(x - 0.004, x + 0.004, outer, outer + 0.010, 0, 0.011, true);
  }
  // The stop at the back, with a gap in its middle, and two pillars behind it.
  model.add_box({back - 0.014, -inner, 0}, {back, inner, 0.034});
  model.remove_box({back - 0.014, -0.014, 0.016}, {back, 0.014, 0.034});
  for (const double y : {-0.036, 0.036}) model.add_cylinder(back - 0.022, y, 0.005, 0, 0.026);
  model.add_cylinder(k_pin_x, k_pin_y, k_pin, 0, k_flange);
  // Holes: four for screws, one large in the middle, one towards the front.
  for (const double x : {back - 0.022, front + 0.001})
    for (const double y : {-outer - 0.008, outer + 0.008}) model.remove_cylinder(x, y, 0.0035, -0.012, 0);
  model.remove_cylinder(-0.018, 0, 0.022, -0.012, 0);
  model.remove_cylinder(0.034, 0, 0.012, -0.012, 0);
  return model.mesh("engine bracket", shape.around);
}

TriangleMesh make_fuel_control_box(const DockingShape& shape) {
  check(shape);
  const double x = 0.5 * k_length, y = 0.5 * k_width, z = 0.5 * k_height, flange = -z + k_flange;
  BlockModel model;
  model.add_box({-x, -y, -z}, {x, y, flange});
  model.add_box({-0.052, -0.034, flange}, {0.046, 0.034, 0.008});   // housing
  model.add_box({-0.052, -0.034, 0.008}, {-0.006, 0.034, 0.016});   // its higher half
  model.add_box({0.046, -0.028, flange}, {0.054, -0.004, -0.010});  // terminal block at the front
  model.add_box({0.006, 0.034, -0.014}, {0.034, 0.042, 0.002});     // plug on the side
  const double notch = k_pin + shape.clearance;
  model.remove_box({-x, k_pin_y - notch, -z}, {k_pin_x + notch, k_pin_y + notch, flange});
  // Pipe stubs with collars.
  const auto stub = [&](double at_x, double at_y, double radius, double bottom, double top) {
    model.add_cylinder(at_x, at_y, 1.35 * radius, bottom, bottom + 0.004);
    model.add_cylinder(at_x, at_y, radius, bottom + 0.004, top);
    model.remove_cylinder(at_x, at_y, 0.6 * radius, bottom + 0.004, top);
  };
  stub(-0.034, -0.014, 0.009, 0.016, z);
  stub(-0.021, 0.018, 0.006, 0.016, 0.030);
  stub(0.028, -0.014, 0.006, 0.008, 0.028);
  stub(0.012, 0.018, 0.006, 0.008, 0.020);
  for (const double at_x : {-0.050, 0.050})
    for (const double at_y : {-0.0395, 0.0395}) model.remove_cylinder(at_x, at_y, 0.0025, -z, flange);
  return model.mesh("fuel-control box", shape.around);
}

Pose docked_pose(const DockingShape& shape) {
  return {{0, 0, 0.5 * k_height + shape.clearance}, {}};
}

Pose undocked_pose(const DockingShape& shape) {
  Pose pose = docked_pose(shape);
  pose.position += Vec3d{0.18, 0.03, 0.06};
  return pose;
}

}  // namespace cotouch

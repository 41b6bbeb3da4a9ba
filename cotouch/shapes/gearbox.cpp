#include <cotouch/shapes/gearbox.h>

#include <cotouch/base/trig.h>
#include <cotouch/shapes/block_model.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shapes/solids.h>

#include <utility>

namespace cotouch {
namespace {

constexpr int k_around = 64;
constexpr double k_gap = 0.0007;       // clearance between a part and what holds it
constexpr double k_on_table = 0.0005;  // between a part and the table

// Gears: module 3 mm, 14 and 20 teeth, so the axes are 51 mm apart. Placed so that the teeth reach equally far to the
// left and to the right.
constexpr double k_module = 0.003;
constexpr int k_pinion_teeth = 14, k_wheel_teeth = 20;
constexpr double k_input_x = -0.030, k_output_x = 0.021;

constexpr double k_bearing_inner = 0.0085, k_bearing_outer = 0.015, k_bearing_width = 0.007;
constexpr double k_journal = k_bearing_inner - k_gap, k_pocket = k_bearing_outer + k_gap;  // radii
constexpr double k_seat = 0.0095, k_collar = 0.013;                                        // of a gear on its shaft
constexpr double k_gear_width = 0.016;
constexpr double k_shank = 0.0035, k_head = 0.0065, k_head_height = 0.006;  // of a screw
constexpr double k_screw_x = 0.0685;

// Heights in the housing's frame, from below. What is held keeps the gap to what holds it.
constexpr double k_foot = -0.015;
constexpr double k_pocket_floor = 0.004, k_floor = 0.012;
constexpr double k_low_bearing = k_pocket_floor + k_gap;
constexpr double k_collar_bottom = k_low_bearing + k_bearing_width + k_gap, k_collar_top = k_collar_bottom + 0.004;
constexpr double k_gear_bottom = k_collar_top + k_gap, k_gear_top = k_gear_bottom + k_gear_width;
constexpr double k_cover_bottom = k_gear_top + k_gap, k_rim = k_cover_bottom - k_gap;
constexpr double k_high_bearing = k_cover_bottom;
constexpr double k_ceiling = k_high_bearing + k_bearing_width + k_gap, k_cover_top = k_ceiling + 0.004;
constexpr double k_screw_bottom = 0.0135;

// Outlines of housing and cover.
constexpr double k_x = 0.061, k_y = 0.040, k_wall = 0.006, k_ear_x = 0.076, k_ear_y = 0.009;

TriangleMesh make_housing() {
  BlockModel model;
  model.add_box({-k_x, -k_y, 0}, {k_x, k_y, k_rim});
  model.remove_box({-k_x + k_wall, -k_y + k_wall, k_floor}, {k_x - k_wall, k_y - k_wall, k_rim});
  for (const double side : {-1.0, 1.0}) {
    const double x0 = side > 0 ? k_x : -k_ear_x, x1 = side > 0 ? k_ear_x : -k_x;
    model.add_box({x0, -k_ear_y, 0}, {x1, k_ear_y, k_rim});
    model.remove_cylinder(side * k_screw_x, 0, k_shank + k_gap, k_screw_bottom - 0.0015, k_rim);
    // Cooling ribs along the long walls.
    for (const double x : {-0.048, -0.024, 0.0, 0.024, 0.048}) {
      const double y0 = side > 0 ? k_y : -k_y - 0.005, y1 = side > 0 ? k_y + 0.005 : -k_y;
      model.add_box({x - 0.002, y0, 0.004}, {x + 0.002, y1, k_rim - 0.006});
    }
    for (const double y : {-0.031, 0.031}) model.add_cylinder(side * 0.052, y, 0.0075, k_foot, 0);
  }
  for (const double x : {k_input_x, k_output_x}) model.remove_cylinder(x, 0, k_pocket, k_pocket_floor, k_floor);
  model.remove_cylinder(k_output_x, 0, k_bearing_inner, 0, k_pocket_floor);
  return model.mesh("gearbox housing", k_around);
}

// Its underside is at z = 0.
TriangleMesh make_cover() {
  const double top = k_cover_top - k_cover_bottom, ceiling = k_ceiling - k_cover_bottom;
  BlockModel model;
  model.add_box({-k_x, -k_y, 0}, {k_x, k_y, top});
  for (const double side : {-1.0, 1.0}) {
    model.add_box({side > 0 ? k_x : -k_ear_x, -k_ear_y, 0}, {side > 0 ? k_ear_x : -k_x, k_ear_y, top});
    model.remove_cylinder(side * k_screw_x, 0, k_shank + k_gap, 0, top);
  }
  for (const double x : {k_input_x, k_output_x}) model.remove_cylinder(x, 0, k_pocket, 0, ceiling);
  // Only the input shaft comes out at the top, through a raised ring.
  model.add_cylinder(k_input_x, 0, k_pocket, top, top + 0.003);
  model.remove_cylinder(k_input_x, 0, k_bearing_inner, ceiling, top + 0.003);
  return model.mesh("gearbox cover", k_around);
}

// Centred. A groove on either side between what would be its races.
TriangleMesh make_bearing() {
  const double h = 0.5 * k_bearing_width, c = 0.0006, groove = 0.001, in = k_bearing_inner, out = k_bearing_outer;
  const double groove_in = in + 0.0022, groove_out = out - 0.0018;
  TriangleMesh mesh = turn_profile({{out - c, -h},
                                    {out, c - h},
                                    {out, h - c},
                                    {out - c, h},
                                    {groove_out, h},
                                    {groove_out, h - groove},
                                    {groove_in, h - groove},
                                    {groove_in, h},
                                    {in + c, h},
                                    {in, h - c},
                                    {in, c - h},
                                    {in + c, -h},
                                    {groove_in, -h},
                                    {groove_in, groove - h},
                                    {groove_out, groove - h},
                                    {groove_out, -h}},
                                   true, k_around);
  mesh.name = "gearbox bearing";
  return mesh;
}

// Turned about z, in the heights of the housing: journal, collar, seat of the gear, journal.
TriangleMesh make_shaft(const char* name, double bottom, double top) {
  const double c = 0.001;
  TriangleMesh mesh = turn_profile({{0, bottom},
                                    {k_journal - c, bottom},
                                    {k_journal, bottom + c},
                                    {k_journal, k_collar_bottom},
                                    {k_collar, k_collar_bottom},
                                    {k_collar, k_collar_top},
                                    {k_seat, k_collar_top},
                                    {k_seat, k_gear_top - c},
                                    {k_seat - c, k_gear_top},
                                    {k_journal, k_gear_top},
                                    {k_journal, top - c},
                                    {k_journal - c, top},
                                    {0, top}},
                                   false, k_around);
  mesh.name = name;
  return mesh;
}

TriangleMesh make_gearbox_gear(const char* name, int teeth) {
  GearShape shape;
  shape.teeth = teeth;
  shape.module = k_module;
  shape.thickness = k_gear_width;
  shape.bore_radius = k_seat + k_gap;
  shape.backlash = 0.0014;  // half of it to each side of a tooth
  TriangleMesh mesh = make_gear(shape);
  mesh.name = name;
  return mesh;
}

// The underside of its head is at z = 0. A smooth shank: it is pushed in, not turned.
TriangleMesh make_screw() {
  const double c = 0.001, length = k_cover_top + k_gap - k_screw_bottom, socket = 0.003;
  TriangleMesh mesh = turn_profile({{0, -length},
                                    {k_shank - c, -length},
                                    {k_shank, c - length},
                                    {k_shank, 0},
                                    {k_head, 0},
                                    {k_head, k_head_height - 0.5 * c},
                                    {k_head - 0.5 * c, k_head_height},
                                    {socket, k_head_height},
                                    {socket, k_head_height - socket},
                                    {0, k_head_height - socket}},
                                   false, k_around);
  mesh.name = "gearbox screw";
  return mesh;
}

// Put down on the table at (x, y), turned by `rotation`: the lowest point just above the table.
Pose put_down(const TriangleMesh& mesh, double x, double y, const Quat& rotation = {}) {
  Box3d bounds;
  for (const Vec3d& v : mesh.vertices) bounds.add(rotate(rotation, v));
  const Vec3d middle = bounds.center();
  return {{x - middle.x, y - middle.y, k_gearbox_table + k_on_table - bounds.low.z}, rotation};
}

}  // namespace

std::vector<GearboxPart> make_gearbox() {
  const Quat lying = quat_from_rotation_vector({0, 0.5 * k_pi, 0}), upside_down{0, 1, 0, 0};
  const TriangleMesh bearing = make_bearing(), screw = make_screw();
  const double low = k_low_bearing + 0.5 * k_bearing_width, high = k_high_bearing + 0.5 * k_bearing_width;
  const double gear = k_gear_bottom + 0.5 * k_gear_width, head = k_cover_top + k_gap;
  // A tooth of the pinion points at the wheel, which therefore shows it a gap.
  const Quat half_a_tooth = quat_from_rotation_vector({0, 0, k_pi / k_wheel_teeth});

  std::vector<GearboxPart> parts;
  const auto add = [&](const char* name, TriangleMesh mesh, const Pose& assembled, const Pose& laid_out) {
    parts.push_back({name, std::move(mesh), assembled, laid_out});
  };
  add("housing", make_housing(), {}, {});
  add("input bearing, lower", bearing, {{k_input_x, 0, low}, {}}, put_down(bearing, 0.065, -0.070));
  add("output bearing, lower", bearing, {{k_output_x, 0, low}, {}}, put_down(bearing, 0.105, -0.070));
  TriangleMesh shaft = make_shaft("gearbox input shaft", k_pocket_floor + k_gap, 0.080);
  Pose lies = put_down(shaft, -0.060, -0.145, lying);
  add("input shaft", std::move(shaft), {{k_input_x, 0, 0}, {}}, lies);
  shaft = make_shaft("gearbox output shaft", -0.010, k_ceiling - k_gap);
  lies = put_down(shaft, 0.025, -0.145, lying);
  add("output shaft", std::move(shaft), {{k_output_x, 0, 0}, {}}, lies);
  TriangleMesh toothed = make_gearbox_gear("gearbox pinion", k_pinion_teeth);
  lies = put_down(toothed, 0.010, -0.090);
  add("pinion", std::move(toothed), {{k_input_x, 0, gear}, {}}, lies);
  toothed = make_gearbox_gear("gearbox wheel", k_wheel_teeth);
  lies = put_down(toothed, -0.060, -0.090);
  add("wheel", std::move(toothed), {{k_output_x, 0, gear}, half_a_tooth}, lies);
  add("input bearing, upper", bearing, {{k_input_x, 0, high}, {}}, put_down(bearing, 0.065, -0.110));
  add("output bearing, upper", bearing, {{k_output_x, 0, high}, {}}, put_down(bearing, 0.105, -0.110));
  TriangleMesh cover = make_cover();
  lies = put_down(cover, 0, 0.100);
  add("cover", std::move(cover), {{0, 0, k_cover_bottom}, {}}, lies);
  add("screw, left", screw, {{-k_screw_x, 0, head}, {}}, put_down(screw, 0.085, -0.145, upside_down));
  add("screw, right", screw, {{k_screw_x, 0, head}, {}}, put_down(screw, 0.110, -0.145, upside_down));
  return parts;
}

}  // namespace cotouch

// Gears and threads.
#include <cotouch/base/trig.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shapes/solids.h>

#include <algorithm>
#include <functional>

namespace cotouch {
namespace {

// One tooth and one gap after another, counter-clockwise. The angle of half a tooth at radius r shrinks along the
// involute of the base circle: psi(r) = psi(pitch) + inv(pressure angle) - inv(angle at r), inv(a) = tan a - a.
std::vector<Vec3d> gear_outline(const GearShape& shape) {
  const double pitch = 0.5 * shape.module * shape.teeth;
  const double tip = pitch + shape.module, root = pitch - 1.25 * shape.module;
  const SinCos pressure = sin_cos(shape.pressure_angle * k_pi / 180);
  const double base = pitch * pressure.cos;
  const auto involute = [&](double r) {
    const double tangent = r > base ? std::sqrt(r * r / (base * base) - 1) : 0;
    return tangent - angle_of(tangent, 1);
  };
  const double half_at_pitch = 0.5 * (k_pi * shape.module - shape.backlash) / (2 * pitch);
  const auto half_angle = [&](double r) { return half_at_pitch + involute(pitch) - involute(r); };

  // Below the base circle the flank goes straight to the root, which is a little wider: angles grow all the way around,
  // so that rays from the axis meet the outline once.
  const double start = std::max(base, root);
  std::vector<ProfilePoint> flank;  // radius and angle from the tooth's middle
  if (root < base) flank.push_back({root, 1.04 * half_angle(base)});
  for (int i = 0; i <= shape.flank_steps; ++i) {
    const double r = start + (tip - start) * i / shape.flank_steps;
    flank.push_back({r, half_angle(r)});
  }
  require(flank.back().z > 0, "A gear tooth ends in a point; use fewer or larger teeth.");
  require(flank.front().z < k_pi / shape.teeth, "Gear teeth run into each other; use fewer teeth or more backlash.");
  std::vector<Vec3d> outline;
  const auto add = [&](double r, double angle) {
    const SinCos t = sin_cos(angle);
    outline.push_back({r * t.cos, r * t.sin, 0});
  };
  for (int tooth = 0; tooth < shape.teeth; ++tooth) {
    const double middle = 2 * k_pi * tooth / shape.teeth;
    for (const ProfilePoint& p : flank) add(p.radius, middle - p.z);
    for (auto p = flank.rbegin(); p != flank.rend(); ++p) add(p->radius, middle + p->z);
  }
  return outline;
}

// How far the thread stands out at a height and an angle, between 0 and 1: flat crests and roots of a quarter pitch
// with straight flanks between. Rising with the angle makes it right-handed.
double thread(double z, double angle, double pitch) {
  const double turns = z / pitch - angle / (2 * k_pi);
  const double from_middle = std::fabs(2 * (turns - std::floor(turns)) - 1);
  return std::clamp(2 * (0.75 - from_middle), 0.0, 1.0);
}

// Adds rings of vertices at distance radius(z, angle) from the z axis, `count` of them evenly from z = 0 to `top`.
void add_wall(TriangleMesh& mesh, int count, double top, int steps,
              const std::function<double(double, double)>& radius) {
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < steps; ++j) {
      const double z = top * i / (count - 1), angle = 2 * k_pi * j / steps;
      const SinCos t = sin_cos(angle);
      const double r = radius(z, angle);
      mesh.vertices.push_back({r * t.cos, r * t.sin, z});
    }
}

void check(const ThreadShape& shape) {
  require(shape.core_radius > 0 && shape.depth >= 0 && shape.pitch > 0 && shape.length > 2 * shape.pitch,
          "A threaded peg needs a core and a length of more than two turns.");
  require(shape.steps >= 8 && shape.steps % 8 == 0 && shape.rings_per_pitch >= 4,
          "A thread needs a multiple of eight steps around and four rings a turn.");
  require(shape.clearance >= 0 && 0.5 * shape.block_width > shape.core_radius + shape.depth + shape.clearance,
          "A threaded block must be wider than its hole.");
}

}  // namespace

TriangleMesh make_gear(const GearShape& shape) {
  require(shape.teeth >= 6 && shape.module > 0 && shape.thickness > 0 && shape.flank_steps >= 1,
          "A gear needs at least six teeth, a module and a thickness.");
  require(shape.bore_radius > 0 && shape.bore_radius < 0.5 * shape.module * shape.teeth - 1.5 * shape.module,
          "A gear's bore must stay inside the roots of its teeth.");
  const std::vector<Vec3d> outline = gear_outline(shape);
  const auto count = static_cast<std::uint32_t>(outline.size());
  const double h = 0.5 * shape.thickness;
  // Rings of equally many vertices: outline and bore, below and above.
  TriangleMesh mesh;
  mesh.name = "gear";
  for (const double z : {-h, h}) {
    for (const Vec3d& p : outline) mesh.vertices.push_back({p.x, p.y, z});
    // The bore's vertices lie on the rays to the outline's.
    for (const Vec3d& p : outline) {
      const double to_bore = shape.bore_radius / std::sqrt(p.x * p.x + p.y * p.y);
      mesh.vertices.push_back({p.x * to_bore, p.y * to_bore, z});
    }
  }
  const std::uint32_t low_teeth = 0, low_bore = count, high_teeth = 2 * count, high_bore = 3 * count;
  join_rings(mesh, low_teeth, high_teeth, count);
  join_rings(mesh, high_teeth, high_bore, count);
  join_rings(mesh, high_bore, low_bore, count);
  join_rings(mesh, low_bore, low_teeth, count);
  return mesh;
}

TriangleMesh make_threaded_peg(const ThreadShape& shape) {
  check(shape);
  const int rings = static_cast<int>(shape.length / shape.pitch * shape.rings_per_pitch) + 1;
  // The thread runs out over half a turn's height at both ends, so that the peg finds its hole.
  const auto radius = [&](double z, double angle) {
    const double full = std::clamp(2 * std::min(z, shape.length - z) / shape.pitch, 0.0, 1.0);
    return shape.core_radius + shape.depth * std::min(full, thread(z, angle, shape.pitch));
  };
  TriangleMesh mesh;
  mesh.name = "threaded peg";
  add_wall(mesh, rings, shape.length, shape.steps, radius);
  const auto around = static_cast<std::uint32_t>(shape.steps), top = static_cast<std::uint32_t>(rings - 1) * around;
  for (std::uint32_t i = 0; i < top; i += around) join_rings(mesh, i, i + around, around);
  const auto centre = static_cast<std::uint32_t>(mesh.vertices.size());
  mesh.vertices.insert(mesh.vertices.end(), {{0, 0, 0}, {0, 0, shape.length}});
  for (std::uint32_t j = 0; j < around; ++j) {
    const std::uint32_t next = (j + 1) % around;
    mesh.triangles.push_back({centre, next, j});
    mesh.triangles.push_back({centre + 1, top + j, top + next});
  }
  return mesh;
}

TriangleMesh make_threaded_block(const ThreadShape& shape) {
  check(shape);
  require(shape.block_height > 0, "A threaded block needs a height.");
  const int rings = std::max(2, static_cast<int>(shape.block_height / shape.pitch * shape.rings_per_pitch) + 1);
  const auto around = static_cast<std::uint32_t>(shape.steps);
  TriangleMesh mesh;
  mesh.name = "threaded block";
  add_wall(mesh, rings, shape.block_height, shape.steps, [&](double z, double angle) {
    return shape.core_radius + shape.clearance + shape.depth * thread(z, angle, shape.pitch);
  });
  // The square outside as two rings; a multiple of eight steps puts vertices on its corners.
  const auto outside = static_cast<std::uint32_t>(mesh.vertices.size());
  add_wall(mesh, 2, shape.block_height, shape.steps, [&](double, double angle) {
    const SinCos t = sin_cos(angle);
    return 0.5 * shape.block_width / std::max(std::fabs(t.cos), std::fabs(t.sin));
  });
  const std::uint32_t top = static_cast<std::uint32_t>(rings - 1) * around;
  for (std::uint32_t i = 0; i < top; i += around) join_rings(mesh, i + around, i, around);
  join_rings(mesh, 0, outside, around);
  join_rings(mesh, outside, outside + around, around);
  join_rings(mesh, outside + around, top, around);
  return mesh;
}

}  // namespace cotouch

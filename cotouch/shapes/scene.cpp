#include <cotouch/base/trig.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shapes/solids.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr double k_degree = k_pi / 180;

void add_box(TriangleMesh& mesh, const Vec3d& low, const Vec3d& high) {
  TriangleMesh box = make_box(high - low);
  translate(box, (low + high) * 0.5);
  append(mesh, box);
}

// Points of a circle about the origin of the (radius, z) plane from angle `from` to `to`, measured from the axis
// downwards (-z) towards the outside. Where the arc touches the axis the radius is exactly zero.
void add_arc(std::vector<ProfilePoint>& profile, double radius, double from, double to, int steps) {
  for (int i = 0; i <= steps; ++i) {
    const double angle = from + (to - from) * i / steps;
    const SinCos t = sin_cos(angle);
    profile.push_back({angle == 0 ? 0 : radius * t.sin, -radius * t.cos});
  }
}

}  // namespace

TriangleMesh make_ball(const BallJointShape& shape) {
  require(shape.stem_radius > 0 && shape.stem_radius < shape.radius && shape.stem_length > shape.radius,
          "A ball needs a stem that is thinner than the ball and sticks out of it.");
  std::vector<ProfilePoint> profile;
  const double meet = std::sqrt(shape.radius * shape.radius - shape.stem_radius * shape.stem_radius);
  add_arc(profile, shape.radius, 0, k_pi - angle_of(shape.stem_radius, meet), shape.steps / 2);
  // The stem in pieces about as long as they are wide.
  const int pieces = std::max(1, static_cast<int>((shape.stem_length - meet) * shape.steps / (8 * shape.stem_radius)));
  for (int i = 1; i <= pieces; ++i)
    profile.push_back({shape.stem_radius, meet + (shape.stem_length - meet) * i / pieces});
  profile.push_back({0, shape.stem_length});
  TriangleMesh mesh = turn_profile(profile, false, shape.steps);
  mesh.name = "ball";
  return mesh;
}

TriangleMesh make_socket(const BallJointShape& shape) {
  require(shape.opening > 0 && shape.opening < 180 && shape.wall > 0 && shape.clearance >= 0,
          "A socket needs a wall and an opening between 0 and 180 degrees.");
  const double inner = shape.radius + shape.clearance;
  const double rim = k_pi - shape.opening * k_degree;
  std::vector<ProfilePoint> profile;
  add_arc(profile, inner + shape.wall, 0, rim, shape.steps / 2);
  add_arc(profile, inner, rim, 0, shape.steps / 2);
  TriangleMesh mesh = turn_profile(profile, false, shape.steps);
  mesh.name = "socket";
  return mesh;
}

TriangleMesh make_bridge(const BridgeShape& shape) {
  require(shape.arches >= 1 && shape.posts >= 2 && shape.arch_steps >= 2, "A bridge needs an arch and two posts.");
  TriangleMesh mesh;
  mesh.name = "bridge";
  const double half = 0.5 * shape.length, side = 0.5 * shape.width, deck = 0.08 * shape.height;
  add_box(mesh, {-half, -side, -deck}, {half, side, 0});

  // Pillars at the ends of each span, and between them round arches: half rings, flat against the deck's underside.
  const double span = shape.length / shape.arches, pillar = 0.08 * span, depth = 0.2 * shape.width;
  const double outer = 0.5 * span, inner = 0.5 * span - pillar;
  const double spring = std::max(-deck - outer, -0.8 * shape.height);  // where the arches begin
  const double rise = (-0.5 * deck - spring) / outer;                  // flattened where the bridge is low
  for (const double y : {-side, side - depth}) {
    for (int i = 0; i <= shape.arches; ++i) {
      const double x = -half + span * i;
      add_box(mesh, {std::max(x - pillar, -half), y, -shape.height},
              {std::min(x + pillar, half), y + depth, -0.5 * deck});
    }
    for (int i = 0; i < shape.arches; ++i) {
      std::vector<Vec3d> outline;
      for (int k = 0; k <= shape.arch_steps; ++k) {
        const SinCos t = sin_cos(k_pi * k / shape.arch_steps);
        outline.push_back({outer * t.cos, outer * rise * t.sin, 0});
      }
      for (int k = shape.arch_steps; k >= 0; --k) {
        const SinCos t = sin_cos(k_pi * k / shape.arch_steps);
        outline.push_back({inner * t.cos, inner * rise * t.sin, 0});
      }
      // Drawn in the xy plane, raised along z, then stood up: (x, y, z) becomes (x, -z, y).
      TriangleMesh arch = extrude(outline, depth);
      for (Vec3d& v : arch.vertices) v = {v.x, -v.z, v.y};
      translate(arch, {-half + span * (i + 0.5), y + depth, spring});
      append(mesh, arch);
    }
  }
  // Rails: posts along both sides under a bar.
  const double rail = 0.25 * shape.height, thin = 0.02 * shape.height;
  for (const double y : {-side + 2 * thin, side - 2 * thin}) {
    for (int i = 0; i < shape.posts; ++i) {
      TriangleMesh post = make_cylinder(thin, rail + deck * 0.5, 12);
      translate(post,
                {-half + 2 * thin + (shape.length - 4 * thin) * i / (shape.posts - 1), y, 0.5 * rail - deck * 0.25});
      append(mesh, post);
    }
    append(mesh, sweep_tube({{-half, y, rail}, {half, y, rail}}, {1.5 * thin, 1.5 * thin}, 16));
  }
  return mesh;
}

TriangleMesh make_hose(const HoseShape& shape) {
  require(shape.segments >= 2 && shape.wall >= 0 && shape.wall < shape.radius,
          "A hose needs a wall thinner than itself.");
  std::vector<Vec3d> path;
  for (int i = 0; i <= shape.segments; ++i) {
    const double t = static_cast<double>(i) / shape.segments;
    path.push_back({shape.length * (t - 0.5), shape.sway * sin_cos(2 * k_pi * t).sin,
                    0.5 * shape.sway * sin_cos(3 * k_pi * t).sin});
  }
  TriangleMesh mesh = shape.wall > 0 ? sweep_hollow_tube(path, shape.radius - shape.wall, shape.radius, shape.steps)
                                     : sweep_tube(path, std::vector<double>(path.size(), shape.radius), shape.steps);
  mesh.name = "hose";
  return mesh;
}

TriangleMesh make_open_box(const BoxAndBracketShape& shape) {
  const double w = shape.wall;
  require(w > 0 && 2 * w < shape.box.x && 2 * w < shape.box.y && w < shape.box.z, "A box needs walls that leave room.");
  TriangleMesh mesh;
  mesh.name = "open box";
  // Four rings of four corners: outside at the bottom and at the rim, inside at the rim and at the floor.
  const double x = 0.5 * shape.box.x, y = 0.5 * shape.box.y, z = shape.box.z;
  for (const auto& [hx, hy, at] : {Vec3d{x, y, 0}, Vec3d{x, y, z}, Vec3d{x - w, y - w, z}, Vec3d{x - w, y - w, w}})
    mesh.vertices.insert(mesh.vertices.end(), {{-hx, -hy, at}, {hx, -hy, at}, {hx, hy, at}, {-hx, hy, at}});
  for (std::uint32_t ring = 0; ring < 3; ++ring) join_rings(mesh, 4 * ring, 4 * ring + 4, 4);
  mesh.triangles.insert(mesh.triangles.end(), {{0, 2, 1}, {0, 3, 2}, {12, 13, 14}, {12, 14, 15}});
  return mesh;
}

TriangleMesh make_bracket(const BoxAndBracketShape& shape) {
  const Vec3d& size = shape.bracket;
  const double s = shape.sheet;
  require(s > 0 && s < size.x && s < size.z && size.y > 0, "A bracket needs a sheet thinner than its sides.");
  // An L in the xz plane, drawn in xy and stood up, foot on z = 0, back at x = 0.
  TriangleMesh mesh =
      extrude({{0, 0, 0}, {size.x, 0, 0}, {size.x, s, 0}, {s, s, 0}, {s, size.z, 0}, {0, size.z, 0}}, size.y);
  for (Vec3d& v : mesh.vertices) v = {v.x, 0.5 * size.y - v.z, v.y};
  mesh.name = "bracket";
  return mesh;
}

}  // namespace cotouch

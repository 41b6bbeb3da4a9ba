#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/mesh/triangulate.h>
#include <cotouch/shapes/solids.h>

namespace cotouch {
namespace {

// Adds a ring of vertices of each radius at each point of the path; returns the first vertex of each ring. Seen along
// the path, rings run clockwise as they do in turn_profile about z.
std::vector<std::uint32_t> add_rings(TriangleMesh& mesh, const std::vector<Vec3d>& path,
                                     const std::vector<double>& radii, std::uint32_t steps) {
  std::vector<std::uint32_t> first;
  Vec3d side;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Vec3d along = normalized(path[i + 1 < path.size() ? i + 1 : i] - path[i > 0 ? i - 1 : i]);
    if (i == 0) {
      // Any direction across the path; the axis it is least aligned with gives a good one.
      const Vec3d a{std::fabs(along.x), std::fabs(along.y), std::fabs(along.z)};
      const Vec3d axis = a.x <= a.y && a.x <= a.z ? Vec3d{1, 0, 0} : a.y <= a.z ? Vec3d{0, 1, 0} : Vec3d{0, 0, 1};
      side = axis;
    }
    side = normalized(side - along * dot(side, along));
    const Vec3d up = cross(along, side);
    first.push_back(static_cast<std::uint32_t>(mesh.vertices.size()));
    for (std::uint32_t j = 0; j < steps; ++j) {
      const SinCos t = sin_cos(2 * k_pi * j / steps);
      mesh.vertices.push_back(path[i] + side * (radii[i] * t.cos) + up * (radii[i] * t.sin));
    }
  }
  return first;
}

}  // namespace

void require(bool holds, const char* message) {
  if (!holds) throw Error(message, ErrorCode::invalid_argument);
}

void translate(TriangleMesh& mesh, const Vec3d& by) {
  for (Vec3d& v : mesh.vertices) v += by;
}

void join_rings(TriangleMesh& mesh, std::uint32_t lower, std::uint32_t upper, std::uint32_t count) {
  for (std::uint32_t j = 0; j < count; ++j) {
    const std::uint32_t next = (j + 1) % count;
    mesh.triangles.push_back({lower + j, lower + next, upper + next});
    mesh.triangles.push_back({lower + j, upper + next, upper + j});
  }
}

TriangleMesh sweep_tube(const std::vector<Vec3d>& path, const std::vector<double>& radii, int steps) {
  require(path.size() >= 2 && radii.size() == path.size() && steps >= 3,
          "A tube needs a path and three steps around it.");
  TriangleMesh mesh;
  const auto around = static_cast<std::uint32_t>(steps);
  const std::vector<std::uint32_t> rings = add_rings(mesh, path, radii, around);
  for (std::size_t i = 0; i + 1 < rings.size(); ++i) join_rings(mesh, rings[i], rings[i + 1], around);
  const auto begin = static_cast<std::uint32_t>(mesh.vertices.size()), end = begin + 1;
  mesh.vertices.push_back(path.front());
  mesh.vertices.push_back(path.back());
  for (std::uint32_t j = 0; j < around; ++j) {
    const std::uint32_t next = (j + 1) % around;
    mesh.triangles.push_back({begin, rings.front() + next, rings.front() + j});
    mesh.triangles.push_back({end, rings.back() + j, rings.back() + next});
  }
  return mesh;
}

TriangleMesh sweep_hollow_tube(const std::vector<Vec3d>& path, double inner, double outer, int steps) {
  require(path.size() >= 2 && inner > 0 && outer > inner && steps >= 3, "A hollow tube needs a path and a wall.");
  TriangleMesh mesh;
  const auto around = static_cast<std::uint32_t>(steps);
  const std::vector<std::uint32_t> outside = add_rings(mesh, path, std::vector<double>(path.size(), outer), around);
  const std::vector<std::uint32_t> inside = add_rings(mesh, path, std::vector<double>(path.size(), inner), around);
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    join_rings(mesh, outside[i], outside[i + 1], around);
    join_rings(mesh, inside[i + 1], inside[i], around);
  }
  join_rings(mesh, inside.front(), outside.front(), around);
  join_rings(mesh, outside.back(), inside.back(), around);
  return mesh;
}

TriangleMesh extrude(const std::vector<Vec3d>& outline, double height) {
  require(outline.size() >= 3 && height > 0, "A prism needs an outline and a height.");
  TriangleMesh mesh;
  const auto count = static_cast<std::uint32_t>(outline.size());
  std::vector<std::uint32_t> top, bottom;
  for (const Vec3d& p : outline) mesh.vertices.push_back({p.x, p.y, 0});
  for (const Vec3d& p : outline) mesh.vertices.push_back({p.x, p.y, height});
  join_rings(mesh, 0, count, count);
  for (std::uint32_t i = 0; i < count; ++i) {
    top.push_back(count + i);
    bottom.push_back(count - 1 - i);
  }
  add_polygon(mesh, top);
  add_polygon(mesh, bottom);
  return mesh;
}

TriangleMesh make_grid_box(const Vec3d& size, int n) {
  require(n >= 1 && n <= 1000, "A box can be cut into 1 to 1000 squares along each edge.");
  TriangleMesh mesh;
  const auto cells = static_cast<std::size_t>(n), points = cells + 1;
  // Vertices shared between faces are found by their place in the lattice.
  std::vector<std::uint32_t> lattice(points * points * points, 0xffffffff);
  const auto vertex = [&](std::array<std::size_t, 3> at) {
    std::uint32_t& index = lattice[(at[2] * points + at[1]) * points + at[0]];
    if (index == 0xffffffff) {
      index = static_cast<std::uint32_t>(mesh.vertices.size());
      Vec3d p;
      for (std::size_t i = 0; i < 3; ++i) p[i] = size[i] * (static_cast<double>(at[i]) / n - 0.5);
      mesh.vertices.push_back(p);
    }
    return index;
  };
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const bool high : {false, true})
      for (std::size_t u = 0; u < cells; ++u)
        for (std::size_t v = 0; v < cells; ++v) {
          const auto corner = [&](std::size_t du, std::size_t dv) {
            std::array<std::size_t, 3> at{};
            at[axis] = high ? cells : 0;
            at[(axis + 1) % 3] = u + du;
            at[(axis + 2) % 3] = v + dv;
            return vertex(at);
          };
          const std::uint32_t a = corner(0, 0), b = corner(1, 0), c = corner(1, 1), d = corner(0, 1);
          if (high)
            mesh.triangles.insert(mesh.triangles.end(), {{a, b, c}, {a, c, d}});
          else
            mesh.triangles.insert(mesh.triangles.end(), {{a, c, b}, {a, d, c}});
        }
  return mesh;
}

TriangleMesh turn_profile(const std::vector<ProfilePoint>& profile, bool closed, int steps) {
  require(steps >= 3 && profile.size() >= 3,
          "A turned shape needs at least three steps and a profile of three points.");
  TriangleMesh mesh;
  const auto around = static_cast<std::uint32_t>(steps);
  std::vector<SinCos> turns;
  for (std::uint32_t j = 0; j < around; ++j) turns.push_back(sin_cos(2 * k_pi * j / around));

  // One ring of vertices a profile point; a point on the axis is a single vertex.
  std::vector<std::uint32_t> first;
  std::vector<bool> on_axis;
  for (const ProfilePoint& p : profile) {
    first.push_back(static_cast<std::uint32_t>(mesh.vertices.size()));
    on_axis.push_back(p.radius == 0);
    if (p.radius == 0)
      mesh.vertices.push_back({0, 0, p.z});
    else
      for (const SinCos& t : turns) mesh.vertices.push_back({p.radius * t.cos, p.radius * t.sin, p.z});
  }
  const std::size_t segments = closed ? profile.size() : profile.size() - 1;
  for (std::size_t i = 0; i < segments; ++i) {
    const std::size_t k = (i + 1) % profile.size();
    for (std::uint32_t j = 0; j < around; ++j) {
      const std::uint32_t next = (j + 1) % around;
      const std::uint32_t a = first[i] + (on_axis[i] ? 0 : j), b = first[i] + (on_axis[i] ? 0 : next);
      const std::uint32_t c = first[k] + (on_axis[k] ? 0 : next), d = first[k] + (on_axis[k] ? 0 : j);
      if (!on_axis[i]) mesh.triangles.push_back({a, b, c});
      if (!on_axis[k]) mesh.triangles.push_back({a, c, d});
    }
  }
  return mesh;
}

}  // namespace cotouch

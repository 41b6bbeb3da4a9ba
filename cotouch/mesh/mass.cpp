#include <cotouch/mesh/mass.h>

#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/mesh/report.h>
#include <cotouch/mesh/winding.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr std::size_t k_points_judged = 2000;  // of a surface, about

Mat3 symmetric(const Vec3d& diagonal, const Vec3d& off) {  // off: yz, zx, xy
  return {{diagonal.x, off.z, off.y, off.z, diagonal.y, off.x, off.y, off.x, diagonal.z}};
}

// What a mass adds to the inertia about a point at distance `r` from its centre.
Mat3 point_inertia(double mass, const Vec3d& r) {
  return symmetric({mass * (r.y * r.y + r.z * r.z), mass * (r.z * r.z + r.x * r.x), mass * (r.x * r.x + r.y * r.y)},
                   {-mass * (r.y * r.z), -mass * (r.z * r.x), -mass * (r.x * r.y)});
}

Mat3 made_symmetric(const Mat3& m) {
  return symmetric({m(0, 0), m(1, 1), m(2, 2)},
                   {0.5 * (m(1, 2) + m(2, 1)), 0.5 * (m(2, 0) + m(0, 2)), 0.5 * (m(0, 1) + m(1, 0))});
}

}  // namespace

MassProperties mass_properties(const VolumeMoments& moments, const Vec3d& from, double density) {
  if (!(density > 0) || !std::isfinite(density))
    throw Error("A density must be positive, in kilograms per cubic metre.");
  if (!(moments.volume > 0) || !std::isfinite(moments.volume))
    throw Error(
        "A part encloses no volume, so its mass cannot be computed; state its mass, centre and inertia instead.");
  const Vec3d c = moments.first / moments.volume;
  MassProperties out;
  out.mass = density * moments.volume;
  out.center = from + c;
  const Vec3d& s = moments.squares;
  const Vec3d& p = moments.products;
  const Mat3 about_from = symmetric({s.y + s.z, s.z + s.x, s.x + s.y}, -p);
  out.inertia = (about_from - point_inertia(moments.volume, c)) * density;
  return out;
}

MassProperties mass_properties(const TriangleMesh& mesh, double density) {
  // Each triangle and the middle of the bounds span a signed tetrahedron. Measured from the middle, a part far from its
  // origin loses no digits.
  const Vec3d from = mesh.bounds().center();
  VolumeMoments sum;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto corners = mesh.corners(t);
    const Vec3d a = corners[0] - from, b = corners[1] - from, c = corners[2] - from;
    const double six_volumes = dot(a, cross(b, c));
    const Vec3d s = a + b + c;
    // Integral of x_i x_j over the tetrahedron: 6V/120 * (a_i a_j + b_i b_j + c_i c_j + s_i s_j).
    const auto product = [&](std::size_t i, std::size_t j) {
      return six_volumes * (a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + s[i] * s[j]) / 120;
    };
    sum.volume += six_volumes / 6;
    sum.first += s * (six_volumes / 24);
    sum.squares += Vec3d{product(0, 0), product(1, 1), product(2, 2)};
    sum.products += Vec3d{product(1, 2), product(2, 0), product(0, 1)};
  }
  return mass_properties(sum, from, density);
}

bool is_solid(const TriangleMesh& mesh) {
  TriangleMesh clean = mesh;
  const MeshReport report = clean_mesh(clean);
  if (!report.closed() || report.triangles == 0 || report.crossings.crossing > 0) return false;
  // In front of the surface it winds around no point, behind it once: looked at in the middles of equal pieces of each
  // triangle, so many that large triangles are seen all over.
  const WindingNumber winding(clean);
  const std::size_t step = 1 + (clean.triangles.size() - 1) / k_points_judged;
  for (std::size_t t = 0; t < clean.triangles.size(); t += step) {
    const auto [a, b, c] = clean.corners(t);
    const Vec3d across = cross(b - a, c - a);
    const auto cuts =
        static_cast<std::size_t>(std::ceil(std::sqrt(k_points_judged * 0.5 * norm(across) / report.area)));
    const auto n = static_cast<double>(cuts);
    const double longest = std::sqrt(std::max({norm_squared(b - a), norm_squared(c - b), norm_squared(a - c)}));
    // A thousandth of a piece's height: close enough that nothing else is between.
    const Vec3d in_front = normalized(across) * (1e-3 * norm(across) / (longest * n));
    for (std::size_t i = 0; i < cuts; ++i)
      for (std::size_t j = 0; j < 2 * (cuts - i) - 1; ++j) {
        // In row i pieces alternate between upright (j even) and upside down.
        const double third = j % 2 == 0 ? 1.0 / 3 : 2.0 / 3;
        const double u = (static_cast<double>(i) + third) / n, v = (static_cast<double>(j >> 1) + third) / n;
        throw_if_cancelled();
        const Vec3d p = a + (b - a) * v + (c - a) * u;
        if (std::fabs(winding.at(p + in_front)) > 0.25 || std::fabs(winding.at(p - in_front) - 1) > 0.25) return false;
      }
  }
  return true;
}

MassProperties transformed(const MassProperties& matter, const Pose& pose) {
  const Mat3 r = rotation_matrix(pose.rotation);
  return {matter.mass, transform(pose, matter.center), made_symmetric(r * matter.inertia * r.transposed())};
}

MassProperties combined(std::span<const PlacedMass> parts) {
  MassProperties out;
  Vec3d first;
  for (const PlacedMass& part : parts) {
    out.mass += part.matter.mass;
    first += transform(part.pose, part.matter.center) * part.matter.mass;
  }
  if (!(out.mass > 0)) return {};
  out.center = first / out.mass;
  for (const PlacedMass& part : parts) {
    const MassProperties placed = transformed(part.matter, part.pose);
    out.inertia = out.inertia + placed.inertia + point_inertia(placed.mass, placed.center - out.center);
  }
  return out;
}

bool is_physical(const MassProperties& matter) {
  const Mat3& inertia = matter.inertia;
  for (const double value : inertia.m)
    if (!std::isfinite(value)) return false;
  if (!(matter.mass > 0) || !std::isfinite(matter.mass) || !is_finite(matter.center)) return false;
  if (inertia(0, 1) != inertia(1, 0) || inertia(1, 2) != inertia(2, 1) || inertia(2, 0) != inertia(0, 2)) return false;
  const double trace = inertia(0, 0) + inertia(1, 1) + inertia(2, 2);
  if (!(trace > 0)) return false;
  // The integral of r r^T is (trace/2) E - inertia. It must have no negative eigenvalue (that is the rule about the
  // principal moments), so no negative principal minor; the inertia itself must be invertible.
  const Mat3 spread = (Mat3::identity() * (0.5 * trace) - inertia) * (1 / trace);
  const auto minor2 = [](const Mat3& m, std::size_t i, std::size_t j) { return m(i, i) * m(j, j) - m(i, j) * m(j, i); };
  const auto determinant = [](const Mat3& m) {
    return dot(Vec3d{m(0, 0), m(0, 1), m(0, 2)},
               cross(Vec3d{m(1, 0), m(1, 1), m(1, 2)}, Vec3d{m(2, 0), m(2, 1), m(2, 2)}));
  };
  constexpr double k_rounding = 1e-9;  // of one; a sheet's smallest eigenvalue is zero
  for (std::size_t i = 0; i < 3; ++i)
    if (spread(i, i) < -k_rounding || minor2(spread, i, (i + 1) % 3) < -k_rounding) return false;
  return determinant(spread) >= -k_rounding && determinant(inertia * (1 / trace)) > 0;
}

}  // namespace cotouch

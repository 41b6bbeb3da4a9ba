#include <cotouch/base/random.h>
#include <cotouch/base/trig.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shapes/solids.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

// Makes pieces of about a given number of triangles somewhere in a box around the origin.
class ClutterMaker {
 public:
  ClutterMaker(std::uint64_t seed, const Vec3d& size) : random_(seed), size_(size) {}

  TriangleMesh piece(double triangles) {
    switch (random_.below(8)) {
      case 0:
      case 1:
      case 2: return pipe(triangles);
      case 3:
      case 4: return housing(triangles);
      case 5: return rib(triangles);
      default: return bolt(triangles);
    }
  }

 private:
  double across() const { return std::min({size_.x, size_.y, size_.z}); }
  Vec3d somewhere(double margin) {
    const Vec3d room = size_ * (1 - margin);
    return {random_.uniform(-0.5, 0.5) * room.x, random_.uniform(-0.5, 0.5) * room.y,
            random_.uniform(-0.5, 0.5) * room.z};
  }

  // A bent pipe: a cubic curve between two places.
  TriangleMesh pipe(double triangles) {
    const Vec3d a = somewhere(0.15), b = somewhere(0.15), c = somewhere(0.15), d = somewhere(0.15);
    const double radius = across() * random_.uniform(0.01, 0.035);
    // About square cells: eight to forty steps around, the rest along.
    const int steps = std::clamp(static_cast<int>(std::sqrt(triangles / 12)), 8, 64);
    const int segments = std::max(6, static_cast<int>(triangles / (2 * steps)) - 1);
    std::vector<Vec3d> path;
    for (int i = 0; i <= segments; ++i) {
      const double t = static_cast<double>(i) / segments, u = 1 - t;
      path.push_back(a * (u * u * u) + b * (3 * u * u * t) + c * (3 * u * t * t) + d * (t * t * t));
    }
    return sweep_tube(path, std::vector<double>(path.size(), radius), steps);
  }

  TriangleMesh box(const Vec3d& size, double triangles) {
    TriangleMesh mesh = make_grid_box(size, std::clamp(static_cast<int>(std::sqrt(triangles / 12)), 1, 400));
    translate(mesh, somewhere(0.3));
    return mesh;
  }
  TriangleMesh housing(double triangles) {
    const double s = across();
    const double x = random_.uniform(0.08, 0.25), y = random_.uniform(0.08, 0.25), z = random_.uniform(0.05, 0.2);
    return box(Vec3d{x, y, z} * s, triangles);
  }
  TriangleMesh rib(double triangles) {
    const double s = across();
    const double length = random_.uniform(0.15, 0.3), height = random_.uniform(0.03, 0.08);
    const bool turned = random_.below(2) == 0;
    return box(Vec3d{turned ? 0.012 : length, turned ? length : 0.012, height} * s, triangles);
  }

  // A round shank with a wider head and a washer, standing upright or lying along x or y.
  TriangleMesh bolt(double triangles) {
    const double r = across() * random_.uniform(0.008, 0.02), length = r * random_.uniform(5, 10);
    const std::vector<ProfilePoint> corners = {{0, 0},
                                               {r, 0},
                                               {r, length},
                                               {2.2 * r, length},
                                               {2.2 * r, length + 0.4 * r},
                                               {1.8 * r, length + 0.4 * r},
                                               {1.8 * r, length + 1.6 * r},
                                               {0, length + 1.6 * r}};
    const int steps = std::clamp(static_cast<int>(std::sqrt(triangles / 2)), 6, 96);
    // Each of the seven sides of the profile in equally many pieces; the two that end on the axis lose a triangle each.
    const int pieces = std::max(1, static_cast<int>(std::lround((triangles / steps + 2) / 14)));
    std::vector<ProfilePoint> profile;
    for (std::size_t i = 0; i + 1 < corners.size(); ++i)
      for (int k = 0; k < pieces; ++k) {
        const double t = static_cast<double>(k) / pieces;
        profile.push_back({corners[i].radius + (corners[i + 1].radius - corners[i].radius) * t,
                           corners[i].z + (corners[i + 1].z - corners[i].z) * t});
      }
    profile.push_back(corners.back());
    TriangleMesh mesh = turn_profile(profile, false, steps);
    const std::uint64_t along = random_.below(3);
    for (Vec3d& v : mesh.vertices) v = along == 0 ? v : along == 1 ? Vec3d{v.z, v.x, v.y} : Vec3d{v.y, v.z, v.x};
    translate(mesh, somewhere(0.4));
    return mesh;
  }

  Random random_;
  Vec3d size_;
};

}  // namespace

TriangleMesh make_clutter(const ClutterShape& shape) {
  require(shape.triangles >= 1000 && shape.triangles <= 50'000'000,
          "Clutter has between a thousand and 50 million triangles.");
  require(shape.size.x > 0 && shape.size.y > 0 && shape.size.z > 0, "Clutter needs a box to be in.");
  TriangleMesh mesh;
  mesh.name = "clutter";
  mesh.triangles.reserve(shape.triangles + shape.triangles / 16);
  mesh.vertices.reserve(shape.triangles / 2 + shape.triangles / 16);
  // More triangles make more pieces, and finer ones: both grow as the square root, once there are thirty pieces.
  const auto pieces = static_cast<std::size_t>(std::max(30.0, std::sqrt(static_cast<double>(shape.triangles) * 0.5)));
  ClutterMaker maker(shape.seed, shape.size);
  for (std::size_t i = 0; i < pieces; ++i) {
    // Each piece gets an even share of what is left, so that rounding evens out.
    const std::size_t left = shape.triangles - std::min(shape.triangles, mesh.triangles.size());
    append(mesh, maker.piece(static_cast<double>(left) / static_cast<double>(pieces - i)));
  }
  return mesh;
}

}  // namespace cotouch

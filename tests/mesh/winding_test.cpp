#include <cotouch/base/random.h>
#include <cotouch/mesh/winding.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/exact_winding.h"

namespace cotouch::this_file {
namespace {

using testing_support::exact_winding_number;

double largest_error(const TriangleMesh& mesh, double far, int queries) {
  const WindingNumber winding(mesh, far);
  const Box3d box = mesh.bounds();
  Random random(5);
  double largest = 0;
  for (int i = 0; i < queries; ++i) {
    const Vec3d s = box.size() * 1.2;
    const Vec3d p = box.center() + Vec3d{random.uniform(-0.5, 0.5) * s.x, random.uniform(-0.5, 0.5) * s.y,
                                         random.uniform(-0.5, 0.5) * s.z};
    largest = std::max(largest, std::fabs(winding.at(p) - exact_winding_number(mesh, p)));
  }
  return largest;
}

TEST(WindingNumber, ExactSumIsOneInsideAndZeroOutside) {
  // Euler: the solid angles of a closed surface add up to a whole number of spheres, to rounding.
  const TriangleMesh torus = make_torus(0.06, 0.02, 24, 12);
  EXPECT_NEAR(exact_winding_number(torus, {0.06, 0, 0.01}), 1, 1e-13);
  EXPECT_NEAR(exact_winding_number(torus, {0, 0, 0}), 0, 1e-13);
  EXPECT_NEAR(exact_winding_number(torus, {1, 2, 3}), 0, 1e-13);
  // Two copies wind twice, a flipped one winds backwards.
  TriangleMesh twice = torus;
  append(twice, torus);
  EXPECT_NEAR(exact_winding_number(twice, {0.06, 0, 0.01}), 2, 1e-13);
  TriangleMesh flipped = torus;
  for (Triangle& t : flipped.triangles) std::swap(t[0], t[1]);
  EXPECT_NEAR(exact_winding_number(flipped, {0.06, 0, 0.01}), -1, 1e-13);
}

TEST(WindingNumber, OfASquareIsTheSolidAngleOfACubesFace) {
  // From the middle of a cube each face covers a sixth of the sphere, with the sign of the side it is seen from.
  TriangleMesh square;
  square.vertices = {{-1, -1, 1}, {1, -1, 1}, {1, 1, 1}, {-1, 1, 1}};
  square.triangles = {{0, 1, 2}, {0, 2, 3}};
  EXPECT_NEAR(WindingNumber(square).at({0, 0, 0}), 1.0 / 6, 1e-15);
  EXPECT_NEAR(WindingNumber(square).at({0, 0, 2}), -1.0 / 6, 1e-15);
}

TEST(WindingNumber, WithNothingFarEqualsTheExactSum) {
  // The product of complex numbers must count its turns right: many layers, both directions, points near and inside.
  TriangleMesh mesh = make_sphere(0.05, 2);
  for (int i = 0; i < 4; ++i) append(mesh, make_sphere(0.05 + 0.01 * i, 2));
  EXPECT_LT(largest_error(mesh, 1e9, 300), 1e-12);
  for (Triangle& t : mesh.triangles) std::swap(t[0], t[1]);
  EXPECT_LT(largest_error(mesh, 1e9, 300), 1e-12);
  for (std::size_t i = 0; i < mesh.triangles.size(); i += 3) std::swap(mesh.triangles[i][0], mesh.triangles[i][1]);
  EXPECT_LT(largest_error(mesh, 1e9, 300), 1e-12);
}

TEST(WindingNumber, SeriesStaysCloseToTheExactSumAndImprovesWithDistance) {
  // A closed surface, an open one (half its triangles missing) and a randomly flipped one, which is the worst case
  // for the series.
  Random random(6);
  const TriangleMesh closed = make_torus(0.06, 0.02, 60, 30);
  TriangleMesh open = closed;
  open.triangles.resize(open.triangles.size() / 2);
  TriangleMesh flipped = closed;
  for (Triangle& t : flipped.triangles)
    if (random.below(2) == 0) std::swap(t[0], t[1]);
  for (const TriangleMesh& mesh : {closed, open, flipped}) {
    const double coarse = largest_error(mesh, 2, 300), fine = largest_error(mesh, 4, 300);
    // Inside and outside differ by one, so a hundredth never changes the side.
    EXPECT_LT(coarse, 1e-2);
    // The first term left out falls with the third power of the distance: an eighth, and some room for chance.
    EXPECT_LT(fine, coarse / 6);
  }
}

TEST(WindingNumber, OfLongSliversStaysCloseToTheExactSum) {
  // Fifty times as long as thick, 1600 triangles, cut into pieces inside. Clusters of them are still longer than wide,
  // which costs the series some of its accuracy; sides differ by one, so a fiftieth is far from mistaking them.
  const TriangleMesh rod = make_cylinder(0.01, 1.0, 400);
  const WindingNumber winding(rod);
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    const Vec3d p{random.uniform(-0.03, 0.03), random.uniform(-0.03, 0.03), random.uniform(-0.6, 0.6)};
    EXPECT_NEAR(winding.at(p), exact_winding_number(rod, p), 2e-2);
  }
}

// Large triangles through each other keep most clusters near every point, so that cutting them up takes more terms than
// there are triangles.
TEST(WindingNumber, OfHostileSoupTakesFewerTermsWhenLimited) {
  Random random(7);
  const auto corner = [&] { return Vec3d{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)}; };
  TriangleMesh soup;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    for (int k = 0; k < 3; ++k) soup.vertices.push_back(corner());
    soup.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  const WindingNumber exact(soup);
  WindingNumber quick(soup);
  quick.limit_terms(400);
  std::size_t exact_terms = 0, quick_terms = 0;
  for (int i = 0; i < 200; ++i) {
    const auto [a, b, c] = soup.corners(random.below(soup.triangles.size()));
    const Vec3d middle = (a + b + c) / 3.0, beside = normalized(cross(b - a, c - a)) * 1e-6;
    exact_terms += exact.terms(middle);
    quick_terms += quick.terms(middle);
    EXPECT_NEAR(quick.at(middle + beside), exact_winding_number(soup, middle + beside), 0.4);
    // A cluster may begin to count as far in between.
    EXPECT_NEAR(quick.at(middle - beside) - quick.at(middle + beside), 1, 0.1);
  }
  EXPECT_GT(exact_terms, 200 * soup.triangles.size());
  EXPECT_LT(quick_terms, 200 * soup.triangles.size());
  // A sphere is no such soup, and stays as exact as ever.
  const TriangleMesh sphere = make_sphere(1, 5);
  WindingNumber usual(sphere), limited(sphere);
  limited.limit_terms(400);
  for (int i = 0; i < 100; ++i) {
    const Vec3d p = corner();
    EXPECT_EQ(limited.at(p), usual.at(p));
  }
}

TEST(WindingNumber, OfNothingIsZero) {
  EXPECT_EQ(WindingNumber(TriangleMesh{}).at({1, 2, 3}), 0);
}

// On a triangle the solid angle of that one is half the sphere, of the one side or the other, or none on its edge: the
// rest of a box takes up the other half sphere (an edge: a quarter, a corner: an eighth). So the number is the share of
// the sphere that lies inside, half a turn more or less.
TEST(WindingNumber, OnTheSurfaceOfABoxIsTheInsideShareOrHalfATurnBeside) {
  const TriangleMesh box = make_box({1, 1, 1});
  const WindingNumber winding(box);
  EXPECT_NEAR(winding.at({0, 0, 0}), 1, 1e-14);
  const auto nearest_of = [](double value, std::initializer_list<double> allowed) {
    return *std::min_element(allowed.begin(), allowed.end(),
                             [&](double a, double b) { return std::fabs(a - value) < std::fabs(b - value); });
  };
  for (const double half : {-0.5, 0.5})
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto on_face = [&](double u, double v) {
        Vec3d p{u, v, half};
        for (std::size_t turn = 0; turn < axis; ++turn) p = {p.z, p.x, p.y};
        return p;
      };
      // In a triangle, and on the diagonals of the face, of which one is an edge of two.
      for (const auto& [u, v] : {std::pair{0.1, 0.25}, {-0.25, 0.1}, {0.0, 0.0}, {0.25, 0.25}, {0.25, -0.25}}) {
        const double value = winding.at(on_face(u, v));
        EXPECT_NEAR(value, nearest_of(value, {0.0, 0.5, 1.0}), 1e-12) << axis << ' ' << half << ' ' << u << ' ' << v;
      }
      const double edge = winding.at(on_face(half, 0.125));
      EXPECT_NEAR(edge, nearest_of(edge, {-0.25, 0.25, 0.75}), 1e-12) << axis << ' ' << half;
    }
  for (const Vec3d& corner : box.vertices) EXPECT_NEAR(winding.at(corner), 0.125, 1e-12);
}

}  // namespace
}  // namespace cotouch::this_file

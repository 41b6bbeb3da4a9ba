#include <cotouch/base/error.h>
#include <cotouch/base/random.h>
#include <cotouch/field/build.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace cotouch::this_file {
namespace {

constexpr double k_half_diagonal = 0.8661;  // sqrt(3)/2, and half a quantum (1/2048) fits in the rounding

double sphere(const Vec3d& p, const Vec3d& center, double radius) {
  return norm(p - center) - radius;
}

double box(const Vec3d& p, const Vec3d& center, const Vec3d& half) {
  const Vec3d q{std::fabs(p.x - center.x) - half.x, std::fabs(p.y - center.y) - half.y,
                std::fabs(p.z - center.z) - half.z};
  return norm(max(q, Vec3d{})) + std::min(std::max({q.x, q.y, q.z}), 0.0);
}

double torus(const Vec3d& p) {
  const double ring = std::sqrt(p.x * p.x + p.y * p.y) - 0.7;
  return std::sqrt(ring * ring + p.z * p.z) - 0.3;
}

// Two boxes and a ball that meet at concave edges, where interpolation errs most. Outside, the least of exact distances
// is exact.
double corner(const Vec3d& p) {
  return std::min({box(p, {-0.4, 0, 0}, {0.6, 0.3, 0.9}), box(p, {0.2, -0.1, 0.1}, {0.8, 0.25, 0.2}),
                   sphere(p, {0.3, 0.2, 0.5}, 0.4)});
}

struct Shape {
  const char* name;
  double (*distance)(const Vec3d&);
};
const Shape k_shapes[] = {
    {"sphere",
     [](const Vec3d& p) {
       return sphere(p, {0.1, -0.05, 0.02}, 0.83);
     }},
    {"box",
     [](const Vec3d& p) {
       return box(p, {0.03, 0.1, -0.1}, {0.9, 0.6, 0.31});
     }},
    {"torus", torus},
    {"corner", corner},
};

Field make(const Shape& shape, int resolution) {
  Box3d part;
  part.add({-1, -1, -1});
  part.add({1, 1, 1});
  FieldSettings settings;
  settings.resolution = resolution;
  return build_field(shape.distance, part, settings);
}

Vec3f random_point(Random& random, double reach) {
  return Vec3f(Vec3d{random.uniform(-reach, reach), random.uniform(-reach, reach), random.uniform(-reach, reach)});
}

class FieldOfShape : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, FieldOfShape, testing::ValuesIn(k_shapes),
                         [](const auto& test) { return test.param.name; });

TEST_P(FieldOfShape, IsWithinHalfACellDiagonalNearTheSurface) {
  const Field field = make(GetParam(), 32);
  const double h = static_cast<double>(field.spacing());
  Random random(1);
  int near = 0;
  for (int i = 0; i < 100000; ++i) {
    const Vec3f p = random_point(random, 1.3);
    const double d = GetParam().distance(Vec3d(p));
    if (std::fabs(d) > static_cast<double>(field.band()) - 1.7321 * h) continue;
    ++near;
    ASSERT_NEAR(static_cast<double>(field.distance(p)), d, k_half_diagonal * h);
  }
  EXPECT_GT(near, 5000);
}

TEST_P(FieldOfShape, IsExactAtTheSamples) {
  const Field field = make(GetParam(), 32);
  const FieldData& data = field.data();
  const double h = static_cast<double>(data.spacing);
  Random random(2);
  int near = 0;
  for (int i = 0; i < 300000; ++i) {
    const Vec3f cell(Vec3d{double(random.below(static_cast<std::uint64_t>(data.bricks.x) * 8)),
                           double(random.below(static_cast<std::uint64_t>(data.bricks.y) * 8)),
                           double(random.below(static_cast<std::uint64_t>(data.bricks.z) * 8))});
    const double d = GetParam().distance(Vec3d(data.origin) + Vec3d(cell) * h);
    if (std::fabs(d) >= static_cast<double>(data.band)) continue;
    ++near;
    // Half a quantum, and a single-precision product.
    ASSERT_NEAR(static_cast<double>(field.distance_in_cells(cell)), d, 0.501 * static_cast<double>(data.quantum));
  }
  EXPECT_GT(near, 5000);
}

// A twentieth of a cell to both sides within one cell, where the value is linear along each axis (outside the box
// nearly so). Single precision errs by 1e-7 of about 1 over steps of 0.006, in the coordinates by 4e-6 of 0.05 cells.
TEST_P(FieldOfShape, HasTheDerivativeOfItsValueAsItsGradient) {
  const Field field = make(GetParam(), 64);
  constexpr float k_step = 0.05F;
  const Box3f box = field.box();
  Random random(31);
  int fine = 0, coarse = 0, outside = 0;
  for (int i = 0; i < 300000; ++i) {
    const Vec3f cell = field.to_cells(random_point(random, 1.6));
    const auto within = [](float x) { return x - std::floor(x) > k_step && x - std::floor(x) < 1 - k_step; };
    if (!within(cell.x) || !within(cell.y) || !within(cell.z)) continue;
    const Field::Place place = field.locate(cell);
    const Vec3f point = field.data().origin + cell * field.spacing();
    const bool in_box = point.x > box.low.x && point.y > box.low.y && point.z > box.low.z && point.x < box.high.x &&
                        point.y < box.high.y && point.z < box.high.z;
    if (!in_box && field.distance_at(place) < field.data().boundary + field.spacing()) continue;  // bends sharply there
    ++(place.sample ? fine : in_box ? coarse : outside);
    const auto slope = [&](const Vec3f& step) {
      return static_cast<double>(field.distance_in_cells(cell + step) - field.distance_in_cells(cell - step)) /
             (2 * static_cast<double>(k_step * field.spacing()));
    };
    const Vec3d expected{slope({k_step, 0, 0}), slope({0, k_step, 0}), slope({0, 0, k_step})};
    ASSERT_LT(norm(field.gradient_at(place, cell) - expected), 2e-3) << place.at.x;
  }
  EXPECT_GT(fine, 10000);
  EXPECT_GT(coarse, 1000);
  EXPECT_GT(outside, 1000);
}

TEST_P(FieldOfShape, IsConservativeFarAwayAndOutsideItsBox) {
  const Field field = make(GetParam(), 32);
  const double h = static_cast<double>(field.spacing()), band = static_cast<double>(field.band());
  Random random(3);
  int beyond = 0;
  for (int i = 0; i < 200000; ++i) {
    const Vec3f p = random_point(random, i % 2 ? 2.0 : 10.0);
    const double d = GetParam().distance(Vec3d(p)), value = static_cast<double>(field.distance(p));
    const Vec3f c = field.to_cells(p);
    const Vec3<std::int32_t> n = field.data().bricks;
    const bool outside_box =
        c.x < 0 || c.y < 0 || c.z < 0 || c.x >= float(n.x * 8) || c.y >= float(n.y * 8) || c.z >= float(n.z * 8);
    beyond += outside_box;
    // Single precision rounds by at most a few millionths of the value.
    if (outside_box) {
      ASSERT_LE(value, d * (1 + 1e-6) + 1e-6);
      ASSERT_GE(value, band);
    } else {
      ASSERT_LE(value, d > 0 ? d + k_half_diagonal * h : k_half_diagonal * h);
      const auto brick = flat_index({int(c.x) / 8, int(c.y) / 8, int(c.z) / 8}, n);
      if (field.data().brick_index[brick] == FieldData::k_coarse) {
        ASSERT_GE(std::fabs(d), band - 1e-6);
        ASSERT_GE(std::fabs(value), band * (1 - 1e-6));
        ASSERT_EQ(value > 0, d > 0);
        if (d > 0) {
          ASSERT_LE(value, d * (1 + 1e-6) + 1e-6);
        }
      }
    }
  }
  EXPECT_GT(beyond, 50000);
}

// Small steps along lines through everything: fine bricks, the seams to coarse ones, the border of the box.
TEST_P(FieldOfShape, IsContinuousEverywhere) {
  const Field field = make(GetParam(), 32);
  const float h = field.spacing();
  // Between fine samples D changes by at most h a cell and axis, sqrt(3) in all. Beside a replaced sample the change is
  // as large as the conservative gap, 6.93 cells and a sample's difference, in one cell. So 8 per axis bounds all.
  const float slope = 8 * 1.7321F;
  Random random(4);
  for (int line = 0; line < 300; ++line) {
    const Vec3f from = random_point(random, 1.9), direction(random.direction());
    float last = field.distance(from);
    const float step = 0.002F * h;
    for (int i = 1; i < 2000; ++i) {
      const Vec3f p = from + direction * (step * static_cast<float>(i));
      const float value = field.distance(p);
      // A cell coordinate is rounded by up to 4e-6 cells here.
      ASSERT_LE(std::fabs(value - last), slope * (step + 2e-5F * h)) << "line " << line << " step " << i;
      last = value;
    }
  }
}

// The seams exactly: both sides of every face between bricks, and of the box, give the same value.
TEST_P(FieldOfShape, AgreesOnBothSidesOfBrickFaces) {
  const Field field = make(GetParam(), 24);
  const Vec3<std::int32_t> n = field.data().bricks;
  Random random(5);
  for (int i = 0; i < 200000; ++i) {
    const std::size_t axis = random.below(3);
    Vec3f c(Vec3d{random.uniform(0, n.x * 8.0), random.uniform(0, n.y * 8.0), random.uniform(0, n.z * 8.0)});
    c[axis] = static_cast<float>(8 * random.below(static_cast<std::uint64_t>(n[axis]) + 1));
    Vec3f before = c;
    before[axis] = std::nextafter(c[axis], -1.0F);
    // One step of single precision below 128 cells is 8e-6 cells, times the slope above.
    ASSERT_NEAR(field.distance_in_cells(c), field.distance_in_cells(before), 2e-4F * field.spacing());
  }
}

TEST_P(FieldOfShape, HasNoNegativePointWithinTheFreeRadius) {
  for (const int resolution : {12, 32}) {
    const Field field = make(GetParam(), resolution);
    const float h = field.spacing();
    Random random(6);
    int useful = 0;
    for (int i = 0; i < 40000; ++i) {
      Vec3f p = random_point(random, 1.5);
      // Most points close to the surface, where the bound is tight.
      if (i % 4) p = p - field.gradient(p) * (field.distance(p) - h * static_cast<float>(random.uniform(0, 4)));
      const float value = field.distance(p), radius = field.free_radius(value);
      if (value <= 0) {
        ASSERT_LE(radius, 0);
        continue;
      }
      if (radius <= 0) continue;
      useful += radius > 0.2F * h;
      for (int k = 0; k < 12; ++k) {
        Vec3d direction = random.direction();
        // Straight at the surface and around that direction, on the ball's surface: where contact comes first.
        if (k < 6) direction = normalized(direction * (0.1 * k) - Vec3d(field.gradient(p)));
        const float reach = k < 9 ? radius * 0.9999F : radius * static_cast<float>(random.uniform());
        ASSERT_GE(field.distance(p + Vec3f(direction) * reach), 0) << GetParam().name << " value " << value / h;
      }
    }
    EXPECT_GT(useful, 5000);
  }
}

TEST(Field, FindsTheFreeRadiusUseful) {
  const Field field = make(k_shapes[0], 64);
  const float h = field.spacing();
  EXPECT_NEAR(field.free_radius(h), 0.99F * h, 0.02F * h);         // near: slopes outside a ball are hardly above one
  EXPECT_NEAR(field.free_radius(100 * h), 98.26F * h, 0.02F * h);  // far: one cell diagonal less
  EXPECT_LE(field.free_radius(0), 0);
}

TEST(Field, HasUnitGradientsTowardsTheOutside) {
  const Field field = make(k_shapes[0], 64);
  Random random(7);
  for (int i = 0; i < 1000; ++i) {
    const Vec3d n = random.direction();
    const Vec3f p(Vec3d{0.1, -0.05, 0.02} + n * 0.83);
    // Linear interpolation of a sphere of radius 27 cells: second-order error 1/27 per cell at most.
    EXPECT_LT(norm(field.gradient(p) - Vec3f(n)), 0.04F);
  }
}

TEST(Field, AnswersForPointsThatAreNoPoints) {
  const Field field = make(k_shapes[0], 16);
  const float nan = std::nanf(""), inf = INFINITY;
  EXPECT_GE(field.distance({nan, 0, 0}), field.band());
  EXPECT_EQ(field.distance({inf, 0, 0}), inf);
  EXPECT_EQ(field.distance({0, -inf, 0}), inf);
  EXPECT_GT(field.distance({1e30F, 0, 0}), 1e29F);
}

TEST(Field, HasNoMoreBricksThanItsBandNeeds) {
  // At 64 cells the band is relatively four times as thick as at 256, so bricks are compared with the shell they cover:
  // points within threshold 4.87 plus at most 12 cells of brick width to either side of a sphere's area, 8^3 a brick.
  const Field field = make(k_shapes[0], 64);
  const double radius = 0.83 * 32, area = 4 * 3.14159265 * radius * radius;
  const double bricks = static_cast<double>(field.data().samples.size()) / FieldData::k_brick_samples;
  EXPECT_LT(bricks, area * (2 * 4.87 + 12) / 512 * 1.25);
}

TEST(Field, RefusesABoxThatDoesNotHoldThePart) {
  Box3d part;
  part.add({-0.2, -0.2, -0.2});
  part.add({0.2, 0.2, 0.2});
  FieldSettings settings;
  settings.resolution = 16;
  EXPECT_THROW(build_field(k_shapes[0].distance, part, settings), Error);
}

TEST(Field, RefusesDamagedData) {
  const Field good = make(k_shapes[0], 16);
  const auto refused = [&](const auto& damage) {
    FieldData data = good.data();
    damage(data);
    EXPECT_THROW(Field(data, nullptr), Error);
  };
  EXPECT_NO_THROW(Field(good.data(), nullptr));
  const float nan = std::nanf("");
  refused([&](FieldData& d) { d.origin.y = nan; });
  refused([&](FieldData& d) { d.spacing = 0; });
  refused([&](FieldData& d) { d.spacing = nan; });
  refused([&](FieldData& d) { d.quantum = -d.quantum; });
  refused([&](FieldData& d) { d.band = nan; });
  refused([&](FieldData& d) { d.boundary = -1; });
  refused([&](FieldData& d) { d.lipschitz = 0.5F; });
  refused([&](FieldData& d) { d.bricks.x = 0; });
  refused([&](FieldData& d) { d.bricks.x = -d.bricks.x; });
  refused([&](FieldData& d) { d.bricks = {0x10000, 0x10000, 1}; });  // the product overflows
  refused([&](FieldData& d) { d.bricks.z += 1; });
  refused([&](FieldData& d) { d.brick_index = d.brick_index.first(d.brick_index.size() - 1); });
  refused([&](FieldData& d) { d.coarse = d.coarse.first(1); });
  refused([&](FieldData& d) { d.samples = d.samples.first(d.samples.size() - 1); });
  refused([&](FieldData& d) { d.samples = d.samples.first(d.samples.size() - FieldData::k_brick_samples); });
  // Bricks that share samples: a file of a few bytes would be a field of any size.
  std::vector<std::uint32_t> bricks(good.data().brick_index.begin(), good.data().brick_index.end());
  const auto fine = [](std::uint32_t slot) { return slot != FieldData::k_coarse; };
  std::replace_if(bricks.begin(), bricks.end(), fine, 0U);
  refused([&](FieldData& d) { d.brick_index = bricks; });
  std::vector<float> coarse(good.data().coarse.begin(), good.data().coarse.end());
  coarse[5] = nan;
  refused([&](FieldData& d) { d.coarse = coarse; });
}

}  // namespace
}  // namespace cotouch::this_file

// Many lookups at once against one at a time, to the last bit, on every kind that this processor runs.
#include <cotouch/base/invariant.h>
#include <cotouch/base/random.h>
#include <cotouch/field/build.h>
#include <cotouch/field/lookup.h>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace cotouch::this_file {
namespace {

constexpr float k_infinity = std::numeric_limits<float>::infinity();
constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();

// A ball in a box that is not a cube, so that no axis can stand in for another.
Field ball_field(int resolution, const Vec3d& half) {
  Box3d part;
  part.add(-half);
  part.add(half);
  FieldSettings settings;
  settings.resolution = resolution;
  return build_field([](const Vec3d& p) { return norm(p - Vec3d{0.1, -0.05, 0.02}) - 0.37; }, part, settings);
}

// Arrays of random contents: samples of both signs up to the ends of their range, a third of the bricks coarse but not
// the first, which is where a number that is none would lead if it were not caught.
Field random_field(const Index3& bricks, bool all_coarse) {
  struct Arrays {
    std::vector<std::uint32_t> brick_index;
    std::vector<std::int16_t> samples;
    std::vector<float> coarse;
  };
  auto arrays = std::make_shared<Arrays>();
  Random random(11);
  FieldData data;
  std::uint32_t slots = 0;
  for (std::int32_t i = 0; i < bricks.x * bricks.y * bricks.z; ++i)
    arrays->brick_index.push_back(all_coarse || (i > 0 && random.below(3) == 0) ? FieldData::k_coarse : slots++);
  for (std::uint32_t i = 0; i < slots * FieldData::k_brick_samples; ++i) {
    const auto value = static_cast<std::int32_t>(random.below(65536)) - 32768;
    arrays->samples.push_back(static_cast<std::int16_t>(i % 5 == 0 ? (i % 2 == 0 ? 32767 : -32768) : value));
  }
  for (std::int32_t i = 0; i < (bricks.x + 1) * (bricks.y + 1) * (bricks.z + 1); ++i)
    arrays->coarse.push_back(static_cast<float>(random.uniform(-3, 3)));
  data.origin = {-1, 2, 0.5F};
  data.spacing = 0.03F;
  data.bricks = bricks;
  data.quantum = 0.0001F;
  data.band = 0.1F;
  data.boundary = 0.2F;
  data.brick_index = arrays->brick_index;
  data.samples = arrays->samples;
  data.coarse = arrays->coarse;
  return Field(data, arrays);
}

struct NamedField {
  const char* name;
  Field field;
};

const std::vector<NamedField>& fields() {
  static const std::vector<NamedField> all = {
      {"ball", ball_field(64, {0.5, 0.7, 0.9})},     {"small ball", ball_field(16, {0.5, 0.5, 0.5})},
      {"one brick", random_field({1, 1, 1}, false)}, {"random", random_field({5, 3, 7}, false)},
      {"all coarse", random_field({3, 4, 2}, true)}, {"none", Field()}};
  return all;
}

Vec3f cells_of(const Field& field) {
  return Vec3f(field.data().bricks) * 8.0F;
}

void expect_same_gradients(const detail::LookUpKind& kind, const NamedField& named, const CellMap& map,
                           const std::vector<Vec3f>& positions, const std::vector<std::uint32_t>& index) {
  const Field& field = named.field;
  const std::size_t count = index.size();
  std::vector<double> x(count + 1, 123), y(count + 1, 123), z(count + 1, 123);
  detail::look_up_gradients(kind, field, map, positions.data(), index.data(), static_cast<std::uint32_t>(count),
                            x.data(), y.data(), z.data());
  EXPECT_TRUE(x[count] == 123 && y[count] == 123 && z[count] == 123) << kind.name << " writes too far";
  const auto bits = [](double v) { return std::bit_cast<std::uint64_t>(v); };
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3f cell = map(positions[index[i]]);
    const Vec3d expected = field.gradient_at(field.locate(cell), cell);
    ASSERT_TRUE(bits(x[i]) == bits(expected.x) && bits(y[i]) == bits(expected.y) && bits(z[i]) == bits(expected.z))
        << kind.name << ", field " << named.name << ", point " << i << " of " << count << " at cell " << cell.x << " "
        << cell.y << " " << cell.z;
  }
}

// Checks every kind, and the choice among them, for the points at `index`.
void expect_same_bits(const NamedField& named, const CellMap& map, const std::vector<Vec3f>& positions,
                      const std::vector<std::uint32_t>& index) {
  const Field& field = named.field;
  const auto count = static_cast<std::uint32_t>(index.size());
  const auto check = [&](const std::string& kind, const auto& look_up) {
    std::vector<float> distance(count + 1, 123.0F);
    look_up(distance.data());
    EXPECT_EQ(distance[count], 123.0F) << kind << " writes too far";
    for (std::uint32_t i = 0; i < count; ++i) {
      const Vec3f cell = map(positions[index[i]]);
      const float expected = field.distance_in_cells(cell);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(distance[i]), std::bit_cast<std::uint32_t>(expected))
          << kind << ", field " << named.name << ", point " << i << " of " << count << " at cell " << cell.x << " "
          << cell.y << " " << cell.z << ": " << distance[i] << ", expected " << expected;
    }
  };
  for (const detail::LookUpKind& kind : detail::look_up_kinds()) {
    if (!kind.runs_here()) continue;
    check(kind.name, [&](float* distance) {
      detail::look_up_distances(kind, field, map, positions.data(), index.data(), count, distance);
    });
    expect_same_gradients(kind, named, map, positions, index);
  }
  check("chosen", [&](float* distance) { field.distances(map, positions.data(), index.data(), count, distance); });
}

std::vector<std::uint32_t> all_of(const std::vector<Vec3f>& positions) {
  std::vector<std::uint32_t> index(positions.size());
  std::iota(index.begin(), index.end(), 0U);
  return index;
}

constexpr CellMap k_identity{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};

TEST(Lookups, HaveTheBitsOfSingleOnesAtRandomPointsAndPoses) {
  Random random(1);
  const auto number = [&](double reach) { return static_cast<float>(random.uniform(-reach, reach)); };
  for (const NamedField& named : fields()) {
    const Vec3f cells = cells_of(named.field);
    for (int pose = 0; pose < 20; ++pose) {
      CellMap map{number(9), number(9), number(9), number(9),      number(9),      number(9),
                  number(9), number(9), number(9), cells.x * 0.5F, cells.y * 0.5F, cells.z * 0.5F};
      std::vector<Vec3f> positions;
      // From all within the box to most of them outside.
      const double reach = 0.5 * (pose + 1);
      for (int i = 0; i < 1000; ++i) positions.push_back({number(reach), number(reach), number(reach)});
      expect_same_bits(named, map, positions, all_of(positions));
    }
  }
}

TEST(Lookups, HaveTheBitsOfSingleOnesAtBordersOfCellsBricksAndTheBox) {
  Random random(2);
  for (const NamedField& named : fields()) {
    const Vec3f cells = cells_of(named.field);
    const auto border = [&](float size) {
      const float whole = static_cast<float>(random.below(static_cast<std::uint64_t>(size) + 1));
      const float at = random.below(2) == 0 ? whole : 8 * std::floor(whole / 8);
      switch (random.below(6)) {
        case 0: return std::nextafterf(at, -k_infinity);
        case 1: return std::nextafterf(at, k_infinity);
        case 2: return size;
        case 3: return -0.0F;
        default: return at;
      }
    };
    std::vector<Vec3f> positions;
    for (int i = 0; i < 20000; ++i) positions.push_back({border(cells.x), border(cells.y), border(cells.z)});
    expect_same_bits(named, k_identity, positions, all_of(positions));
  }
}

TEST(Lookups, HaveTheBitsOfSingleOnesAtPointsThatAreNoNumbersOrFarAway) {
  const float odd[] = {k_nan, k_infinity, -k_infinity, 3e38F, -3e38F, 2147483648.0F, 1e-40F, -1e-40F, 1, 0};
  std::vector<Vec3f> positions;
  for (const float x : odd)
    for (const float y : odd)
      for (const float z : odd) positions.push_back({x, y, z});
  for (const NamedField& named : fields()) {
    expect_same_bits(named, k_identity, positions, all_of(positions));
    // Zero times infinity is not a number, so that map spreads it over all axes. These have it on one only.
    for (const float x : odd) expect_same_bits(named, {0, 0, 0, 0, 0, 0, 0, 0, 0, x, 1, 1}, {{1, 1, 1}}, {0, 0, 0, 0});
    for (const float y : odd) expect_same_bits(named, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, y, 1}, {{1, 1, 1}}, {0, 0, 0, 0});
    for (const float z : odd) expect_same_bits(named, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, z}, {{1, 1, 1}}, {0, 0, 0, 0});
  }
}

// As broken memory would leave it: a number that is neither a brick with samples nor k_coarse. The address sanitizer
// sees that nothing is read there.
TEST(Lookups, ABrickOutsideOfTheSamplesIsNoticedAndNotRead) {
  const Field field = random_field({3, 2, 2}, false);
  ASSERT_GT(field.slots(), 3U);
  auto* const bricks = const_cast<std::uint32_t*>(field.data().brick_index.data());
  std::vector<Vec3f> positions;  // in brick 1, and around it
  for (int i = 0; i < 200; ++i) positions.push_back({8.0F + 0.04F * static_cast<float>(i), 3, 3});
  for (int i = 0; i < 13; ++i) positions.push_back({static_cast<float>(i), 5, 5});
  const auto count = static_cast<std::uint32_t>(positions.size());
  const std::vector<std::uint32_t> index = all_of(positions);
  std::vector<float> distance(count);
  std::vector<double> x(count), y(count), z(count);
  for (const std::uint32_t bad : {field.slots(), field.slots() + 1, 0x7fffffffU, 0x80000000U, 0xfffffffeU, ~0U}) {
    bricks[1] = bad;
    for (const detail::LookUpKind& kind : detail::look_up_kinds()) {
      if (!kind.runs_here()) continue;
      for (const bool gradients : {false, true}) {
        const InvariantWatch watch;
        if (gradients)
          detail::look_up_gradients(kind, field, k_identity, positions.data(), index.data(), count, x.data(), y.data(),
                                    z.data());
        else
          detail::look_up_distances(kind, field, k_identity, positions.data(), index.data(), count, distance.data());
        EXPECT_EQ(watch.broken() != nullptr, bad != FieldData::k_coarse) << kind.name << " " << bad;
      }
    }
    const InvariantWatch watch;
    const float one = field.distance_in_cells(positions[10]);
    EXPECT_EQ(watch.broken() != nullptr, bad != FieldData::k_coarse) << bad;
    EXPECT_EQ(one, field.coarse_distance(positions[10]));
  }
}

TEST(Lookups, TakeAnyCountAndAnyOrder) {
  Random random(3);
  for (const NamedField& named : fields()) {
    const Vec3f cells = cells_of(named.field) + Vec3f{4, 4, 4};
    std::vector<Vec3f> positions;
    for (int i = 0; i < 500; ++i)
      positions.push_back(Vec3f(Vec3d{random.uniform(-2, static_cast<double>(cells.x)),
                                      random.uniform(-2, static_cast<double>(cells.y)),
                                      random.uniform(-2, static_cast<double>(cells.z))}));
    const auto some = [&](std::size_t count) {
      std::vector<std::uint32_t> index(count);
      for (std::uint32_t& i : index) i = static_cast<std::uint32_t>(random.below(positions.size()));
      return index;
    };
    for (std::size_t count = 0; count <= 33; ++count) expect_same_bits(named, k_identity, positions, some(count));
    for (const std::size_t count : {127U, 128U, 129U, 255U, 256U, 257U, 1000U})
      expect_same_bits(named, k_identity, positions, some(count));
  }
}

// The positions end where the array ends: no lookup may read past the last one.
TEST(Lookups, ReachTheLastPosition) {
  for (const NamedField& named : fields()) {
    std::vector<Vec3f> positions;
    for (int i = 0; i < 64; ++i) positions.push_back({0.1F * static_cast<float>(i), 1.5F, 2.5F});
    positions.shrink_to_fit();
    expect_same_bits(named, k_identity, positions, std::vector<std::uint32_t>(16, 63));
  }
}

}  // namespace
}  // namespace cotouch::this_file

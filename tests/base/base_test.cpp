#include <cotouch/base/channel.h>
#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/base/pose.h>
#include <cotouch/base/random.h>
#include <cotouch/base/trig.h>
#include <cotouch/base/units.h>

#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <vector>

namespace cotouch::this_file {
namespace {

TEST(Trig, AgreesWithTheCLibraryToRounding) {
  for (int i = -4000; i <= 4000; ++i) {
    const double angle = i * 0.00371;
    const SinCos ours = sin_cos(angle);
    EXPECT_NEAR(ours.sin, std::sin(angle), 4e-16) << angle;
    EXPECT_NEAR(ours.cos, std::cos(angle), 4e-16) << angle;
    EXPECT_NEAR(angle_of(ours.sin, ours.cos), std::atan2(ours.sin, ours.cos), 1e-15) << angle;
  }
  EXPECT_EQ(angle_of(0, 0), 0);
  EXPECT_NEAR(angle_of(0, -3), k_pi, 1e-15);
}

TEST(Trig, AnswersSomethingDefinedForWhatIsNotAnAngle) {
  EXPECT_EQ(sin_cos(std::nan("")).cos, 1);
  EXPECT_EQ(sin_cos(1e300).cos, 1);
}

TEST(Pose, RotationVectorAndQuaternionAreInverse) {
  Random random(7);
  for (int i = 0; i < 1000; ++i) {
    const Vec3d r = random.vector(0, k_pi - 1e-6);
    EXPECT_LT(norm(rotation_vector(quat_from_rotation_vector(r)) - r), 1e-12);
  }
  EXPECT_LT(norm(rotation_vector(quat_from_rotation_vector({1e-12, 0, 0})) - Vec3d{1e-12, 0, 0}), 1e-24);
}

TEST(Pose, MatrixAndQuaternionRotateAlikeAndInverseUndoes) {
  Random random(8);
  for (int i = 0; i < 200; ++i) {
    const Pose pose{random.direction() * 3.0, quat_from_rotation_vector(random.vector(0, 3))};
    const Vec3d v = random.direction() * 2.0;
    EXPECT_LT(norm(rotation_matrix(pose.rotation) * v - rotate(pose.rotation, v)), 1e-14);
    EXPECT_LT(norm(transform(inverse(pose), transform(pose, v)) - v), 1e-14);
    EXPECT_LT(norm(transform(pose * inverse(pose), v) - v), 1e-14);
  }
}

TEST(Solve, LeavesNoResidualAndRefusesASingularMatrix) {
  Random random(9);
  for (int trial = 0; trial < 200; ++trial) {
    Mat6 a;
    for (Mat3* block : {&a.force_linear, &a.force_angular, &a.torque_linear, &a.torque_angular})
      for (double& entry : block->m) entry = random.uniform(-1, 1);
    const Vec6 b{random.direction(), random.direction()};
    Vec6 x;
    ASSERT_TRUE(solve(a, b, x));
    const Vec6 back = a * x;
    EXPECT_LT(norm(back.linear - b.linear) + norm(back.angular - b.angular), 1e-10);
  }
  Vec6 untouched{{1, 2, 3}, {4, 5, 6}};
  EXPECT_FALSE(solve(Mat6{}, Vec6{}, untouched));
  EXPECT_EQ(untouched.linear, (Vec3d{1, 2, 3}));
}

TEST(LatestValue, ReaderAlwaysSeesAWholeAndNeverAnOlderValue) {
  struct Pair {
    std::uint64_t a = 0, b = 0;
  };
  LatestValue<Pair> channel;
  std::jthread writer([&] {
    for (std::uint64_t i = 1; i <= 200000; ++i) channel.write({i, ~i});
  });
  std::uint64_t last = 0;
  while (last < 200000) {
    const Pair now = channel.read();
    if (now.a == 0) continue;
    ASSERT_EQ(now.b, ~now.a);
    ASSERT_GE(now.a, last);
    last = now.a;
  }
}

TEST(BoundedQueue, DeliversEverythingInOrderAndRefusesWhenFull) {
  BoundedQueue<int> small(3);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(small.push(i));
  EXPECT_FALSE(small.push(4));

  BoundedQueue<int> queue(64);
  std::jthread writer([&] {
    for (int i = 0; i < 100000;) {
      if (queue.push(i))
        ++i;
      else
        std::this_thread::yield();
    }
  });
  for (int expected = 0, item = 0; expected < 100000;)
    if (queue.pop(item))
      ASSERT_EQ(item, expected++);
    else
      std::this_thread::yield();
}

TEST(Hash, IsTheSameInPiecesAndMatchesThePublishedValue) {
  const std::vector<std::byte> nothing;
  EXPECT_EQ(hash_bytes(nothing), 0x2d06800538d394c2ULL);  // XXH3_64bits of the empty string, from its specification
  Hasher whole, pieces;
  const std::uint64_t words[2] = {1, 2};
  whole.add_bytes(std::as_bytes(std::span(words)));
  pieces.add(words[0]);
  pieces.add(words[1]);
  EXPECT_EQ(whole.digest(), pieces.digest());
  EXPECT_EQ(hex(0x0123456789abcdefULL), "0123456789abcdef");
}

TEST(Units, KnowTheirMetresAndNameTheAlternatives) {
  EXPECT_EQ(metres_per("mm"), 1e-3);
  EXPECT_EQ(metres_per("in"), 0.0254);
  try {
    metres_per("furlong");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("mm"), std::string::npos);
  }
}

}  // namespace
}  // namespace cotouch::this_file

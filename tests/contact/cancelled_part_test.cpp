// However a mesh was made, preparing it ends soon after it is told to.
#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/base/random.h>
#include <cotouch/base/realtime.h>
#include <cotouch/contact/part.h>
#include <cotouch/mesh/report.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "support/questions.h"
#include "support/slivers.h"

namespace cotouch::this_file {
namespace {

// Needles from one side of a ball to another, which cross each other everywhere.
TriangleMesh make_needles(std::uint32_t count) {
  Random random(3);
  const auto point = [&] { return Vec3d{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)}; };
  TriangleMesh mesh;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Vec3d a = point(), b = point(), aside = point() * 1e-6;
    mesh.vertices.insert(mesh.vertices.end(), {a, b, b + aside});
    mesh.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  return mesh;
}

Part prepare(TriangleMesh mesh, bool bends, int resolution) {
  PartSettings settings;
  settings.field.resolution = resolution;
  settings.shell.points = 256;
  if (bends) {
    settings.elastic.emplace();
    settings.elastic->coordinates = 4;
    settings.elastic->domains = 2;
    settings.elastic->tets.target_tets = 300;
  }
  clean_mesh(mesh);
  NoProgress quiet;
  return prepare_part(mesh, settings, quiet);
}

TEST(CancelledPart, EndsAtTheNextQuestionWhereverItIs) {
  const TriangleMesh mesh = make_torus(0.04, 0.012, 32, 16);
  Questions all;
  {
    const CancelScope scope(all.question());
    prepare(mesh, true, 16);
  }
  ASSERT_GT(all.asked(), 10'000U);
  constexpr std::size_t k_places = 12;
  const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t place = 0; place < k_places; ++place) {
    const std::size_t from = 1 + place * all.asked() / k_places;
    Questions some(from);
    const CancelScope scope(some.question());
    EXPECT_THROW(prepare(mesh, true, 16), Cancelled) << from;
    // Each thread of a loop hears it once; parallel_for asks once more for each.
    EXPECT_LE(some.asked(), from + 2 * threads) << from;
  }
}

// The most processor time of a thread from one question to the next, seconds.
template <class Work>
double longest_silence(const Work& work) {
  static thread_local std::int64_t last = 0;
  std::atomic<std::int64_t> longest{0};
  const CancelScope scope([&] {
    const std::int64_t now = processor_ns();
    const std::int64_t since = last > 0 && now > last ? now - last : 0;
    last = now;
    for (std::int64_t known = longest; since > known && !longest.compare_exchange_weak(known, since);) {
    }
    return false;
  });
  last = processor_ns();
  work();
  throw_if_cancelled();  // what came after the last question counts, too
  return static_cast<double>(longest) * 1e-9;
}

// Not of the clock but of the processor, and fifty times what it takes: then a loop that asks nothing would be needed.
constexpr double k_long = 0.5;

TEST(CancelledPart, IsNeverSilentForLong) {
  EXPECT_LT(longest_silence([] { prepare(make_torus(0.04, 0.012, 32, 16), true, 16); }), k_long);
  EXPECT_LT(longest_silence([] { prepare(fan_of_slivers(1'000), false, 16); }), k_long);
  EXPECT_LT(longest_silence([] { prepare(make_needles(300), false, 16); }), k_long);
}

TEST(CancelledPart, IsNotSilentForLongWhileItsMeshIsLookedAt) {
  TriangleMesh fan = fan_of_slivers(50'000);
  EXPECT_LT(longest_silence([&] { clean_mesh(fan); }), k_long);
}

}  // namespace
}  // namespace cotouch::this_file

// However a mesh was made, preparing it ends soon after it is told to.
#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/base/random.h>
#include <cotouch/base/realtime.h>
#include <cotouch/mesh/report.h>
#include <cotouch/part/part.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

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

ElasticSettings rubber() {
  ElasticSettings elastic;
  elastic.coordinates = 4;
  elastic.domains = 2;
  elastic.tets.target_tets = 300;
  return elastic;
}

Part prepare(TriangleMesh mesh, bool bends, int resolution, Progress& progress) {
  PartSettings settings;
  settings.field.resolution = resolution;
  settings.shell.points = 256;
  if (bends) settings.elastic = rubber();
  clean_mesh(mesh);
  return prepare_part(mesh, settings, progress);
}
Part prepare(TriangleMesh mesh, bool bends, int resolution) {
  NoProgress quiet;
  return prepare(std::move(mesh), bends, resolution, quiet);
}

// Counts the questions of each stage; in one of them it says from some question on that the work is to end.
class Stages final : public Progress {
 public:
  struct Stage {
    std::string name;
    std::size_t asked = 0;
  };

  explicit Stages(std::size_t stage = k_never, std::size_t no_from = 0) : cancelled_(stage), no_from_(no_from) {}

  void update(std::string_view stage, double) override {
    const std::scoped_lock lock(mutex_);
    if (seen_.back().name != stage) seen_.push_back({std::string(stage), 0});
  }
  CancelScope::Question question() {
    return [this] {
      const std::scoped_lock lock(mutex_);
      is_over_ = is_over_ || (++seen_.back().asked == no_from_ && seen_.size() == cancelled_ + 1);
      static thread_local std::uint64_t heard = 0;
      if (is_over_ && std::exchange(heard, number_) == number_) ++unheard_;
      return is_over_;
    };
  }
  // In their order; the first is what comes before anything is told.
  const std::vector<Stage>& seen() const { return seen_; }
  // How often threads asked again that were told to end.
  std::size_t unheard() const { return unheard_; }

 private:
  static constexpr std::size_t k_never = 1'000'000;
  static inline std::atomic<std::uint64_t> counted{0};
  const std::size_t cancelled_, no_from_;
  const std::uint64_t number_ = ++counted;  // threads' own numbers come again when they are gone
  std::mutex mutex_;
  std::vector<Stage> seen_{{"", 0}};
  bool is_over_ = false;
  std::size_t unheard_ = 0;
};

// Ends this work in each of its stages, also in those that take a moment only and are a few questions of hundreds of
// thousands.
template <class Work>
void expect_end_in_each_stage_of(const Work& work, std::size_t least_stages) {
  const auto work_in = [&](Stages& stages) {
    const CancelScope scope(stages.question());
    work(stages);
  };
  Stages all;
  work_in(all);
  ASSERT_GE(all.seen().size(), least_stages);
  for (std::size_t stage = 0; stage < all.seen().size(); ++stage) {
    const auto& [name, asked] = all.seen()[stage];
    // Where several threads ask, which do so thousands of times, it depends on them where one stage ends.
    const bool is_short = asked < 2'000;
    const std::size_t last = is_short ? asked : asked / 4 * 3, places = is_short ? 8 : 3;
    for (std::size_t place = 0; place < std::min(places, last); ++place) {
      const std::size_t from = 1 + place * (last - 1) / (places - 1);
      Stages some(stage, from);
      EXPECT_THROW(work_in(some), Cancelled) << name << ' ' << from;
      EXPECT_EQ(some.unheard(), 0U) << name << ' ' << from;
      EXPECT_EQ(some.seen().size(), stage + 1) << name << ' ' << from;
    }
  }
}

TEST(CancelledPart, EndsAtTheNextQuestionInEachStage) {
  const TriangleMesh mesh = make_torus(0.04, 0.012, 32, 16);
  expect_end_in_each_stage_of([&](Progress& progress) { prepare(mesh, false, 16, progress); }, 5);
  const Part part = prepare(mesh, false, 16);
  expect_end_in_each_stage_of([&](Progress& progress) { with_elastic(part, rubber(), progress); }, 7);
}

// The most processor time of a thread from one question to the next, seconds; up to a twentieth too much.
template <class Work>
double longest_silence(const Work& work) {
  using Clock = std::chrono::steady_clock;
  // Asking for processor time takes a thousand times as long as asking a clock, so it is asked where the clock says
  // that there was a pause, and now and then, to know how much there was before it.
  constexpr auto k_pause = std::chrono::milliseconds(25);
  struct Asked {
    Clock::time_point at, measured;
    std::int64_t used = 0;
  };
  static thread_local Asked last;
  std::atomic<std::int64_t> longest{0};
  const auto question = [&] {
    const Clock::time_point now = Clock::now();
    if (now >= last.at + k_pause || now >= last.measured + k_pause) {
      const std::int64_t used = processor_ns();
      const bool paused = last.used > 0 && now >= last.at + k_pause;
      const std::int64_t since = paused ? used - last.used : 0;
      for (std::int64_t known = longest; since > known && !longest.compare_exchange_weak(known, since);) {
      }
      last.measured = now;
      last.used = used;
    }
    last.at = now;
    return false;
  };
  const CancelScope scope(question);
  last = {Clock::now(), Clock::now(), processor_ns()};
  work();
  throw_if_cancelled();  // what came after the last question counts, too
  return static_cast<double>(longest) * 1e-9;
}

// Not of the clock but of the processor, and fifty times what it takes: then a loop that asks nothing would be needed.
constexpr double k_long = 0.5;

TEST(CancelledPart, IsNeverSilentForLong) {
  EXPECT_LT(longest_silence([] { prepare(make_torus(0.04, 0.012, 32, 16), true, 16); }), k_long);
  EXPECT_LT(longest_silence([] { prepare(fan_of_slivers(2'000), false, 8); }), k_long);
  EXPECT_LT(longest_silence([] { prepare(make_needles(300), false, 16); }), k_long);
}

// So many that whatever compares each with each would take seconds. Slivers as many would take minutes.
TEST(CancelledPart, IsNeverSilentForLongThoughItHasManyTriangles) {
  const TriangleMesh mesh = make_torus(0.04, 0.012, 200, 80);
  ASSERT_EQ(mesh.triangles.size(), 32'000U);
  EXPECT_LT(longest_silence([&] { prepare(mesh, true, 16); }), k_long);
}

TEST(CancelledPart, IsNotSilentForLongWhileItsMeshIsLookedAt) {
  TriangleMesh fan = fan_of_slivers(50'000);
  EXPECT_LT(longest_silence([&] { clean_mesh(fan); }), k_long);
}

}  // namespace
}  // namespace cotouch::this_file

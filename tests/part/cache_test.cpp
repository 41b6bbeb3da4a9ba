#include <cotouch/part/asset.h>
#include <cotouch/part/cache.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "support/child_process.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

// Points the cache at a folder of the test's own.
class Cache : public ::testing::Test {
 protected:
  void SetUp() override { setenv("COTOUCH_CACHE", (folder_ / "cache").c_str(), 1); }
  void TearDown() override { unsetenv("COTOUCH_CACHE"); }

  std::filesystem::path only_entry() const { return std::filesystem::directory_iterator(folder_ / "cache")->path(); }

  TemporaryFolder folder_;
};

// Counts how often work was reported: none for what comes from the cache.
class Counting final : public Progress {
 public:
  void update(std::string_view, double) override { ++count; }
  int count = 0;
};

PartSettings small() {
  PartSettings settings;
  settings.field.resolution = 16;
  settings.shell.points = 64;
  return settings;
}

}  // namespace

TEST_F(Cache, TheSecondTimeNothingIsPrepared) {
  TriangleMesh mesh = make_box({0.02, 0.03, 0.04});
  mesh.name = "first";
  Counting first, second;
  const Part built = prepare_cached(mesh, small(), first);
  mesh.name = "second";
  const Part kept = prepare_cached(mesh, small(), second);
  EXPECT_GT(first.count, 0);
  EXPECT_EQ(second.count, 0);
  EXPECT_EQ(kept.name, "second");
  EXPECT_EQ(kept.shell.point_count(), built.shell.point_count());
  EXPECT_TRUE(kept.shell.data().positions[7] == built.shell.data().positions[7]);
}

TEST_F(Cache, ContentAndEverySettingMatter) {
  const TriangleMesh mesh = make_box({0.02, 0.03, 0.04});
  const std::uint64_t key = cache_key(mesh, small());
  TriangleMesh moved = mesh, turned = mesh, renamed = mesh;
  moved.vertices[0].x += 1e-9;
  std::swap(turned.triangles[0][0], turned.triangles[0][1]);
  renamed.name = "other";
  EXPECT_NE(cache_key(moved, small()), key);
  EXPECT_NE(cache_key(turned, small()), key);
  EXPECT_EQ(cache_key(renamed, small()), key);
  PartSettings settings[5] = {small(), small(), small(), small(), small()};
  settings[0].field.resolution += 1;
  settings[1].field.sheet_thickness += 1;
  settings[2].shell.points += 1;
  settings[3].shell.offset += 1;
  settings[4].shell.seed += 1;
  for (const PartSettings& changed : settings) EXPECT_NE(cache_key(mesh, changed), key);
}

TEST_F(Cache, PartsThatBendAreKeptToo) {
  const TriangleMesh mesh = make_box({0.1, 0.02, 0.02});
  PartSettings settings = small();
  settings.elastic.emplace().coordinates = 4;
  settings.elastic->tets.target_tets = 200;
  const std::uint64_t key = cache_key(mesh, settings);
  EXPECT_NE(key, cache_key(mesh, small()));
  PartSettings other = settings;
  other.elastic->anchors.push_back(parse_anchor("x<0"));
  EXPECT_NE(cache_key(mesh, other), key);
  TetMesh tets = tet_box({0.1, 0.02, 0.02}, {4, 1, 1});
  for (Vec3d& node : tets.nodes) node -= Vec3d{0.05, 0.01, 0.01};
  const std::uint64_t given = cache_key(mesh, settings, &tets);
  EXPECT_NE(given, key);
  tets.nodes[0].x += 1e-9;
  EXPECT_NE(cache_key(mesh, settings, &tets), given);

  Counting first, second, third, fourth;
  const Part built = prepare_cached(mesh, settings, first);
  const Part kept = prepare_cached(mesh, settings, second);
  EXPECT_GT(first.count, 0);
  EXPECT_EQ(second.count, 0);
  EXPECT_EQ(kept.elastic->hash(), built.elastic->hash());
  EXPECT_EQ(prepare_cached(mesh, settings, third, &tets).elastic->data().tets.size(), tets.tets.size());
  EXPECT_GT(third.count, 0);
  EXPECT_EQ(prepare_cached(mesh, settings, fourth, &tets).elastic->data().tets.size(), tets.tets.size());
  EXPECT_EQ(fourth.count, 0);
}

TEST_F(Cache, ADamagedEntryIsPreparedAgain) {
  const TriangleMesh mesh = make_box({0.02, 0.03, 0.04});
  Counting first, second, third;
  prepare_cached(mesh, small(), first);
  std::filesystem::resize_file(only_entry(), std::filesystem::file_size(only_entry()) / 2);
  prepare_cached(mesh, small(), second);
  EXPECT_EQ(second.count, first.count);
  prepare_cached(mesh, small(), third);
  EXPECT_EQ(third.count, 0);
}

TEST_F(Cache, AnOverwrittenOrTruncatedEntryLeavesThePartInUse) {
  const TriangleMesh mesh = make_box({0.02, 0.03, 0.04});
  NoProgress progress;
  const Part built = prepare_cached(mesh, small(), progress);
  // In a child: what is in use and not there any more would end the process.
  EXPECT_EQ(in_a_child([&] {
              const std::optional<Part> kept = load_cached(cache_key(mesh, small()));
              if (!kept) return 1;
              const auto is_as_it_was = [&] {
                const auto was = built.field.data().samples, is = kept->field.data().samples;
                return std::equal(was.begin(), was.end(), is.begin(), is.end());
              };
              std::fstream(only_entry(), std::ios::in | std::ios::out) << std::string(file_size(only_entry()), 'x');
              if (!is_as_it_was()) return 2;
              std::filesystem::resize_file(only_entry(), 0);
              return is_as_it_was() ? 0 : 3;
            }),
            0);
}

TEST_F(Cache, WithoutAPlaceToKeepThemPartsAreStillPrepared) {
  std::ofstream(folder_ / "cache") << "a file where the folder should be";
  NoProgress progress;
  EXPECT_EQ(prepare_cached(make_box({0.02, 0.03, 0.04}), small(), progress).shell.point_count(), 64U);
}

}  // namespace cotouch::this_file

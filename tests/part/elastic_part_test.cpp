// Parts that bend: made so, made rigid again, and from tetrahedra that came with them.
#include <cotouch/base/error.h>
#include <cotouch/elastic/model_modes.h>
#include <cotouch/part/part.h>

#include <gtest/gtest.h>

#include "support/elastic_parts.h"

namespace cotouch::this_file {
namespace {

using namespace elastic_test;

TEST(WithElastic, APartBendsInAnotherWayOrNotAtAll) {
  NoProgress quiet;
  const Part& bar = *held_bar(ElasticLaw::stvk);
  const Part rigid = with_elastic(bar, std::nullopt, quiet);
  EXPECT_EQ(rigid.elastic, nullptr);
  EXPECT_FALSE(rigid.settings.elastic);
  EXPECT_EQ(rigid.field.data().samples.data(), bar.field.data().samples.data());
  const Part again = with_elastic(rigid, bar.settings.elastic, quiet);
  EXPECT_EQ(again.settings, bar.settings);
  EXPECT_EQ(again.elastic->hash(), bar.elastic->hash());
}

TEST(WithElastic, APartOfTwoPiecesIsRefusedInWords) {
  PartSettings settings;
  settings.field.resolution = 32;
  settings.shell.points = 256;
  settings.elastic.emplace().tets.target_tets = 200;
  TriangleMesh boxes = make_box({0.02, 0.02, 0.02});
  const auto first = static_cast<std::uint32_t>(boxes.vertices.size());
  for (std::size_t i = 0; i < first; ++i) boxes.vertices.push_back(boxes.vertices[i] + Vec3d{0.06, 0, 0});
  for (std::size_t i = 0, count = boxes.triangles.size(); i < count; ++i) {
    auto triangle = boxes.triangles[i];
    for (std::uint32_t& vertex : triangle) vertex += first;
    boxes.triangles.push_back(triangle);
  }
  NoProgress quiet;
  try {
    prepare_part(boxes, settings, quiet);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("not of one piece: the largest of its pieces has 4"), std::string::npos)
        << error.what();
  }
}

TEST(GivenTets, ArePreparedAsTheyAre) {
  const TetMesh tets = tet_box({0.1, 0.02, 0.02}, {10, 2, 2});
  PartSettings settings;
  settings.field.resolution = 32;
  settings.shell.points = 256;
  settings.elastic.emplace().material = material_named("rubber");
  settings.elastic->coordinates = 4;
  settings.elastic->anchors.push_back(parse_anchor("x<0.001"));
  NoProgress quiet;
  TriangleMesh box = make_box({0.1, 0.02, 0.02});
  for (Vec3d& vertex : box.vertices) vertex += Vec3d{0.05, 0.01, 0.01};
  const Part part = prepare_part(box, settings, quiet, &tets);
  ASSERT_EQ(part.elastic->data().tets.size(), tets.tets.size());
  ASSERT_EQ(part.elastic->data().nodes.size(), tets.nodes.size());
  EXPECT_EQ(anchored_count(*part.elastic), 9U);

  TetMesh apart = tets;
  const auto first = static_cast<std::uint32_t>(apart.nodes.size());
  for (const Vec3d& node : tets.nodes) apart.nodes.push_back(node + Vec3d{1, 0, 0});
  for (Tet tet : tets.tets) {
    for (std::uint32_t& node : tet) node += first;
    apart.tets.push_back(tet);
  }
  EXPECT_THROW(prepare_part(box, settings, quiet, &apart), Error);
}

}  // namespace
}  // namespace cotouch::this_file

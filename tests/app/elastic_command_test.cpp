// Parts that bend, on the command line.
#include <cotouch/elastic/tet_mesh.h>
#include <cotouch/mesh/export.h>
#include <cotouch/part/asset.h>
#include <cotouch/shapes/shapes.h>

#include <nlohmann/json.hpp>

#include "app/command_fixture.h"

namespace cotouch::this_file {
namespace {

using testing_app::expect_one_sentence;
using testing_app::Outcome;

class ElasticCommand : public testing_app::Command {
 protected:
  void SetUp() override { write_obj(make_box({0.2, 0.02, 0.02}), folder_ / "bar.obj"); }
  Outcome prepare(std::vector<std::string> more, const std::string& mesh = "bar.obj") const {
    std::vector<std::string> all{"prepare", mesh, "--resolution", "32", "--points", "256", "-o", "bar.cot"};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  }
};

TEST_F(ElasticCommand, PreparesShowsAndDraws) {
  const Outcome outcome = prepare({"--elastic", "Rubber", "--young", "2e6", "--anchor", "x<-0.09", "--anchor",
                                   "point:0.1,0,0@0.005", "--tets", "400", "--modes", "6", "--preview", "bar.png"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* words : {"tetrahedra", "degrees", "anchored", "Hz", "bar.png"})
    EXPECT_NE(outcome.out.find(words), std::string::npos) << outcome.out;
  EXPECT_EQ(text_of(folder_ / "bar.png").substr(1, 3), "PNG");
  const Part part = read_asset(folder_ / "bar.cot");
  ASSERT_TRUE(part.elastic);
  EXPECT_EQ(part.elastic->size(), 6U);
  EXPECT_EQ(part.settings.elastic->material.young, 2e6);
  EXPECT_EQ(part.settings.elastic->anchors.size(), 2U);

  const Outcome inspected = run({"inspect", "bar.cot", "--json"});
  const auto json = nlohmann::json::parse(inspected.out).at("elastic");
  EXPECT_EQ(json["law"], "stvk");
  EXPECT_EQ(json["tets"], part.elastic->data().tets.size());
  EXPECT_EQ(json["frequencies_hz"].size(), 6U);
  EXPECT_GT(json["anchored_nodes"], 0);
  // Isosurface stuffing promises as much (Labelle & Shewchuk 2007).
  EXPECT_GT(json["smallest_angle_deg"], 10.7);
  EXPECT_LT(json["largest_angle_deg"], 164.8);
  EXPECT_NE(run({"inspect", "bar.cot"}).out.find("elastic"), std::string::npos);
}

// A scan has a hole where it stood. Its mesh holds no volume that could be told, or that the part could be thicker
// than.
TEST_F(ElasticCommand, AnOpenMeshIsCalledOpenAndThePartMeasured) {
  TriangleMesh scan = make_box({0.1, 0.1, 0.1});
  std::erase_if(scan.triangles, [&](const Triangle& t) {
    return scan.vertices[t[0]].z < 0 && scan.vertices[t[1]].z < 0 && scan.vertices[t[2]].z < 0;
  });
  ASSERT_EQ(scan.triangles.size(), 10U);
  write_obj(scan, folder_ / "scan.obj");
  const Outcome outcome = prepare({"--elastic", "rubber", "--tets", "400", "--modes", "4"}, "scan.obj");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find("thicker than the mesh"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find(" 0 cm^3"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("the mesh is open, with 1 opening"), std::string::npos) << outcome.out;

  const Outcome json = prepare({"--json"}, "scan.obj");
  const auto told = nlohmann::json::parse(json.out);
  EXPECT_EQ(told["openings"], 1);
  // A closing bulges by about a cell at the most; the whole box would be 1e-3.
  EXPECT_NEAR(told["volume_m3"].get<double>(), 1e-3, 1e-4);
}

TEST_F(ElasticCommand, ASheetThatIsThickenedIsToldToBendAsThickAsThat) {
  write_obj(make_box({0.2, 0.1, 0.0005}), folder_ / "sheet.obj");
  const Outcome sheet = prepare({"--elastic", "rubber", "--tets", "400", "--modes", "4"}, "sheet.obj");
  ASSERT_EQ(sheet.code, 0) << sheet.err;
  EXPECT_NE(sheet.out.find("thicker than the mesh, which holds 10 cm^3"), std::string::npos) << sheet.out;
  const Outcome bar = prepare({"--elastic", "rubber", "--tets", "400", "--modes", "4"});
  EXPECT_EQ(bar.out.find("thicker than the mesh"), std::string::npos) << bar.out;
}

TEST_F(ElasticCommand, ARigidPartSaysNothingOfIt) {
  const Outcome outcome = prepare({"--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_FALSE(nlohmann::json::parse(outcome.out).contains("elastic"));
  EXPECT_FALSE(nlohmann::json::parse(run({"inspect", "bar.cot", "--json"}).out).contains("elastic"));
}

TEST_F(ElasticCommand, WhatMakesNoSenseIsToldInASentence) {
  expect_one_sentence(prepare({"--elastic", "cheese"}));
  expect_one_sentence(prepare({"--elastic", "rubber", "--poisson", "0.5"}));
  expect_one_sentence(prepare({"--elastic", "rubber", "--anchor", "w<3"}));
  expect_one_sentence(prepare({"--elastic", "rubber", "--anchor", "x<-9", "--tets", "400", "--json"}));
  expect_one_sentence(prepare({"--elastic", "rubber", "--modes", "65"}));
  EXPECT_EQ(prepare({"--anchor", "x<0"}).code, 2);  // of a rigid part
  EXPECT_EQ(prepare({"--elastic", "rubber", "--tets", "100", "--edge", "0.01"}).code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "bar.cot"));
}

TEST_F(ElasticCommand, TetrahedraAreTakenAsTheyAre) {
  const TetMesh tets = tet_box({100, 20, 20}, {5, 1, 1});
  std::ofstream node(folder_ / "block.node"), ele(folder_ / "block.ele");
  node << tets.nodes.size() << " 3 0 0\n";
  for (std::size_t i = 0; i < tets.nodes.size(); ++i)
    node << i << ' ' << tets.nodes[i].x << ' ' << tets.nodes[i].y << ' ' << tets.nodes[i].z << '\n';
  ele << tets.tets.size() << " 4 0\n";
  for (std::size_t i = 0; i < tets.tets.size(); ++i) {
    ele << i;
    for (const std::uint32_t n : tets.tets[i]) ele << ' ' << n;
    ele << '\n';
  }
  node.close();
  ele.close();
  const Outcome outcome = prepare(
      {"--unit", "mm", "--elastic", "steel", "--law", "warped", "--modes", "4", "--anchor", "x<0.001", "--json"},
      "block.ele");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["elastic"]["tets"], tets.tets.size());
  const Part part = read_asset(folder_ / "bar.cot");
  EXPECT_EQ(part.elastic->data().nodes.size(), tets.nodes.size());
  EXPECT_NEAR(part.mesh.bounds().size().x, 0.1, 1e-9);
  // The second time it comes from the cache, and is the same.
  ASSERT_EQ(prepare({"--unit", "mm", "--elastic", "steel", "--law", "warped", "--modes", "4", "--anchor", "x<0.001"},
                    "block.node")
                .code,
            0);
  EXPECT_EQ(read_asset(folder_ / "bar.cot").elastic->hash(), part.elastic->hash());
  // Without a material it is a rigid part of their surface.
  ASSERT_EQ(prepare({"--unit", "mm"}, "block.node").code, 0);
  EXPECT_FALSE(read_asset(folder_ / "bar.cot").elastic);
  expect_one_sentence(prepare({"--unit", "mm", "--up", "y", "--elastic", "steel", "--json"}, "block.node"));
}

}  // namespace
}  // namespace cotouch::this_file

// Elastic parts in scene files.
#include <cotouch/session/scene_file.h>

#include <cotouch/base/error.h>
#include <cotouch/field/mass.h>
#include <cotouch/mesh/export.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

const std::string k_part = "cotouch = 2\n[[body]]\n[[body.part]]\nmesh = \"bar.obj\"\n";

std::string refusal_of(const std::string& text) {
  try {
    parse_scene_file(text, "test");
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

ElasticSettings elastic_of(const std::string& table) {
  const Scene scene = parse_scene_file(k_part + "elastic = " + table, "test").scene;
  return scene.bodies.at(0).parts.at(0).settings.elastic.value();
}

TEST(ElasticSceneFiles, AMaterialIsEnough) {
  const ElasticSettings settings = elastic_of("{ material = \"rubber\" }");
  ElasticSettings expected;
  expected.material = material_named("rubber");
  EXPECT_EQ(settings, expected);
  EXPECT_FALSE(parse_scene_file(k_part, "test").scene.bodies[0].parts[0].settings.elastic);
}

TEST(ElasticSceneFiles, NumbersCountMoreThanTheMaterial) {
  const ElasticSettings settings = elastic_of(
      "{ material = \"steel\", young = 2e6, poisson = 0.3, density = 900, mass_damping = 0.5, "
      "stiffness_damping = 2e-3, law = \"warped\", coordinates = 9, edge = 0.004, domains = 3, "
      "anchors = [\"x<0.01\", \"point:0,0,0@0.005\"] }");
  EXPECT_EQ(settings.material, (Material{2e6, 0.3, 900, 0.5, 2e-3}));
  EXPECT_EQ(settings.law, ElasticLaw::warped);
  EXPECT_EQ(settings.coordinates, 9U);
  EXPECT_EQ(settings.tets.edge, 0.004);
  EXPECT_EQ(settings.domains, 3U);
  EXPECT_EQ(settings.anchors, (std::vector<Anchor>{parse_anchor("x<0.01"), parse_anchor("point:0,0,0@0.005")}));
  EXPECT_EQ(elastic_of("{ young = 1e6, poisson = 0.4, density = 1000 }").material, Material{});
}

TEST(ElasticSceneFiles, EverythingComesBackToTheLastBit) {
  SceneFile file;
  for (std::uint32_t i = 1; i <= 3; ++i) {
    SceneBody& body = file.scene.bodies.emplace_back();
    body.id = i;
    ElasticSettings& elastic = body.parts.emplace_back().settings.elastic.emplace();
    file.sources.push_back({{{}, "bar.obj", "mm", {}}});
    if (i == 1) elastic.material = material_named("soft tissue");
    if (i == 2) elastic.material = {1e6 / 3, 0.1 + 0.2, 1e3 / 7, 1.0 / 3, 1e-3 / 3};
    if (i == 2) elastic.law = ElasticLaw::warped;
    if (i == 2) elastic.tets.edge = 0.01 / 3;
    if (i == 2) elastic.anchors = {PlaneAnchor{2, true, 0.1 / 3}, BoxAnchor{{-1.0 / 3, 0, 1e-9}, {1, 2.0 / 3, 3}}};
    if (i == 3) elastic.anchors = {PointAnchor{{0.1, -0.7 / 3, 1e-3}, 1e-2 / 7}};
    if (i == 3) elastic.tets.target_tets = 12345;
    if (i == 3) elastic.domains = 4;
    if (i == 3) elastic.coordinates = 31;
  }
  const SceneFile again = parse_scene_file(format_scene_file(file), "test");
  ASSERT_EQ(again.scene.bodies.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(again.scene.bodies[i].parts.at(0).settings, file.scene.bodies[i].parts[0].settings) << i;
}

TEST(ElasticSceneFiles, WhatMakesNoSenseIsRefusedWithASentence) {
  const auto expect_refused = [](const std::string& table, const std::string& words) {
    const std::string sentence = refusal_of(k_part + "elastic = " + table);
    EXPECT_TRUE(sentence.starts_with("The scene test cannot be used: body 1: part 1: ")) << table << sentence;
    EXPECT_NE(sentence.find(words), std::string::npos) << table << ": " << sentence;
    EXPECT_TRUE(sentence.ends_with(".") && !sentence.ends_with("..")) << sentence;
  };
  expect_refused("\"rubber\"", "elastic = { material = \"rubber\" }");
  expect_refused("{ }", "`material`");
  expect_refused("{ young = 1e6 }", "`poisson`");
  expect_refused("{ material = \"rubbr\" }", "There are: ");
  expect_refused("{ material = \"rubber\", poisson = 0.5 }", "Poisson");
  expect_refused("{ material = \"rubber\", poisson = 0.4999 }", "0.45");
  expect_refused("{ material = \"rubber\", young = 1 }", "Young");
  expect_refused("{ material = \"rubber\", young = nan }", "`young`");
  expect_refused("{ material = \"rubber\", density = 0 }", "`density`");
  expect_refused("{ material = \"rubber\", law = \"linear\" }", "\"stvk\", \"warped\"");
  expect_refused("{ material = \"rubber\", coordinates = 65 }", "64");
  expect_refused("{ material = \"rubber\", coordinates = 0 }", "`coordinates`");
  expect_refused("{ material = \"rubber\", coordinates = 3.7 }", "`coordinates` is not a whole number");
  expect_refused("{ material = \"rubber\", tets = 500.5 }", "`tets` is not a whole number");
  expect_refused("{ material = \"rubber\", law = \"warped\", coordinates = 129 }", "128");
  expect_refused("{ material = \"rubber\", tets = 1e9 }", "`tets`");
  expect_refused("{ material = \"rubber\", tets = 100, edge = 0.1 }", "either");
  expect_refused("{ material = \"rubber\", edge = 0 }", "`edge`");
  expect_refused("{ material = \"rubber\", domains = 9 }", "`domains`");
  expect_refused("{ material = \"rubber\", anchors = \"x<1\" }", "`anchors`");
  expect_refused("{ material = \"rubber\", anchors = [1] }", "`anchors`");
  expect_refused("{ material = \"rubber\", anchors = [\"w<1\"] }", "box:");
  expect_refused("{ material = \"rubber\", mode = 3 }", "`mode`");
  std::string many = "{ material = \"rubber\", anchors = [\"x<0\"";
  for (int i = 0; i < 64; ++i) many += ", \"x<0\"";
  expect_refused(many + "] }", "at most 64");
}

TEST(ElasticSceneFiles, AnElasticBodyIsOnePartWithTheDensityOfItsMaterial) {
  const std::string elastic = "elastic = { material = \"rubber\" }\n";
  EXPECT_NE(refusal_of("cotouch = 2\n[[body]]\n[[body.part]]\nasset = \"bar.cot\"\n" + elastic).find("asset"),
            std::string::npos);
  EXPECT_NE(refusal_of(k_part + elastic + "[[body.part]]\nasset = \"b.cot\"\n").find("one part"), std::string::npos);
  EXPECT_NE(
      refusal_of("cotouch = 2\n[[body]]\ndensity = 900\n[[body.part]]\nmesh = \"bar.obj\"\n" + elastic).find("density"),
      std::string::npos);
}

TEST(ElasticSceneFiles, ASceneWithAnElasticPartIsOpenedAndSaved) {
  const TemporaryFolder folder;
  write_obj(make_box({0.2, 0.02, 0.02}), folder / "bar.obj");
  std::ofstream(folder / "scene.toml")
      << "cotouch = 2\n"
         "[[body]]\nname = \"held\"\n[[body.part]]\nmesh = \"bar.obj\"\nresolution = 32\npoints = 512\n"
         "elastic = { material = \"rubber\", tets = 400, coordinates = 5, anchors = [\"x<-0.09\"] }\n"
         "[[body]]\nname = \"loose\"\nmotion = \"free\"\nposition = [0.0, 0.1, 0.0]\n[[body.part]]\n"
         "mesh = \"bar.obj\"\nresolution = 32\npoints = 512\n"
         "elastic = { material = \"foam\", law = \"warped\", tets = 400, coordinates = 4 }\n";
  NoProgress quiet;
  const Scene scene = load_scene_file(folder / "scene.toml", quiet);
  const auto model = make_model(scene);
  ASSERT_NE(model->elastic(0), nullptr);
  ASSERT_NE(model->elastic(1), nullptr);
  EXPECT_EQ(model->elastic(0)->size(), 5U);
  EXPECT_TRUE(model->elastic(0)->data().anchored);
  EXPECT_EQ(model->elastic(1)->size(), 4U);
  EXPECT_FALSE(model->elastic(1)->data().anchored);
  // 80 cm^3 of foam at 60 kg/m^3, and not the 80 g that a body has at 1000 kg/m^3; a field of three cells across
  // rounds the bar's edges.
  EXPECT_NEAR(mass_of(scene.bodies[1]).mass, 0.0048, 0.0048 * 0.09);

  const std::filesystem::path saved = save_scene(scene, "saved", folder / "saved");
  EXPECT_EQ(make_model(load_scene_file(saved, quiet))->hash(), model->hash());
}

TEST(ElasticSceneFiles, HandsMayLeadAFixedBodyIfItBends) {
  const TemporaryFolder folder;
  write_obj(make_box({0.2, 0.02, 0.02}), folder / "bar.obj");
  const auto scene_with = [&](const char* elastic) {
    std::ofstream(folder / "scene.toml") << "cotouch = 2\n[[body]]\n[[body.part]]\nmesh = \"bar.obj\"\n"
                                            "resolution = 32\npoints = 512\n"
                                         << elastic
                                         << "\n[[hand]]\nbody = 1\npath = [[0.1, 0, 0, 1, 0, 0, 0], "
                                            "[0.1, 0, 0.05, 1, 0, 0, 0]]\n";
    NoProgress quiet;
    return load_scene_file(folder / "scene.toml", quiet);
  };
  const Scene bends =
      scene_with("elastic = { material = \"rubber\", tets = 400, coordinates = 5, anchors = [\"x<-0.09\"] }");
  ASSERT_EQ(bends.scripts.size(), 1U);
  EXPECT_THROW(scene_with(""), Error);
  // Saved, the part is an asset, and only reading it tells.
  NoProgress quiet;
  const Scene again = load_scene_file(save_scene(bends, "saved", folder / "saved"), quiet);
  ASSERT_EQ(again.scripts.size(), 1U);
  EXPECT_EQ(again.scripts[0].keys.size(), 2U);
}

TEST(ElasticSceneFiles, AGivenMassCountsMoreThanTheMaterial) {
  SceneBody body;
  body.mass = MassProperties{2.5, {}, {}};
  ElasticSettings& elastic = body.parts.emplace_back().settings.elastic.emplace();
  elastic.material = material_named("foam");
  EXPECT_EQ(mass_of(body).mass, 2.5);
  EXPECT_TRUE(is_elastic(body));
}

}  // namespace
}  // namespace cotouch::this_file

#include <cotouch/experiment/contact_table_elastic.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>
#include <support/elastic_parts.h>

#include <map>

namespace cotouch::this_file {
namespace {

SceneBody body_of(std::uint32_t id, Motion motion, std::shared_ptr<const Part> part, const Pose& pose) {
  SceneBody body;
  body.id = id;
  body.motion = motion;
  body.pose = pose;
  body.mass = MassProperties{1, {}, Mat3::identity()};
  ScenePart piece;
  piece.part = std::move(part);
  body.parts.push_back(std::move(piece));
  return body;
}

TEST(ContactTableElastic, ARowHasTheColumnsOfTableOne) {
  // A ball comes down on the free end of a bar.
  NoProgress quiet;
  PartSettings settings;
  settings.field.resolution = 48;
  settings.shell.points = 512;
  const auto ball = std::make_shared<const Part>(prepare_part(make_sphere(0.01, 3), settings, quiet));
  Scene scene;
  scene.name = "bar and ball";
  const Pose above{{0.09, 0, 0.023}, {}}, pressed{{0.09, 0, 0.017}, {}};
  scene.bodies = {body_of(1, Motion::fixed, elastic_test::held_bar(ElasticLaw::stvk), {}),
                  body_of(2, Motion::free, ball, above)};
  scene.scripts.push_back({2, {above, pressed, above}, 0.05});
  ExperimentOptions options;
  options.quick = true;
  options.progress = &quiet;
  ExperimentReport report;
  add_elastic_row("row", scene, PaperRow{10, 1, 2, 3, 4, 5, 6, 7, 8, 9}, options, report);
  std::map<std::string, ExperimentResult> results;
  for (const ExperimentResult& result : report.results) results[result.name] = result;
  EXPECT_GT(results.at("row/in-contact").value, 0);
  EXPECT_GE(results.at("row/visited").value, results.at("row/in-contact").value);
  EXPECT_GT(results.at("row/cycles-in-contact").value, 20);
  EXPECT_GT(results.at("row/elastic-us").value, 0);
  EXPECT_GT(results.at("row/cycle-p99-us").value, results.at("row/contact-p50-us").value / 10);
  EXPECT_EQ(results.at("row/elastic-us").paper, 6);
  EXPECT_EQ(results.at("row/treeless-us").paper, 9);
  EXPECT_EQ(results.at("row/points").value, 4096);  // the bar, which bends, brings its shell
}

}  // namespace
}  // namespace cotouch::this_file

// Built-in scenes at the level of their meshes: what the gallery offers must start free and come to touch.
#include <cotouch/world/scene.h>

#include <cotouch/base/error.h>
#include <cotouch/mesh/winding.h>
#include <cotouch/world/hand_path.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace cotouch {
namespace {

// The two bodies of a scene, and whether corners of one lie inside the other.
class Bodies {
 public:
  explicit Bodies(const SceneDescription& scene)
      : moving_(scene.moving == Moving::shell ? scene.shell_mesh : scene.field_mesh),
        fixed_(scene.moving == Moving::shell ? scene.field_mesh : scene.shell_mesh),
        fixed_pose_(scene.static_pose),
        moving_inside_(moving_),
        fixed_inside_(fixed_) {}

  bool overlap(const Pose& moving) const {
    return any_inside(moving_, inverse(fixed_pose_) * moving, fixed_inside_) ||
           any_inside(fixed_, inverse(moving) * fixed_pose_, moving_inside_);
  }

 private:
  static bool any_inside(const TriangleMesh& mesh, const Pose& pose, const WindingNumber& winding) {
    // A thousand corners or so, spread over the mesh, are enough to see a hand press one part into another.
    const std::size_t step = std::max<std::size_t>(1, mesh.vertices.size() / 1000);
    for (std::size_t i = 0; i < mesh.vertices.size(); i += step)
      if (winding.at(transform(pose, mesh.vertices[i])) > 0.5) return true;
    return false;
  }

  const TriangleMesh& moving_;
  const TriangleMesh& fixed_;
  Pose fixed_pose_;
  WindingNumber moving_inside_, fixed_inside_;
};

TEST(Scenes, HaveNamesOfTheirOwnAndSentencesForTheGallery) {
  const std::vector<std::string> names = builtin_scene_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  for (const std::string& name : names) {
    const SceneDescription scene = builtin_scene(name);
    EXPECT_EQ(scene.name, name);
    EXPECT_FALSE(scene.summary.empty());
  }
}

TEST(Scenes, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  try {
    builtin_scene("kitchen");
    FAIL();
  } catch (const Error& error) {
    for (const std::string& name : builtin_scene_names())
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << name;
  }
}

TEST(Scenes, StartFreeAndAreTouchedOnTheWay) {
  for (const std::string& name : builtin_scene_names()) {
    SCOPED_TRACE(name);
    const SceneDescription scene = builtin_scene(name);
    const Bodies bodies(scene);
    const HandPath path(scene.hand, scene.hand_speed);
    EXPECT_GT(path.duration(), 0.5);
    EXPECT_FALSE(bodies.overlap(path.at(0)));
    bool touched = false;
    for (int i = 1; i <= 60 && !touched; ++i) touched = bodies.overlap(path.at(path.duration() * i / 60));
    EXPECT_TRUE(touched);
  }
}

TEST(Scenes, AreTheSameEveryTime) {
  for (const std::string& name : builtin_scene_names()) {
    const SceneDescription a = builtin_scene(name), b = builtin_scene(name);
    EXPECT_EQ(a.shell_mesh.vertices, b.shell_mesh.vertices) << name;
    EXPECT_EQ(a.field_mesh.triangles, b.field_mesh.triangles) << name;
  }
}

}  // namespace
}  // namespace cotouch

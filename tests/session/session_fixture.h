// What the tests of sessions share: a small scene from functions and a library of scenes that has it.
#pragma once

#include <cotouch/base/error.h>
#include <cotouch/session/scene_file.h>
#include <cotouch/session/scene_library.h>
#include <cotouch/shapes/shapes.h>

#include <memory>
#include <string>

namespace cotouch::testing_session {

// A ball of 2 cm radius at the origin and another one 5 cm above it, in the hand.
inline std::shared_ptr<const Part> ball() {
  static const auto k_part = [] {
    auto part = std::make_shared<Part>();
    part->name = "ball";
    part->mesh = make_sphere(0.02, 2);
    part->settings.field.resolution = 24;
    part->settings.shell.points = 256;
    part->field = build_field([](const Vec3d& p) { return norm(p) - 0.02; }, part->mesh.bounds(), part->settings.field);
    NoProgress none;
    part->shell = build_shell(part->field, part->settings.shell, none);
    return part;
  }();
  return k_part;
}

inline Scene two_balls() {
  Scene scene;
  scene.name = "balls";
  scene.title = "Two balls";
  scene.drag = 20;
  for (std::uint32_t id = 1; id <= 2; ++id) {
    SceneBody body;
    body.id = id;
    body.name = id == 1 ? "still" : "ball";
    body.motion = id == 1 ? Motion::fixed : Motion::free;
    body.pose.position = {0, 0, id == 1 ? 0 : 0.05};
    body.parts.emplace_back();
    body.parts[0].name = body.name;
    body.parts[0].part = ball();
    scene.bodies.push_back(std::move(body));
  }
  return scene;
}

// The same with a third ball beside the second, for two people.
inline Scene three_balls() {
  Scene scene = two_balls();
  scene.name = "three";
  scene.bodies.push_back(scene.bodies[1]);
  scene.bodies[2].id = 3;
  scene.bodies[2].pose.position = {0.06, 0, 0.05};
  return scene;
}

class TestLibrary final : public SceneLibrary {
 public:
  explicit TestLibrary(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::vector<SceneEntry> list() override { return {{"balls", "Two balls", "Two balls.", false, false}}; }
  Scene load(const std::string& name, Progress& progress) override {
    if (name == "balls") return two_balls();
    if (name == "three") return three_balls();
    if (!std::filesystem::exists(folder_ / name / "scene.toml")) throw Error("There is no scene '" + name + "'.");
    Scene scene = load_scene_file(folder_ / name / "scene.toml", progress);
    scene.name = name;
    return scene;
  }
  std::string thumbnail(const std::string&) override { return {}; }
  std::filesystem::path save(const Scene& scene, const std::string& name, Replacing replacing) override {
    return save_scene(scene, name, folder_ / name, replacing);
  }
  void keep_unsaved(const Scene& scene) override { save_scene(scene, "unsaved", folder_ / k_unsaved_scene); }
  void forget_unsaved() override { std::filesystem::remove_all(folder_ / k_unsaved_scene); }
  void remove(const std::string& name) override {
    if (std::filesystem::remove_all(folder_ / name) == 0) throw Error("There is no scene '" + name + "'.");
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace cotouch::testing_session

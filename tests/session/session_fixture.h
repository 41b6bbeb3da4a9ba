// What the tests of sessions share: a small scene from functions and a library of scenes that has it.
#pragma once

#include <cotouch/base/error.h>
#include <cotouch/session/scene_file.h>
#include <cotouch/session/scene_library.h>
#include <cotouch/shapes/shapes.h>

#include <functional>
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
  explicit TestLibrary(std::filesystem::path folder, UnsavedLimits limits = {})
      : folder_(std::move(folder)), kept_(folder_, nullptr, limits) {}
  std::vector<SceneEntry> list() override {
    std::vector<SceneEntry> entries{{"balls", "Two balls", "Two balls.", false, false, false}};
    for (const std::string& name : kept_.unsaved()) entries.push_back({name, "Unsaved", "", true, true, false});
    return entries;
  }
  Scene load(const std::string& name, Progress& progress) override {
    if (name == "balls") return two_balls();
    if (name == "three") return three_balls();
    return kept_.load(name, progress);
  }
  std::string thumbnail(const std::string&) override { return {}; }
  std::filesystem::path save(const Scene& scene, const std::string& name, Replacing replacing) override {
    return save_scene(scene, name, folder_ / name, replacing);
  }
  std::shared_ptr<UnsavedPlace> keep_unsaved(const Scene& scene, std::shared_ptr<UnsavedPlace> place) override {
    if (on_keeping) on_keeping();
    return kept_.keep_unsaved(scene, std::move(place));
  }
  std::shared_ptr<UnsavedPlace> claim_unsaved(const std::string& name) override { return kept_.claim_unsaved(name); }
  void forget_unsaved(const UnsavedPlace& place) override { kept_.forget_unsaved(place); }
  void remove(const std::string& name) override { kept_.remove(name); }

  // Names of what was not saved, the newest first.
  std::vector<std::string> unsaved() const { return kept_.unsaved(); }

  // What happens while a scene is being kept, on the thread that does so. To be set before anything is changed.
  std::function<void()> on_keeping;

 private:
  std::filesystem::path folder_;
  FolderLibrary kept_;
};

}  // namespace cotouch::testing_session

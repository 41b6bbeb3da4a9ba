// A session with no server: a device of your own takes part, grasps a ball and presses it onto a plate. Pages, scripts
// and other devices can take part at the same time; the session decides who may do what.
#include <cotouch/session/session.h>
#include <cotouch/shapes/shapes.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

namespace {

// Stands for a driver: it says where its handle is and is told what the hand feels. The forces are computed a thousand
// times a second; a session passes them on with its views. (A device that renders forces itself derives from
// cotouch::Device and is served by a cotouch::TouchLoop at 1 kHz.)
class MyDevice final : public cotouch::SessionListener {
 public:
  cotouch::Vec3d handle{0, 0, 0.04};  // metres

  cotouch::ViewDemand wanted() const override { return {.views = true}; }
  void view(const cotouch::SessionView& view) override {  // on the session's thread: keep it short
    const std::scoped_lock lock(mutex_);
    force_ = view.hands.empty() ? cotouch::Vec3d{} : view.hands[0].felt.force;
  }
  cotouch::Vec3d force() const {
    const std::scoped_lock lock(mutex_);
    return force_;
  }

 private:
  mutable std::mutex mutex_;
  cotouch::Vec3d force_;  // newtons
};

cotouch::Scene plate_and_ball() {
  const auto body = [](std::uint32_t id, const char* name, cotouch::TriangleMesh mesh, std::uint32_t points) {
    cotouch::SceneBody made;
    made.id = id;
    made.name = name;
    cotouch::ScenePart& part = made.parts.emplace_back();
    part.name = name;
    part.mesh = std::make_shared<const cotouch::TriangleMesh>(std::move(mesh));
    part.settings.field.resolution = 64;
    part.settings.shell.points = points;
    return made;
  };
  cotouch::Scene scene;
  scene.title = "Plate and ball";
  scene.bodies.push_back(body(1, "plate", cotouch::make_box({0.1, 0.1, 0.02}), 256));
  scene.bodies.push_back(body(2, "ball", cotouch::make_sphere(0.02, 3), 1024));
  scene.bodies.back().motion = cotouch::Motion::free;
  scene.bodies.back().pose = {{0, 0, 0.04}, {}};
  cotouch::NoProgress progress;
  cotouch::prepare(scene, progress);
  return scene;
}

}  // namespace

int main() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "cotouch-hello-session";
  cotouch::FolderLibrary library(folder / "scenes", nullptr);  // built-in scenes and those that are saved
  cotouch::SessionSettings settings;
  settings.recordings = folder / "recordings";
  cotouch::Session session(settings, library);
  MyDevice device;
  session.add_listener(device);
  session.start();

  const cotouch::ParticipantId me = session.join(cotouch::ParticipantKind::device, "my device");
  for (const cotouch::SessionCommand& command : {cotouch::SessionCommand(cotouch::ShowScene{plate_and_ball()}),
                                                 cotouch::SessionCommand(cotouch::GraspBody{.body = 2})})
    if (const cotouch::CommandResult result = session.command_and_wait(me, command); !result.done()) {
      std::fprintf(stderr, "%s\n", result.reason.c_str());
      return 1;
    }

  cotouch::HandMotion motion;
  motion.hand = session.snapshot().hands.at(0).id;
  motion.generation = session.snapshot().generation;
  for (int i = 0; i < 200; ++i) {  // a second down by 15 mm, and a second of rest
    if (i < 100) device.handle.z -= 0.15e-3;
    motion.pose.position = device.handle;
    motion.sequence += 1;
    session.move_hand(me, motion);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (i % 20 == 19) std::printf("handle at %4.1f mm, force %6.3f N\n", device.handle.z * 1e3, device.force().z);
  }
  session.leave(me);
  session.stop();
}

// Prints one hash a built-in scene: everything from the triangles of its parts to the wrench felt along its hand path.
// With a file of expected lines as argument, compares and fails on any difference. No library but the project's own
// core, so that the same source runs in every build and under emulation.
#include <cotouch/base/hash.h>
#include <cotouch/contact/nested.h>
#include <cotouch/touch/held_object.h>
#include <cotouch/world/hand_path.h>
#include <cotouch/world/scene.h>

#include <cstdio>
#include <fstream>
#include <map>

namespace {

using namespace cotouch;

void add(Hasher& hash, const Vec3d& v) {
  hash.add(v.x);
  hash.add(v.y);
  hash.add(v.z);
}

void add(Hasher& hash, const Mat3& m) {
  for (const double entry : m.m) hash.add(entry);
}

template <class T>
void add_array(Hasher& hash, std::span<const T> values) {
  hash.add_bytes(std::as_bytes(values));
}

// Small enough for an unoptimised build and for emulation; large enough for several tree levels and many bricks.
PartSettings small_settings(PartSettings settings) {
  settings.field.resolution = 28;
  settings.shell.points = 1000;
  return settings;
}

std::uint64_t scene_hash(const std::string& name) {
  const SceneDescription scene = builtin_scene(name);
  NoProgress quiet;
  const Part shell_part = prepare_part(scene.shell_mesh, small_settings(scene.shell_settings), quiet);
  const Part field_part = prepare_part(scene.field_mesh, small_settings(scene.field_settings), quiet);

  Hasher hash;
  add_array(hash, field_part.field.data().samples);
  add_array(hash, field_part.field.data().coarse);
  add_array(hash, shell_part.shell.data().positions);
  add_array(hash, shell_part.shell.data().inward_normals);

  NestedContact engine(shell_part.shell, field_part.field, {}, WorkBudget::of(800));
  HeldObjectSettings settings;
  settings.moving = scene.moving;
  HeldObject object(engine, settings, scene.hand.front(), scene.static_pose);
  const HandPath path(scene.hand, scene.hand_speed);
  for (double t = 0; t < path.duration(); t += 4e-3) {
    const Wrench felt = object.step(path.at(t));
    add(hash, felt.force);
    add(hash, felt.torque);
    add(hash, object.pose().position);
    add(hash, object.contact().wrench.force);
    add(hash, object.contact().gradient.force_linear);
    add(hash, object.contact().gradient.torque_angular);
    hash.add(object.contact().stats.visited);
    hash.add(object.contact().stats.in_contact);
    hash.add(object.contact().stats.level);
  }
  return hash.digest();
}

std::map<std::string, std::string> read_expected(const char* path) {
  std::map<std::string, std::string> expected;
  std::ifstream file(path);
  for (std::string scene, hash; file >> scene >> hash;) expected[scene] = hash;
  return expected;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::string> expected =
      argc > 1 ? read_expected(argv[1]) : std::map<std::string, std::string>{};
  bool all_equal = true;
  for (const std::string& name : builtin_scene_names()) {
    const std::string hash = hex(scene_hash(name));
    const auto found = expected.find(name);
    const bool equal = argc <= 1 || (found != expected.end() && found->second == hash);
    all_equal = all_equal && equal;
    std::printf("%s %s%s\n", name.c_str(), hash.c_str(), equal ? "" : "  DIFFERS from the golden hash");
    std::fflush(stdout);
  }
  return all_equal ? 0 : 1;
}

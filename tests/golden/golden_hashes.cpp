// Prints one hash a built-in scene: everything from the triangles of its parts to the forces felt along its hands'
// paths, and one of a snapshot that another machine took. With a file of expected lines as argument, compares and
// fails on any difference; a second argument (snapshot, scenes, as-shown) chooses a part. No library but the project's
// own core, so that the same source runs in every build and under emulation.
//
// After a change that is meant to alter results, the file is made anew: golden_hashes > tests/golden/hashes.txt
#include <cotouch/base/hash.h>
#include <cotouch/base/trig.h>
#include <cotouch/shapes/blocks.h>
#include <cotouch/world/hand_path.h>
#include <cotouch/world/scene.h>
#include <cotouch/world/step.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

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
void add(Hasher& hash, const Mat6& m) {
  add(hash, m.force_linear);
  add(hash, m.force_angular);
  add(hash, m.torque_linear);
  add(hash, m.torque_angular);
}
void add(Hasher& hash, const Quat& q) {
  for (const double entry : {q.w, q.x, q.y, q.z}) hash.add(entry);
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

void prepare_here(Scene& scene, bool small) {
  std::map<const TriangleMesh*, std::shared_ptr<const Part>> made;
  NoProgress quiet;
  for (SceneBody& body : scene.bodies)
    for (ScenePart& part : body.parts) {
      std::shared_ptr<const Part>& known = made[part.mesh.get()];
      if (!known)
        known = std::make_shared<const Part>(
            prepare_part(*part.mesh, small ? small_settings(part.settings) : part.settings, quiet));
      part.part = known;
    }
}

void add_part(Hasher& hash, const Part& part) {
  add_array(hash, part.field.data().samples);
  add_array(hash, part.field.data().coarse);
  add_array(hash, part.shell.data().positions);
  add_array(hash, part.shell.data().inward_normals);
  const MassProperties mass = mass_properties(part.mesh, 1000);
  hash.add(mass.mass);
  add(hash, mass.inertia);
}

// Parts, then steps with the scene's scripted hands.
std::uint64_t scene_hash(const std::string& name, bool small, int most_steps) {
  Scene scene = builtin_scene(name);
  prepare_here(scene, small);
  Hasher hash;
  for (const SceneBody& body : scene.bodies)
    for (const ScenePart& part : body.parts) add_part(hash, *part.part);

  constexpr double k_tick = 4e-3;
  const auto model = make_model(scene, {.tick = k_tick, .hands = 4, .budget = WorkBudget::of(800)});
  hash.add(model->hash());
  WorldState state(*model);
  StepScratch scratch(*model, true);
  std::vector<HandPath> paths;
  double longest = 1;
  for (const HandScript& script : scene.scripts) {
    paths.emplace_back(script.keys, script.speed);
    longest = std::max(longest, paths.back().duration());
  }
  // The whole way in as many steps as there may be.
  const auto steps = std::min(static_cast<int>(longest / k_tick), most_steps);
  const double stride = longest / steps;
  for (int i = 0; i < steps; ++i) {
    std::vector<HandInput> inputs;
    for (std::size_t h = 0; h < paths.size(); ++h) {
      HandInput input;
      input.present = true;
      input.action = i == 0 ? HandInput::Action::grasp : HandInput::Action::none;
      input.body = scene.scripts[h].body;
      input.pose = paths[h].at(i * stride);
      inputs.push_back(quantised(input));
    }
    step(*model, state, inputs, scratch);
    hash.add(state.hash());
    for (const BodyRecord& body : state.bodies()) add(hash, body.pose.rotation);
    for (std::size_t p = 0; p < model->pairs().size(); ++p) {
      const PairContact& contact = scratch.contact(p);
      if (contact.stats.in_contact == 0) continue;
      add(hash, contact.on_shell.wrench.force);
      add(hash, contact.on_shell.wrench.torque);
      add(hash, contact.on_shell.stiffness);
      add(hash, gradient_on_shell(contact.on_shell));
      add(hash, gradient_on_field(contact.on_shell, {0.01, 0.02, -0.03}));
      hash.add(contact.stats.visited);
      hash.add(contact.stats.in_contact);
      hash.add(contact.stats.level);
    }
  }
  return hash.digest();
}

// Blocks that fall onto each other while two hands pull at them.
class FallingBlocks {
 public:
  FallingBlocks() {
    Scene scene;
    scene.gravity = {0, 0, -9.81};
    PartSettings settings;
    settings.field.resolution = 20;
    settings.shell.points = 400;
    const auto block = std::make_shared<const TriangleMesh>(make_block({0.04, 0.04, 0.04}, 0.003));
    const auto plate = std::make_shared<const TriangleMesh>(make_plate({{0.2, 0.2, 0.02}, 0.002}));
    for (std::uint32_t id = 1; id <= 5; ++id) {
      SceneBody body;
      body.id = id;
      body.name = "body";
      body.parts.push_back({"part", "", {}, id == 1 ? plate : block, settings, nullptr, {}});
      if (id > 1) {
        body.motion = Motion::free;
        body.holding = id % 2 == 0 ? Holding::dynamic : Holding::quasi_static;
        body.pose = {{0.006 * id, 0.002 * id, 0.045 * (id - 1.4)}, quat_from_rotation_vector({0.1 * id, 0.2, 0.3})};
        body.spin = {1, 2, 3};
      }
      scene.bodies.push_back(std::move(body));
    }
    prepare_here(scene, false);
    model_ = make_model(scene, {.tick = 5e-3, .hands = 2, .budget = WorkBudget::of(500)});
    state_ = WorldState(*model_);
    scratch_ = std::make_unique<StepScratch>(*model_);
  }

  void run(int from, int to) {
    for (int i = from; i < to; ++i) {
      std::array<HandInput, 2> inputs;
      for (std::uint32_t h = 0; h < 2; ++h) {
        const SinCos swing = sin_cos(0.03 * i + h);
        inputs[h].present = true;
        inputs[h].body = h == 0 ? 4 : 3;
        inputs[h].action = i == 10    ? HandInput::Action::grasp
                           : i == 170 ? HandInput::Action::release
                                      : HandInput::Action::none;
        inputs[h].pose = {{0.02 * swing.cos, 0.02 * swing.sin, 0.09}, quat_from_rotation_vector({0, 0, swing.sin})};
        inputs[h] = quantised(inputs[h]);
      }
      step(*model_, state_, inputs, *scratch_);
    }
  }
  WorldState& state() { return state_; }

 private:
  std::shared_ptr<const WorldModel> model_;
  WorldState state_;
  std::unique_ptr<StepScratch> scratch_;
};

constexpr int k_snapshot_at = 100, k_end = 200;

std::string bytes_as_text(std::span<const std::byte> bytes) {
  constexpr char k_digits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte b : bytes) {
    text += k_digits[std::to_integer<unsigned>(b) >> 4];
    text += k_digits[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}
std::vector<std::byte> bytes_from_text(const std::string& text) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

std::map<std::string, std::string> read_expected(const char* path) {
  std::map<std::string, std::string> expected;
  std::ifstream file(path);
  for (std::string name, value; file >> name >> value;) expected[name] = value;
  return expected;
}

class Comparison {
 public:
  explicit Comparison(const char* path) : compares_(path != nullptr) {
    if (compares_) expected_ = read_expected(path);
  }
  void say(const std::string& name, const std::string& value) {
    const auto found = expected_.find(name);
    const bool equal = !compares_ || (found != expected_.end() && found->second == value);
    all_equal_ = all_equal_ && equal;
    std::printf("%s %s%s\n", name.c_str(), value.c_str(), equal ? "" : "  DIFFERS from what is expected");
    std::fflush(stdout);
  }
  // What the file has under this name; otherwise `own`.
  std::string expected_or(const std::string& name, const std::string& own) const {
    const auto found = expected_.find(name);
    return found != expected_.end() ? found->second : own;
  }
  bool all_equal() const { return all_equal_; }

 private:
  bool compares_;
  bool all_equal_ = true;
  std::map<std::string, std::string> expected_;
};

// A snapshot from the file, wherever it was taken, goes on here as it did there.
void compare_snapshot(Comparison& comparison) {
  FallingBlocks blocks;
  blocks.run(0, k_snapshot_at);
  const std::string own = bytes_as_text(blocks.state().bytes());
  comparison.say("snapshot", own);
  const bool restored = blocks.state().restore(bytes_from_text(comparison.expected_or("snapshot", own)));
  blocks.run(k_snapshot_at, k_end);
  comparison.say("snapshot/goes-on", restored ? hex(blocks.state().hash()) : "not-restored");
}

}  // namespace

int main(int argc, char** argv) {
  Comparison comparison(argc > 1 ? argv[1] : nullptr);
  const std::string only = argc > 2 ? argv[2] : "";
  if (only.empty() || only == "snapshot") compare_snapshot(comparison);
  if (only.empty() || only == "scenes")
    for (const std::string& name : builtin_scene_names()) comparison.say(name, hex(scene_hash(name, true, 300)));
  if (only.empty() || only == "as-shown")
    for (const char* name : {"ball-socket", "box-bracket"})
      comparison.say(std::string(name) + "/as-shown", hex(scene_hash(name, false, 200)));
  return comparison.all_equal() ? 0 : 1;
}

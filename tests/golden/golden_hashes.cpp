// Prints hashes of what must be the same bits in every build: everything from the triangles of a scene's parts to the
// forces felt by hands that hold and push its bodies. With a file of expected lines as argument, compares and fails on
// any difference; a second argument chooses a part:
//   snapshot  a world restored from the bytes in the file, whichever machine took them, goes on here as it did there
//   NAME      of a built-in scene (k_small), made small enough to be prepared in every build
//   as-shown  every built-in scene as users see it; prepared parts come from the cache ($COTOUCH_CACHE) if they are
//   there
// No library but the project's own core, so that the same source runs in every build and under emulation.
//
// After a change that is meant to alter results, the file is made anew: golden_hashes > tests/golden/hashes.txt
#include <cotouch/base/hash.h>
#include <cotouch/base/trig.h>
#include <cotouch/shapes/blocks.h>
#include <cotouch/world/hand_path.h>
#include <cotouch/world/pushing_hands.h>
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

// Without the cache: what this build makes of the meshes.
void prepare_here(Scene& scene) {
  std::map<const TriangleMesh*, std::shared_ptr<const Part>> made;
  NoProgress quiet;
  for (SceneBody& body : scene.bodies)
    for (ScenePart& part : body.parts) {
      std::shared_ptr<const Part>& known = made[part.mesh.get()];
      if (!known) known = std::make_shared<const Part>(prepare_part(*part.mesh, part.settings, quiet));
      part.part = known;
    }
}

void add_part(Hasher& hash, const Part& part) {
  add_array(hash, std::span<const Vec3d>(part.mesh.vertices));
  add_array(hash, std::span<const Triangle>(part.mesh.triangles));
  add_array(hash, part.field.data().samples);
  add_array(hash, part.field.data().coarse);
  add_array(hash, part.shell.data().positions);
  add_array(hash, part.shell.data().inward_normals);
  const MassProperties mass = mass_properties(part.mesh, 1000);
  hash.add(mass.mass);
  add(hash, mass.inertia);
}

// A scene and hands that go their whole way in a given number of steps.
class SceneRun {
 public:
  SceneRun(const Scene& scene, int most_steps)
      : scripts_(pushing_hands(scene)),
        model_(make_model(scene, {.tick = k_tick, .hands = 4, .budget = WorkBudget::of(800)})) {
    double longest = 1;
    for (const HandScript& script : scripts_) {
      paths_.emplace_back(script.keys, script.speed);
      longest = std::max(longest, paths_.back().duration());
    }
    steps_ = std::min(static_cast<int>(longest / k_tick), most_steps);
    stride_ = longest / steps_;
  }
  const WorldModel& model() const { return *model_; }
  int steps() const { return steps_; }

  void step_once(int i, WorldState& state, StepScratch& scratch) const {
    std::vector<HandInput> inputs;
    for (std::size_t h = 0; h < paths_.size(); ++h) {
      HandInput input;
      input.present = true;
      input.action = i == 0 ? HandInput::Action::grasp : HandInput::Action::none;
      input.body = scripts_[h].body;
      input.pose = paths_[h].at(i * stride_);
      inputs.push_back(quantised(input));
    }
    step(*model_, state, inputs, scratch);
  }

 private:
  static constexpr double k_tick = 4e-3;
  std::vector<HandScript> scripts_;
  std::shared_ptr<const WorldModel> model_;
  std::vector<HandPath> paths_;
  int steps_ = 0;
  double stride_ = 0;
};

void add_step(Hasher& hash, const SceneRun& run, const WorldState& state, const StepScratch& scratch) {
  hash.add(state.hash());
  for (const BodyRecord& body : state.bodies()) add(hash, body.pose.rotation);
  for (std::size_t p = 0; p < run.model().pairs().size(); ++p) {
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

std::string parts_hash(const Scene& scene) {
  Hasher hash;
  for (const SceneBody& body : scene.bodies)
    for (const ScenePart& part : body.parts) add_part(hash, *part.part);
  return hex(hash.digest());
}

// The second half is lived twice: the other time from a snapshot and without memory.
std::string steps_hash(const Scene& scene, int most_steps) {
  const SceneRun run(scene, most_steps);
  Hasher hash;
  hash.add(run.model().hash());
  WorldState state(run.model()), again(run.model());
  StepScratch scratch(run.model(), true);
  std::size_t touching = 0;
  for (int i = 0; i < run.steps(); ++i) {
    if (i == run.steps() / 2 && !again.restore(state.bytes())) return "not-restored";
    run.step_once(i, state, scratch);
    add_step(hash, run, state, scratch);
    touching += scratch.stats().in_contact;
  }
  StepScratch fresh(run.model());
  for (int i = run.steps() / 2; i < run.steps(); ++i) run.step_once(i, again, fresh);
  if (again.hash() != state.hash()) return "goes-on-otherwise-from-its-snapshot";
  if (touching == 0) return "nothing-touched";
  return hex(hash.digest());
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
      body.parts.push_back({"part", "", {}, id == 1 ? plate : block, settings, nullptr, nullptr, {}});
      if (id > 1) {
        body.motion = Motion::free;
        body.holding = id % 2 == 0 ? Holding::dynamic : Holding::quasi_static;
        body.pose = {{0.006 * id, 0.002 * id, 0.045 * (id - 1.4)}, quat_from_rotation_vector({0.1 * id, 0.2, 0.3})};
        body.spin = {1, 2, 3};
      }
      scene.bodies.push_back(std::move(body));
    }
    prepare_here(scene);
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
    said_any_ = true;
    std::printf("%s %s%s\n", name.c_str(), value.c_str(), equal ? "" : "  DIFFERS from what is expected");
    std::fflush(stdout);
  }
  // What the file has under this name; otherwise `own`.
  std::string expected_or(const std::string& name, const std::string& own) const {
    const auto found = expected_.find(name);
    return found != expected_.end() ? found->second : own;
  }
  bool all_equal() const { return all_equal_; }
  bool said_any() const { return said_any_; }

 private:
  bool compares_;
  bool all_equal_ = true, said_any_ = false;
  std::map<std::string, std::string> expected_;
};

// Stage by stage, so that a difference tells where it began.
void compare_elastic(Comparison& comparison, const std::string& name, const Scene& scene) {
  Hasher tets, shapes, forces, surface;
  bool any = false;
  for (const SceneBody& body : scene.bodies)
    for (const ScenePart& part : body.parts) {
      if (!part.part->elastic) continue;
      any = true;
      const ElasticData& data = part.part->elastic->data();
      add_array(tets, data.nodes);
      add_array(tets, data.tets);
      for (const std::span<const float> rows : {data.shapes, data.rotations, data.spread}) add_array(shapes, rows);
      for (const std::span<const double> numbers : {data.stiffness, data.stvk.coefficients, data.weight})
        add_array(forces, numbers);
      for (const std::span<const EmbeddedPoint> points : {data.shell, data.mesh}) add_array(surface, points);
      add_array(surface, data.proxies);
      add_array(surface, data.slopes);
      add_array(surface, data.domains);
      surface.add(part.part->elastic->hash());
    }
  if (!any) return;
  comparison.say(name + "/tets", hex(tets.digest()));
  comparison.say(name + "/shapes", hex(shapes.digest()));
  comparison.say(name + "/forces", hex(forces.digest()));
  comparison.say(name + "/surface", hex(surface.digest()));
}

// A snapshot from the file, wherever it was taken, goes on here as it did there, in a world that never was before it.
void compare_snapshot(Comparison& comparison) {
  FallingBlocks before, after;
  before.run(0, k_snapshot_at);
  const std::string own = bytes_as_text(before.state().bytes());
  comparison.say("snapshot", own);
  const bool restored = after.state().restore(bytes_from_text(comparison.expected_or("snapshot", own)));
  after.run(k_snapshot_at, k_end);
  comparison.say("snapshot/goes-on", restored ? hex(after.state().hash()) : "not-restored");
}

// What is prepared anew in every build: revolved, toothed, crossing, block-built and many bodies, and bodies that bend
// by either law, free, held and anchored, against rigid ones and against each other.
constexpr const char* k_small[] = {"ball-socket", "gears", "engine-bay", "stack",    "docking",
                                   "billiard",    "hoses", "soft-soft",  "soft-bar", "snap-clip"};

void compare_small(Comparison& comparison, const std::string& name) {
  Scene scene = builtin_scene(name);
  // Small enough for an unoptimised build and for emulation; large enough for several tree levels and many bricks.
  int steps = 300;
  for (SceneBody& body : scene.bodies)
    for (ScenePart& part : body.parts) {
      part.settings.field.resolution = 28;
      part.settings.shell.points = 1000;
      if (!part.settings.elastic) continue;
      part.settings.field.resolution = 40;  // thin parts need more to be one piece
      part.settings.elastic->tets.target_tets = 600;
      steps = 60;
    }
  prepare_here(scene);
  comparison.say(name + "/parts", parts_hash(scene));
  compare_elastic(comparison, name, scene);
  comparison.say(name + "/steps", steps_hash(scene, steps));
}

void compare_as_shown(Comparison& comparison, const std::string& name) {
  Scene scene = builtin_scene(name);
  NoProgress quiet;
  prepare(scene, quiet);
  comparison.say(name + "/as-shown/parts", parts_hash(scene));
  compare_elastic(comparison, name + "/as-shown", scene);
  comparison.say(name + "/as-shown/steps", steps_hash(scene, 60));
}

}  // namespace

int main(int argc, char** argv) {
  Comparison comparison(argc > 1 ? argv[1] : nullptr);
  const std::string only = argc > 2 ? argv[2] : "";
  if (only.empty() || only == "snapshot") compare_snapshot(comparison);
  for (const char* name : k_small)
    if (only.empty() || only == name) compare_small(comparison, name);
  if (only.empty() || only == "as-shown")
    for (const std::string& name : builtin_scene_names()) compare_as_shown(comparison, name);
  return comparison.said_any() && comparison.all_equal() ? 0 : 1;
}

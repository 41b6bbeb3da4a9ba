#include <cotouch/serve/touch_session.h>

#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

namespace cotouch {
namespace {

constexpr auto k_patience = std::chrono::seconds(2);  // for a cycle of the loop
constexpr const char* k_standing = "The touch loop does not answer, because the machine is too busy; try again.";

const ScenePart& held_part(const LoadedScene& scene) {
  const ScenePart* held = scene.moving_part();
  if (held == nullptr) throw Error("The scene '" + scene.name + "' has no part that a hand could hold.");
  return *held;
}

}  // namespace

std::unique_ptr<ContactGroup> make_contacts(const LoadedScene& scene, const FeelSettings& feel, bool placed) {
  const ScenePart& held = held_part(scene);
  auto group = std::make_unique<ContactGroup>();
  const bool shell_moves = scene.moving == Moving::shell;
  ContactSettings settings;
  settings.stiffness = feel.contact_stiffness;
  const WorkBudget budget = feel.warm_nodes > 0 ? WorkBudget::of(feel.warm_nodes) : WorkBudget::unlimited();
  for (const ScenePart& part : scene.parts) {
    if (part.moving) continue;
    const Shell& shell = shell_moves ? held.part->shell : part.part->shell;
    const Field& field = shell_moves ? part.part->field : held.part->field;
    group->add(std::make_unique<NestedContact>(shell, field, settings, budget), placed ? part.pose : Pose{});
  }
  return group;
}

double measured_nodes_per_us(const LoadedScene& scene) {
  const ScenePart* held = scene.moving_part();
  if (held == nullptr) return 0;
  const bool shell_moves = scene.moving == Moving::shell;
  // The pair with the most data is the one whose nodes are the dearest: it fits the caches worst.
  const Shell* shell = nullptr;
  const Field* field = nullptr;
  std::size_t most = 0;
  for (const ScenePart& part : scene.parts) {
    if (part.moving) continue;
    const Shell& its_shell = shell_moves ? held->part->shell : part.part->shell;
    const Field& its_field = shell_moves ? part.part->field : held->part->field;
    const std::size_t bytes = its_shell.point_count() * sizeof(ShellNode) + its_field.memory_bytes();
    if (shell != nullptr && bytes <= most) continue;
    shell = &its_shell;
    field = &its_field;
    most = bytes;
  }
  if (shell == nullptr) return 0;
  constexpr double k_microseconds = 1000;
  const WorkBudget budget = calibrate_budget(*shell, *field, k_microseconds);
  return budget.warm == WorkBudget::unlimited().warm ? 0 : budget.warm / k_microseconds;
}

std::uint32_t nodes_for(const LoadedScene& scene, double nodes_per_us, double budget_us) {
  if (!(nodes_per_us > 0)) return 0;
  const auto pairs = static_cast<double>(std::max<std::size_t>(2, scene.parts.size()) - 1);
  return static_cast<std::uint32_t>(std::clamp(budget_us * nodes_per_us / pairs, 1.0, 4e9));
}

HeldObjectSettings object_settings(const LoadedScene& scene, const FeelSettings& feel) {
  HeldObjectSettings settings;
  settings.coupling = scene.coupling;
  // The object must follow the hand even where the user wants to feel nothing; the limiter takes care of that.
  settings.coupling.max_force = std::max(feel.max_force, 0.5);
  settings.moving = scene.moving;
  // A step well below a cell of the usual field keeps thin walls from being passed between two cycles.
  settings.max_linear_step = std::min(settings.max_linear_step, 0.004 * scene.size());
  return settings;
}

LimitSettings limit_settings(const FeelSettings& feel) {
  LimitSettings limits;
  limits.max_force = feel.max_force;
  return limits;
}

TouchSession::TouchSession(std::shared_ptr<const LoadedScene> scene, const FeelSettings& feel, ViewerDevice& device,
                           const Pose& start)
    : scene_(std::move(scene)),
      feel_(feel),
      start_(start),
      object_(*engines_.emplace_back(Engines{0, make_contacts(*scene_, feel)}).group, object_settings(*scene_, feel),
              start),
      loop_(device, object_, {.limits = limit_settings(feel), .wait_for_device = true}) {
  ViewerDeviceSettings pace;
  pace.max_speed = 2 * scene_->size();
  device.attach(object_, pace);
}

TouchChange TouchSession::hand_over(const FeelSettings& feel) {
  Engines engines{0, make_contacts(*scene_, feel)};
  const TouchChange change{engines.group.get(), object_settings(*scene_, feel), limit_settings(feel)};
  engines.change = loop_.change(change);
  if (engines.change == 0) throw Error(k_standing);
  engines_.push_back(std::move(engines));
  feel_ = feel;
  return change;
}

void TouchSession::change(const FeelSettings& feel) {
  hand_over(feel);
}

Recording TouchSession::start_recording(const std::string& name) {
  dropped_before_ = loop_.frame().samples_dropped;
  const TouchChange change = hand_over(feel_);
  const auto end = std::chrono::steady_clock::now() + k_patience;
  while (loop_.frame().mark.change < engines_.back().change) {
    if (std::chrono::steady_clock::now() > end) throw Error(k_standing);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  const TouchMark mark = loop_.frame().mark;
  first_recorded_ = mark.cycle;
  const RecordedScene scene{name, feel_, hex(scene_->content_hash())};
  return begin_recording(change, mark, {}, format_recorded_scene(scene));
}

void TouchSession::collect(Recording* recording) {
  const std::uint64_t taken = loop_.frame().mark.change;
  while (engines_.front().change < taken) engines_.pop_front();
  if (recording != nullptr) {
    collect_samples(loop_, *recording, first_recorded_);
    return;
  }
  for (TouchSample sample; loop_.next_sample(sample);) {
  }
}

bool TouchSession::recorded_wholly() {
  return loop_.frame().samples_dropped == dropped_before_;
}

std::string format_recorded_scene(const RecordedScene& scene) {
  nlohmann::ordered_json json;
  json["scene"] = scene.name;
  json["stiffness"] = scene.feel.contact_stiffness;
  json["nodes"] = scene.feel.warm_nodes;
  json["bodies"] = scene.bodies;
  return json.dump();
}

RecordedScene parse_recorded_scene(const std::string& text) {
  RecordedScene scene;
  scene.name = text;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return scene;
  const auto number = [&](const char* key, double otherwise, double low, double high) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number()) return otherwise;
    const double value = found->get<double>();
    return value >= low && value <= high ? value : otherwise;
  };
  const auto word = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  scene.name = word("scene");
  scene.bodies = word("bodies");
  scene.feel.contact_stiffness = number("stiffness", scene.feel.contact_stiffness, 1e-3, 1e9);
  scene.feel.warm_nodes = static_cast<std::uint32_t>(number("nodes", 0, 0, 4e9));
  return scene;
}

ReplayResult replay(const Recording& recording, const LoadedScene& scene, const FeelSettings& feel) {
  // `cotouch feel` gives the resting body's pose to the held object instead of placing it in a group.
  const std::unique_ptr<ContactGroup> contacts = make_contacts(scene, feel, recording.other == Pose{});
  HeldObject object(*contacts, recording.object, recording.start, recording.other);
  RecordedDevice device(recording.samples);
  TouchLoopSettings settings;
  settings.limits = recording.limits;
  TouchLoop loop(device, object, settings);
  loop.resume(recording.limiter);
  ReplayResult result;
  result.samples.reserve(recording.samples.size());
  TouchSample sample;
  // In portions that fit the queue.
  while (loop.run_cycles(settings.queued_samples / 2) > 0)
    while (loop.next_sample(sample)) result.samples.push_back(sample);
  while (loop.next_sample(sample)) result.samples.push_back(sample);

  const std::size_t count = std::min(result.samples.size(), recording.samples.size());
  std::size_t same = 0;
  while (same < count && felt_alike(result.samples[same], recording.samples[same])) ++same;
  result.identical = same == recording.samples.size() && result.samples.size() == recording.samples.size();
  result.first_difference = same;
  // When it was felt and how long a cycle took then is worth knowing; how long this took is not.
  for (std::size_t i = 0; i < count; ++i) {
    result.samples[i].time = recording.samples[i].time;
    result.samples[i].cycle_ns = recording.samples[i].cycle_ns;
  }
  return result;
}

}  // namespace cotouch

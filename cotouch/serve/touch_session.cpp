#include <cotouch/serve/touch_session.h>

#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace cotouch {
namespace {

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
      contacts_(make_contacts(*scene_, feel)),
      object_(*contacts_, object_settings(*scene_, feel), start),
      loop_(device, object_, {.limits = limit_settings(feel), .wait_for_device = true}) {
  ViewerDeviceSettings pace;
  pace.max_speed = 2 * scene_->size();
  device.attach(object_, pace);
}

Recording TouchSession::begin_recording() const {
  const RecordedScene scene{scene_->name, feel_, hex(scene_->content_hash())};
  return cotouch::begin_recording(object_, limit_settings(feel_), format_recorded_scene(scene));
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
  ReplayResult result;
  result.samples.reserve(recording.samples.size());
  TouchSample sample;
  // In portions that fit the queue.
  while (loop.run_cycles(settings.queued_samples / 2) > 0)
    while (loop.next_sample(sample)) result.samples.push_back(sample);
  while (loop.next_sample(sample)) result.samples.push_back(sample);

  const std::size_t count = std::min(result.samples.size(), recording.samples.size());
  std::size_t same = 0;
  while (same < count && result.samples[same] == recording.samples[same]) ++same;
  result.identical = same == recording.samples.size() && result.samples.size() == recording.samples.size();
  result.first_difference = same;
  return result;
}

}  // namespace cotouch

#include <cotouch/session/running_world.h>

#include <cotouch/base/error.h>
#include <cotouch/contact/cost.h>
#include <cotouch/device/own_program.h>
#include <cotouch/session/scene_limits.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

namespace cotouch {
namespace {

constexpr auto k_patience = std::chrono::seconds(2);  // for a cycle of the loop
constexpr const char* k_standing = "The touch loop does not answer, because the machine is too busy; try again.";

// In a world of this machine's own, what coherence saves goes into deeper levels; with more pairs than a recording has
// room for, levels must follow from the state alone.
StepDetail detail_of(const WorldModel& model, const FeelSettings& feel) {
  const WorkBudget budget = feel.warm_nodes > 0 ? WorkBudget::of(feel.warm_nodes) : WorkBudget::unlimited();
  const bool recordable = model.pairs().size() <= k_recorded_pairs;
  return {recordable ? Detail::Rule::by_work : Detail::Rule::by_state, budget, {}};
}

std::vector<Device*> pointers(const HandDevices& devices) {
  return {devices.begin(), devices.end()};
}

}  // namespace

double measured_nodes_per_us(const WorldModel& model) {
  double slowest = 0;  // nanoseconds
  for (const ContactEngine* const engine : model.largest_engines())
    slowest = std::max(slowest, cost_of_a_unit(*engine));
  return slowest > 0 ? (1 - k_reserved_share) * 1000 / slowest : 0;
}

std::uint32_t nodes_for(const WorldModel& model, double nodes_per_us, double budget_us) {
  if (!(nodes_per_us > 0)) return 0;
  const auto pairs = static_cast<double>(std::clamp<std::size_t>(model.pairs().size(), 1, 16));
  return static_cast<std::uint32_t>(std::clamp(budget_us * nodes_per_us / pairs, 1.0, 4e9));
}

std::shared_ptr<const WorldModel> felt_model(const Scene& scene, const FeelSettings& feel, const Pace& pace) {
  Scene felt = scene;
  felt.contact_stiffness = feel.contact_stiffness;
  // Bodies must follow hands even if the user wants to feel nothing; the limiter takes care of that.
  felt.coupling.max_force = std::max(feel.max_force, 0.5);
  ModelOptions options;
  options.tick = pace.tick;
  options.hands = pace.hands;
  if (feel.warm_nodes > 0) options.budget = WorkBudget::of(feel.warm_nodes);
  return make_model(felt, options);
}

LimitSettings limit_settings(const FeelSettings& feel) {
  LimitSettings limits;
  limits.max_force = feel.max_force;
  return limits;
}

RunningWorld::World RunningWorld::local_world(const Scene& scene, const FeelSettings& feel) {
  const auto model = felt_model(scene, feel);
  auto world = std::make_unique<Watched<LocalWorld>>(model, detail_of(*model, feel));
  WatchedContacts* contacts = world.get();
  return {0, std::move(world), contacts};
}

RunningWorld::World RunningWorld::followed_world(const Scene& scene, const FeelSettings& feel, std::size_t self) {
  const auto model = felt_model(scene, feel, {Pace{}.tick, k_shared_pace.hands});
  auto world = std::make_unique<Watched<FollowedWorld>>(model, self, detail_of(*model, feel));
  WatchedContacts* contacts = world.get();
  return {0, std::move(world), contacts};
}

RunningWorld::RunningWorld(const Scene& scene, const FeelSettings& feel, HandDevices devices, World world,
                           double stall_seconds)
    : feel_(feel),
      devices_(std::move(devices)),
      extent_{scene.bounds().center(), scene.size()},
      loop_(pointers(devices_), *worlds_.emplace_back(std::move(world)).world,
            {.limits = limit_settings(feel),
             .wait_for_device = true,
             .stall_seconds = stall_seconds,
             .guard = find_guard()}) {
}

RunningWorld::RunningWorld(const Scene& scene, const FeelSettings& feel, HandDevices devices, Attaching attaching,
                           double stall_seconds)
    : RunningWorld(scene, feel, std::move(devices), local_world(scene, feel), stall_seconds) {
  if (attaching == Attaching::now) attach(devices_);
}

RunningWorld::RunningWorld(const Scene& scene, const FeelSettings& feel, HandDevices devices,
                           const Following& following, Attaching attaching, double stall_seconds)
    : RunningWorld(scene, feel, std::move(devices), followed_world(scene, feel, following.self), stall_seconds) {
  followed_ = static_cast<FollowedWorld*>(worlds_.back().world.get());
  if (attaching == Attaching::now) attach(devices_);
}

void RunningWorld::attach(HandDevices devices) {
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (devices[i] != devices_[i]) loop_.replace(i, *devices[i]);
  devices_ = std::move(devices);
  for (HandDevice* device : devices_) {
    device->fit(extent_);
    device->attach(loop_.bodies());
  }
}

RunningWorld::Change RunningWorld::make_change(const Scene& scene, const FeelSettings& feel, bool follows) {
  Change change;
  change.feel_ = feel;
  if (follows) return change;
  change.world_ = local_world(scene, feel);
  check_weight(change.world_.world->model());
  return change;
}

void RunningWorld::take(Change change) {
  World& next = change.world_;
  next.change = loop_.change({next.world.get(), limit_settings(change.feel_)});
  if (next.change == 0) throw Error(k_standing, ErrorCode::busy);
  if (next.world == nullptr) {
    feel_.max_force = change.feel_.max_force;
    return;
  }
  worlds_.push_back(std::move(next));
  feel_ = change.feel_;
}

void RunningWorld::wait_for(std::uint64_t change) {
  const auto end = std::chrono::steady_clock::now() + k_patience;
  while (loop_.frame().change < change) {
    if (std::chrono::steady_clock::now() > end) throw Error(k_standing, ErrorCode::busy);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

Recording RunningWorld::start_recording(const std::string& scene) {
  if (followed_ != nullptr)
    throw Error("What is felt of a shared world cannot be recorded by itself; record the session.", ErrorCode::refused);
  dropped_before_ = loop_.frame().samples_dropped;
  const LimitSettings limits = limit_settings(feel_);
  const std::uint64_t change = loop_.change({nullptr, limits});
  if (change == 0) throw Error(k_standing, ErrorCode::busy);
  wait_for(change);
  const WorldMark& mark = loop_.mark();
  first_recorded_ = mark.mark.cycle;
  return begin_recording(model(), mark, limits, loop_.hands(), format_recorded_scene({scene, feel_}));
}

void RunningWorld::enable_hands() noexcept {
  for (std::size_t i = 0; i < devices_.size(); ++i)
    if (loop_.device_state(i) == DeviceState::disabled && !devices_[i]->has_motors() && !devices_[i]->is_switched_off())
      loop_.enable(i);
}

void RunningWorld::collect(Recording* recording) {
  const std::uint64_t taken = loop_.frame().change;
  while (worlds_.size() > 1 && worlds_[1].change <= taken) worlds_.pop_front();
  if (recording != nullptr) {
    collect_samples(loop_, *recording, first_recorded_);
    return;
  }
  for (TouchSample sample; loop_.next_sample(sample);) {
  }
}

bool RunningWorld::recorded_wholly() {
  return loop_.frame().samples_dropped == dropped_before_;
}

std::string format_recorded_scene(const RecordedScene& scene) {
  nlohmann::ordered_json json;
  json["scene"] = scene.name;
  json["stiffness"] = scene.feel.contact_stiffness;
  json["max_force"] = scene.feel.max_force;
  json["nodes"] = scene.feel.warm_nodes;
  json["tick"] = scene.pace.tick;
  json["hands"] = scene.pace.hands;
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
  const auto name = json.find("scene");
  scene.name = name != json.end() && name->is_string() ? name->get<std::string>() : std::string();
  scene.feel.contact_stiffness = number("stiffness", scene.feel.contact_stiffness, 1e-3, 1e9);
  scene.feel.max_force = number("max_force", scene.feel.max_force, 0, 100);
  scene.feel.warm_nodes = static_cast<std::uint32_t>(number("nodes", 0, 0, 4e9));
  scene.pace.tick = number("tick", scene.pace.tick, 1e-5, 1);
  scene.pace.hands = static_cast<std::uint32_t>(number("hands", scene.pace.hands, 0, k_recorded_hands));
  return scene;
}

std::shared_ptr<const WorldModel> recorded_model(const Recording& recording, const Scene& scene) {
  return recorded_model(recording.scene, recording.model_hash, scene);
}

std::shared_ptr<const WorldModel> recorded_model(const std::string& description, std::uint64_t model_hash,
                                                 const Scene& scene) {
  const RecordedScene recorded = parse_recorded_scene(description);
  auto model = felt_model(scene, recorded.feel, recorded.pace);
  if (model->hash() != model_hash)
    throw Error("The scene is not what it was when the recording was made: a part, a place or a setting differs.",
                ErrorCode::refused);
  return model;
}

}  // namespace cotouch

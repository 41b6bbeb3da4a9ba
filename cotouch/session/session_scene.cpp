// The scene that is open in a session and the loop that makes it felt.
#include <cotouch/session/scene_file.h>
#include <cotouch/session/scene_limits.h>
#include <cotouch/session/session_ask.h>

#include <algorithm>

namespace cotouch {
namespace {

// A little above everything that a box, moved to this place, would fall on.
Vec3d above(const Scene& scene, const Vec3d& place, const Box3d& box) {
  double top = scene.bounds().low.z;
  for (const SceneBody& body : scene.bodies) {
    Scene alone;
    alone.bodies.push_back(body);
    const Box3d other = alone.bounds();
    const bool below = place.x + box.low.x < other.high.x && place.x + box.high.x > other.low.x &&
                       place.y + box.low.y < other.high.y && place.y + box.high.y > other.low.y;
    if (below) top = std::max(top, other.high.z);
  }
  return {place.x, place.y, top + 0.1 * norm(box.size()) - box.low.z};
}

}  // namespace

void Session::end_loop() {
  bridge_.set_world(nullptr);
  loop_times_ = nullptr;
  if (!world_) return;
  world_->loop().stop();
  const TouchFrame& last = world_->loop().frame();
  earlier_cycles_ += last.cycle;
  earlier_missed_ += last.missed;
  world_->collect(recording_ && !recording_shared_ ? &*recording_ : nullptr);
  world_.reset();
}

// A new loop, for a new scene or for bodies that are put somewhere else: it begins with zero force fading in.
void Session::rebuild_loop() {
  end_loop();
  const std::vector<SceneBody>& bodies = scene_->scene.bodies;
  if (std::all_of(bodies.begin(), bodies.end(),
                  [](const SceneBody& b) { return b.motion == Motion::fixed && !is_elastic(b); }))
    return;
  world_ = following_ ? std::make_unique<RunningWorld>(scene_->scene, feel_, devices_, Following{*following_})
                      : std::make_unique<RunningWorld>(scene_->scene, feel_, devices_);
  seen_cycles_.fill(0);
  world_->loop().start();
  loop_times_ = &world_->loop().cycle_times();
}

void Session::release_all(std::string_view why) {
  std::vector<HandEvent> lost;
  {
    const std::scoped_lock lock(people_mutex_);
    for (Hand& hand : hands_) {
      if (hand.holder == ParticipantId::nobody) continue;
      lost.push_back({hand.holder, hand.id, HandChange::lost, hand.body, std::string(why), {}});
      release(hand);
    }
  }
  for (const HandEvent& event : lost) tell([&](SessionListener& listener) { listener.hand_changed(event); });
}

void Session::install(std::shared_ptr<const ShownScene> scene, std::string_view why) {
  check_savable(scene->scene);
  FeelSettings feel = feel_;
  feel.contact_stiffness = scene->scene.contact_stiffness;
  feel.max_force = std::min(scene->scene.coupling.max_force, max_force_range().high);
  feel.warm_nodes = 0;
  const auto model =
      felt_model(scene->scene, feel);  // throws if there cannot be such a world; the old one goes on then
  check_weight(*model);
  if (recording_) finish_recording();
  end_loop();
  ++generation_;
  release_all(why);
  {
    const std::scoped_lock lock(people_mutex_);
    hand_generation_ = generation_;
    scene_center_ = scene->scene.bounds().center();
    farthest_ = 10 * scene->scene.size();
  }
  scene_ = std::move(scene);
  feel_ = feel;
  last_body_ = 0;
  for (const SceneBody& body : scene_->scene.bodies) last_body_ = std::max(last_body_, body.id);
  earlier_cycles_ = earlier_missed_ = 0;
  opened_ = Clock::now();
  last_near_at_ = {};
  near_left_ = 0;
  // No loop runs here, so nothing disturbs the measurement and the measurement disturbs nobody.
  nodes_per_us_ = measured_nodes_per_us(*model);
  feel_.warm_nodes = nodes_for(*model, nodes_per_us_, feel_.budget_us);
  sight_ = std::make_unique<Sight>(scene_, model);
  rebuild_loop();
  tell([&](SessionListener& listener) {
    listener.scene_changed(generation_, scene_->scene.name);
    listener.settings_changed(feel_);
  });
}

Scene Session::scene_to_edit() {
  Scene scene = scene_->scene;
  scene.name.clear();
  scene.contact_stiffness = feel_.contact_stiffness;
  scene.coupling.max_force = feel_.max_force;
  if (!world_) return scene;
  const WorldState& state = world_->loop().world_frame().world;
  for (std::size_t i = 0; i < std::min(scene.bodies.size(), state.bodies().size()); ++i) {
    SceneBody& body = scene.bodies[i];
    if (body.motion == Motion::path) continue;
    // What has fallen out of the world is put back to its start: no scene reaches so far.
    const Pose& pose = state.bodies()[i].pose;
    if (norm(pose.position) <= k_farthest_position) body.pose = pose;
    if (state.bodies()[i].motion == static_cast<double>(Motion::fixed)) body.motion = Motion::fixed;  // docked
  }
  if (scene.task && scene.find(scene.task->body) != nullptr && scene.find(scene.task->body)->motion != Motion::free)
    scene.task.reset();
  return scene;
}

void Session::go_on_with(Scene scene) {
  scene.name.clear();
  check_savable(scene);
  if (world_) world_->change(scene, feel_);
  scene_ = show(std::move(scene), scene_.get());
  near_left_ = 0;
  sight_ = std::make_unique<Sight>(scene_, felt_model(scene_->scene, feel_));
}

Pose Session::place_beside(const Scene& scene, const SceneBody& body) const {
  Scene alone;
  alone.bodies.push_back(body);
  alone.bodies.back().pose = {{}, body.pose.rotation};
  const Box3d there = scene.bounds(), own = alone.bounds();
  const double gap = 0.1 * std::max(norm(there.size()), norm(own.size()));
  if (scene.gravity.z < 0) return {above(scene, body.pose.position, own), body.pose.rotation};
  return {{there.high.x + gap - own.low.x, there.center().y - own.center().y, there.center().z - own.center().z},
          body.pose.rotation};
}

void Session::add_body_now(ParticipantId who, SceneBody body, std::optional<Motion> motion) {
  Scene scene;
  if (scene_->scene.editable)
    scene = scene_to_edit();
  else
    drag_without_gravity_.reset();
  scene.editable = true;
  if (scene.title.empty()) {
    scene.title = "My parts";
    scene.drag = 20;  // nothing falls unless somebody turns gravity on: what is let go stays where it is
  }
  if (scene.bodies.size() >= k_most_bodies)
    return tell_problem(who, "A scene holds at most " + std::to_string(k_most_bodies) + " bodies; remove one first.");
  body.id = ++last_body_;
  body.removable = true;
  body.motion = motion.value_or(scene.bodies.empty() ? Motion::fixed : Motion::free);
  if (!scene.bodies.empty()) body.pose = place_beside(scene, body);
  scene.bodies.push_back(std::move(body));
  install(show(std::move(scene), scene_.get()), "A part was added.");
}

}  // namespace cotouch

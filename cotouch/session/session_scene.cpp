// The scene that is open in a session and the loop that makes it felt.
#include <cotouch/session/scene_file.h>
#include <cotouch/session/scene_limits.h>
#include <cotouch/session/session_ask.h>

#include <algorithm>
#include <utility>

namespace cotouch {
namespace {

constexpr auto k_ready_pace = std::chrono::milliseconds(200);
constexpr auto k_keep_again = std::chrono::seconds(30);  // after what was not saved could not be kept

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

// The same data: what was measured on one holds for the other.
bool have_same_largest_pairs(const WorldModel& a, const WorldModel& b) {
  return std::ranges::equal(a.largest_engines(), b.largest_engines(),
                            [](const ContactEngine* one, const ContactEngine* two) { return one->has_data_of(*two); });
}

}  // namespace

void Session::end_loop() {
  bridge_.set_world(nullptr);
  loop_times_ = nullptr;
  if (!world_) return;
  if (!world_->loop().stop()) {
    const std::scoped_lock lock(people_mutex_);
    devices_.leave_behind(world_->loop());
  }
  const TouchFrame& last = world_->loop().frame();
  earlier_cycles_ += last.cycle;
  earlier_missed_ += last.missed;
  earlier_stalls_ += last.stalls;
  world_->collect(recording_ && !recording_shared_ ? &*recording_ : nullptr);
  if (recording_ && !recording_shared_) stream_->take(*recording_);
  world_.reset();
}

std::unique_ptr<RunningWorld> Session::make_world(const Scene& scene, const FeelSettings& feel,
                                                  std::optional<MemberId> following) {
  if (std::all_of(scene.bodies.begin(), scene.bodies.end(),
                  [](const SceneBody& b) { return b.motion == Motion::fixed && !is_elastic(b); }))
    return nullptr;
  constexpr auto k_later = RunningWorld::Attaching::later;
  const double stall = settings_.stall_seconds;
  return following
             ? std::make_unique<RunningWorld>(scene, feel, devices_.hands(), Following{*following}, k_later, stall)
             : std::make_unique<RunningWorld>(scene, feel, devices_.hands(), k_later, stall);
}

void Session::start_loop() {
  if (!world_) return;
  seen_cycles_.fill(0);
  standing_since_ = Clock::now();  // its first cycle is still to come
  world_->attach(devices_.hands());
  world_->loop().start();
  loop_times_ = &world_->loop().cycle_times();
}

void Session::exchange_world(std::unique_ptr<RunningWorld> world) {
  end_loop();
  world_ = std::move(world);
  start_loop();
}

void Session::restart_loop(std::string why, std::function<void()> then, Answered answered) {
  const auto make = [this, scene = scene_, feel = feel_, following = following_] {
    return make_world(scene->scene, feel, following);
  };
  const auto use = [this, why = std::move(why), then = std::move(then)](std::unique_ptr<RunningWorld> world) {
    release_all(why);
    exchange_world(std::move(world));
    then();
    return CommandResult{};
  };
  make_then(make, use, std::move(answered));
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

Session::Stage Session::make_stage(std::shared_ptr<const ShownScene> shown, const StageSettings& settings) {
  const Scene& scene = shown->scene;
  check_savable(scene);
  Stage stage;
  stage.following = settings.following;
  FeelSettings& feel = stage.feel = settings.feel;
  feel.contact_stiffness = scene.contact_stiffness;
  feel.max_force = std::min(scene.coupling.max_force, max_force_range().high);
  feel.warm_nodes = 0;
  const auto model = felt_model(scene, feel);
  check_weight(*model);
  stage.speed = settings.speed;
  if (stage.speed.model == nullptr || !have_same_largest_pairs(*stage.speed.model, *model))
    stage.speed = {model, measured_nodes_per_us(*model)};
  feel.warm_nodes = nodes_for(*model, stage.speed.nodes_per_us, feel.budget_us);
  stage.sight = std::make_unique<Sight>(shown, model);
  stage.world = make_world(scene, feel, settings.following);
  stage.scene = std::move(shown);
  return stage;
}

void Session::install(Stage stage, std::string_view why) {
  if (recording_) finish_recording();
  end_loop();
  release_all(why);
  world_ = std::move(stage.world);
  try {
    start_loop();
  } catch (...) {
    // No thread was to be had, for one. What was there before is felt again.
    world_.reset();
    exchange_world(make_world(scene_->scene, feel_, following_));
    throw;
  }
  ++generation_;
  {
    const std::scoped_lock lock(people_mutex_);
    hand_generation_ = generation_;
    scene_center_ = stage.scene->scene.bounds().center();
    farthest_ = 10 * stage.scene->scene.size();
  }
  scene_ = std::move(stage.scene);
  feel_ = stage.feel;
  speed_ = std::move(stage.speed);
  sight_ = std::move(stage.sight);
  last_body_ = 0;
  for (const SceneBody& body : scene_->scene.bodies) last_body_ = std::max(last_body_, body.id);
  earlier_cycles_ = earlier_missed_ = earlier_stalls_ = 0;
  opened_ = Clock::now();
  last_near_at_ = {};
  near_left_ = 0;
  tell([&](SessionListener& listener) {
    listener.scene_changed(generation_, scene_->scene.name);
    listener.settings_changed(feel_);
  });
}

void Session::change_scene(Scene scene, std::string why, Answered answered, const std::vector<ShownPart>& pictures) {
  auto known = std::make_shared<ShownScene>();
  known->parts = scene_->parts;
  known->parts.insert(known->parts.end(), pictures.begin(), pictures.end());
  const auto make = [this, scene = std::move(scene), known, settings = stage_settings()] {
    return make_stage(show(scene, known.get()), settings);
  };
  const auto use = [this, why = std::move(why)](Stage stage) {
    install(std::move(stage), why);
    note_change();
    return CommandResult{};
  };
  make_then(make, use, std::move(answered));
}

void Session::change_after_job(JobChange job) {
  in_turn([this, job = std::move(job)]() mutable {
    // Preparing takes a while, and someone may have shared the scene or taken hold in the meantime.
    if (is_shared()) return tell_problem(job.who, obstacle_while_shared(AddPart{}));
    if (const std::string reason = obstacle_after_job(job.who, SessionAction::change_bodies); !reason.empty()) {
      if (!std::exchange(job.waits, true)) tell_problem(job.who, reason + " What is ready comes in then.");
      ready_.push_back(std::move(job));
      return;
    }
    std::optional<Scene> scene = job.make();
    if (!scene) return;
    const auto answered = [this, who = job.who](const CommandResult& result) {
      if (!result.done()) tell_problem(who, result.reason);
    };
    if (!job.alone) return change_scene(std::move(*scene), job.why, answered, job.pictures);
    auto known = std::make_shared<ShownScene>();
    known->parts = job.pictures;
    const auto make = [this, scene = std::move(*scene), known, settings = stage_settings()] {
      return make_stage(show(scene, known.get()), settings);
    };
    const auto then = [this, opening = job.alone->opening] {
      opened_as_ = opening;
      note_change();
    };
    replace_scene({make, nullptr, then, job.alone->may_lose_changes}, answered);
  });
}

void Session::try_what_is_ready() {
  if (ready_.empty() || Clock::now() - tried_ready_ < k_ready_pace) return;
  tried_ready_ = Clock::now();
  for (JobChange& job : std::exchange(ready_, {})) change_after_job(std::move(job));
}

void Session::note_change() {
  // The name that it was given for a recording does not count.
  if (scene_->scene.name.empty()) opened_by_name_ = false;
  if (opened_by_name_ || (is_shared() && others_scene_)) return;
  const auto patience = std::chrono::duration<double>(settings_.unsaved_after);
  unsaved_->add(Clock::now() + std::chrono::duration_cast<Clock::duration>(patience));
}

// A hand that still holds something moves it on, so that counts the next time again. In a shared world others do.
void Session::note_movement() {
  const std::scoped_lock lock(people_mutex_);
  const bool holds = std::any_of(hands_.begin(), hands_.end(), [](const Hand& h) { return h.body != 0; });
  const bool follows = world_ != nullptr && world_->is_following();
  if (std::exchange(let_go_, false) || holds || follows) unsaved_->moved();
}

std::function<void()> Session::keeping() {
  note_movement();
  unsaved_->set_due(std::nullopt);
  return [this, unsaved = unsaved_, scene = scene_to_edit(), count = unsaved_->count()] {
    unsaved->keep(library_, scene, count);
    post([this] { tell([](SessionListener& listener) { listener.scenes_changed(); }); });
  };
}

void Session::keep_unsaved() {
  background_->post([this, unsaved = unsaved_, keep = keeping()] {
    const std::string told = unsaved->problem();
    try {
      keep();
    } catch (const std::exception& error) {
      post([this, unsaved, problem = std::string(error.what()), told] {
        unsaved->set_due(Clock::now() + k_keep_again);
        if (problem != told)
          tell_problem(ParticipantId::nobody, "What was changed here is not saved and cannot be kept: " + problem);
      });
    }
  });
}

void Session::keep_the_rest() {
  note_movement();
  if (!unsaved_->are_kept()) keep_unsaved();
}

Session::Keeping Session::keeping_first(bool may_lose_changes) {
  note_movement();
  if (may_lose_changes || unsaved_->are_kept()) return {[] { return std::string(); }, builder_.get()};
  const auto keep = [this, unsaved = unsaved_, now = keeping()]() -> std::string {
    try {
      now();
    } catch (const std::exception& error) {
      post([unsaved] { unsaved->set_due(Clock::now() + k_keep_again); });
      return std::string("What was changed here and not saved would be lost, for it cannot be kept: ") + error.what();
    }
    return {};
  };
  return {keep, background_.get()};
}

void Session::replace_scene(Replacement other, Answered answered) {
  struct Made {
    std::string unkept;
    std::optional<Stage> stage;
  };
  const auto [keep, where] = keeping_first(other.may_lose_changes);
  other.make = endable(std::move(other.make));  // what is kept first is kept all the same
  const auto make = [keep = keep, make_other = std::move(other.make)] {
    Made made{keep(), std::nullopt};
    if (made.unkept.empty()) made.stage = make_other();
    return made;
  };
  const auto use = [this, place = std::move(other.place), then = std::move(other.then),
                    may_lose = other.may_lose_changes](Made made) {
    if (!made.stage) return CommandResult{CommandResult::Kind::unkept, made.unkept, 0, {}};
    if (!may_lose) keep_the_rest();
    install(std::move(*made.stage), "Another scene was opened.");
    unsaved_ = std::make_shared<UnsavedChanges>(place);
    opened_by_name_ = !scene_->scene.name.empty();
    {
      const std::scoped_lock lock(people_mutex_);
      let_go_ = false;  // of what was there before
    }
    drag_without_gravity_.reset();
    then();
    return CommandResult{};
  };
  make_then(*where, make, use, std::move(answered));
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

void Session::go_on_with(Scene scene, std::function<void()> then, Answered answered) {
  scene.name.clear();
  check_savable(scene);
  struct Next {
    std::shared_ptr<const ShownScene> scene;
    std::unique_ptr<Sight> sight;
    std::optional<RunningWorld::Change> world;
  };
  const auto make = [known = scene_, feel = feel_, has_world = world_ != nullptr, scene = std::move(scene)] {
    Next next;
    if (has_world) next.world = RunningWorld::make_change(scene, feel, false);
    next.scene = show(scene, known.get());
    next.sight = std::make_unique<Sight>(next.scene, felt_model(scene, feel));
    return next;
  };
  const auto use = [this, then = std::move(then)](Next next) {
    if (next.world) world_->take(std::move(*next.world));
    scene_ = std::move(next.scene);
    sight_ = std::move(next.sight);
    near_left_ = 0;
    note_change();
    then();
    return CommandResult{};
  };
  make_then(make, use, std::move(answered));
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

std::optional<Scene> Session::with_bodies(Scene scene, ParticipantId who, std::vector<SceneBody> bodies,
                                          std::optional<Motion> motion, bool as_in_file) {
  scene.editable = true;
  if (scene.title.empty()) {
    scene.title = "My parts";
    scene.drag = 20;  // nothing falls unless somebody turns gravity on: what is let go stays where it is
  }
  if (scene.bodies.size() + bodies.size() > k_most_bodies) {
    tell_problem(who, "A scene holds at most " + std::to_string(k_most_bodies) + " bodies; there are " +
                          std::to_string(scene.bodies.size()) + " in this one, and " + std::to_string(bodies.size()) +
                          " would come in. Remove some first, or open the file in a new scene.");
    return std::nullopt;
  }
  BodyId last = 0;
  for (const SceneBody& other : scene.bodies) last = std::max(last, other.id);
  for (SceneBody& body : bodies) {
    body.id = ++last;
    body.removable = true;
    body.motion = motion.value_or(scene.bodies.empty() ? Motion::fixed : Motion::free);
    if (!scene.bodies.empty() && !as_in_file) body.pose = place_beside(scene, body);
    scene.bodies.push_back(std::move(body));
  }
  return scene;
}

}  // namespace cotouch

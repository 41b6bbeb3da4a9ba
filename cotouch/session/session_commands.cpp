// What a session does when it is asked to, if it may.
#include <cotouch/base/error.h>
#include <cotouch/field/mass.h>
#include <cotouch/part/cache.h>
#include <cotouch/session/names.h>
#include <cotouch/session/scene_file.h>
#include <cotouch/session/session_ask.h>
#include <cotouch/session/shared_session.h>

#include <algorithm>
#include <utility>

namespace cotouch {
namespace {

using Kind = CommandResult::Kind;

CommandResult done() {
  return {};
}
CommandResult wrong(std::string reason) {
  return {Kind::wrong, std::move(reason), 0, {}};
}
CommandResult not_now(std::string reason) {
  return {Kind::not_now, std::move(reason), 0, {}};
}

constexpr std::string_view k_saved_for_recording =
    "recorded-";  // what scenes are called that are saved for a recording

// A scene file numbers its bodies in their order, so a scene that is saved for a recording must do the same.
void close_gap(Scene& scene, BodyId gone) {
  const auto renumber = [gone](BodyId& id) { id -= id > gone ? 1U : 0U; };
  for (SceneBody& body : scene.bodies) renumber(body.id);
  for (PairRule& rule : scene.rules) renumber(rule.a), renumber(rule.b);
  for (HandScript& script : scene.scripts) renumber(script.body);
  if (scene.task) renumber(scene.task->body);
}

// Known before a part is prepared, which may take minutes.
bool is_full(const Scene& scene) {
  std::size_t parts = 0;
  for (const SceneBody& body : scene.bodies) parts += body.parts.size();
  return scene.bodies.size() >= k_most_bodies || parts >= k_most_scene_parts;
}

// "gear", "gear copy", "gear copy 2": whatever is copied, names stay short and differ.
std::string name_of_copy(const Scene& scene, const std::string& original) {
  const std::string word = " copy";
  const std::size_t ending = original.rfind(word);
  const std::string_view number = ending == std::string::npos ? "" : std::string_view(original).substr(ending + 5);
  const bool is_copy = ending != std::string::npos &&
                       (number.empty() || (number.size() > 1 && number[0] == ' ' &&
                                           number.find_first_not_of("0123456789", 1) == std::string_view::npos));
  const std::string base = is_copy ? original.substr(0, ending) : original;
  for (std::size_t i = 1;; ++i) {
    std::string name = with_ending(base, i == 1 ? word : word + " " + std::to_string(i));
    if (std::none_of(scene.bodies.begin(), scene.bodies.end(), [&](const SceneBody& b) { return b.name == name; }))
      return name;
  }
}

// A sentence, or nothing.
std::string obstacle_to_setting(const Scene& scene, const SceneBody* body, const SetBody& wanted) {
  if (body == nullptr) return "There is no such body.";
  if (wanted.density && !density_range().contains(*wanted.density)) return "A density is from 1 to 25000 kg/m^3.";
  if (wanted.density && is_elastic(*body))
    return "What bends has the density of its material; choose another material.";
  if (wanted.mass && !mass_range().contains(*wanted.mass)) return "A mass is from 0.1 g to 10 kg.";
  if (wanted.motion && *wanted.motion == Motion::path) return "A body is made fixed or free.";
  if (wanted.motion && *wanted.motion != body->motion && !scene.editable && !body->removable)
    return "In a built-in scene only copies can be fixed or freed.";
  return {};
}

}  // namespace

std::string Session::obstacle(const ActionRequest& request) {
  const std::scoped_lock lock(people_mutex_);
  return obstacle_to(request, situation());
}

std::string Session::obstacle_after_job(ParticipantId who, SessionAction action) {
  const std::scoped_lock lock(people_mutex_);
  ActionRequest request;
  request.who = find_participant(who) != nullptr ? who : self_;
  request.action = action;
  return obstacle_to(request, situation());
}

void Session::perform(ParticipantId who, const SessionCommand& command, const Answered& answered) {
  std::optional<CommandResult> result;  // none: the answer comes later
  try {
    if (std::string reason = is_shared() ? obstacle_while_shared(command) : std::string(); !reason.empty())
      result = not_now(reason);
    else
      std::visit(
          [&](const auto& wanted) {
            if constexpr (requires { carry_out(who, wanted); })
              result = carry_out(who, wanted);
            else
              carry_out(who, wanted, answered);
          },
          command);
  } catch (const std::exception& error) {
    result = wrong(error.what());
  }
  if (result) answered(*result);
}

CommandResult Session::start_job(ParticipantId who, JobLane lane, std::string name, JobQueue::Work work) {
  const auto job = jobs_->add(lane, std::move(name), std::move(work));
  if (!job) return {Kind::too_many, "Too much is being prepared already; wait until some of it is done.", 0, {}};
  job_starters_[*job] = who;
  return {Kind::done, {}, *job, {}};
}

void Session::carry_out(ParticipantId who, const OpenScene& wanted, const Answered& answered) {
  if (!is_identifier(wanted.name)) return answered(wrong("A scene's name is made of letters, digits, - and _."));
  if (std::string reason = obstacle({.who = who, .action = SessionAction::open_scene}); !reason.empty())
    return answered(not_now(reason));
  if (wanted.name == unsaved_->name() && opening_.empty())
    return answered(not_now("This scene is open already; Reset puts everything back to its start."));
  // Before the other one is loaded, so that the question whether they may be lost is asked at once.
  const auto [keep, where] = keeping_first(wanted.may_lose_changes);
  const auto use = [this, who, wanted](const std::string& unkept) {
    return unkept.empty() ? start_opening(who, wanted) : CommandResult{Kind::unkept, unkept, 0, {}};
  };
  make_then(*where, keep, use, answered);
}

CommandResult Session::start_opening(ParticipantId who, const OpenScene& wanted) {
  const std::uint32_t opening = ++last_opening_;
  using Loaded = std::pair<std::shared_ptr<Stage>, std::shared_ptr<UnsavedPlace>>;
  const auto opened = [this, who, opening, may_lose = wanted.may_lose_changes](const Loaded& loaded) {
    // Preparing takes a while, and someone may have taken hold or shared the scene in the meantime.
    std::string reason =
        is_shared() ? obstacle_while_shared(OpenScene{}) : obstacle_after_job(who, SessionAction::open_scene);
    if (!reason.empty()) return tell_problem(who, reason);
    const auto make = [this, stage = loaded.first, settings = stage_settings()] {
      // Settings that changed while it was made are rare.
      return stage->feel.budget_us == settings.feel.budget_us ? std::move(*stage) : make_stage(stage->scene, settings);
    };
    const auto then = [this, opening] { opened_as_ = opening; };
    replace_scene({make, loaded.second, then, may_lose}, [this, who](const CommandResult& result) {
      if (!result.done()) tell_problem(who, result.reason);
    });
  };
  const std::string& name = wanted.name;
  return start_job(
      who, JobLane::scenes, "Opening " + scene_title(name),
      [this, name, opened, reading = begin_opening(opening, name), settings = stage_settings()](Progress& progress) {
        if (is_unsaved(name)) wait_for_background();  // which may have its place, if it was left only just now
        const std::shared_ptr<UnsavedPlace> place = library_.claim_unsaved(name);
        Scene scene = library_.load(name, progress);
        progress.update("drawing it", 0);
        auto stage = std::make_shared<Stage>(make_stage(show(std::move(scene)), settings));
        post([this, opened, stage, place] { in_turn([opened, stage, place] { opened({stage, place}); }); });
      });
}

// However the job ends that has it, also if it never begins: when it is forgotten, the scene is no longer being read.
std::shared_ptr<void> Session::begin_opening(std::uint32_t opening, const std::string& name) {
  opening_[opening] = name;
  return {nullptr, [this, opening](void*) { post([this, opening] { opening_ended(opening); }); }};
}

void Session::opening_ended(std::uint32_t opening) {
  opening_.erase(opening);
  auto waiting = std::exchange(after_opening_, {});
  for (auto& [before, task] : waiting) when_opened(before, std::move(task));
}

void Session::when_opened(std::uint32_t opening, std::function<void()> task) {
  if (!opening_.empty() && opening_.begin()->first <= opening)
    after_opening_.emplace_back(opening, std::move(task));
  else
    task();
}

void Session::carry_out(ParticipantId who, const ShowScene& wanted, const Answered& answered) {
  if (std::string reason = obstacle({.who = who, .action = SessionAction::open_scene}); !reason.empty())
    return answered(not_now(reason));
  const auto make = [this, scene = wanted.scene, settings = stage_settings()]() mutable {
    weigh(scene);  // here, once, and not whenever its world is made anew
    return make_stage(show(std::move(scene)), settings);
  };
  replace_scene({make, wanted.place, [this] { opened_as_ = ++last_opening_; }}, answered);
}

void Session::carry_out(ParticipantId who, const ResetScene&, const Answered& answered) {
  if (std::string reason = obstacle({.who = who, .action = SessionAction::reset_scene}); !reason.empty())
    return answered(not_now(reason));
  if (is_shared()) {
    shared_->reset_world();
    return answered(done());
  }
  restart_loop(
      "Everything was put back to its start.", [] {}, answered);
}

// The world fixes a body once its task is done.
bool Session::is_in_place(BodyId body) {
  const auto index = world_->model().index_of(body);
  return index && world_->loop().world_frame().world.bodies()[*index].motion == static_cast<double>(Motion::fixed);
}

void Session::carry_out(ParticipantId who, const ChangeSettings& wanted, const Answered& answered) {
  if (std::string reason = obstacle_to(wanted); !reason.empty()) return answered(wrong(reason));
  if (std::string reason = obstacle({.who = who, .action = SessionAction::change_settings}); !reason.empty())
    return answered(not_now(reason));
  FeelSettings feel = feel_;
  feel.contact_stiffness = wanted.contact_stiffness.value_or(feel.contact_stiffness);
  feel.max_force = wanted.max_force.value_or(feel.max_force);
  feel.budget_us = wanted.budget_us.value_or(feel.budget_us);
  if (world_) feel.warm_nodes = nodes_for(world_->model(), speed_.nodes_per_us, feel.budget_us);
  const auto use = [this, feel](std::optional<RunningWorld::Change> change) {
    if (change) world_->take(std::move(*change));
    // The budget is this machine's, the others are the scene's.
    const bool changes = feel.contact_stiffness != feel_.contact_stiffness || feel.max_force != feel_.max_force;
    feel_ = feel;
    if (changes) note_change();
    tell([&](SessionListener& listener) { listener.settings_changed(feel_); });
    return done();
  };
  if (!world_) return answered(use(std::nullopt));
  const auto make = [scene = scene_, feel, follows = world_->is_following()] {
    return std::make_optional(RunningWorld::make_change(scene->scene, feel, follows));
  };
  make_then(make, use, answered);
}

CommandResult Session::carry_out(ParticipantId who, const StartRecording&) {
  if (std::string reason = obstacle({.who = who, .action = SessionAction::start_recording}); !reason.empty())
    return not_now(reason);
  if (!world_) return not_now("There is nothing to record in this scene.");
  // Each has a file and a thread of its own, and everybody is told of it.
  if (!recordings_begun_.take(std::chrono::duration<double>(Clock::now().time_since_epoch()).count()))
    return {Kind::too_many, "Recordings are begun faster than anybody can make them; wait a moment.", 0, {}};
  if (recorded_bytes_ >= settings_.recording_bytes)
    return not_now("Recordings take all the " + std::to_string(settings_.recording_bytes >> 20U) +
                   " MB that they may; delete some of them first.");
  if (recorded_.size() + finishing_.size() >= settings_.most_recordings)
    return not_now("There are " + std::to_string(settings_.most_recordings) +
                   " recordings; delete some of them first.");
  recording_id_ = recordings_.new_id();
  // A scene that was never saved has no name under which a replay could find it.
  if (scene_->scene.name.empty()) {
    auto named = std::make_shared<ShownScene>(*scene_);
    named->scene.name = std::string(k_saved_for_recording) + recording_id_;
    // Not what the gallery calls the scene that it was made of.
    const std::string title = named->scene.title;
    named->scene.title = title.empty() ? "Recorded " + recording_id_ : title + ", recorded " + recording_id_;
    scene_makers_[named->scene.name] = who;
    scene_ = std::move(named);
    background_->post([this, saved = scene_] {
      std::string problem;
      try {
        library_.save(saved->scene, saved->scene.name, Replacing::wanted);
      } catch (const std::exception& error) {
        problem = std::string("The recording can be replayed only while its scene is open: ") + error.what();
      }
      post([this, problem] {
        if (!problem.empty()) tell_problem(ParticipantId::nobody, problem);
        tell([](SessionListener& listener) { listener.scenes_changed(); });
      });
    });
  }
  if (is_shared()) {
    stream_ = new_stream(recording_id_);
    shared_->record(scene_->scene.name, stream_);
    recording_shared_ = true;
    recording_.emplace();  // what there is of it is with the shared session
  } else {
    recording_ = world_->start_recording(scene_->scene.name);
    stream_ = new_stream(recording_id_);
    stream_->take(*recording_);
  }
  recorded_by_ = who;
  recording_told_ = Clock::now();
  tell([](SessionListener& listener) { listener.recording_changed(true, 0); });
  return done();
}

std::shared_ptr<RecordingStream> Session::new_stream(const std::string& id) {
  const std::uint64_t used = std::min(recorded_bytes_, settings_.recording_bytes);
  return std::make_shared<RecordingStream>(recordings_.new_file(id), settings_.recording_bytes - used,
                                           [this, id](const RecordingStream::Result& made) {
                                             std::string problem;
                                             try {
                                               recordings_.keep(id, made);
                                             } catch (const std::exception& error) {
                                               problem = error.what();
                                             }
                                             post([this, id, problem] {
                                               finishing_.erase(id);
                                               if (!problem.empty()) tell_problem(ParticipantId::nobody, problem);
                                               list_recordings();
                                             });
                                           });
}

void Session::list_recordings() {
  background_->post([this] {
    std::vector<RecordingEntry> entries = recordings_.list();
    post([this, entries = std::move(entries), used = recordings_.used_bytes()] {
      recorded_bytes_ = used;
      const auto is_same = [](const RecordingEntry& a, const RecordingEntry& b) {
        return a.id == b.id && a.bytes == b.bytes && a.recovered == b.recovered;
      };
      if (std::equal(entries.begin(), entries.end(), recorded_.begin(), recorded_.end(), is_same)) return;
      recorded_ = entries;
      tell([&](SessionListener& listener) { listener.recordings_changed(entries); });
    });
  });
}

CommandResult Session::carry_out(ParticipantId who, const StopRecording&) {
  if (std::string reason = obstacle({.who = who, .action = SessionAction::stop_recording}); !reason.empty())
    return not_now(reason);
  finish_recording();
  return done();
}

double Session::recorded_seconds() const {
  return stream_ ? stream_->seconds() : 0;
}

// The rest is written by the stream, which says when it is done.
void Session::finish_recording() {
  bool whole = true;
  if (std::exchange(recording_shared_, false)) {
    if (shared_ && !shared_->is_over())
      shared_->stop_recording();
    else
      stream_->finish();
  } else {
    if (world_) {
      world_->collect(&*recording_);
      whole = world_->recorded_wholly();
    }
    stream_->take(*recording_);
    stream_->finish();
  }
  const double seconds = recorded_seconds();
  recording_.reset();
  finishing_[recording_id_] = std::exchange(stream_, nullptr);
  recording_makers_[recording_id_] = recorded_by_;
  tell([&](SessionListener& listener) { listener.recording_changed(false, seconds); });
  if (!whole)
    tell_problem(ParticipantId::nobody,
                 "The machine was too busy to record every cycle, so a replay differs from what was felt.");
}

void Session::carry_out(ParticipantId who, const DeleteRecording& wanted, const Answered& answered) {
  ActionRequest request{.who = who, .action = SessionAction::delete_recording};
  if (const auto made = recording_makers_.find(wanted.id); made != recording_makers_.end())
    request.maker = made->second;
  request.in_use = (recording_.has_value() && recording_id_ == wanted.id) || finishing_.contains(wanted.id);
  if (std::string reason = obstacle(request); !reason.empty()) return answered(not_now(reason));
  // A scene that was saved only for it goes with it.
  std::string scene;
  for (const RecordingEntry& entry : recorded_)
    if (entry.id == wanted.id && entry.scene.starts_with(k_saved_for_recording)) scene = entry.scene;
  for (const RecordingEntry& entry : recorded_)
    if (entry.id != wanted.id && entry.scene == scene) scene.clear();
  if (scene == scene_->scene.name) scene.clear();
  background_->post([this, id = wanted.id, scene, answered] {
    const bool removed = recordings_.remove(id);
    if (removed && !scene.empty()) {
      try {
        library_.remove(scene);
        post([this] { tell([](SessionListener& listener) { listener.scenes_changed(); }); });
      } catch (const std::exception&) {
        // Somebody was faster.
      }
    }
    std::vector<RecordingEntry> entries = recordings_.list();
    post([this, id, answered, removed, entries = std::move(entries), used = recordings_.used_bytes()] {
      if (!removed) return answered(wrong("There is no such recording."));
      recording_makers_.erase(id);
      recorded_bytes_ = used;
      recorded_ = entries;
      tell([&](SessionListener& listener) { listener.recordings_changed(entries); });
      answered(done());
    });
  });
}

void Session::carry_out(ParticipantId who, const DeleteScene& wanted, const Answered& answered) {
  ActionRequest request{.who = who, .action = SessionAction::delete_scene};
  if (const auto made = scene_makers_.find(wanted.name); made != scene_makers_.end()) request.maker = made->second;
  request.in_use =
      wanted.name == scene_->scene.name || wanted.name == unsaved_->name() ||
      std::any_of(opening_.begin(), opening_.end(), [&](const auto& one) { return one.second == wanted.name; });
  if (std::string reason = obstacle(request); !reason.empty()) return answered(not_now(reason));
  for (const RecordingEntry& entry : recorded_)
    if (entry.scene == wanted.name && entry.scene.starts_with(k_saved_for_recording))
      return answered(not_now("A recording was made in this scene and needs it; delete the recording " + entry.id +
                              ", and the scene goes with it."));
  background_->post([this, name = wanted.name, answered] {
    CommandResult result;
    try {
      library_.remove(name);
    } catch (const std::exception& error) {
      result = wrong(error.what());
    }
    post([this, name, answered, result] {
      if (result.done()) {
        scene_makers_.erase(name);
        tell([](SessionListener& listener) { listener.scenes_changed(); });
      }
      answered(result);
    });
  });
}

void Session::carry_out(ParticipantId who, const AddPart& wanted, const Answered& answered) {
  if (std::string reason = obstacle({.who = who, .action = SessionAction::change_bodies}); !reason.empty())
    return answered(not_now(reason));
  if (!wanted.in_new_scene) {
    if (is_full(scene_->scene))
      return answered(not_now("The scene is full; remove a body first, or open the file in a new scene."));
    return answered(start_adding(who, wanted));
  }
  // Before the file is read, so that the question whether they may be lost is asked at once.
  const auto [keep, where] = keeping_first(wanted.may_lose_changes);
  const auto use = [this, who, wanted](const std::string& unkept) {
    return unkept.empty() ? start_adding(who, wanted) : CommandResult{Kind::unkept, unkept, 0, {}};
  };
  make_then(*where, keep, use, answered);
}

CommandResult Session::start_adding(ParticipantId who, const AddPart& wanted) {
  std::shared_ptr<void> reading;
  if (wanted.in_new_scene) reading = begin_opening(++last_opening_, wanted.name);
  return start_job(
      who, JobLane::parts, wanted.name, [this, who, wanted, opening = last_opening_, reading](Progress& progress) {
        std::vector<AddedMesh> meshes = wanted.meshes(progress);
        // Before hours are spent on them.
        if (meshes.size() > k_most_bodies)
          throw Error("'" + wanted.name + "' has " + std::to_string(meshes.size()) +
                          " parts, and a scene holds at most " + std::to_string(k_most_bodies) +
                          " bodies; drop it as one body.",
                      ErrorCode::too_large);
        Scene alone;
        for (auto& [mesh, import] : meshes) {
          // Turning happens about a part's origin, so that should be its middle.
          const Vec3d middle = mesh.bounds().center();
          for (Vec3d& vertex : mesh.vertices) vertex -= middle;
          if (meshes.size() == 1) mesh.name = wanted.name;
          SceneBody& body = alone.bodies.emplace_back();
          body.name = mesh.name = clean_label(mesh.name);
          if (wanted.as_in_file) {
            body.pose.position = middle;
            if (import) {
              auto placed = std::make_shared<PartImport>(*import);
              placed->place = middle;
              import = std::move(placed);
            }
          }
          ScenePart& part = body.parts.emplace_back();
          part.name = body.name;
          part.settings = settings_.added;
          part.part = std::make_shared<const Part>(prepare_cached(mesh, settings_.added, progress));
          part.matter = matter_of(*part.part);
          part.import = std::move(import);
        }
        progress.update("drawing it", 0);
        const std::vector<SceneBody> bodies = alone.bodies;
        const std::vector<ShownPart> pictures = show(std::move(alone))->parts;
        const auto make = [this, who, wanted, bodies, opening]() -> std::optional<Scene> {
          if (opened_as_ <= opening)
            return with_bodies(wanted.in_new_scene ? Scene{} : scene_to_edit(), who, bodies, wanted.motion,
                               wanted.as_in_file);
          tell_problem(who, "'" + wanted.name +
                                "' is ready, but another scene was opened meanwhile; drop it again to have it there.");
          return std::nullopt;
        };
        JobChange change{who, make, bodies.size() == 1 ? "A part was added." : "Parts were added.", pictures};
        if (wanted.in_new_scene) change.alone = {opening, wanted.may_lose_changes};
        // A new scene waits for those before it, what comes into one also for that.
        const std::uint32_t before = wanted.in_new_scene ? opening - 1 : opening;
        post([this, change, before] { when_opened(before, [this, change] { change_after_job(change); }); });
      });
}

void Session::carry_out(ParticipantId who, const SetGravity& wanted, const Answered& answered) {
  if (!gravity_range().contains(wanted.down)) return answered(wrong("Gravity is from 0 to 20 m/s^2."));
  if (std::string reason = obstacle({.who = who, .action = SessionAction::change_settings}); !reason.empty())
    return answered(not_now(reason));
  Scene scene = scene_->scene;
  scene.gravity = {0, 0, 0 - wanted.down};  // not -0, which would be another world
  // In oil, which keeps weightless bodies where they are let go, nothing would fall like a thing with weight.
  std::optional<double> drag_without_gravity = drag_without_gravity_;
  if (wanted.down > 0 && scene.drag > Scene{}.drag) {
    drag_without_gravity = scene.drag;
    scene.drag = Scene{}.drag;
  } else if (wanted.down == 0 && drag_without_gravity) {
    scene.drag = *drag_without_gravity;
    drag_without_gravity.reset();
  }
  const auto then = [this, down = wanted.down, drag_without_gravity] {
    drag_without_gravity_ = drag_without_gravity;
    tell([&](SessionListener& listener) { listener.gravity_changed(down); });
  };
  go_on_with(std::move(scene), then, answered);
}

void Session::carry_out(ParticipantId who, const SetBody& wanted, const Answered& answered) {
  const SceneBody* body = scene_->scene.find(wanted.body);
  if (std::string reason = obstacle_to_setting(scene_->scene, body, wanted); !reason.empty())
    return answered(wrong(reason));
  const bool other_motion = wanted.motion && *wanted.motion != body->motion;
  const SessionAction action = other_motion ? SessionAction::change_bodies : SessionAction::change_settings;
  if (std::string reason = obstacle({.who = who, .action = action}); !reason.empty()) return answered(not_now(reason));
  Scene scene = other_motion ? scene_to_edit() : scene_->scene;
  SceneBody& changed = *scene.find(wanted.body);
  if (wanted.motion) changed.motion = *wanted.motion;
  if (scene.task && scene.task->body == changed.id && changed.motion != Motion::free) scene.task.reset();
  if (wanted.density) {
    changed.density = *wanted.density;
    changed.mass.reset();
  }
  if (wanted.mass) {
    MassProperties matter = mass_of(changed);
    matter.inertia = matter.inertia * (*wanted.mass / matter.mass);
    matter.mass = *wanted.mass;
    changed.mass = matter;
  }
  if (other_motion) return change_scene(std::move(scene), "A body was fixed or freed.", answered);
  const auto then = [this, id = wanted.body] {
    tell([&](SessionListener& listener) { listener.body_changed(*scene_->scene.find(id)); });
  };
  go_on_with(std::move(scene), then, answered);
}

void Session::carry_out(ParticipantId who, const CopyBody& wanted, const Answered& answered) {
  const SceneBody* body = scene_->scene.find(wanted.body);
  if (body == nullptr || body->motion == Motion::path) return answered(wrong("That body cannot be copied."));
  if (std::string reason = obstacle({.who = who, .action = SessionAction::change_bodies}); !reason.empty())
    return answered(not_now(reason));
  if (scene_->scene.bodies.size() >= k_most_bodies) return answered(not_now("The scene is full; remove a body first."));
  Scene scene = scene_to_edit();
  SceneBody copy = *scene.find(wanted.body);
  copy.id = ++last_body_;
  copy.name = name_of_copy(scene, body->name);
  copy.motion = Motion::free;
  copy.removable = true;
  copy.pose = place_beside(scene, copy);
  scene.bodies.push_back(std::move(copy));
  change_scene(std::move(scene), "A body was copied.", answered);
}

void Session::carry_out(ParticipantId who, const RemoveBody& wanted, const Answered& answered) {
  const SceneBody* body = scene_->scene.find(wanted.body);
  if (body == nullptr || !body->removable) return answered(wrong("That body cannot be removed."));
  if (std::string reason = obstacle({.who = who, .action = SessionAction::change_bodies}); !reason.empty())
    return answered(not_now(reason));
  Scene scene = scene_to_edit();
  std::erase_if(scene.bodies, [id = wanted.body](const SceneBody& b) { return b.id == id; });
  std::erase_if(scene.rules, [id = wanted.body](const PairRule& rule) { return rule.a == id || rule.b == id; });
  std::erase_if(scene.scripts, [id = wanted.body](const HandScript& script) { return script.body == id; });
  if (scene.task && scene.task->body == wanted.body) scene.task.reset();
  close_gap(scene, wanted.body);
  change_scene(std::move(scene), "A body was removed.", answered);
}

void Session::carry_out(ParticipantId who, const ResetTask&, const Answered& answered) {
  if (!scene_->scene.task) return answered(wrong("There is no task in this scene."));
  carry_out(who, ResetScene{}, answered);
}

CommandResult Session::carry_out(ParticipantId who, const CancelJob& wanted) {
  const auto started = job_starters_.find(wanted.job);
  if (started == job_starters_.end()) return wrong("That is finished already.");
  ActionRequest request{.who = who, .action = SessionAction::cancel_job};
  request.maker = started->second;
  if (std::string reason = obstacle(request); !reason.empty()) return not_now(reason);
  if (!jobs_->cancel(wanted.job)) return wrong("That is finished already.");
  return done();
}

}  // namespace cotouch

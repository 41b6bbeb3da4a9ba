#include <cotouch/base/error.h>
#include <cotouch/serve/messages.h>
#include <cotouch/serve/studio.h>
#include <cotouch/serve/target.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr const char* k_other_holds = "Someone else is holding the object; wait until they let go.";
constexpr const char* k_stop_recording = "Stop the recording first.";

bool within(const std::optional<double>& value, double low, double high) {
  return !value || (*value >= low && *value <= high);
}

}  // namespace

void Studio::perform(ViewerId viewer, const ViewerCommand& command) {
  Feed* feed = feed_;
  if (feed == nullptr) return;
  std::string obstacle;
  try {
    const std::string& type = command.type;
    if (!command.senseless.empty()) {
      obstacle = "The command's '" + command.senseless + "' makes no sense.";
    } else if (type.empty()) {
      obstacle = "A command says by its 'type' what it wants.";
    } else if (type == "open_scene") {
      obstacle = command_open(viewer, command);
    } else if (type == "reset") {
      obstacle = command_reset(viewer);
    } else if (type == "take_hand") {
      obstacle = command_take_hand(viewer, command);
    } else if (type == "release_hand") {
      obstacle = command_release_hand(viewer, command);
    } else if (type == "settings") {
      obstacle = command_settings(command);
    } else if (type == "record_start") {
      obstacle = command_record_start();
    } else if (type == "record_stop") {
      obstacle = command_record_stop();
    } else if (type == "delete_recording") {
      if (recordings_.remove(command.recording))
        broadcast(recordings_message(recordings_.list()));
      else
        obstacle = "There is no such recording.";
    } else if (type == "remove_part") {
      obstacle = command_remove_part(viewer, command);
    } else if (type == "set_role") {
      obstacle = command_set_role(viewer, command);
    } else if (type == "delete_scene") {
      obstacle = command_delete_scene(command);
    } else if (type == "cancel_job") {
      if (!jobs_->cancel(command.job.value_or(0))) obstacle = "That is finished already.";
    } else {
      obstacle = "This server does not know the command '" + clean_label(type) + "'.";
    }
  } catch (const std::exception& error) {
    obstacle = error.what();
  }
  if (command.id)
    feed->send_text(viewer, reply_message(*command.id, obstacle.empty(), obstacle));
  else if (!obstacle.empty() && command.type != "take_hand")  // take_hand has an answer of its own
    feed->send_text(viewer, error_message(obstacle));
}

bool Studio::has_patience_locked() const {
  return std::chrono::duration<double>(Clock::now() - last_input_).count() < settings_.hand_patience;
}

bool Studio::someone_else_holds(ViewerId viewer) {
  const std::scoped_lock lock(hand_mutex_);
  return held_by_ == HeldBy::viewer && holder_ != viewer && has_patience_locked();
}

std::string Studio::command_open(ViewerId viewer, const ViewerCommand& command) {
  if (!is_identifier(command.name)) return "A scene's name is made of letters, digits, - and _.";
  if (someone_else_holds(viewer)) return k_other_holds;
  const auto open = [this, viewer](const std::shared_ptr<const LoadedScene>& scene) {
    // Preparing takes a while, and someone may have taken hold in the meantime.
    if (!someone_else_holds(viewer)) return install(scene);
    if (Feed* feed = feed_) feed->send_text(viewer, error_message(k_other_holds));
  };
  const auto job =
      jobs_->add("Opening " + scene_title(command.name), [this, name = command.name, open](Progress& progress) {
        post([open, scene = std::make_shared<const LoadedScene>(library_.load(name, progress))] { open(scene); });
      });
  if (!job) return "Too much is being prepared already; wait until some of it is done.";
  return {};
}

std::string Studio::command_reset(ViewerId viewer) {
  if (someone_else_holds(viewer)) return k_other_holds;
  if (recording_) return k_stop_recording;
  const ScenePart* held = scene_->moving_part();
  if (held == nullptr) return {};
  {
    // The hand begins anew at the object, so that it does not pull it back at once.
    const std::scoped_lock lock(hand_mutex_);
    if (held_by_ == HeldBy::viewer) device_.hold();
    if (held_by_ == HeldBy::device) release_hand_locked();
  }
  rebuild_session(held->pose);
  return {};
}

std::string Studio::command_take_hand(ViewerId viewer, const ViewerCommand& command) {
  Feed* feed = feed_;
  const std::uint32_t hand = command.hand.value_or(0);
  const auto refuse = [&](const char* reason) {
    feed->send_text(viewer, hand_message(hand, "refused", reason));
    return std::string(reason);
  };
  if (hand != 0 || !session_) return refuse("There is nothing to hold in this scene.");
  const std::scoped_lock lock(hand_mutex_);
  if (held_by_ == HeldBy::device) return refuse("A device at the server is holding the object.");
  if (held_by_ == HeldBy::viewer && holder_ != viewer) {
    if (has_patience_locked()) return refuse(k_other_holds);
    feed->send_text(holder_,
                    hand_message(hand, "lost", "Someone else took the object because nothing was sent for a while."));
  }
  if (held_by_ != HeldBy::viewer || holder_ != viewer) device_.hold();
  held_by_ = HeldBy::viewer;
  holder_ = viewer;
  last_input_ = Clock::now();
  feed->send_text(viewer, hand_message(hand, "granted", ""));
  return {};
}

std::string Studio::command_release_hand(ViewerId viewer, const ViewerCommand& command) {
  const std::scoped_lock lock(hand_mutex_);
  if (held_by_ != HeldBy::viewer || holder_ != viewer) return {};  // it may have been lost on the way
  release_hand_locked();
  feed_.load()->send_text(viewer, hand_message(command.hand.value_or(0), "released", ""));
  return {};
}

std::string Studio::command_settings(const ViewerCommand& command) {
  if (!within(command.contact_stiffness, 10, 100'000)) return "The contact stiffness is from 10 to 100000 N/m.";
  if (!within(command.max_force, 0, 40)) return "The largest force is from 0 to 40 N.";
  if (!within(command.budget_us, 50, 900)) return "The time for contact is from 50 to 900 microseconds.";
  if (recording_) return k_stop_recording;
  FeelSettings feel = feel_;
  feel.contact_stiffness = command.contact_stiffness.value_or(feel.contact_stiffness);
  feel.max_force = command.max_force.value_or(feel.max_force);
  feel.budget_us = command.budget_us.value_or(feel.budget_us);
  feel.warm_nodes = nodes_for(*scene_, nodes_per_us_, feel.budget_us);
  if (session_) session_->change(feel);
  feel_ = feel;
  broadcast(settings_message(feel_));
  return {};
}

std::string Studio::command_record_start() {
  if (recording_) return "A recording is already running.";
  if (!session_) return "There is nothing to record in this scene.";
  recording_id_ = recordings_.new_id();
  // A scene that was never saved has no name under which a replay could find it.
  if (scene_->name.empty()) {
    LoadedScene named = *scene_;
    named.name = "recorded-" + recording_id_;
    if (named.title.empty()) named.title = "Recorded " + recording_id_;
    library_.save(named, named.name);
    scene_ = std::make_shared<const LoadedScene>(std::move(named));
    sight_ = std::make_unique<Sight>(scene_);
  }
  recording_ = session_->start_recording(scene_->name);
  recording_told_ = Clock::now();
  broadcast(recording_message(true, 0));
  return {};
}

std::string Studio::command_record_stop() {
  if (!recording_) return "No recording is running.";
  finish_recording();
  return {};
}

void Studio::finish_recording() {
  bool whole = true;
  if (session_) {
    session_->collect(&*recording_);
    whole = session_->recorded_wholly();
  }
  const Recording finished = std::move(*recording_);
  recording_.reset();
  const double seconds = static_cast<double>(finished.samples.size()) * finished.limits.period;
  broadcast(recording_message(false, seconds));
  try {
    recordings_.save(recording_id_, finished);
    if (!whole)
      broadcast(
          error_message("The machine was too busy to record every cycle, so a replay differs from what was felt."));
  } catch (const std::exception& error) {
    broadcast(error_message(error.what()));
  }
  broadcast(recordings_message(recordings_.list()));
}

std::string Studio::command_delete_scene(const ViewerCommand& command) {
  if (command.name == scene_->name) return "This scene is open; open another one before deleting it.";
  library_.remove(command.name);
  broadcast(scenes_message());
  return {};
}

std::string Studio::command_remove_part(ViewerId viewer, const ViewerCommand& command) {
  const ScenePart* part = scene_->find(command.part.value_or(0));
  if (part == nullptr || !part->removable) return "That part cannot be removed.";
  if (someone_else_holds(viewer)) return k_other_holds;
  const std::shared_ptr<LoadedScene> changed = scene_to_edit();
  std::erase_if(changed->parts, [id = part->id](const ScenePart& p) { return p.id == id; });
  install(changed, "A part was removed.");
  return {};
}

std::string Studio::command_set_role(ViewerId viewer, const ViewerCommand& command) {
  const ScenePart* part = scene_->find(command.part.value_or(0));
  if (part == nullptr || !part->removable) return "Only parts that were dropped can change their role.";
  if (command.role != "moving" && command.role != "static") return "A role is either moving or static.";
  const bool moving = command.role == "moving";
  if (part->moving == moving) return {};
  if (someone_else_holds(viewer)) return k_other_holds;
  const std::shared_ptr<LoadedScene> changed = scene_to_edit();
  for (ScenePart& p : changed->parts) {
    if (p.id == part->id)
      p.moving = moving;
    else if (moving)
      p.moving = false;  // a hand holds one part
  }
  install(changed, "Another part is in the hand now.");
  return {};
}

void Studio::add_part(ScenePart added, const std::string& role) {
  const std::shared_ptr<LoadedScene> scene = scene_->editable ? scene_to_edit() : std::make_shared<LoadedScene>();
  scene->editable = true;
  if (scene->title.empty()) scene->title = "My parts";
  if (scene->parts.size() >= k_max_parts) {
    broadcast(error_message("A scene holds at most " + std::to_string(k_max_parts) + " parts; remove one first."));
    return;
  }
  added.id = ++last_part_id_;
  added.removable = true;
  added.moving = role == "moving" || (role != "static" && scene->parts.size() == 1 && scene->moving_part() == nullptr);
  if (added.moving)
    for (ScenePart& p : scene->parts) p.moving = false;
  if (!scene->parts.empty()) {
    // Beside what is there, a tenth of its size away, on the same height.
    const Box3d there = scene->bounds(), own = added.part->mesh.bounds();
    const double gap = 0.1 * std::max(norm(there.size()), norm(own.size()));
    added.pose.position = {there.high.x + gap - own.low.x, there.center().y - own.center().y,
                           there.center().z - own.center().z};
  }
  scene->parts.push_back(std::move(added));
  install(scene, "A part was added.");
}

}  // namespace cotouch

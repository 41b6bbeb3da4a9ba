#include <cotouch/serve/page_command.h>

#include <cotouch/session/names.h>

namespace cotouch {
namespace {

std::optional<SessionCommand> refused(std::string& why, std::string sentence) {
  why = std::move(sentence);
  return std::nullopt;
}

std::optional<SessionCommand> set_body(const ViewerCommand& command, std::string& why) {
  SetBody wanted{*command.body, command.density, command.mass, std::nullopt};
  if (command.motion == "free")
    wanted.motion = Motion::free;
  else if (command.motion == "fixed")
    wanted.motion = Motion::fixed;
  else if (!command.motion.empty())
    return refused(why, "A body is made either free or fixed.");
  return wanted;
}

}  // namespace

std::optional<SessionCommand> to_session_command(const ViewerCommand& command, std::string& why) {
  const std::string& type = command.type;
  if (!command.senseless.empty()) return refused(why, "The command's '" + command.senseless + "' makes no sense.");
  if (type.empty()) return refused(why, "A command says by its 'type' what it wants.");
  if (type == "open_scene") return OpenScene{command.name};
  if (type == "reset") return ResetScene{};
  if (type == "task_reset") return ResetTask{};
  if (type == "release_hand") return ReleaseHand{HandId{command.hand.value_or(0)}};
  if (type == "settings") return ChangeSettings{command.contact_stiffness, command.max_force, command.budget_us};
  if (type == "record_start") return StartRecording{};
  if (type == "record_stop") return StopRecording{};
  if (type == "delete_recording") return DeleteRecording{command.recording};
  if (type == "delete_scene") return DeleteScene{command.name};
  if (type == "cancel_job") return CancelJob{command.job.value_or(0)};
  if (type == "world") {
    if (!command.gravity) return refused(why, "The command 'world' tells the 'gravity' that is wanted.");
    return SetGravity{*command.gravity};
  }
  const bool about_a_body = type == "grasp" || type == "set_body" || type == "copy_body" || type == "remove_body";
  if (!about_a_body) return refused(why, "This server does not know the command '" + clean_label(type) + "'.");
  if (!command.body) return refused(why, "The command '" + type + "' names a 'body'.");
  if (type == "grasp") return GraspBody{HandId::none, *command.body, command.point};
  if (type == "copy_body") return CopyBody{*command.body};
  if (type == "remove_body") return RemoveBody{*command.body};
  return set_body(command, why);
}

}  // namespace cotouch

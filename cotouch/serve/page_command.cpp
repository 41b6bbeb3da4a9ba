#include <cotouch/serve/page_command.h>

#include <cotouch/base/error.h>
#include <cotouch/base/units.h>
#include <cotouch/session/names.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace cotouch {
namespace {

constexpr std::size_t k_longest_invite = 1024, k_longest_text = 500;  // bytes
constexpr double k_longest_round_trip = 2, k_most_jitter = 1;         // seconds
constexpr double k_most_loss = 0.9;

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

std::optional<SessionCommand> bend(const ViewerCommand& command, std::string& why) {
  if (command.material.empty()) return BendBody{*command.body};
  ElasticSettings elastic;
  try {
    elastic.material = material_named(command.material);
    for (const std::string& anchor : command.anchors) elastic.anchors.push_back(parse_anchor(anchor));
  } catch (const Error& error) {
    return refused(why, printable(error.what()));
  }
  if (!command.law.empty() && command.law != "stvk" && command.law != "warped")
    return refused(why, "A part bends by the law 'stvk' or 'warped'.");
  elastic.law = command.law == "warped" ? ElasticLaw::warped : ElasticLaw::stvk;
  elastic.material.young = command.young.value_or(elastic.material.young);
  elastic.material.poisson = command.poisson.value_or(elastic.material.poisson);
  elastic.material.density = command.density.value_or(elastic.material.density);
  elastic.coordinates = command.coordinates.value_or(elastic.coordinates);
  elastic.tets.target_tets = command.tets.value_or(elastic.tets.target_tets);
  return BendBody{*command.body, std::move(elastic)};
}

std::optional<SessionCommand> reimport(const ViewerCommand& command, std::string& why) {
  if (command.unit.empty() && command.up.empty())
    return refused(why, "The command 'reimport' tells the 'unit' or the axis that is 'up'.");
  try {
    if (!command.unit.empty()) metres_per(command.unit);
  } catch (const Error& error) {
    return refused(why, printable(error.what()));
  }
  return Reimport{*command.body, command.unit, command.up};
}

std::optional<SessionCommand> join(const ViewerCommand& command, std::string& why) {
  if (command.invite.empty()) return refused(why, "To join a session takes the invitation of somebody who is in it.");
  if (command.invite.size() > k_longest_invite)
    return refused(why, "This is no invitation: it has more than 1024 characters.");
  return JoinSharing{command.invite, clean_name(command.name), command.lose_changes.value_or(false)};
}

std::optional<SessionCommand> set_network(const ViewerCommand& command, std::string& why) {
  const bool numbers = command.delay_ms || command.jitter_ms || command.loss;
  if (command.profile.empty() == !numbers)
    return refused(why, "A network is chosen by its 'profile', or by 'delay_ms', 'jitter_ms' and 'loss'.");
  if (!command.profile.empty()) {
    if (!is_identifier(command.profile)) return refused(why, "There is no network of that name.");
    return SetNetwork{command.profile};
  }
  SetNetwork wanted;
  if (command.delay_ms) wanted.round_trip = *command.delay_ms / 1000;
  if (command.jitter_ms) wanted.jitter = *command.jitter_ms / 1000;
  wanted.loss = command.loss;
  const auto within = [](const std::optional<double>& value, double most) {
    return !value || (*value >= 0 && *value <= most);
  };
  if (!within(wanted.round_trip, k_longest_round_trip)) return refused(why, "A network's delay is 0 to 2000 ms.");
  if (!within(wanted.jitter, k_most_jitter)) return refused(why, "A network's jitter is 0 to 1000 ms.");
  if (!within(wanted.loss, k_most_loss)) return refused(why, "A network loses between 0 and 0.9 of its packets.");
  return wanted;
}

std::optional<SessionCommand> say(const ViewerCommand& command, std::string& why) {
  std::string text = printable(command.text);
  text.erase(0, text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  if (text.empty()) return refused(why, "There is no text in this message.");
  if (text.size() > k_longest_text) return refused(why, "A message has at most 500 bytes; send it in several pieces.");
  return Say{std::move(text)};
}

bool is_about_sharing(std::string_view type) {
  static constexpr std::array<std::string_view, 8> k_types{"share_start", "share_join", "share_leave", "network",
                                                           "synchronise", "chat",       "mark",        "remove_mark"};
  return std::find(k_types.begin(), k_types.end(), type) != k_types.end();
}

std::optional<SessionCommand> to_sharing_command(const ViewerCommand& command, std::string& why) {
  const std::string& type = command.type;
  if (type == "share_start") return StartSharing{clean_name(command.name)};
  if (type == "share_join") return join(command, why);
  if (type == "share_leave") return LeaveSharing{};
  if (type == "network") return set_network(command, why);
  if (type == "synchronise") {
    if (!command.on) return refused(why, "The command 'synchronise' says by 'on' whether it is wanted.");
    return SetSynchronised{*command.on};
  }
  if (type == "chat") return say(command, why);
  if (type == "mark") {
    if (!command.body || !command.point) return refused(why, "The command 'mark' names a 'body' and a 'point' of it.");
    return PlaceMark{*command.body, *command.point};
  }
  if (!command.mark) return refused(why, "The command 'remove_mark' names a 'mark'.");
  return RemoveMark{*command.mark};
}

}  // namespace

std::optional<SessionCommand> to_session_command(const ViewerCommand& command, std::string& why) {
  const std::string& type = command.type;
  if (!command.senseless.empty()) return refused(why, "The command's '" + command.senseless + "' makes no sense.");
  if (type.empty()) return refused(why, "A command says by its 'type' what it wants.");
  if (type == "open_scene") return OpenScene{command.name, command.lose_changes.value_or(false)};
  if (type == "reset") return ResetScene{};
  if (type == "task_reset") return ResetTask{};
  if (type == "release_hand") return ReleaseHand{HandId{command.hand.value_or(0)}};
  if (type == "settings") return ChangeSettings{command.contact_stiffness, command.max_force, command.budget_us};
  if (type == "device") {
    if (!command.device || !command.on)
      return refused(why, "The command 'device' names a 'device' and says if it is 'on'.");
    return SwitchDevice{*command.device, *command.on};
  }
  if (type == "record_start") return StartRecording{};
  if (type == "record_stop") return StopRecording{};
  if (type == "delete_recording") return DeleteRecording{command.recording};
  if (type == "delete_scene") return DeleteScene{command.name};
  if (type == "cancel_job") return CancelJob{command.job.value_or(0)};
  if (type == "world") {
    if (!command.gravity) return refused(why, "The command 'world' tells the 'gravity' that is wanted.");
    return SetGravity{*command.gravity};
  }
  if (is_about_sharing(type)) return to_sharing_command(command, why);
  const bool about_a_body = type == "grasp" || type == "set_body" || type == "bend" || type == "copy_body" ||
                            type == "remove_body" || type == "reimport";
  if (!about_a_body) return refused(why, "This server does not know the command '" + clean_label(type) + "'.");
  if (!command.body) return refused(why, "The command '" + type + "' names a 'body'.");
  if (type == "grasp") return GraspBody{HandId::none, *command.body, command.point};
  if (type == "bend") return bend(command, why);
  if (type == "reimport") return reimport(command, why);
  if (type == "copy_body") return CopyBody{*command.body};
  if (type == "remove_body") return RemoveBody{*command.body};
  return set_body(command, why);
}

std::string_view code_of(const CommandResult& result) {
  if (result.kind == CommandResult::Kind::exists) return "exists";
  return result.kind == CommandResult::Kind::unkept ? "unkept" : "";
}

}  // namespace cotouch

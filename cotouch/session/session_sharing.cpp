// A session over the network: what the commands about it do.
#include <cotouch/session/session_ask.h>

namespace cotouch {
namespace {

CommandResult not_shared() {
  return {
      CommandResult::Kind::not_now, "This scene is not shared with anybody; share it or join somebody first.", 0, {}};
}

}  // namespace

CommandResult Session::carry_out(ParticipantId /*who*/, const StartSharing& /*wanted*/) {
  return not_shared();
}
CommandResult Session::carry_out(ParticipantId /*who*/, const JoinSharing& /*wanted*/) {
  return not_shared();
}
CommandResult Session::carry_out(ParticipantId /*who*/, const LeaveSharing& /*wanted*/) {
  return not_shared();
}
CommandResult Session::carry_out(ParticipantId /*who*/, const SetNetwork& /*wanted*/) {
  return not_shared();
}
CommandResult Session::carry_out(ParticipantId /*who*/, const SetSynchronised& /*wanted*/) {
  return not_shared();
}
CommandResult Session::carry_out(ParticipantId /*who*/, const Say& /*wanted*/) {
  return not_shared();
}
CommandResult Session::carry_out(ParticipantId /*who*/, const PlaceMark& /*wanted*/) {
  return not_shared();
}
CommandResult Session::carry_out(ParticipantId /*who*/, const RemoveMark& /*wanted*/) {
  return not_shared();
}

}  // namespace cotouch

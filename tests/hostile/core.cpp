#include "hostile/core.h"

#include <algorithm>

namespace cotouch::hostile {

PeerSettings patient(double seconds) {
  PeerSettings settings;
  settings.patience_alone *= seconds / settings.patience;
  settings.patience = seconds;
  return settings;
}

Core::Core(PeerNetwork& network, const PeerSettings& settings, MemberId self, const ObjectiveSnapshot& snapshot)
    : network_(network), peer_(settings, self, snapshot, PeerNetwork::now()) {
}

void Core::run() {
  std::vector<PeerRequest> requests;
  if (peer_.poll(PeerNetwork::now(), hand, requests)) hand.action = HandInput::Action::none;
  for (PeerRequest& request : requests) carry_out(request);
}

void Core::carry_out(PeerRequest& request) {
  if (auto* message = std::get_if<SendMessage>(&request)) {
    if (tamper) tamper(message->to, message->bytes);
    send(message->to, message->bytes);
  } else if (const auto* connect = std::get_if<ConnectMember>(&request)) {
    if (const auto introduction = read_introduction(connect->introduction); introduction && meets_newcomers)
      network_.connect(connect->member, *introduction, std::nullopt);
  } else if (const auto* disconnect = std::get_if<DisconnectMember>(&request)) {
    network_.disconnect(disconnect->member);
  } else if (std::holds_alternative<JoinAgain>(request)) {
    dropped_ = true;
  }
}

void Core::receive(MemberId from, std::span<const std::byte> bytes) {
  if (const std::optional<PeerMessage> message = read_message(bytes))
    if (const auto* inputs = std::get_if<InputsMessage>(&*message)) {
      Told& told = told_[from];
      told.objective = std::max(told.objective, inputs->objective);
      if (inputs->hash) told.hashes[inputs->hash->tick] = inputs->hash->hash;
    }
  if (bytes[0] < static_cast<std::byte>(TransferMessage::want)) peer_.receive(PeerNetwork::now(), from, bytes);
}

std::optional<std::uint64_t> Core::hash_of(MemberId member, Tick tick) const {
  const auto found = told_[member].hashes.find(tick);
  return found == told_[member].hashes.end() ? std::nullopt : std::optional(found->second);
}

void Core::send(MemberId to, std::span<const std::byte> message) {
  if (!message.empty()) network_.send(PeerNetwork::now(), to, message);
}

void Core::send_inputs(MemberId to, Tick first, const std::vector<PeerInput>& inputs) {
  InputsMessage head;
  head.timing.sequence = sequence_++;
  head.timing.sent = stamp_of(PeerNetwork::now());
  head.timing.their_tick = std::max<Tick>(peer_.now(), 0);
  head.objective = peer_.objective();
  InputRun run;
  run.first = first;
  for (const PeerInput& input : inputs) run.inputs.push_back(&input);
  send(to, write_inputs_message(head, std::span(&run, 1)));
}

std::vector<MemberId> Core::others() const {
  std::vector<MemberId> others;
  for (MemberId m = 0; m < k_most_members; ++m)
    if (m != peer_.self() && peer_.is_member(m)) others.push_back(m);
  return others;
}

}  // namespace cotouch::hostile

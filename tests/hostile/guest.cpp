#include "hostile/guest.h"

#include <cotouch/session/door_message.h>

namespace cotouch::hostile {
namespace {

constexpr std::chrono::milliseconds k_wait{1};
constexpr double k_round_trip = 0.02;  // seconds, on one machine

}  // namespace

Guest::Guest(const Invite& invite, const std::string& name, const PeerSettings& settings,
             const std::vector<NetAddress>& addresses)
    // Not of loopback alone: hosts tell the addresses of their network.
    : settings_(settings), network_(Identity::make(), UdpSettings{0, false, 1U << 20, 1U << 20}) {
  Bytes payload;
  ByteWriter out(payload);
  out.number(k_door_version);
  out.number(DoorRole::player);
  out.text(name);
  out.varint(addresses.size());
  for (const NetAddress& address : addresses) address.write(out);
  network_.knock(invite, payload, PeerNetwork::now(), PeerNetwork::Errand::join);
}

void Guest::handshake_over(double, ClientHandshake& handshake) {
  refused_ = handshake.state() != ClientHandshake::State::accepted;
  if (refused_) return;
  ByteReader in(handshake.answer());
  gifts_.description = in.text(k_longest_scene);
  gifts_.model_hash = in.number<std::uint64_t>();
  manifest_ = read_object(in);
  in_ = true;
  if (wants_files_) fetch_.emplace(manifest_);
}

void Guest::run() {
  network_.run(*this, k_wait);
  const double now = PeerNetwork::now();
  if (core_) return core_->run();
  if (!in_) return;
  if (fetch_) {
    for (const Bytes& message : fetch_->poll(now, k_round_trip)) network_.to_doorkeeper(now, message);
    if (fetch_->is_complete())
      if (const auto object = fetch_->take()) take(*object);
  }
  const bool ready = !wants_files_ || (has_manifest_ && gifts_.files.size() == names_.size());
  if (!ready || core_ || now < said_ready_ + k_guest_repeat) return;
  said_ready_ = now;
  network_.to_doorkeeper(now, plain_message(PlainMessage::ready));
}

void Guest::take(const Bytes& object) {
  fetch_.reset();
  if (number_) {
    const std::optional<ObjectiveSnapshot> snapshot = decode_snapshot(object);
    if (!snapshot) return;
    gifts_.snapshot = *snapshot;
    return take_part();
  }
  if (!has_manifest_) {
    ByteReader in(object);
    has_manifest_ = true;
    for (std::uint64_t count = in.varint(256); count > 0 && in.ok(); --count) {
      std::string name = in.text(128);
      names_.emplace_back(std::move(name), read_object(in));
    }
  } else {
    gifts_.files.emplace_back(names_[gifts_.files.size()].first, object);
  }
  if (gifts_.files.size() < names_.size()) fetch_.emplace(names_[gifts_.files.size()].second);
}

void Guest::take_part() {
  const ObjectiveSnapshot& snapshot = gifts_.snapshot;
  core_.emplace(network_, settings_, *number_, snapshot);
  for (MemberId m = 0; m < k_most_members; ++m) {
    if (!snapshot.members[m] || m == *number_) continue;
    if (const auto introduction = read_introduction(snapshot.members[m]->introduction))
      network_.connect(m, *introduction, m == 0 ? network_.doorkeeper_address() : std::nullopt);
  }
}

void Guest::from_doorkeeper(double, std::span<const std::byte> message) {
  if (fetch_ && fetch_->receive(message)) return;
  ByteReader in(message);
  if (static_cast<PlainMessage>(in.number<std::uint8_t>()) != PlainMessage::admitted || number_) return;
  number_ = in.number<std::uint8_t>();
  fetch_.emplace(read_object(in));
}

void Guest::from_member(double, MemberId member, std::span<const std::byte> message) {
  if (core_) core_->receive(member, message);
}

void Guest::leave() {
  if (!core_) return;
  core_->peer().leave();
  const double end = PeerNetwork::now() + 3;
  while (!core_->peer().is_done(PeerNetwork::now()) && PeerNetwork::now() < end) run();
}

}  // namespace cotouch::hostile

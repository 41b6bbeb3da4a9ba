#include "hostile/false_host.h"

#include <cotouch/session/door_message.h>

#include <algorithm>

namespace cotouch::hostile {
namespace {

constexpr std::chrono::milliseconds k_wait{1};

}  // namespace

FalseHost::FalseHost(Gifts real)
    : gifts(std::move(real)), network_(Identity::make(), UdpSettings{0, true, 1U << 20, 1U << 20}) {
  invite_ =
      make_invite(network_.identity().public_key(), {NetAddress::v4({127, 0, 0, 1}, network_.socket().port())}, 0);
  network_.host(invite_.secret, 0);
}

void FalseHost::run() {
  network_.run(*this, k_wait);
  if (core_ && speaks) core_->run();
  if (act && since_joined() >= 0) act(*this, since_joined());
}

Introduction FalseHost::own_introduction() {
  Introduction own;
  own.name = "Mallory";
  own.credential = network_.credential();
  own.addresses = invite_.addresses;
  return own;
}

ObjectName FalseHost::make_manifest() {
  std::vector<std::pair<std::string, ObjectName>> names;
  for (const auto& [name, bytes] : gifts.files) names.emplace_back(name, put(bytes));
  names.insert(names.end(), false_names.begin(), false_names.end());
  Bytes bytes;
  ByteWriter out(bytes);
  out.varint(names.size());
  for (const auto& [name, object] : names) {
    out.text(name);
    write_object(out, object);
  }
  if (manifest) manifest(bytes);
  ObjectName name = put(std::move(bytes));
  if (name_of_manifest) name_of_manifest(name);
  return name;
}

PeerNetworkListener::Decision FalseHost::asked(double, GuestId guest, const JoinRequest& request) {
  Joiner& joiner = joiners_[guest];
  joiner.introduction.name = "Ben";
  joiner.introduction.credential = request.content.credential;
  joiner.introduction.addresses = {request.from};
  Decision decision;
  decision.accepted = true;
  ByteWriter out(decision.payload);
  out.text(gifts.description);
  out.number(gifts.model_hash);
  write_object(out, make_manifest());
  if (answer) answer(decision);
  if (asked_at_ < 0) asked_at_ = PeerNetwork::now();
  return decision;
}

void FalseHost::give(std::span<const std::byte> want, const std::function<void(const Bytes&)>& send) {
  if (!gives_pieces) return;
  for (Bytes& bytes : shelf_.answer(want)) {
    if (piece) piece(bytes);
    send(bytes);
  }
}

void FalseHost::from_guest(double now, GuestId guest, std::span<const std::byte> message) {
  if (message[0] == static_cast<std::byte>(TransferMessage::want))
    return give(message, [&](const Bytes& bytes) { network_.to_guest(now, guest, bytes); });
  if (message[0] == static_cast<std::byte>(PlainMessage::alive))
    network_.to_guest(now, guest, plain_message(PlainMessage::alive));
  if (message[0] == static_cast<std::byte>(PlainMessage::ready)) admit(now, guest);
}

void FalseHost::admit(double now, GuestId guest) {
  Joiner& joiner = joiners_[guest];
  if (!joiner.snapshot) {
    ObjectiveSnapshot given = gifts.snapshot;
    given.members = {};
    given.former.clear();
    given.marks.clear();
    given.decided = {};
    given.members[0] = Member{given.tick, write_introduction(own_introduction())};
    given.members[k_victim] = Member{given.tick, write_introduction(joiner.introduction)};
    const ObjectiveSnapshot honest = given;
    if (snapshot) snapshot(given);
    Bytes bytes = encode_snapshot(given);
    if (encoded) encoded(bytes);
    joiner.snapshot = put(std::move(bytes));
    network_.disconnect_all();
    network_.connect(k_victim, joiner.introduction, network_.address_of_guest(guest));
    core_.emplace(network_, patient(patience), MemberId{0}, honest);
    core_->meets_newcomers = false;
    joined_at_ = -1;
  }
  Bytes bytes;
  ByteWriter out(bytes);
  out.number(PlainMessage::admitted);
  out.number(k_victim);
  write_object(out, *joiner.snapshot);
  if (admitted) admitted(bytes);
  network_.to_guest(now, guest, bytes);
}

void FalseHost::from_member(double now, MemberId member, std::span<const std::byte> message) {
  if (joined_at_ < 0) joined_at_ = now;
  if (message[0] == static_cast<std::byte>(TransferMessage::want))
    give(message, [&](const Bytes& bytes) { network_.send(now, member, bytes); });
  else if (core_)
    core_->receive(member, message);
}

}  // namespace cotouch::hostile

// How a program lets others in and gives them what they fetch: the scene, and snapshots of what was agreed on.
#include <cotouch/session/shared_session.h>

#include <cotouch/base/read_file.h>
#include <cotouch/session/door_message.h>
#include <cotouch/session/names.h>
#include <cotouch/session/scene_file.h>

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

constexpr double k_fresh = 2;               // seconds for which a guest's snapshot is good
constexpr double k_oldest = 4;              // while it is being fetched; inputs are kept for five seconds
constexpr double k_still_fetching = 0.5;    // seconds since a piece was asked for
constexpr double k_heal_interval = 0.5;     // seconds between snapshots for one member
constexpr std::size_t k_most_expected = 4;  // guests who were admitted and have not arrived

PeerNetworkListener::Decision refuse(DoorRefusal why, const std::string& introduction = {}) {
  PeerNetworkListener::Decision decision;
  ByteWriter out(decision.payload);
  out.number(why);
  if (!introduction.empty() && introduction.size() <= k_longest_told) out.text(introduction);
  return decision;
}

}  // namespace

// ------------------------------------------------------------------------------------------------ what can be had

fs::path SharedSession::write_scene_files() const {
  const fs::path folder = settings_.received / ("sharing-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  save_scene(scene_, scene_.name.empty() ? "shared" : scene_.name, folder);
  return folder;
}

// What a joiner may lack: the scene as files, which are gone from the disk then. Every member has it, because any of
// them may be the one who lets somebody in.
void SharedSession::shelve_scene(const fs::path& folder) {
  Bytes manifest;
  ByteWriter out(manifest);
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  out.varint(paths.size());
  for (const fs::path& path : paths) {
    const FileCopy copy = read_file(path);
    const ObjectName object = shelf_.put(std::make_shared<const Bytes>(copy.bytes.begin(), copy.bytes.end()));
    out.text(path.filename().string());
    write_object(out, object);
  }
  manifest_ = shelf_.put(std::make_shared<const Bytes>(std::move(manifest)));
  fs::remove_all(folder);
}

void SharedSession::unshelve(ObjectName& object) {
  if (object.size > 0) shelf_.remove(object.id);
  object = {};
}

// ------------------------------------------------------------------------------------------------ guests

PeerNetworkListener::Decision SharedSession::asked(double now, GuestId guest, const JoinRequest& request) {
  ByteReader in(request.content.payload.bytes());
  const auto version = in.number<std::uint8_t>();
  const auto role = static_cast<DoorRole>(in.number<std::uint8_t>());
  if (version != k_door_version || role > DoorRole::compare) return refuse(DoorRefusal::version);
  if (!peer_ || phase_ != Phase::running || leaving_) return refuse(DoorRefusal::not_now);
  if (role == DoorRole::compare) return compared(now, request.content.credential, in);
  if (!peer_->is_keeper()) {
    const MemberId keeper = peer_->keeper();
    return introductions_[keeper] ? refuse(DoorRefusal::redirect, write_introduction(*introductions_[keeper]))
                                  : refuse(DoorRefusal::not_now);
  }
  if (peer_->is_cut_off() || takes_part(request.content.credential)) return refuse(DoorRefusal::not_now);
  Introduction newcomer;
  const std::string name = in.text(Introduction::k_longest_name);
  newcomer.observer = role == DoorRole::observer;
  newcomer.credential = request.content.credential;
  newcomer.addresses.push_back(request.from);
  const std::uint64_t count = in.varint(k_most_told);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const NetAddress address = NetAddress::read(in);
    if (address.can_be_sent_to()) newcomer.addresses.push_back(address);
  }
  if (!in.at_end()) return refuse(DoorRefusal::version);
  std::size_t present = 0;
  for (MemberId m = 0; m < k_most_members; ++m)
    present += peer_->is_member(m) && (m >= k_shared_hands) == newcomer.observer ? 1U : 0U;
  if (present >= (newcomer.observer ? k_most_members - k_shared_hands : k_shared_hands))
    return refuse(DoorRefusal::full);
  std::vector<std::string> taken;
  for (MemberId m = 0; m < k_most_members; ++m)
    if (peer_->is_member(m) && introductions_[m]) taken.push_back(clean_name(introductions_[m]->name));
  for (const auto& [id, other] : guests_)
    if (other.introduction.credential.identity != newcomer.credential.identity)
      taken.push_back(other.introduction.name);
  newcomer.name = different_name(clean_name(name).empty() ? "guest" : name, taken);
  guests_[guest].introduction = std::move(newcomer);
  Decision decision;
  decision.accepted = true;
  ByteWriter out(decision.payload);
  out.text(description_);
  out.number(model_hash_);
  write_object(out, manifest_);
  return decision;
}

// Somebody who went on without us asks how we stand.
PeerNetworkListener::Decision SharedSession::compared(double now, const Credential& by, ByteReader& question) {
  const SessionRank theirs = read_rank(question), ours = peer_->rank();
  const std::string keeper = question.text(k_longest_event);
  if (ours.keeper.size() > k_longest_told) return refuse(DoorRefusal::not_now);
  // It has dropped us, but we still wait for it: the two of us together are no session that it could join.
  for (MemberId m = 0; m < k_most_members; ++m)
    if (peer_->is_active(m) && introductions_[m] && introductions_[m]->credential.identity == by.identity)
      return refuse(DoorRefusal::not_now);
  // Only those who were with us and were dropped may lead us away. The handshake has shown who it is.
  const bool was_here = std::any_of(peer_->former().begin(), peer_->former().end(), [&](const std::string& former) {
    const std::optional<Introduction> known = read_introduction(former);
    return known && known->credential.identity == by.identity;
  });
  if (question.at_end() && was_here && theirs.outranks(with_hashed_keeper(ours)))
    post([this, keeper, now] { join_again(keeper, now); });
  Decision decision = refuse(DoorRefusal::compared);
  ByteWriter out(decision.payload);
  write_rank(out, ours);
  out.text(ours.keeper);
  return decision;
}

template <class Send>
void SharedSession::answer_want(double now, std::span<const std::byte> want, Allowance& pieces, const Send& send) {
  for (const Bytes& answer : shelf_.answer(want)) {
    if (!pieces.take(now) || !all_pieces_.take(now)) return;  // asked for again when it is missed
    send(answer);
  }
}

void SharedSession::from_guest(double now, GuestId id, std::span<const std::byte> message) {
  const auto found = guests_.find(id);
  if (found == guests_.end() || !peer_) return;
  Guest& guest = found->second;
  const auto kind = static_cast<std::uint8_t>(message[0]);
  if (kind == static_cast<std::uint8_t>(TransferMessage::want)) {
    guest.wanted = now;
    return answer_want(now, message, guest.pieces, [&](const Bytes& piece) { network_->to_guest(now, id, piece); });
  }
  if (kind == static_cast<std::uint8_t>(PlainMessage::alive)) {
    if (now < guest.alive_told + k_guest_repeat) return;
    guest.alive_told = now;
    return network_->to_guest(now, id, plain_message(PlainMessage::alive));
  }
  if (kind != static_cast<std::uint8_t>(PlainMessage::ready)) return;
  if (!guest.member && may_be_admitted(id))
    guest.member = peer_->admit(write_introduction(guest.introduction), guest.introduction.observer);
  const double good_for = now < guest.wanted + k_still_fetching ? k_oldest : k_fresh;
  if (guest.admitted && now > guest.snapshot_made + good_for) make_snapshot(guest, now);
}

// The world waits for everybody who was admitted: only a few at a time who may never come, and nobody twice.
bool SharedSession::may_be_admitted(GuestId id) const {
  const Credential& credential = guests_.at(id).introduction.credential;
  std::size_t expected = 0;
  for (const auto& [other, guest] : guests_) {
    if (!guest.member) continue;
    ++expected;
    if (guest.introduction.credential == credential) return false;
  }
  return expected < k_most_expected && !takes_part(credential);
}

bool SharedSession::takes_part(const Credential& credential) const {
  for (MemberId m = 0; m < k_most_members; ++m)
    if (peer_->is_member(m) && introductions_[m] && introductions_[m]->credential == credential) return true;
  return false;
}

void SharedSession::poll_guests(double now) {
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    Guest& newcomer = guest->second;
    const PeerLink* link = newcomer.member && newcomer.admitted ? peer_->link(*newcomer.member) : nullptr;
    const bool arrived = link != nullptr && link->has_echo();
    const bool gone =
        !network_->address_of_guest(guest->first) || (newcomer.admitted && !peer_->is_member(*newcomer.member));
    if (arrived || gone) {
      unshelve(newcomer.snapshot);
      network_->dismiss(guest->first);
      guest = guests_.erase(guest);
      continue;
    }
    if (newcomer.admitted && now > newcomer.told + k_guest_repeat) {
      if (newcomer.snapshot.size == 0) make_snapshot(newcomer, now);
      if (newcomer.snapshot.size > 0) {
        newcomer.told = now;
        Bytes bytes;
        ByteWriter out(bytes);
        out.number(PlainMessage::admitted);
        out.number(*newcomer.member);
        write_object(out, newcomer.snapshot);
        network_->to_guest(now, guest->first, bytes);
      }
    }
    ++guest;
  }
}

// ------------------------------------------------------------------------------------------------ members

Bytes SharedSession::snapshot_bytes(Tick latest) const {
  ObjectiveSnapshot snapshot = peer_->snapshot();
  snapshot.tick = std::min(snapshot.tick, latest);
  const std::span<const std::byte> state = runner_->saved(snapshot.tick).bytes();
  snapshot.state.assign(state.begin(), state.end());
  return encode_snapshot(snapshot);
}

// Not while somebody leaves: it would be gone before the newcomer hears of it.
void SharedSession::make_snapshot(Guest& guest, double now) {
  for (MemberId m = 0; m < k_most_members; ++m)
    if (peer_->is_member(m) && !peer_->is_active(m)) return;
  unshelve(guest.snapshot);
  guest.snapshot = shelf_.put(std::make_shared<const Bytes>(snapshot_bytes(k_never)));
  guest.snapshot_made = now;
}

void SharedSession::from_member(double now, MemberId member, std::span<const std::byte> message) {
  if (!peer_) return;
  const auto kind = static_cast<std::uint8_t>(message[0]);
  if (kind < static_cast<std::uint8_t>(TransferMessage::want)) return peer_->receive(now, member, message);
  if (kind == static_cast<std::uint8_t>(TransferMessage::want)) {
    return answer_want(now, message, served_[member].pieces,
                       [&](const Bytes& piece) { network_->send(now, member, piece); });
  }
  if (kind == static_cast<std::uint8_t>(TransferMessage::piece)) {
    if (healing_ && member == healer_) healing_->receive(message);
    return;
  }
  ByteReader in(message.subspan(1));
  if (kind == static_cast<std::uint8_t>(PlainMessage::fetch)) {
    const auto latest = static_cast<Tick>(in.varint(1ULL << 48));
    if (in.at_end()) hand_out_snapshot(now, member, latest);
  } else if (kind == static_cast<std::uint8_t>(PlainMessage::healing)) {
    const ObjectName object = read_object(in);
    if (in.at_end() && member == healer_ && heal_asked_ >= 0 && !healing_ && object.size <= k_largest_snapshot)
      healing_.emplace(object);
  }
}

// One for each member, so that asking again and again fills nothing.
void SharedSession::hand_out_snapshot(double now, MemberId member, Tick latest) {
  Served& served = served_[member];
  const Tick oldest = std::max(world_since_, peer_->now() - Rollback::k_widest_window + 1);
  if (latest < oldest || now < served.snapshot_made + k_heal_interval) return;
  unshelve(served.snapshot);
  served.snapshot = shelf_.put(std::make_shared<const Bytes>(snapshot_bytes(latest)));
  served.snapshot_made = now;
  Bytes bytes;
  ByteWriter out(bytes);
  out.number(PlainMessage::healing);
  write_object(out, served.snapshot);
  network_->send(now, member, bytes);
}

}  // namespace cotouch

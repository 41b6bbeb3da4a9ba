// How a program gets into a session over the network, and comes back after it was cut off.
#include <cotouch/session/shared_session.h>

#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/session/door_message.h>
#include <cotouch/session/scene_file.h>

#include <algorithm>
#include <utility>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

constexpr double k_keep_alive = 1, k_search = 3;  // seconds
constexpr double k_doorkeeper_patience = 20;      // seconds
constexpr double k_ready_patience = 12;           // seconds
constexpr double k_refused_pause = 1;             // seconds until it is asked again
constexpr int k_most_knocks = 12;
constexpr std::uint64_t k_largest_manifest = 64U << 10U;

// Tells another thread, until that one wants it to stop.
template <class Load>
class ToldProgress final : public Progress {
 public:
  explicit ToldProgress(std::shared_ptr<Load> load) : load_(std::move(load)) {}
  void update(std::string_view, double done) override {
    if (load_->stops) throw Cancelled();
    load_->done = done;
  }

 private:
  std::shared_ptr<Load> load_;
};

}  // namespace

void SharedSession::knock(const Invite& invite, double now) {
  invite_ = invite;
  ++knocks_;
  Bytes payload;
  ByteWriter out(payload);
  out.number(k_door_version);
  out.number(settings_.observer ? DoorRole::observer : DoorRole::player);
  out.text(settings_.name);
  std::vector<NetAddress> addresses = own_addresses();
  if (addresses.size() > k_most_told) addresses.resize(k_most_told);
  out.varint(addresses.size());
  for (const NetAddress& address : addresses) address.write(out);
  network_->knock(invite, payload, now, PeerNetwork::Errand::join, settings_.answer_patience);
  phase_ = Phase::knocking;
  if (status_.session.empty()) status_.session = short_name(invite);
  tell(SharingStatus::State::joining);
  tell_stage("looking for the host", 0);
}

// Where we were let in, if that was not in vain too often.
void SharedSession::knock_again(double now) {
  if (knocks_ >= k_most_knocks) return fail("The others do not let us in; ask for a new invitation.");
  knock(invite_, now);
}

void SharedSession::handshake_over(double now, ClientHandshake& handshake) {
  using State = ClientHandshake::State;
  ByteReader in(handshake.answer());
  if (phase_ != Phase::knocking) {
    // A question to those who were dropped.
    if (handshake.state() == State::rejected && peer_ &&
        static_cast<DoorRefusal>(in.number<std::uint8_t>()) == DoorRefusal::compared) {
      SessionRank theirs = read_rank(in);
      const std::string keeper = in.text(k_longest_event);
      if (in.at_end() && theirs.outranks(with_hashed_keeper(peer_->rank()))) join_again(keeper, now);
    }
    return;
  }
  switch (handshake.state()) {
    case State::accepted: break;
    case State::rejected: {
      const auto why = static_cast<DoorRefusal>(in.number<std::uint8_t>());
      if (why == DoorRefusal::full) return fail("The session is full: sixteen people and four observers are the most.");
      if (why == DoorRefusal::version)
        return fail("The host runs another version of cotouch; use the same on both sides.");
      if (why == DoorRefusal::redirect && knocks_ < k_most_knocks) {
        const std::string keeper = in.text(k_longest_event);
        if (const auto invite = invite_to(keeper)) return knock(*invite, now);
      }
      refused_until_ = now + k_refused_pause;  // not now: again in a second
      return;
    }
    case State::refused:
      return fail(handshake.refusal().reason == RefusalReason::expired
                      ? "The invitation has expired; ask the host for a new one."
                      : "The host runs another version of cotouch; use the same on both sides.");
    default: {
      if (again_ && knocks_ < k_most_knocks) {
        refused_until_ = now + k_refused_pause;
        return;
      }
      if (resume_from_journal()) return;
      std::string where;
      for (const NetAddress& address : invite_.addresses) where += (where.empty() ? "" : ", ") + address.text();
      return fail("Nobody answered at " + where +
                  ". Is the host still running, and does UDP pass the firewalls on both sides?");
    }
  }
  description_ = in.text(k_longest_scene);
  model_hash_ = in.number<std::uint64_t>();
  manifest_ = read_object(in);
  if (!in.at_end() || manifest_.size > k_largest_manifest)
    return fail("The host's answer makes no sense; use the same version of cotouch on both sides.");
  if (model_ && model_->hash() == model_hash_) return be_ready(now);
  feel_ = parse_recorded_scene(description_).feel;
  feel_.warm_nodes = k_warm_nodes;
  load_scene(false);
}

// Whatever takes long is done here, where nobody waits for us yet.
void SharedSession::be_ready(double now) {
  if (shelf_.find(manifest_.id) == nullptr) shelve_scene(write_scene_files());
  if (!open_journal()) return;
  phase_ = Phase::ready;
  ready_since_ = now;
  fetch_.reset();
  admitted_as_.reset();
}

// On another thread, because parts may have to be prepared.
void SharedSession::load_scene(bool from_folder) {
  phase_ = Phase::loading;
  const fs::path folder = received_folder();
  RecordedScene wanted = parse_recorded_scene(description_);
  wanted.feel.warm_nodes = k_warm_nodes;  // the same in every shared world, whatever the host says
  std::error_code problem;
  const bool stored = from_folder || fs::exists(folder / "scene.toml", problem);
  scene_folder_ = stored ? folder.filename().string() : "";
  load_->done = 0;
  loading_ = std::async(std::launch::async, [this, wanted, folder, stored, load = load_, hash = model_hash_] {
    const CancelScope scope([load] { return load->stops.load(); });
    ToldProgress told(load);
    Loaded loaded;
    try {
      if (stored)
        loaded.scene = load_scene_file(folder / "scene.toml", told);
      else if (wanted.name.empty())
        return Loaded{{}, nullptr, "it has no name"};
      else
        loaded.scene = library_.load(wanted.name, told);
      loaded.scene.name = wanted.name;
      loaded.model = felt_model(loaded.scene, wanted.feel, k_shared_pace);
      loaded.model->check_data_is_there();
      if (loaded.model->hash() != hash)
        loaded.missing = stored ? "its files are of another world; ask the host to open the scene anew and share that."
                                : "another scene has this name here";
    } catch (const std::exception& error) {
      loaded.missing = error.what();
    }
    return loaded;
  });
}

void SharedSession::poll_joining(double now) {
  if (phase_ == Phase::knocking) {
    if (network_->is_knocking() || now < refused_until_) return;
    // Whoever was asked may be gone: try everybody who took part.
    std::vector<Invite> others;
    for (const std::optional<Introduction>& known : introductions_)
      if (known && known->credential.identity != network_->identity().public_key())
        if (const auto invite = invite_to(write_introduction(*known))) others.push_back(*invite);
    if (others.empty() || knocks_ >= k_most_knocks) return knock_again(now);
    return knock(others[static_cast<std::size_t>(knocks_) % others.size()], now);
  }
  if (phase_ == Phase::loading || phase_ == Phase::fetching || phase_ == Phase::ready) {
    if (now > network_->heard_doorkeeper() + k_doorkeeper_patience)
      return fail("The host is not heard any more; try to join again.");
    if (now > alive_sent_ + k_keep_alive) {
      alive_sent_ = now;
      network_->to_doorkeeper(now, plain_message(PlainMessage::alive));
    }
  }
  if (phase_ == Phase::loading) {
    tell_stage("preparing the scene", load_->done.load());
    if (loading_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    Loaded loaded = loading_.get();
    if (!loaded.missing.empty()) {
      if (!fetched_.empty()) return fail("The scene that came from the host cannot be used: " + loaded.missing);
      return begin_fetching();
    }
    scene_ = std::move(loaded.scene);
    model_ = std::move(loaded.model);
    be_ready(now);
  }
  if (phase_ == Phase::fetching) poll_fetching(now);
  if (phase_ == Phase::ready) {
    tell_stage("taking part", 1);
    // Whoever let us in may have given us up meanwhile, or may let nobody in any more.
    if (now > ready_since_ + k_ready_patience) return knock_again(now);
    if (now > ready_sent_ + k_guest_repeat) {
      ready_sent_ = now;
      network_->to_doorkeeper(now, plain_message(PlainMessage::ready));
    }
    if (!fetch_) return;
    if (std::exchange(ready_progress_, fetch_->progress()) != ready_progress_) ready_since_ = now;
    poll_fetching(now);
  }
}

void SharedSession::from_doorkeeper(double now, std::span<const std::byte> message) {
  if (fetch_ && fetch_->receive(message)) {
    piece_came_ = now;
    return;
  }
  ByteReader in(message);
  if (static_cast<PlainMessage>(in.number<std::uint8_t>()) != PlainMessage::admitted || phase_ != Phase::ready) return;
  const auto member = in.number<std::uint8_t>();
  const ObjectName snapshot = read_object(in);
  if (!in.at_end() || member >= k_most_members || snapshot.size > k_largest_snapshot) return;
  if ((member >= k_shared_hands) != settings_.observer) return;
  admitted_as_ = member;
  if (!fetch_ || fetch_->object() != snapshot) fetch_.emplace(snapshot);
}

std::optional<Invite> SharedSession::invite_to(const std::string& introduction) const {
  const std::optional<Introduction> known = read_introduction(introduction);
  if (!known || known->addresses.empty()) return std::nullopt;
  Invite invite = invite_;
  invite.host = known->credential.identity;
  invite.addresses.clear();
  for (const NetAddress& address : known->addresses)
    if (address.can_be_sent_to()) invite.addresses.push_back(address);
  if (invite.addresses.empty()) return std::nullopt;
  return invite;
}

void SharedSession::join_again(const std::string& introduction, double now) {
  if (!peer_) return;
  std::string sentence =
      "The others went on without this program, which was not heard for a while; joining them again.";
  if (peer_->objective() > session_until_)
    sentence += " What happened here from tick " + std::to_string(session_until_) + " on is not part of the session.";
  listener_.problem(sentence);
  if (journal_) journal_->note(peer_->objective(), "joining again", "");
  const std::optional<Invite> invite = invite_to(introduction);
  peer_.reset();
  network_->disconnect_all();
  hosts_ = false;
  again_ = true;
  knocks_ = 0;
  fetch_.reset();
  admitted_as_.reset();
  knock(invite.value_or(invite_), now);
}

// Those who were dropped may have gone on by themselves.
void SharedSession::search_former(double now) {
  if (peer_->former().empty() || now < searched_ + k_search || network_->is_knocking()) return;
  searched_ = now;
  const std::vector<std::string>& former = peer_->former();
  const auto invite = invite_to(former[searches_++ % former.size()]);
  if (!invite) return;
  Bytes payload;
  ByteWriter out(payload);
  out.number(k_door_version);
  out.number(DoorRole::compare);
  const SessionRank rank = peer_->rank();
  if (rank.keeper.size() > k_longest_told) return;
  write_rank(out, rank);
  out.text(rank.keeper);
  network_->knock(*invite, payload, now, PeerNetwork::Errand::ask);
}

}  // namespace cotouch

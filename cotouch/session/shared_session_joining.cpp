// How a program gets into a session over the network, lets others in, and comes back after it was cut off.
#include <cotouch/session/shared_session.h>

#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/hash.h>
#include <cotouch/session/names.h>
#include <cotouch/session/scene_file.h>
#include <cotouch/session/state_difference.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <utility>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

constexpr std::uint8_t k_version = 1;    // of what is said in a session
constexpr std::uint32_t k_nodes = 4096;  // for each pair of parts, in a shared world
constexpr double k_repeat = 0.3, k_keep_alive = 1, k_search = 3, k_fresh = 2;  // seconds
constexpr double k_doorkeeper_patience = 20;                                   // seconds
constexpr int k_most_knocks = 12;
constexpr std::size_t k_most_files = 256;
constexpr std::size_t k_longest_told = 480;  // bytes of an introduction in a handshake
constexpr std::uint64_t k_largest_manifest = 64U << 10U;
constexpr std::uint64_t k_largest_scene = k_largest_object;    // bytes of all its files
constexpr std::uint64_t k_room_to_spare = 64ULL << 20U;        // bytes that stay free on the disk
constexpr std::size_t k_most_expected = 4;                     // guests who were admitted and have not arrived
constexpr double k_heal_patience = 10, k_heal_interval = 0.5;  // seconds

enum class Role : std::uint8_t { player = 0, observer = 1, compare = 2 };
enum class Refused : std::uint8_t { version = 1, full = 2, redirect = 3, not_now = 4, compared = 5 };

std::string hex_of(std::span<const std::byte> bytes) {
  constexpr const char* k_digits = "0123456789abcdef";
  std::string text;
  for (const std::byte b : bytes) {
    text += k_digits[static_cast<unsigned>(b) >> 4U];
    text += k_digits[static_cast<unsigned>(b) & 15U];
  }
  return text;
}

void write_rank(ByteWriter& out, const SessionRank& rank) {
  out.number(rank.members);
  out.number(rank.lowest);
  out.number(hash_bytes(std::as_bytes(std::span(rank.keeper))));
}
// The keeper is told apart by the hash of its introduction.
SessionRank read_rank(ByteReader& in) {
  SessionRank rank;
  rank.members = in.number<std::uint8_t>();
  rank.lowest = in.number<std::uint8_t>();
  if (rank.members > k_most_members || rank.lowest >= k_most_members) in.fail();
  rank.keeper = hex(in.number<std::uint64_t>());
  return rank;
}
SessionRank with_hashed_keeper(SessionRank rank) {
  rank.keeper = hex(hash_bytes(std::as_bytes(std::span(rank.keeper))));
  return rank;
}

// Only what save_scene writes: no folders, nothing hidden.
bool is_scene_file_name(const std::string& name) {
  if (name == "scene.toml") return true;
  const std::size_t dot = name.rfind(".cot");
  if (dot == std::string::npos || dot == 0 || dot + 4 != name.size() || name.size() > 128 || name[0] == '.')
    return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

class AtomicProgress final : public Progress {
 public:
  explicit AtomicProgress(std::shared_ptr<std::atomic<double>> share) : share_(std::move(share)) {}
  void update(std::string_view, double done) override { share_->store(done); }

 private:
  std::shared_ptr<std::atomic<double>> share_;
};

Bytes simple(PlainMessage kind) {
  return {static_cast<std::byte>(kind)};
}

}  // namespace

Introduction SharedSession::own_introduction() const {
  Introduction own;
  own.name = settings_.name;
  own.observer = settings_.observer;
  own.credential = network_->credential();
  own.addresses = settings_.advertised.empty() ? network_->socket().addresses() : settings_.advertised;
  if (own.addresses.size() > Introduction::k_most_addresses - 1)
    own.addresses.resize(Introduction::k_most_addresses - 1);
  return own;
}

// ------------------------------------------------------------------------------------------------ hosting

void SharedSession::begin_hosting() {
  try {
    hosts_ = true;
    tell(SharingStatus::State::starting);
    feel_.warm_nodes = k_nodes;
    model_ = felt_model(scene_, feel_, k_shared_pace);
    model_hash_ = model_->hash();
    description_ = format_recorded_scene({scene_.name, feel_, k_shared_pace});
    shelve_scene();

    Invite invite = make_invite(network_->identity().public_key(),
                                settings_.advertised.empty() ? network_->socket().addresses() : settings_.advertised,
                                settings_.invite_expires);
    network_->host(invite.secret, invite.expires);
    invite_ = invite;
    status_.invite = format_invite(invite);
    status_.session = hex_of(invite.session()).substr(0, 8);
    ObjectiveSnapshot snapshot;
    snapshot.members[0] = Member{0, write_introduction(own_introduction())};
    const WorldState start(*model_);
    if (start.bytes().size() > k_largest_state)
      throw Error("The scene has too many bodies to be shared; remove some of them.", ErrorCode::invalid_argument);
    snapshot.state.assign(start.bytes().begin(), start.bytes().end());
    start_peer(0, snapshot);
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

// What a joiner may lack: the scene as files. Every member has it, because any of them may be the one who lets
// somebody in.
void SharedSession::shelve_scene() {
  const fs::path folder = settings_.received / ("sharing-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  save_scene(scene_, scene_.name.empty() ? "shared" : scene_.name, folder);
  Bytes manifest;
  ByteWriter out(manifest);
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  out.varint(paths.size());
  for (const fs::path& path : paths) {
    const MappedFile mapped = map_file(path);
    const ObjectName object = shelf_.put(std::make_shared<const Bytes>(mapped.bytes.begin(), mapped.bytes.end()));
    out.text(path.filename().string());
    write_object(out, object);
  }
  manifest_ = shelf_.put(std::make_shared<const Bytes>(std::move(manifest)));
  fs::remove_all(folder);
}

void SharedSession::start_world(const WorldState& state, Tick tick) {
  runner_ = std::make_unique<WorldRunner>(model_, state, tick);
  world_since_ = tick;
  healing_.reset();
  heal_asked_ = -1;
  start_state_ = WorldState(*model_);
  loose_ = state;
  loose_scratch_ = std::make_unique<StepScratch>(*model_);
  loosely_ = false;
  rolling_ = begin_shared_recording(*model_, state, description_);
  std::fill(seen_.begin(), seen_.end(), Seen{});
  if (scene_.task) compared_body_ = scene_.task->body;
  for (const SceneBody& body : scene_.bodies)
    if (compared_body_ == 0 && body.motion == Motion::free) compared_body_ = body.id;
}

void SharedSession::start_peer(MemberId self, const ObjectiveSnapshot& snapshot) {
  WorldState state(*model_);
  if (!state.restore(snapshot.state))
    return fail("The others' world is not of this scene; ask them for a new invitation.");
  start_world(state, snapshot.tick);
  // Here, where nobody waits for us yet: a newcomer takes part more than a second after its snapshot.
  if (shelf_.find(manifest_.id) == nullptr) shelve_scene();
  peer_.emplace(settings_.peer, self, snapshot, PeerNetwork::now());
  introductions_ = {};
  for (auto& [id, guest] : guests_)
    if (guest.snapshot.size > 0) shelf_.remove(guest.snapshot.id);
  guests_.clear();
  for (Served& served : served_) {
    if (served.snapshot.size > 0) shelf_.remove(served.snapshot.id);
    served = {};
  }
  const std::optional<NetAddress> doorkeeper = network_->doorkeeper_address();
  for (MemberId m = 0; m < k_most_members; ++m) {
    if (!snapshot.members[m]) continue;
    const std::optional<Introduction> introduction = read_introduction(snapshot.members[m]->introduction);
    if (!introduction) continue;
    introductions_[m] = introduction;
    const bool let_us_in = doorkeeper && introduction->credential.identity == invite_.host;
    network_->connect(m, *introduction, let_us_in ? doorkeeper : std::nullopt);
  }
  phase_ = Phase::running;
  again_ = false;
  knocks_ = 0;
  open_journal();
  listener_.world_ready(scene_, feel_, self);
  tell(hosts_ ? SharingStatus::State::hosting : SharingStatus::State::joined);
  tell_people();
  for (const SessionMark& mark : peer_->marks()) listener_.marked(mark, false);
  listener_.synchronised(peer_->synchronised());
}

// ------------------------------------------------------------------------------------------------ getting in

void SharedSession::knock(const Invite& invite, double now) {
  invite_ = invite;
  ++knocks_;
  Bytes payload;
  ByteWriter out(payload);
  out.number(k_version);
  out.number(settings_.observer ? Role::observer : Role::player);
  Introduction own;
  own.addresses = network_->socket().addresses();
  out.text(settings_.name);
  const std::size_t count = std::min<std::size_t>(own.addresses.size(), 4);
  out.varint(count);
  for (std::size_t i = 0; i < count; ++i) own.addresses[i].write(out);
  network_->knock(invite, payload, now, PeerNetwork::Errand::join);
  phase_ = Phase::knocking;
  if (status_.session.empty()) status_.session = hex_of(invite.session()).substr(0, 8);
  tell(SharingStatus::State::joining);
  tell_stage("looking for the host", 0);
}

void SharedSession::handshake_over(double now, ClientHandshake& handshake) {
  using State = ClientHandshake::State;
  ByteReader in(handshake.answer());
  if (phase_ != Phase::knocking) {
    // A question to those who were dropped.
    if (handshake.state() == State::rejected && peer_ &&
        static_cast<Refused>(in.number<std::uint8_t>()) == Refused::compared) {
      SessionRank theirs = read_rank(in);
      const std::string keeper = in.text(k_longest_event);
      if (in.at_end() && theirs.outranks(with_hashed_keeper(peer_->rank()))) join_again(keeper, now);
    }
    return;
  }
  switch (handshake.state()) {
    case State::accepted: break;
    case State::rejected: {
      const auto why = static_cast<Refused>(in.number<std::uint8_t>());
      if (why == Refused::full) return fail("The session is full: sixteen people and four observers are the most.");
      if (why == Refused::version) return fail("The host runs another version of cotouch; use the same on both sides.");
      if (why == Refused::redirect && knocks_ < k_most_knocks) {
        const std::string keeper = in.text(k_longest_event);
        if (const auto invite = invite_to(keeper)) return knock(*invite, now);
      }
      refused_until_ = now + 1;  // not now: again in a second
      return;
    }
    case State::refused:
      return fail(handshake.refusal().reason == RefusalReason::expired
                      ? "The invitation has expired; ask the host for a new one."
                      : "The host runs another version of cotouch; use the same on both sides.");
    default: {
      if (again_ && knocks_ < k_most_knocks) {
        refused_until_ = now + 1;
        return;
      }
      if (resume_from_journal()) return;
      std::string where;
      for (const NetAddress& address : invite_.addresses) where += (where.empty() ? "" : ", ") + address.text();
      return fail("Nobody answered at " + where +
                  ". Is the host still running, and does UDP pass the firewalls on both sides?");
    }
  }
  description_ = in.text(400);
  model_hash_ = in.number<std::uint64_t>();
  manifest_ = read_object(in);
  if (!in.at_end() || manifest_.size > k_largest_manifest)
    return fail("The host's answer makes no sense; use the same version of cotouch on both sides.");
  if (model_ && model_->hash() == model_hash_) {
    phase_ = Phase::ready;
    return;
  }
  feel_ = parse_recorded_scene(description_).feel;
  feel_.warm_nodes = k_nodes;
  load_scene(false);
}

// On another thread, because parts may have to be prepared.
void SharedSession::load_scene(bool from_folder) {
  phase_ = Phase::loading;
  const fs::path folder = received_folder();
  RecordedScene wanted = parse_recorded_scene(description_);
  wanted.feel.warm_nodes = k_nodes;  // the same in every shared world, whatever the host says
  std::error_code problem;
  const bool stored = from_folder || fs::exists(folder / "scene.toml", problem);
  load_progress_->store(0);
  loading_ =
      std::async(std::launch::async, [this, wanted, folder, stored, progress = load_progress_, hash = model_hash_] {
        AtomicProgress told(progress);
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
          if (loaded.model->hash() != hash) loaded.missing = "another scene has this name here";
        } catch (const std::exception& error) {
          loaded.missing = error.what();
        }
        return loaded;
      });
}

void SharedSession::poll_joining(double now) {
  if (phase_ == Phase::knocking) {
    if (network_->is_knocking() || now < refused_until_) return;
    if (knocks_ >= k_most_knocks) return fail("The others do not let us in; ask for a new invitation.");
    // Whoever was asked may be gone: try everybody who took part.
    std::vector<Invite> others;
    for (const std::optional<Introduction>& known : introductions_)
      if (known && known->credential.identity != network_->identity().public_key())
        if (const auto invite = invite_to(write_introduction(*known))) others.push_back(*invite);
    if (others.empty()) return knock(invite_, now);
    return knock(others[static_cast<std::size_t>(knocks_) % others.size()], now);
  }
  if (phase_ == Phase::loading || phase_ == Phase::fetching || phase_ == Phase::ready) {
    if (now > network_->heard_doorkeeper() + k_doorkeeper_patience)
      return fail("The host is not heard any more; try to join again.");
    if (now > alive_sent_ + k_keep_alive) {
      alive_sent_ = now;
      network_->to_doorkeeper(now, simple(PlainMessage::alive));
    }
  }
  if (phase_ == Phase::loading) {
    tell_stage("preparing the scene", load_progress_->load());
    if (loading_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    Loaded loaded = loading_.get();
    if (!loaded.missing.empty()) {
      if (!fetched_.empty()) return fail("The scene that came from the host cannot be used: " + loaded.missing);
      return begin_fetching();
    }
    scene_ = std::move(loaded.scene);
    model_ = std::move(loaded.model);
    phase_ = Phase::ready;
  }
  if (phase_ == Phase::fetching) poll_fetching(now);
  if (phase_ == Phase::ready) {
    tell_stage("taking part", 1);
    if (now > ready_sent_ + k_repeat) {
      ready_sent_ = now;
      network_->to_doorkeeper(now, simple(PlainMessage::ready));
    }
    if (fetch_) poll_fetching(now);
  }
}

void SharedSession::begin_fetching() {
  phase_ = Phase::fetching;
  files_.clear();
  fetched_.clear();
  fetch_.emplace(manifest_);
  tell_stage("fetching the scene", 0);
}

void SharedSession::poll_fetching(double now) {
  for (const Bytes& message : fetch_->poll(now, 0.2)) network_->to_doorkeeper(now, message);
  if (phase_ == Phase::fetching) {
    std::uint64_t all = 0, here = 0;
    for (const auto& [name, object] : files_) {
      all += object.size;
      if (fetched_.contains(name)) here += object.size;
    }
    if (!files_.empty() && fetch_->object().id != manifest_.id)
      here += static_cast<std::uint64_t>(fetch_->progress() * static_cast<double>(fetch_->object().size));
    tell_stage("fetching the scene", all == 0 ? 0 : static_cast<double>(here) / static_cast<double>(all));
  }
  if (!fetch_->is_complete()) return;
  const std::shared_ptr<const Bytes> object = fetch_->take();
  if (object == nullptr) return;  // not what its name says: once more
  if (phase_ == Phase::ready) {
    fetch_.reset();
    const std::optional<ObjectiveSnapshot> snapshot = decode_snapshot(*object);
    if (!snapshot || !admitted_as_ || !snapshot->members[*admitted_as_]) return;
    // We are who is introduced there, or whoever let us in mistakes us for somebody.
    const std::optional<Introduction> self = read_introduction(snapshot->members[*admitted_as_]->introduction);
    if (!self || self->credential != network_->credential()) return;
    return start_peer(*admitted_as_, *snapshot);
  }
  if (fetch_->object() == manifest_ && files_.empty()) {
    if (!take_manifest(*object)) return;
  } else {
    for (const auto& [name, file] : files_) {
      if (file != fetch_->object() || !fetched_.insert(name).second) continue;
      const std::span<const std::byte> pieces[] = {*object};
      write_file(received_folder() / name, pieces);
    }
  }
  const auto next =
      std::find_if(files_.begin(), files_.end(), [&](const auto& f) { return !fetched_.contains(f.first); });
  if (next != files_.end()) {
    fetch_.emplace(next->second);
    return;
  }
  fetch_.reset();
  load_scene(true);
}

fs::path SharedSession::received_folder() const {
  return settings_.received / hex_of(manifest_.id).substr(0, 32);
}

// From an earlier attempt, whole and right.
bool SharedSession::is_stored(const std::string& name, const ObjectName& object) const {
  const fs::path file = received_folder() / name;
  std::error_code error;
  if (!fs::is_regular_file(file, error) || fs::file_size(file, error) != object.size) return false;
  return name_of_object(map_file(file).bytes) == object;
}

// Which files there are. False, and the attempt is over, if they cannot be had.
bool SharedSession::take_manifest(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  const std::uint64_t count = in.varint(k_most_files);
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const std::string name = in.text(128);
    const ObjectName file = read_object(in);
    if (!is_scene_file_name(name)) in.fail();
    files_.emplace_back(name, file);
    all += file.size;
  }
  if (!in.at_end() || files_.empty()) {
    fail("The host's scene makes no sense; it cannot be joined.");
    return false;
  }
  if (all > k_largest_scene) {
    fail("The host's scene is larger than " + std::to_string(k_largest_scene >> 20U) + " MiB; it cannot be joined.");
    return false;
  }
  // A folder without scene.toml is not a scene yet: that comes last.
  std::stable_partition(files_.begin(), files_.end(), [](const auto& file) { return file.first != "scene.toml"; });
  const fs::path folder = received_folder();
  fs::create_directories(folder);
  std::uint64_t missing = 0;
  for (const auto& [name, file] : files_) {
    if (is_stored(name, file))
      fetched_.insert(name);
    else
      missing += file.size;
  }
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (!error && space.available < missing + k_room_to_spare) {
    fail("The scene needs " + std::to_string((missing >> 20U) + 1) + " MiB, and the disk of " + folder.string() +
         " has no room for it; make some.");
    return false;
  }
  return true;
}

void SharedSession::from_doorkeeper(double /*now*/, std::span<const std::byte> message) {
  if (fetch_ && fetch_->receive(message)) return;
  ByteReader in(message);
  if (static_cast<PlainMessage>(in.number<std::uint8_t>()) != PlainMessage::admitted || phase_ != Phase::ready) return;
  const auto member = in.number<std::uint8_t>();
  const ObjectName snapshot = read_object(in);
  if (!in.at_end() || member >= k_most_members || snapshot.size > k_largest_snapshot) return;
  if ((member >= k_shared_hands) != settings_.observer) return;
  admitted_as_ = member;
  if (!fetch_ || fetch_->object() != snapshot) fetch_.emplace(snapshot);
}

// ------------------------------------------------------------------------------------------------ letting others in

PeerNetworkListener::Decision SharedSession::asked(double now, GuestId guest, const JoinRequest& request) {
  const auto refuse = [](Refused why, const std::string& introduction = {}) {
    Decision decision;
    ByteWriter out(decision.payload);
    out.number(why);
    if (!introduction.empty() && introduction.size() <= k_longest_told) out.text(introduction);
    return decision;
  };
  ByteReader in(request.content.payload.bytes());
  const auto version = in.number<std::uint8_t>();
  const auto role = static_cast<Role>(in.number<std::uint8_t>());
  if (version != k_version || role > Role::compare) return refuse(Refused::version);
  if (!peer_ || phase_ != Phase::running || leaving_) return refuse(Refused::not_now);
  if (role == Role::compare) {
    const SessionRank theirs = read_rank(in), ours = with_hashed_keeper(peer_->rank());
    const std::string keeper = in.text(k_longest_event);
    Decision decision = refuse(Refused::compared);
    ByteWriter out(decision.payload);
    const SessionRank rank = peer_->rank();
    write_rank(out, rank);
    if (rank.keeper.size() > k_longest_told) return refuse(Refused::not_now);
    out.text(rank.keeper);
    // Only those who were with us and were dropped may lead us away. The handshake has shown who it is.
    bool was_here = false;
    for (const std::string& former : peer_->former()) {
      const std::optional<Introduction> known = read_introduction(former);
      was_here = was_here || (known && known->credential.identity == request.content.credential.identity);
    }
    if (in.at_end() && was_here && theirs.outranks(ours)) post([this, keeper, now] { join_again(keeper, now); });
    return decision;
  }
  if (!peer_->is_keeper()) {
    const MemberId keeper = peer_->keeper();
    return introductions_[keeper] ? refuse(Refused::redirect, write_introduction(*introductions_[keeper]))
                                  : refuse(Refused::not_now);
  }
  if (peer_->is_cut_off()) return refuse(Refused::not_now);
  for (MemberId m = 0; m < k_most_members; ++m)  // nobody takes part twice with the same keys
    if (peer_->is_member(m) && introductions_[m] && introductions_[m]->credential == request.content.credential)
      return refuse(Refused::not_now);
  Guest& newcomer = guests_[guest];
  newcomer.credential = request.content.credential;
  newcomer.introduction.name = clean_name(in.text(Introduction::k_longest_name));
  newcomer.introduction.observer = role == Role::observer;
  newcomer.introduction.credential = request.content.credential;
  newcomer.introduction.addresses.push_back(request.from);
  const std::uint64_t count = in.varint(4);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const NetAddress address = NetAddress::read(in);
    if (address.can_be_sent_to()) newcomer.introduction.addresses.push_back(address);
  }
  std::size_t present = 0;
  for (MemberId m = 0; m < k_most_members; ++m)
    present += peer_->is_member(m) && (m >= k_shared_hands) == newcomer.introduction.observer ? 1U : 0U;
  if (!in.at_end() || present >= (newcomer.introduction.observer ? k_most_members - k_shared_hands : k_shared_hands)) {
    guests_.erase(guest);
    return refuse(in.at_end() ? Refused::full : Refused::version);
  }
  Decision decision;
  decision.accepted = true;
  ByteWriter out(decision.payload);
  out.text(description_);
  out.number(model_hash_);
  write_object(out, manifest_);
  return decision;
}

void SharedSession::from_guest(double now, GuestId id, std::span<const std::byte> message) {
  const auto found = guests_.find(id);
  if (found == guests_.end() || !peer_) return;
  Guest& guest = found->second;
  const auto kind = static_cast<std::uint8_t>(message[0]);
  if (kind == static_cast<std::uint8_t>(TransferMessage::want)) {
    return answer_want(now, message, guest.pieces, [&](const Bytes& piece) { network_->to_guest(now, id, piece); });
  }
  if (kind == static_cast<std::uint8_t>(PlainMessage::alive)) {
    if (now < guest.alive_told + k_repeat) return;
    guest.alive_told = now;
    return network_->to_guest(now, id, simple(PlainMessage::alive));
  }
  if (kind != static_cast<std::uint8_t>(PlainMessage::ready)) return;
  if (!guest.member && may_be_admitted(id))
    guest.member = peer_->admit(write_introduction(guest.introduction), guest.introduction.observer);
  if (guest.admitted && now > guest.snapshot_made + k_fresh) make_snapshot(guest, now);
}

// The world waits for everybody who was admitted: only a few at a time who may never come, and nobody twice.
bool SharedSession::may_be_admitted(GuestId id) const {
  const Credential& credential = guests_.at(id).credential;
  std::size_t expected = 0;
  for (const auto& [other, guest] : guests_) {
    if (!guest.member) continue;
    ++expected;
    if (guest.credential == credential) return false;
  }
  for (MemberId m = 0; m < k_most_members; ++m)
    if (peer_->is_member(m) && introductions_[m] && introductions_[m]->credential == credential) return false;
  return expected < k_most_expected;
}

Bytes SharedSession::snapshot_bytes(Tick latest) const {
  ObjectiveSnapshot snapshot = peer_->snapshot();
  snapshot.tick = std::min(snapshot.tick, latest);
  const std::span<const std::byte> state = runner_->saved(snapshot.tick).bytes();
  snapshot.state.assign(state.begin(), state.end());
  return encode_snapshot(snapshot);
}

void SharedSession::make_snapshot(Guest& guest, double now) {
  if (guest.snapshot.size > 0) shelf_.remove(guest.snapshot.id);
  guest.snapshot = shelf_.put(std::make_shared<const Bytes>(snapshot_bytes(k_never)));
  guest.snapshot_made = now;
}

void SharedSession::poll_guests(double now) {
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    Guest& newcomer = guest->second;
    const PeerLink* link = newcomer.member && newcomer.admitted ? peer_->link(*newcomer.member) : nullptr;
    const bool arrived = link != nullptr && link->has_echo();
    const bool gone = !network_->address_of_guest(guest->first) || (newcomer.admitted && link == nullptr);
    if (arrived || gone) {
      if (newcomer.snapshot.size > 0) shelf_.remove(newcomer.snapshot.id);
      network_->dismiss(guest->first);
      guest = guests_.erase(guest);
      continue;
    }
    if (newcomer.admitted && now > newcomer.told + k_repeat) {
      newcomer.told = now;
      if (newcomer.snapshot.size == 0) make_snapshot(newcomer, now);
      Bytes bytes;
      ByteWriter out(bytes);
      out.number(PlainMessage::admitted);
      out.number(*newcomer.member);
      write_object(out, newcomer.snapshot);
      network_->to_guest(now, guest->first, bytes);
    }
    ++guest;
  }
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
  if (served.snapshot.size > 0) shelf_.remove(served.snapshot.id);
  served.snapshot = shelf_.put(std::make_shared<const Bytes>(snapshot_bytes(latest)));
  served.snapshot_made = now;
  Bytes bytes;
  ByteWriter out(bytes);
  out.number(PlainMessage::healing);
  write_object(out, served.snapshot);
  network_->send(now, member, bytes);
}

// ------------------------------------------------------------------------------------------------ coming back

std::optional<Invite> SharedSession::invite_to(const std::string& introduction) const {
  const std::optional<Introduction> known = read_introduction(introduction);
  if (!known || known->addresses.empty()) return std::nullopt;
  Invite invite = invite_;
  invite.host = known->credential.identity;
  invite.addresses = known->addresses;
  return invite;
}

void SharedSession::join_again(const std::string& introduction, double now) {
  if (!peer_) return;
  listener_.problem("The others went on without this program, which was not heard for a while; joining them again.");
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
  const auto invite = invite_to(former[static_cast<std::size_t>(now / k_search) % former.size()]);
  if (!invite) return;
  Bytes payload;
  ByteWriter out(payload);
  out.number(k_version);
  out.number(Role::compare);
  const SessionRank rank = peer_->rank();
  if (rank.keeper.size() > k_longest_told) return;
  write_rank(out, rank);
  out.text(rank.keeper);
  network_->knock(*invite, payload, now, PeerNetwork::Errand::ask);
}

void SharedSession::heal(double now) {
  if (heal_asked_ >= 0 && now > heal_asked_ + k_heal_patience) {
    healing_.reset();
    heal_asked_ = -1;
  }
  if (!healing_) return;
  for (const Bytes& message : healing_->poll(now, 0.2)) network_->send(now, healer_, message);
  if (!healing_->is_complete()) return;
  const std::shared_ptr<const Bytes> object = healing_->take();
  if (object == nullptr) return;
  healing_.reset();
  heal_asked_ = -1;
  const std::optional<ObjectiveSnapshot> snapshot = decode_snapshot(*object);
  WorldState state(*model_);
  std::vector<PeerRequest> requests;
  if (!snapshot || !state.restore(snapshot->state) || !peer_->heal(*snapshot, requests)) return;
  const std::string difference = first_difference(*model_, runner_->saved(snapshot->tick), state);
  if (!difference.empty()) {
    const std::string sentence = "Before tick " + std::to_string(snapshot->tick) + ", " + difference + ".";
    listener_.problem(sentence);
    if (journal_) journal_->note(snapshot->tick, "difference", sentence);
  }
  runner_->restart(state, snapshot->tick);
  world_since_ = snapshot->tick;
  rolling_ = begin_shared_recording(*model_, state, description_);
  if (journal_) journal_->rewind(snapshot->tick);
  for (PeerRequest& request : requests) carry_out(now, request);
}

}  // namespace cotouch

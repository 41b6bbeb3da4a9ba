// How a shared session begins here: as its host, or from the snapshot that somebody who was let in has got.
#include <cotouch/session/shared_session.h>

#include <cotouch/base/error.h>
#include <cotouch/session/scene_file.h>

#include <algorithm>
#include <utility>

namespace cotouch {

std::vector<NetAddress> SharedSession::own_addresses() const {
  return settings_.advertised.empty() ? network_->socket().addresses() : settings_.advertised;
}

std::string SharedSession::short_name(const Invite& invite) {
  return hex_of(invite.session()).substr(0, 8);
}

Introduction SharedSession::own_introduction() const {
  Introduction own;
  own.name = settings_.name;
  own.observer = settings_.observer;
  own.credential = network_->credential();
  own.addresses = own_addresses();
  if (own.addresses.size() > Introduction::k_most_addresses - 1)
    own.addresses.resize(Introduction::k_most_addresses - 1);
  return own;
}

void SharedSession::begin_hosting() {
  try {
    hosts_ = true;
    tell(SharingStatus::State::starting);
    feel_.warm_nodes = k_warm_nodes;
    model_ = felt_model(scene_, feel_, k_shared_pace);
    model_->check_data_is_there();
    shelve_scene(take_scene_from_files());
    model_hash_ = model_->hash();
    description_ = format_recorded_scene({scene_.name, feel_, k_shared_pace});

    invite_ = make_invite(network_->identity().public_key(), own_addresses(), settings_.invite_expires);
    network_->host(invite_.secret, invite_.expires);
    status_.invite = format_invite(invite_);
    status_.session = short_name(invite_);
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

// Guests get the scene as files. If it is not quite the same in them, as when bodies have other numbers because some
// were removed, the files count here too.
std::filesystem::path SharedSession::take_scene_from_files() {
  std::filesystem::path files = write_scene_files();
  NoProgress quiet;
  Scene scene = load_scene_file(files / "scene.toml", quiet);
  scene.name = scene_.name;
  auto model = felt_model(scene, feel_, k_shared_pace);
  if (model->hash() == model_->hash()) return files;
  scene_ = std::move(scene);
  model_ = std::move(model);
  return files;
}

// A recording is one stretch of ticks, each the next one's cause.
void SharedSession::end_recording(const std::string& why) {
  if (!recording_ || std::exchange(recording_ended_, true)) return;
  listener_.problem("The recording ends here, because " + why + "; begin a new one.");
}

void SharedSession::start_world(const WorldState& state, Tick tick) {
  end_recording(k_taken_over);
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
  unsettled_.begin(snapshot.branch);
  peer_.emplace(settings_.peer, self, snapshot, PeerNetwork::now());
  if (peer_->agreed() >= snapshot.tick) set_agreed(tick_of(snapshot.tick, state, state.hash()));
  introductions_ = {};
  for (auto& [id, guest] : guests_) unshelve(guest.snapshot);
  guests_.clear();
  for (Served& served : served_) {
    unshelve(served.snapshot);
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
  session_until_ = snapshot.tick;
  phase_ = Phase::running;
  knocks_ = 0;
  go_on_with_journal();
  again_ = false;
  if (phase_ != Phase::running) return;
  listener_.world_ready(scene_, feel_, self);
  tell(hosts_ ? SharingStatus::State::hosting : SharingStatus::State::joined);
  tell_people();
  for (const SessionMark& mark : peer_->marks()) listener_.marked(mark, false);
  listener_.synchronised(peer_->synchronised());
}

}  // namespace cotouch

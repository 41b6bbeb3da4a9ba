// A session over the network, as the people at this program see it.
#include <cotouch/session/names.h>
#include <cotouch/session/session_ask.h>
#include <cotouch/session/shared_session.h>
#include <cotouch/session/world_view.h>

#include <algorithm>
#include <limits>

namespace cotouch {
namespace {

// What is said and marked goes to everybody: no faster than people write.
constexpr double k_words_per_second = 2, k_words_at_once = 20;
constexpr const char* k_too_fast = "That is faster than anybody can follow; wait a moment.";

using Kind = CommandResult::Kind;

constexpr std::uint32_t k_first_remote_hand = 100;  // ids of hands that are elsewhere
constexpr std::size_t k_longest_text = 500;

CommandResult not_shared() {
  return {Kind::not_now, "This scene is not shared with anybody; share it or join somebody first.", 0, {}};
}
CommandResult not_now(std::string reason) {
  return {Kind::not_now, std::move(reason), 0, {}};
}
CommandResult done() {
  return {};
}

}  // namespace

// ------------------------------------------------------------------------------------------------ its thread

void Session::Bridge::set_world(RunningWorld* world) {
  const std::scoped_lock lock(mutex_);
  world_ = world != nullptr && world->is_following() ? world : nullptr;
  told_ = newest_ = {};
  leaders_ = leaders_none();
}

void Session::Bridge::view(const WorldState& state, const SharedHands& hands) {
  const std::scoped_lock lock(mutex_);
  leaders_ = hands.leaders;
  if (world_ == nullptr) return;
  world_->set_usable(hands.usable);
  world_->follow(state);
}

HandLeaders Session::Bridge::leaders() {
  const std::scoped_lock lock(mutex_);
  return leaders_;
}

// Also of one that is being left: whoever writes a protocol wants its last tick.
void Session::Bridge::agreed(const AgreedTick& now) {
  session_.post([this, now] { session_.tell([&](SessionListener& listener) { listener.agreed(now); }); });
}

MemberHands Session::Bridge::hands() {
  const std::scoped_lock lock(mutex_);
  if (world_ == nullptr) return {};
  const LocalHands& local = world_->local_hands();
  MemberHands hands;
  for (std::uint8_t i = 0; i < k_shared_hands; ++i) {
    newest_[i] = local[i].grasps;
    const HandInput input = shared_input(local[i], told_[i]);
    if (i == world_->self())
      hands.hand = input;
    else if (input.present)
      hands.further.push_back({i, input});
  }
  return hands;
}

void Session::Bridge::hands_taken() {
  const std::scoped_lock lock(mutex_);
  told_ = newest_;
}

// One that is being left goes on for a moment, and says goodbye when the next has begun.
void Session::Bridge::post(std::function<void()> task) {
  const auto unless_late = [this, epoch = epoch_.load(), task = std::move(task)] {
    if (epoch == epoch_ && session_.is_shared()) task();
  };
  session_.post([this, unless_late] { session_.in_turn(unless_late); });
}

void Session::Bridge::sharing(const SharingStatus& status) {
  post([this, status] {
    const bool over = status.state == SharingStatus::State::off || status.state == SharingStatus::State::failed;
    if (over) return session_.end_sharing(status, [](const CommandResult&) {});
    session_.sharing_ = status;
    session_.tell([&](SessionListener& listener) { listener.sharing_changed(status); });
  });
}

void Session::Bridge::world_ready(const Scene& scene, const FeelSettings& feel, MemberId self) {
  post([this, scene, feel, self] { session_.follow_shared(scene, feel, self); });
}

void Session::Bridge::people(const std::vector<SharedPerson>& people) {
  post([this, people] { session_.meet(people); });
}

void Session::Bridge::peers(const PeersView& peers) {
  post([this, peers] { session_.show_peers(peers); });
}

void Session::Bridge::said(MemberId by, const std::string& text, double seconds) {
  post([this, by, text, seconds] {
    const auto name = session_.peer_names_.find(by);
    const ChatLine line{name == session_.peer_names_.end() ? "Somebody" : name->second, color_of(by), printable(text),
                        seconds};
    session_.tell([&](SessionListener& listener) { listener.said(line); });
  });
}

void Session::Bridge::marked(const SessionMark& mark, bool removed) {
  post([this, mark, removed] {
    auto& marks = session_.marks_;
    const auto same = [&](const auto& entry) {
      return entry.second.second.by == mark.by && entry.second.second.number == mark.number;
    };
    const auto known = std::find_if(marks.begin(), marks.end(), same);
    if (known != marks.end()) {
      MarkView gone = known->second.first;
      gone.removed = true;
      marks.erase(known);
      session_.tell([&](SessionListener& listener) { listener.mark_changed(gone); });
    }
    if (removed || session_.scene_->scene.find(mark.body) == nullptr) return;
    MarkView view;
    view.mark = ++session_.last_mark_;
    view.body = mark.body;
    view.point = Vec3d(mark.point);
    view.name = session_.peer_names_[mark.by];
    view.color = color_of(mark.by);
    marks[view.mark] = {view, mark};
    session_.tell([&](SessionListener& listener) { listener.mark_changed(view); });
  });
}

void Session::Bridge::synchronised(bool on) {
  post([this, on] {
    session_.network_.synchronised = on;
    session_.tell_network();
  });
}

void Session::Bridge::problem(const std::string& sentence) {
  session_.post([this, sentence] { session_.tell_problem(ParticipantId::nobody, sentence); });
}

// ------------------------------------------------------------------------------------------------ beginning and end

std::string Session::own_name(ParticipantId who, const std::string& wanted) {
  // Whoever named themselves on the command line keeps that name when the page joins again without one.
  for (const std::string& given : {wanted, settings_.sharing.name})
    if (std::string name = clean_name(given); !name.empty()) return name;
  const std::scoped_lock lock(people_mutex_);
  const Participant* participant = find_participant(who);
  return participant != nullptr ? participant->name : "Guest";
}

void Session::begin_sharing(ParticipantId who, const std::string& name, std::function<void(SharedSession&)> begin,
                            bool may_lose_changes, const Answered& answered) {
  if (is_shared()) return answered(not_now("A session is shared already; leave it first."));
  if (std::string reason = obstacle({.who = who, .action = SessionAction::open_scene}); !reason.empty())
    return answered(not_now(reason));
  SharedSessionSettings settings = settings_.sharing;
  settings.name = own_name(who, name);
  // One that is being left keeps its port for a moment.
  const auto [keep, where] = keeping_first(may_lose_changes);
  const auto make = [leaving = leaving_, keep = keep] {
    if (leaving.valid()) leaving.wait();
    return keep();
  };
  const auto use = [this, settings, begin = std::move(begin)](const std::string& unkept) {
    if (!unkept.empty()) return CommandResult{Kind::unkept, unkept, 0, {}};
    if (recording_) finish_recording();
    bridge_.begin_anew();
    others_scene_ = false;
    shared_ = std::make_unique<SharedSession>(settings, bridge_, library_);
    try {
      begin(*shared_);
    } catch (...) {
      shared_.reset();
      throw;
    }
    network_ = {};
    network_.profile = "perfect";
    tell_network();
    return done();
  };
  make_then(*where, make, use, answered);
}

void Session::carry_out(ParticipantId who, const StartSharing& wanted, const Answered& answered) {
  if (scene_->scene.bodies.empty()) return answered(not_now("There is nothing to share yet; open a scene first."));
  // What is not saved is shared as it stands: begun anew, it would be kept so, and where things were moved be lost.
  const bool is_saved = unsaved_->are_kept() && unsaved_->name().empty();
  const auto host = [scene = is_saved ? scene_->scene : scene_to_edit(), feel = feel_](SharedSession& shared) {
    shared.host(scene, feel);
  };
  begin_sharing(who, wanted.name, host, true, answered);
}

void Session::carry_out(ParticipantId who, const JoinSharing& wanted, const Answered& answered) {
  const auto join = [invite = wanted.invite](SharedSession& shared) { shared.join(invite); };
  begin_sharing(who, wanted.name, join, wanted.may_lose_changes, answered);
}

void Session::carry_out(ParticipantId who, const LeaveSharing& /*wanted*/, const Answered& answered) {
  if (!is_shared()) return answered(not_shared());
  if (std::string reason = obstacle({.who = who, .action = SessionAction::share}); !reason.empty())
    return answered(not_now(reason));
  end_sharing({}, answered);
}

// The world goes on here, with everything where it is.
void Session::end_sharing(const SharingStatus& status, const Answered& answered) {
  if (recording_shared_) finish_recording();
  bridge_.set_world(nullptr);
  bridge_.begin_anew();
  std::shared_ptr<SharedSession> left = std::move(shared_);
  leaving_ = std::async(std::launch::async, [left]() mutable { left.reset(); });
  sharing_ = status;
  sharing_.invite.clear();
  const bool was_following = following_.has_value();
  meet({});
  for (const auto& [number, mark] : std::exchange(marks_, {})) {
    MarkView gone = mark.first;
    gone.removed = true;
    tell([&](SessionListener& listener) { listener.mark_changed(gone); });
  }
  network_.synchronised = true;
  const auto tell_all = [this, answered](const CommandResult& result) {
    if (!result.done()) tell_problem(ParticipantId::nobody, result.reason);
    tell([&](SessionListener& listener) { listener.sharing_changed(sharing_); });
    answered(result);
  };
  if (!was_following) return tell_all({});
  following_.reset();
  const auto make = [this, scene = scene_to_edit(), known = scene_, settings = stage_settings()] {
    return make_stage(show(scene, known.get()), settings);
  };
  const auto use = [this](Stage stage) {
    install(std::move(stage), "The shared session is over.");
    unsaved_->moved();  // by anybody who was there
    return done();
  };
  make_then(make, use, tell_all);
}

void Session::follow_shared(const Scene& given, const FeelSettings& feel, MemberId self) {
  const bool comes_back = following_.has_value();
  const bool hosts =
      sharing_.state == SharingStatus::State::starting || sharing_.state == SharingStatus::State::hosting;
  const char* const why = comes_back ? "The world was taken over from the others."
                          : hosts    ? "The scene is shared."
                                     : "A shared session was joined.";
  const auto has_number = [](const SceneBody& a, const SceneBody& b) { return a.id == b.id; };
  const bool same = comes_back && std::equal(given.bodies.begin(), given.bodies.end(), scene_->scene.bodies.begin(),
                                             scene_->scene.bodies.end(), has_number);
  const auto tell_failed = [this](const CommandResult& result) {
    if (!result.done()) tell_problem(ParticipantId::nobody, result.reason);
  };
  if (same) {
    bridge_.set_world(nullptr);
    following_ = self;
    return restart_loop(
        why, [this] { bridge_.set_world(world_.get()); }, tell_failed);
  }
  Scene scene = given;
  scene.contact_stiffness = feel.contact_stiffness;
  scene.coupling.max_force = feel.max_force;
  StageSettings settings = stage_settings();
  settings.following = self;
  const auto make = [this, settings, known = scene_, scene = std::move(scene)]() mutable {
    weigh(scene);
    return make_stage(show(std::move(scene), known.get()), settings);
  };
  const bool is_own = hosts || comes_back;
  const auto use = [this, why, self, is_own](Stage stage) {
    if (!is_own) keep_the_rest();  // it was kept before the host was asked, which may be long ago
    bridge_.set_world(nullptr);
    following_ = self;
    install(std::move(stage), why);
    if (!is_own) {
      unsaved_ = std::make_shared<UnsavedChanges>();
      others_scene_ = true;
    }
    bridge_.set_world(world_.get());
    return done();
  };
  make_then(make, use, tell_failed);
}

// Those at other programs are participants here too.
void Session::meet(const std::vector<SharedPerson>& people) {
  std::vector<ParticipantId> gone;
  for (const auto& [member, participant] : peers_)
    if (std::none_of(people.begin(), people.end(),
                     [m = member](const SharedPerson& p) { return p.member == m && !p.self; }))
      gone.push_back(participant);
  std::erase_if(peers_,
                [&](const auto& peer) { return std::find(gone.begin(), gone.end(), peer.second) != gone.end(); });
  for (const ParticipantId participant : gone) leave(participant);
  for (const SharedPerson& person : people) {
    peer_names_[person.member] = person.name;
    if (person.self) continue;
    const auto known = peers_.find(person.member);
    if (known != peers_.end()) {
      rename(known->second, person.name);
      continue;
    }
    const ParticipantId participant = join(ParticipantKind::peer, person.name);
    peers_[person.member] = participant;
    const std::scoped_lock lock(people_mutex_);
    for (Participant& there : participants_)
      if (there.id == participant) there.color = color_of(person.member);
  }
}

void Session::show_peers(PeersView peers) {
  for (PeerView& peer : peers.peers) {
    const auto known = peers_.find(static_cast<MemberId>(peer.peer));
    if (known != peers_.end()) peer.participant = known->second;
    peer.color = color_of(static_cast<MemberId>(peer.peer));
  }
  tell([&](SessionListener& listener) { listener.peers_changed(peers); });
}

void Session::add_remote_hands(const WorldFrame& frame, std::vector<HandView>& views) {
  if (peers_.empty()) return;
  const HandLeaders leaders = bridge_.leaders();
  for (std::size_t hand = 0; hand < std::min(leaders.size(), frame.world.hands().size()); ++hand) {
    const auto leader = peers_.find(leaders[hand]);
    const HandRecord& record = frame.world.hands()[hand];
    if (leader == peers_.end() || record.present == 0) continue;
    HandView view = hand_view(world_->model(), frame.world, world_->contacts(), hand, record.felt, feel_.max_force);
    view.id = static_cast<HandId>(k_first_remote_hand + hand);
    view.holder = leader->second;
    view.holder_kind = ParticipantKind::peer;
    if (record.body >= 0) view.body = world_->model().bodies()[static_cast<std::size_t>(record.body)].id;
    views.push_back(view);
  }
}

// ------------------------------------------------------------------------------------------------ wishes

std::string Session::obstacle_while_shared(const SessionCommand& command) {
  const bool changes_scene = std::holds_alternative<OpenScene>(command) || std::holds_alternative<ShowScene>(command) ||
                             std::holds_alternative<AddPart>(command) || std::holds_alternative<CopyBody>(command) ||
                             std::holds_alternative<RemoveBody>(command) || std::holds_alternative<BendBody>(command) ||
                             std::holds_alternative<Reimport>(command);
  if (changes_scene) return "Others are in this scene; leave the shared session to open or change one.";
  if (std::holds_alternative<SetGravity>(command) || std::holds_alternative<SetBody>(command))
    return "The world is shared and stays as it is; leave the shared session to change it.";
  if (const auto* settings = std::get_if<ChangeSettings>(&command))
    if (settings->contact_stiffness) return "The contact stiffness is the same for everybody in a shared session.";
  return {};
}

void Session::tell_network() {
  NetworkStatus status = network_;
  status.profiles.clear();
  for (const NetworkProfile& profile : builtin_networks()) status.profiles.push_back(profile.name);
  network_ = status;
  tell([&](SessionListener& listener) { listener.network_changed(status); });
}

CommandResult Session::carry_out(ParticipantId who, const SetNetwork& wanted) {
  if (!is_shared()) return not_shared();
  if (std::string reason = obstacle({.who = who, .action = SessionAction::share}); !reason.empty())
    return not_now(reason);
  NetworkProfile profile;
  if (wanted.profile) {
    const NetworkProfile* known = find_network(*wanted.profile);
    if (known == nullptr) return {Kind::wrong, "There is no network of that name.", 0, {}};
    profile = *known;
  } else {
    profile = network_with(wanted.round_trip.value_or(network_.round_trip), wanted.jitter.value_or(network_.jitter),
                           wanted.loss.value_or(network_.loss));
  }
  network_.profile = profile.name;
  network_.round_trip = mean_round_trip(profile);
  network_.jitter = wanted.profile ? profile.there.jitter : wanted.jitter.value_or(network_.jitter);
  network_.loss = lost_share(profile.there);
  shared_->emulate(profile);
  tell_network();
  return done();
}

CommandResult Session::carry_out(ParticipantId who, const SetSynchronised& wanted) {
  if (!is_shared()) return not_shared();
  if (std::string reason = obstacle({.who = who, .action = SessionAction::share}); !reason.empty())
    return not_now(reason);
  shared_->synchronise(wanted.on);
  return done();
}

bool Session::may_speak_now(ParticipantId who) {
  const double now = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
  return words_.try_emplace(who, k_words_per_second, k_words_at_once).first->second.take(now);
}

CommandResult Session::carry_out(ParticipantId who, const Say& wanted) {
  if (!is_shared()) return not_shared();
  if (std::string reason = obstacle({.who = who, .action = SessionAction::speak}); !reason.empty())
    return not_now(reason);
  if (wanted.text.empty() || wanted.text.size() > k_longest_text)
    return {Kind::wrong, "A message has from 1 to 500 bytes.", 0, {}};
  if (!may_speak_now(who)) return {Kind::too_many, k_too_fast, 0, {}};
  shared_->say(wanted.text);
  return done();
}

CommandResult Session::carry_out(ParticipantId who, const PlaceMark& wanted) {
  if (!is_shared()) return not_shared();
  if (std::string reason = obstacle({.who = who, .action = SessionAction::speak}); !reason.empty())
    return not_now(reason);
  if (scene_->scene.find(wanted.body) == nullptr || !is_finite(wanted.point) ||
      norm(wanted.point) > scene_->scene.size())
    return {Kind::wrong, "A mark is put on a point of a body.", 0, {}};
  if (!may_speak_now(who)) return {Kind::too_many, k_too_fast, 0, {}};
  shared_->mark(wanted.body, wanted.point);
  return done();
}

CommandResult Session::carry_out(ParticipantId who, const RemoveMark& wanted) {
  if (!is_shared()) return not_shared();
  if (std::string reason = obstacle({.who = who, .action = SessionAction::speak}); !reason.empty())
    return not_now(reason);
  const auto found = marks_.find(wanted.mark);
  if (found == marks_.end()) return {Kind::wrong, "There is no such mark.", 0, {}};
  shared_->unmark(found->second.second);
  return done();
}

}  // namespace cotouch

#include <cotouch/session/shared_session.h>

#include <cotouch/base/error.h>
#include <cotouch/session/names.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace cotouch {
namespace {

constexpr double k_peers_interval = 0.25, k_view_interval = 0.1;  // seconds
constexpr auto k_longest_wait = std::chrono::milliseconds(5);
constexpr std::size_t k_seen = 512;  // views that may be compared
constexpr std::size_t k_longest_said = 500;
constexpr double k_silent = 1;  // seconds after which a peer is shown as silent

bool is_kept_in_snapshots(SessionNotice::Kind kind) {
  using Kind = SessionNotice::Kind;
  return kind != Kind::said && kind != Kind::desync && kind != Kind::healed;
}

}  // namespace

SharedSession::SharedSession(SharedSessionSettings settings, SharedSessionListener& listener, SceneLibrary& library)
    : settings_(std::move(settings)),
      listener_(listener),
      library_(library),
      network_(std::make_unique<PeerNetwork>(Identity::load_or_make(settings_.identity), settings_.udp)),
      seen_(k_seen) {
  settings_.name = clean_name(settings_.name);
}

SharedSession::~SharedSession() {
  leave();
}

void SharedSession::host(Scene scene, FeelSettings feel) {
  scene_ = std::move(scene);
  feel_ = feel;
  thread_ = std::jthread([this](const std::stop_token& stop) {
    begin_hosting();
    run(stop);
  });
}

void SharedSession::join(const std::string& invite) {
  invite_ = parse_invite(invite, static_cast<std::uint64_t>(std::time(nullptr)));
  thread_ = std::jthread([this](const std::stop_token& stop) {
    knock(invite_, PeerNetwork::now());
    run(stop);
  });
}

void SharedSession::leave() {
  if (!thread_.joinable()) return;
  post([this] {
    leaving_ = true;
    if (peer_) peer_->leave();
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(3500);
  while (!over_ && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  thread_.request_stop();
  network_->wake();
  thread_.join();
}

void SharedSession::post(std::function<void()> task) {
  {
    const std::scoped_lock lock(tasks_mutex_);
    tasks_.push_back(std::move(task));
  }
  network_->wake();
}

// ------------------------------------------------------------------------------------------------ wishes

void SharedSession::announce(SessionEvent event) {
  post([this, event = std::move(event)] {
    if (!peer_ || !peer_->announce(event)) listener_.problem("Too much is waiting to be sent; try again.");
  });
}

void SharedSession::say(const std::string& text) {
  SessionEvent event;
  event.kind = SessionEvent::Kind::say;
  event.text = text.substr(0, k_longest_said);
  announce(std::move(event));
}

void SharedSession::mark(std::uint32_t body, const Vec3d& point) {
  post([this, body, point] {
    SessionEvent event;
    event.kind = SessionEvent::Kind::mark;
    event.number = ++last_mark_;
    event.body = body;
    event.point = Vec3f(point);
    if (peer_) peer_->announce(event);
  });
}

void SharedSession::unmark(const SessionMark& mark) {
  SessionEvent event;
  event.kind = SessionEvent::Kind::unmark;
  event.member = mark.by;
  event.number = mark.number;
  announce(std::move(event));
}

void SharedSession::reset_world() {
  SessionEvent event;
  event.kind = SessionEvent::Kind::reset;
  announce(std::move(event));
}

void SharedSession::synchronise(bool on) {
  SessionEvent event;
  event.kind = SessionEvent::Kind::synchronise;
  event.number = on ? 1 : 0;
  announce(std::move(event));
}

void SharedSession::emulate(const NetworkProfile& profile) {
  post([this, profile] { network_->emulate(profile); });
}

void SharedSession::record(const std::string& scene_name, std::shared_ptr<RecordingStream> stream) {
  post([this, scene_name, stream = std::move(stream)] {
    if (!runner_) return stream->finish();
    recording_ended_ = false;
    recording_ = begin_shared_recording(*model_, runner_->objective_state(),
                                        format_recorded_scene({scene_name, feel_, k_shared_pace}));
    recording_stream_ = stream;
    for (MemberId m = 0; m < k_shared_hands; ++m)
      if (introductions_[m] && peer_->is_member(m))
        append_event(*recording_, {0, m, RecordedEvent::Kind::joined, clean_name(introductions_[m]->name)});
    recorded_further_ = {};
    stream->take(*recording_);
  });
}

template <class Tell>
void SharedSession::tell_further(ToldFurther& told, const ConfirmTick& confirm, const Tell& tell) const {
  for (MemberId hand = 0; hand < k_shared_hands; ++hand) {
    const MemberId leader = confirm.inputs.leaders[hand], now = leader == hand ? k_nobody : leader;
    if (told.leaders[hand] == now) continue;
    if (!told.changes.take(static_cast<double>(confirm.tick) * settings_.peer.rollback.tick_seconds)) return;
    told.leaders[hand] = now;
    tell(hand, now == k_nobody ? std::string() : std::to_string(now));
  }
}

void SharedSession::stop_recording() {
  post([this] { finish_stream(); });
}

void SharedSession::finish_stream() {
  if (recording_ && recording_stream_) recording_stream_->take(*recording_);
  if (recording_stream_) recording_stream_->finish();
  recording_.reset();
  recording_stream_.reset();
}

AgreedTick SharedSession::agreed() const {
  const std::scoped_lock lock(agreed_mutex_);
  return agreed_;
}

// ------------------------------------------------------------------------------------------------ the thread

void SharedSession::run(const std::stop_token& stop) {
  // The touch loop comes first, then this, then views.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), -5);
  began_ = PeerNetwork::now();
  while (!stop.stop_requested() && phase_ != Phase::over) {
    std::vector<std::function<void()>> tasks;
    {
      const std::scoped_lock lock(tasks_mutex_);
      tasks.swap(tasks_);
    }
    try {
      for (const std::function<void()>& task : tasks) task();
      run_once(PeerNetwork::now());
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }
  load_->stops = true;  // or whoever ends this would wait for it
  close_journal();
  finish_stream();
  over_ = true;
}

void SharedSession::run_once(double now) {
  std::chrono::nanoseconds wait = k_longest_wait;
  if (peer_)
    wait = std::clamp<std::chrono::nanoseconds>(
        std::chrono::nanoseconds(static_cast<std::int64_t>((peer_->next_poll() - now) * 1e9)),
        std::chrono::nanoseconds(0), k_longest_wait);
  network_->run(*this, wait);
  now = PeerNetwork::now();
  if (phase_ == Phase::running) {
    poll_peer(now);
  } else if (leaving_) {
    phase_ = Phase::over;
    return tell(SharingStatus::State::off);
  } else {
    poll_joining(now);
  }
  if (phase_ == Phase::running) {
    poll_guests(now);
    heal(now);
    search_former(now);
    compare_views(now);
    tell_peers(now);
    look_at_journal(now);
  }
}

void SharedSession::poll_peer(double now) {
  std::vector<PeerRequest> requests;
  if (peer_->poll(now, sendable(listener_.hands()), requests)) listener_.hands_taken();
  for (PeerRequest& request : requests) {
    carry_out(now, request);
    if (!peer_) return;
  }
  settle();
  longest_rollback_ = std::max(longest_rollback_, peer_->statistics().last_rollback);
  if (std::exchange(state_changed_, false)) {
    listener_.view(shown(), {peer_->leaders(), peer_->usable_hands()});
    if (const auto body = model_->index_of(compared_body_))
      seen_[static_cast<std::size_t>(peer_->now()) % k_seen] = {peer_->now(), shown().bodies()[*body].pose};
  }
  const SharingStatus::State state = peer_->is_cut_off() ? SharingStatus::State::cut_off
                                     : hosts_            ? SharingStatus::State::hosting
                                                         : SharingStatus::State::joined;
  if (state != status_.state) tell(state);
  if (peer_->is_done(now) && leaving_) {
    phase_ = Phase::over;
    tell(SharingStatus::State::off);
  }
}

void SharedSession::carry_out(double now, PeerRequest& request) {
  if (const auto* load = std::get_if<LoadState>(&request)) {
    runner_->carry_out(*load);
  } else if (const auto* advance = std::get_if<AdvanceState>(&request)) {
    runner_->carry_out(*advance);
    state_changed_ = true;
  } else if (const auto* save = std::get_if<SaveState>(&request)) {
    runner_->carry_out(*save);
  } else if (const auto* confirm = std::get_if<ConfirmTick>(&request)) {
    runner_->carry_out(*confirm);
    confirmed(*confirm);
  } else if (const auto* loosely = std::get_if<AdvanceLoosely>(&request)) {
    if (!std::exchange(loosely_, true)) loose_ = runner_->now();
    step_shared(*model_, start_state_, loose_, loosely->inputs, *loose_scratch_);
  } else if (const auto* message = std::get_if<SendMessage>(&request)) {
    network_->send(now, message->to, message->bytes);
  } else if (const auto* connect = std::get_if<ConnectMember>(&request)) {
    const std::optional<Introduction> introduction = read_introduction(connect->introduction);
    if (!introduction) return;
    introductions_[connect->member] = introduction;
    std::optional<NetAddress> seen;
    for (auto& [id, guest] : guests_)
      if (guest.member == connect->member) {
        guest.admitted = true;
        seen = network_->address_of_guest(id);
      }
    network_->connect(connect->member, *introduction, seen);
    // Whoever is back is not missed any more.
    for (const std::string& former : std::vector(peer_->former())) {
      const std::optional<Introduction> missed = read_introduction(former);
      if (!missed || missed->credential.identity == introduction->credential.identity) peer_->forget_former(former);
    }
  } else if (const auto* disconnect = std::get_if<DisconnectMember>(&request)) {
    network_->disconnect(disconnect->member);
    Served& served = served_[disconnect->member];
    unshelve(served.snapshot);
    served = {};
  } else if (const auto* again = std::get_if<JoinAgain>(&request)) {
    join_again(std::string(again->introduction), now);
  } else if (const auto* fetch = std::get_if<FetchSnapshot>(&request)) {
    if (healing_) return;
    healer_ = fetch->from;
    heal_asked_ = now;
    Bytes bytes;
    ByteWriter out(bytes);
    out.number(PlainMessage::fetch);
    out.varint(static_cast<std::uint64_t>(peer_->objective()));
    network_->send(now, fetch->from, bytes);
  } else if (const auto* notice = std::get_if<SessionNotice>(&request)) {
    noticed(*notice);
  }
}

AgreedTick SharedSession::tick_of(Tick tick, const WorldState& state, std::uint64_t hash) const {
  return {tick, hash, unsettled_.branch(), state.head().task.done != 0, state.head().task.seconds};
}

void SharedSession::set_agreed(const AgreedTick& now) {
  if (now.branch == 0) session_until_ = now.tick;
  const std::scoped_lock lock(agreed_mutex_);
  agreed_ = now;
}

void SharedSession::settle() {
  const bool any = unsettled_.settle(peer_->agreed(), [this](const AgreedTick& tick) {
    set_agreed(tick);
    listener_.agreed(tick);
  });
  if (any && journal_) journal_->agree(peer_->agreed());
}

void SharedSession::confirmed(const ConfirmTick& confirm) {
  const Tick tick = confirm.tick + 1;
  const WorldState& state = runner_->saved(tick);
  const std::uint64_t hash = state.hash();
  if (tick % settings_.peer.hash_every == 0) peer_->set_hash(tick, hash);
  unsettled_.add(tick_of(tick, state, hash));
  if (recording_ && !recording_ended_)
    tell_further(recorded_further_, confirm, [this](MemberId hand, std::string text) {
      append_event(*recording_, {recording_->length(), hand, RecordedEvent::Kind::leads, std::move(text)});
    });
  if (journal_)
    tell_further(noted_further_, confirm,
                 [&](MemberId hand, const std::string& text) { journal_->note(confirm.tick, "leads", text, hand); });
  for (std::optional<Recording>* recording : {&recording_, &rolling_}) {
    if (!*recording || (recording == &recording_ && recording_ended_)) continue;
    if (confirm.inputs.reset)
      append_event(**recording, {(*recording)->length(), std::nullopt, RecordedEvent::Kind::reset, {}});
    append_tick(**recording, confirm.inputs.hands, state);
  }
  if (recording_) recording_stream_->take(*recording_);
  if (tick % (10 * settings_.peer.hash_every) == 0) rolling_ = begin_shared_recording(*model_, state, description_);
  write_journal(confirm, state, hash);
}

void SharedSession::noticed(const SessionNotice& notice) {
  using Kind = SessionNotice::Kind;
  const auto name = [&](MemberId member) {
    return introductions_[member] ? clean_name(introductions_[member]->name) : std::string("somebody");
  };
  const auto record_event = [&](RecordedEvent::Kind kind, const std::string& text) {
    if (recording_ && !recording_ended_ && notice.member < k_shared_hands)
      append_event(*recording_, {recording_->length(), notice.member, kind, text});
  };
  // Whoever says more than people can read is not heard for a moment. The world is the same for all, these are not.
  const double now = static_cast<double>(notice.tick) * settings_.peer.rollback.tick_seconds;
  const auto note = [&](const char* kind, const std::string& text) {
    if (journal_) journal_->note(notice.tick, kind, text, hand_of(notice.member));
  };
  journal_outdated_ = journal_outdated_ || is_kept_in_snapshots(notice.kind);
  switch (notice.kind) {
    case Kind::joined:
      record_event(RecordedEvent::Kind::joined, name(notice.member));
      note("joined", name(notice.member));
      return tell_people();
    case Kind::left:
    case Kind::dropped:
      if (notice.kind == Kind::dropped && notice.member != peer_->self())
        listener_.problem(name(notice.member) + " was not heard for a while and is no longer in the session.");
      record_event(RecordedEvent::Kind::left, {});
      note(notice.kind == Kind::left ? "left" : "dropped", name(notice.member));
      return tell_people();
    case Kind::said: {
      const std::string text = printable(notice.event.text);
      if (text.empty() || !served_[notice.member].notices.take(now)) return;
      record_event(RecordedEvent::Kind::said, text);
      note("said", hand_of(notice.member) ? text : name(notice.member) + ": " + text);
      return listener_.said(notice.member, text, now);
    }
    case Kind::marked:
      if (!served_[notice.member].marks.take(now)) return;
      record_event(RecordedEvent::Kind::marked, {});
      return listener_.marked({notice.member, notice.event.number, notice.event.body, notice.event.point}, false);
    case Kind::unmarked: return listener_.marked({notice.event.member, notice.event.number, 0, {}}, true);
    case Kind::synchronised:
      loosely_ = false;
      if (notice.member != peer_->self())
        listener_.problem(name(notice.member) + " turned synchronisation " + (peer_->synchronised() ? "on" : "off") +
                          " for everybody.");
      return listener_.synchronised(peer_->synchronised());
    case Kind::desync: return report_desync(notice);
    case Kind::branched: return branch_off(notice.tick);
    case Kind::healed: return listener_.problem("The world here was put right from the others' state.");
  }
}

// ------------------------------------------------------------------------------------------------ what is told

void SharedSession::tell(SharingStatus::State state, const std::string& reason) {
  status_.state = state;
  status_.reason = reason;
  listener_.sharing(status_);
}

void SharedSession::tell_stage(const std::string& stage, double progress) {
  if (stage == status_.stage && std::fabs(progress - status_.progress) < 0.01) return;
  status_.stage = stage;
  status_.progress = progress;
  listener_.sharing(status_);
}

void SharedSession::fail(const std::string& sentence) {
  peer_.reset();
  phase_ = Phase::over;
  tell(SharingStatus::State::failed, sentence);
}

void SharedSession::tell_people() {
  std::vector<SharedPerson> people;
  for (MemberId m = 0; m < k_most_members; ++m) {
    if (!peer_->is_member(m) || !introductions_[m]) continue;
    people.push_back({m, clean_name(introductions_[m]->name), m == peer_->self(), introductions_[m]->observer,
                      fingerprint(introductions_[m]->credential.identity)});
  }
  listener_.people(people);
}

void SharedSession::tell_peers(double now) {
  if (now < told_peers_ + k_peers_interval) return;
  told_peers_ = now;
  PeersView view;
  const double tick = settings_.peer.rollback.tick_seconds;
  view.tick = peer_->now();
  view.agreed = peer_->agreed();
  view.branch = unsettled_.branch() != 0;
  view.window = settings_.peer.rollback.window;
  view.synchronised = peer_->synchronised();
  view.rollback_ticks = std::exchange(longest_rollback_, 0);
  const NetworkCounts& counts = network_->counts();
  if (now > counted_at_ && counted_at_ > 0) {
    view.bytes_in = static_cast<double>(counts.bytes_in - counted_.bytes_in) / (now - counted_at_);
    view.bytes_out = static_cast<double>(counts.bytes_out - counted_.bytes_out) / (now - counted_at_);
  }
  counted_ = counts;
  counted_at_ = now;
  view.divergence = divergence_;
  view.divergence_angle = divergence_angle_;
  for (MemberId m = 0; m < k_most_members; ++m) {
    if ((peer_->waiting_for() >> m & 1U) != 0) view.waiting_for.push_back(m);
    if (!peer_->is_member(m) || !introductions_[m]) continue;
    PeerView& one = view.peers.emplace_back();
    one.peer = m;
    one.name = clean_name(introductions_[m]->name);
    one.observer = introductions_[m]->observer;
    one.self = m == peer_->self();
    one.fingerprint = fingerprint(introductions_[m]->credential.identity);
    one.path = one.self                      ? PeerView::Path::self
               : network_->is_direct(m, now) ? PeerView::Path::direct
                                             : PeerView::Path::relayed;
    const PeerLink* link = peer_->link(m);
    if (link == nullptr) continue;
    one.round_trip = link->round_trip();
    one.jitter = link->jitter();
    one.loss = link->loss_in();
    one.lead = -peer_->lead_of(m) * tick;
    if (now > link->last_heard() + k_silent) one.state = PeerView::State::silent;
    if (!peer_->is_active(m)) one.state = PeerView::State::leaving;
  }
  listener_.peers(view);
}

// Which body's views are compared: the task's, or the first that moves freely.
void SharedSession::compare_views(double now) {
  if (now < showed_view_ + k_view_interval) return;
  showed_view_ = now;
  const Seen& newest = seen_[static_cast<std::size_t>(peer_->now()) % k_seen];
  if (newest.tick == peer_->now()) {
    std::vector<PeerRequest> requests;
    peer_->show_view({newest.tick, compared_body_, newest.pose}, requests);
    for (PeerRequest& request : requests) carry_out(now, request);
  }
  double largest = 0, largest_angle = 0;
  for (MemberId m = 0; m < k_most_members; ++m) {
    const std::optional<ViewMessage>& theirs = peer_->view_of(m);
    if (!theirs || theirs->body != compared_body_ || theirs->tick < 0) continue;
    const Seen& own = seen_[static_cast<std::size_t>(theirs->tick) % k_seen];
    if (own.tick != theirs->tick) continue;
    largest = std::max(largest, norm(own.pose.position - theirs->pose.position));
    largest_angle =
        std::max(largest_angle, norm(rotation_vector(own.pose.rotation * theirs->pose.rotation.conjugate())));
  }
  divergence_ = largest;
  divergence_angle_ = largest_angle;
}

}  // namespace cotouch

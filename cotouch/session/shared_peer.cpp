#include <cotouch/session/shared_peer.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace cotouch {
namespace {

constexpr Tick k_before_taking_part = 16;   // beyond the window: time for a newcomer to get its snapshot
constexpr std::size_t k_most_waiting = 64;  // events
constexpr std::size_t k_event_bytes = 672;  // of one tick: the longest, or several; all hands fit into a message beside
constexpr std::size_t k_kept_hashes = 16;
constexpr int k_most_heals = 3;                         // in a row; then a member joins anew
constexpr double k_farewell = 1, k_first_farewell = 3;  // seconds
constexpr Tick k_latest_start =
    4096;  // ticks after the admission; the ring of inputs cannot be asked to reach for ever

}  // namespace

SharedPeer::SharedPeer(const PeerSettings& settings, MemberId self, const ObjectiveSnapshot& snapshot, double now)
    : settings_(settings),
      self_(self),
      rollback_(settings.rollback, snapshot.tick),
      clock_(settings.rollback.tick_seconds, now),
      members_(snapshot.members),
      marks_(snapshot.marks),
      synchronised_(snapshot.synchronised),
      branch_(snapshot.branch),
      told_branch_(snapshot.branch),
      promised_(snapshot.decided),
      decided_(snapshot.decided),
      highest_round_(snapshot.decided.round),
      former_(snapshot.former) {
  for (MemberId m = 0; m < k_most_members; ++m) {
    if (!members_[m]) continue;
    rollback_.open(m, std::max(members_[m]->first, snapshot.tick));
    loosely_seen_[m] = snapshot.tick;
    if (m != self_) links_[m].emplace(now, settings.rollback.tick_seconds);
  }
  settle_ticks();
  // What went on since the snapshot: up to the first tick, and as far as the others can go without us.
  if (members_[self_])
    clock_.missed(static_cast<double>(members_[self_]->first - snapshot.tick + settings.rollback.window));
}

MemberId SharedPeer::keeper() const {
  const std::uint32_t active = active_members();
  return active == 0 ? self_ : static_cast<MemberId>(std::countr_zero(active));
}

// Those who take part and whose last input is not known.
std::uint32_t SharedPeer::active_members() const {
  std::uint32_t members = 0;
  for (MemberId m = 0; m < k_most_members; ++m) {
    const InputStream* stream = rollback_.stream(m);
    if (members_[m] && stream != nullptr && stream->end() == k_never) members |= 1U << m;
  }
  return members;
}

// ------------------------------------------------------------------------------------------------ what arrives

// The time of the caller's clock, but never before that of the last poll.
double SharedPeer::steady(double now) const {
  return std::max(now + set_back_, polled_);
}

void SharedPeer::receive(double now, MemberId from, std::span<const std::byte> bytes) {
  if (lost_) return;
  now = steady(now);
  std::optional<PeerMessage> message = from < k_most_members && links_[from] ? read_message(bytes) : std::nullopt;
  if (!message) {
    ++statistics_.dropped_messages;
    return;
  }
  std::visit([&](const auto& what) { take(now, from, what); }, *message);
}

void SharedPeer::take(double now, MemberId from, const InputsMessage& message) {
  Linked& other = *links_[from];
  if (other.former) return;
  other.link.heard(now, message.timing);
  rollback_.set_jitter(from, other.link.jitter());
  other.have = other.have < 0 ? message.have : std::max(other.have, message.have);
  other.objective = std::max(other.objective, message.objective);
  other.decided = std::max(other.decided, message.decided);
  if (message.hash) {
    StateHash& told = other.hashes[hash_index(message.hash->tick)];
    if (message.hash->tick % settings_.hash_every == 0 && message.hash->tick > told.tick) told = *message.hash;
  }
  if ((frozen_ >> from & 1U) != 0) return;
  const InputStream* stream = rollback_.stream(from);
  const Tick before = stream == nullptr ? 0 : stream->next();
  for (const InputBlock& block : message.blocks)
    for (std::size_t i = 0; i < block.inputs.size(); ++i)
      rollback_.receive(from, block.first + static_cast<Tick>(i), block.inputs[i]);
  if (stream != nullptr && stream->next() > before) other.progress = now;
}

void SharedPeer::take(double /*now*/, MemberId from, const ViewMessage& message) {
  if (!views_[from] || message.tick > views_[from]->tick) views_[from] = message;
}

// ------------------------------------------------------------------------------------------------ ticks

bool SharedPeer::poll(double now, const MemberHands& hands, std::vector<PeerRequest>& requests) {
  set_back_ = steady(now) - now;
  now += set_back_;
  statistics_.last_rollback = 0;
  if (lost_) {
    if (!std::exchange(told_lost_, true)) requests.emplace_back(JoinAgain{join_via_});
    outbox_.clear();
    return false;
  }
  if (leave_asked_ && leave_asked_at_ < 0) leave_asked_at_ = now;
  notice_sleep(now);
  if (std::exchange(told_branch_, branch_) != branch_)
    requests.emplace_back(SessionNotice{SessionNotice::Kind::branched, agreed_, self_, {}});
  confirm_ticks(now, requests);
  settle_ticks();
  compare_hashes(requests);
  watch_members(now);
  bool took = false;
  if (clock_.is_due(now)) {
    MemberHands next = hands;
    const auto run = [&] {
      const Ran ran = run_tick(next, requests);
      took = took || ran == Ran::with_hand;
      if (took) next.forget_actions();
      return ran != Ran::no;
    };
    const bool begun = run();
    if (begun) ticked_ = now;
    clock_.follow(mean_lead(now));  // of ticks that have just begun, as the others tell theirs
    // Certainly behind the others, or with the past of a snapshot before us: several at once.
    for (int left = clock_.to_make_up(now, mean_distance_shown().value_or(0)); left > 0 && run(); --left)
      clock_.made_up();
    clock_.ticked(now, begun);
    send_inputs(now, requests);
  }
  for (SendMessage& message : outbox_) requests.emplace_back(std::move(message));
  outbox_.clear();
  return took;
}

// Replays what was predicted wrong and moves the objective tick forward, with all that happens there.
void SharedPeer::confirm_ticks(double now, std::vector<PeerRequest>& requests) {
  std::vector<WorldRequest> world;
  const auto hand_over = [&] {
    for (WorldRequest& request : world)
      std::visit([&](auto& what) { requests.emplace_back(std::move(what)); }, request);
    world.clear();
  };
  const Tick replayed = rollback_.repair(world);
  if (replayed > 0) {
    ++statistics_.rollbacks;
    statistics_.replayed_ticks += static_cast<std::uint64_t>(replayed);
    statistics_.last_rollback = replayed;
  }
  while (rollback_.confirm(world)) {
    hand_over();
    apply_events(now, rollback_.objective() - 1, requests);
  }
  hand_over();
}

// A decision, whoever makes it, keeps what one of those who make it knows: if everybody has a tick, it stays.
void SharedPeer::settle_ticks() {
  Tick everybody = rollback_.objective();
  for (MemberId m = 0; m < k_most_members; ++m)
    if (m != self_ && is_active(m)) everybody = std::min(everybody, links_[m] ? links_[m]->objective : 0);
  agreed_ = std::max(agreed_, everybody);
}

SharedPeer::Ran SharedPeer::run_tick(const MemberHands& hands, std::vector<PeerRequest>& requests) {
  if (rollback_.is_full() || (leaving_ >= 0 && rollback_.now() > leaving_)) {
    ++statistics_.waits;
    return Ran::no;
  }
  const Tick tick = rollback_.now();
  // Not before the own first tick, and not again after the state was healed.
  const InputStream* own = rollback_.stream(self_);
  const bool taking_part = members_[self_] && own != nullptr && own->next() == tick;
  if (taking_part) rollback_.receive(self_, tick, own_input(hands));
  std::vector<WorldRequest> world;
  rollback_.advance(world);
  for (WorldRequest& request : world) std::visit([&](auto& what) { requests.emplace_back(std::move(what)); }, request);
  if (!synchronised_) requests.emplace_back(AdvanceLoosely{loose_inputs()});
  ++statistics_.ticks;
  return taking_part ? Ran::with_hand : Ran::without_hand;
}

PeerInput SharedPeer::own_input(const MemberHands& hands) {
  PeerInput input;
  if (self_ < k_shared_hands) static_cast<MemberHands&>(input) = sendable(hands);
  std::size_t bytes = 0;
  while (!events_.empty() && input.events.size() < 4) {
    // Not while a decision may count us that we have promised or proposed: for others we would not be there any more,
    // and both could be the larger part.
    if (events_.front().kind == SessionEvent::Kind::leave && frozen_ != 0) break;
    bytes += events_.front().text.size() + k_around_event;
    if (bytes > k_event_bytes && !input.events.empty()) break;
    SessionEvent event = std::move(events_.front());
    events_.pop_front();
    if (event.kind == SessionEvent::Kind::admit)
      event.number = rollback_.now() + settings_.rollback.window + k_before_taking_part;
    if (event.kind == SessionEvent::Kind::leave) leaving_ = rollback_.now();
    input.events.push_back(std::move(event));
    if (leaving_ >= 0) break;
  }
  return input;
}

// The newest that has arrived of everybody; an action counts once, in the tick in which it arrives.
TickInputs SharedPeer::loose_inputs() {
  std::array<PeerInput, k_most_members> newest;
  InputsOfMembers inputs{};
  bool reset = false;
  for (MemberId m = 0; m < k_most_members; ++m) {
    const InputStream* stream = rollback_.stream(m);
    if (stream == nullptr || !members_[m]) continue;
    const Tick from = std::exchange(loosely_seen_[m], stream->next());
    const PeerInput* last = stream->is_over() ? nullptr : stream->at(stream->next() - 1);
    if (last != nullptr) inputs[m] = &(newest[m] = *last);
    newest[m].forget_actions();
    for (Tick tick = std::max(from, stream->next() - 64); tick < stream->next(); ++tick) {
      const PeerInput* input = stream->at(tick);
      if (input == nullptr) continue;
      reset = reset || input->has(SessionEvent::Kind::reset);
      newest[m].take_actions(*input);
    }
  }
  TickInputs all = together(inputs);
  all.reset = reset;
  return all;
}

HandLeaders SharedPeer::leaders() const {
  return rollback_.leaders();
}

std::uint32_t SharedPeer::usable_hands() const {
  if (self_ >= k_shared_hands) return 0;
  std::uint32_t others = reserved_;
  const HandLeaders led = leaders();
  for (MemberId m = 0; m < k_shared_hands; ++m)
    if (members_[m] || (led[m] != k_nobody && led[m] != self_)) others |= 1U << m;
  return ((1U << k_shared_hands) - 1) & (~others | 1U << self_);
}

template <class Known, class Lead>
std::optional<double> SharedPeer::mean_of_links(const Known& known, const Lead& lead) const {
  // Nobody who tells the truth is further away, because all wait for each other.
  constexpr auto k_farthest = static_cast<double>(2 * Rollback::k_widest_window);
  double sum = 0;
  int count = 0;
  for (const std::optional<Linked>& other : links_) {
    if (!other || other->former || !known(other->link)) continue;
    sum += std::clamp(lead(other->link), -k_farthest, k_farthest);
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

std::optional<double> SharedPeer::mean_lead(double now) const {
  const auto tick = static_cast<double>(rollback_.now());
  return mean_of_links([](const PeerLink& link) { return link.knows_lead(); },
                       [&](const PeerLink& link) { return link.lead(now, tick); });
}

// How many ticks the others are ahead at least. Round trips can be made to say anything by delays, sealed ticks cannot.
std::optional<double> SharedPeer::mean_distance_shown() const {
  return mean_of_links([](const PeerLink& link) { return link.has_echo(); },
                       [&](const PeerLink& link) { return static_cast<double>(link.their_tick() - rollback_.now()); });
}

double SharedPeer::lead_of(MemberId member) const {
  const PeerLink* other = link(member);
  return other != nullptr && other->knows_lead() ? other->lead(ticked_, static_cast<double>(rollback_.now())) : 0;
}

// ------------------------------------------------------------------------------------------------ what is agreed on

void SharedPeer::apply_events(double now, Tick tick, std::vector<PeerRequest>& requests) {
  if (tick < events_until_) return;  // simulated again after it was healed
  events_until_ = tick + 1;
  for (MemberId m = 0; m < k_most_members; ++m) {
    const InputStream* stream = rollback_.stream(m);
    if (!members_[m] || stream == nullptr) continue;
    if (const PeerInput* input = stream->at(tick))
      for (const SessionEvent& event : std::vector(input->events)) apply(now, tick, m, event, requests);
  }
  for (MemberId m = 0; m < k_most_members; ++m) {
    const InputStream* stream = rollback_.stream(m);
    if (!members_[m] || stream == nullptr || tick + 1 < stream->end()) continue;
    const PeerInput* last = stream->at(stream->end() - 1);
    remove(m, last == nullptr || !last->has(SessionEvent::Kind::leave), tick, requests);
  }
}

void SharedPeer::apply(double now, Tick tick, MemberId by, const SessionEvent& event,
                       std::vector<PeerRequest>& requests) {
  using Kind = SessionEvent::Kind;
  const auto notice = [&](SessionNotice::Kind kind, MemberId member) {
    requests.emplace_back(SessionNotice{kind, tick, member, event});
  };
  switch (event.kind) {
    case Kind::admit: {
      // Only the keeper of this tick may: the lowest member that takes part in it.
      const auto takes_part = [&](MemberId m) {
        const InputStream* stream = rollback_.stream(m);
        return members_[m] && stream != nullptr && members_[m]->first <= tick && tick < stream->end();
      };
      MemberId keeper = 0;
      while (keeper < k_most_members && !takes_part(keeper)) ++keeper;
      const Tick first = event.number;
      if (by != keeper || members_[event.member] || first < tick + settings_.rollback.window + 2) return;
      if (first > tick + k_latest_start) return;
      members_[event.member] = Member{first, event.text};
      reserved_ &= ~(1U << event.member);
      rollback_.open(event.member, first);
      loosely_seen_[event.member] = first;
      // Nobody is waited for before its first tick.
      links_[event.member].emplace(now, settings_.rollback.tick_seconds).progress +=
          static_cast<double>(first - rollback_.now()) * settings_.rollback.tick_seconds;
      views_[event.member].reset();
      requests.emplace_back(ConnectMember{event.member, event.text});
      notice(SessionNotice::Kind::joined, event.member);
      return;
    }
    case Kind::say: return notice(SessionNotice::Kind::said, by);
    case Kind::mark:
      std::erase_if(marks_, [&](const SessionMark& mark) { return mark.by == by && mark.number == event.number; });
      if (marks_.size() >= k_most_marks) {
        SessionEvent oldest;
        oldest.kind = Kind::unmark;
        oldest.member = marks_.front().by;
        oldest.number = marks_.front().number;
        marks_.erase(marks_.begin());
        requests.emplace_back(SessionNotice{SessionNotice::Kind::unmarked, tick, by, oldest});
      }
      marks_.push_back({by, event.number, event.body, event.point});
      return notice(SessionNotice::Kind::marked, by);
    case Kind::unmark:
      std::erase_if(marks_,
                    [&](const SessionMark& mark) { return mark.by == event.member && mark.number == event.number; });
      return notice(SessionNotice::Kind::unmarked, by);
    case Kind::synchronise:
      if (synchronised_ == (event.number != 0)) return;
      synchronised_ = event.number != 0;
      for (MemberId m = 0; m < k_most_members; ++m)
        if (const InputStream* stream = rollback_.stream(m)) loosely_seen_[m] = stream->next();
      return notice(SessionNotice::Kind::synchronised, by);
    case Kind::leave:
    case Kind::reset: return;  // the stream's end says the one, the world does the other
  }
}

void SharedPeer::remove(MemberId member, bool dropped, Tick tick, std::vector<PeerRequest>& requests) {
  const std::string introduction = introduction_of(member);
  members_[member].reset();
  views_[member].reset();
  frozen_ &= ~(1U << member);
  const auto kind = dropped ? SessionNotice::Kind::dropped : SessionNotice::Kind::left;
  requests.emplace_back(SessionNotice{kind, tick, member, {}});
  if (member == self_ || !links_[member]) return;
  if (dropped) {
    links_[member]->former = true;
    if (former_.size() >= k_most_former) former_.erase(former_.begin());
    former_.push_back(introduction);
    return;
  }
  requests.emplace_back(DisconnectMember{member});
  links_[member].reset();
}

bool SharedPeer::announce(SessionEvent event) {
  if (events_.size() >= k_most_waiting || event.text.size() > k_longest_event || leaving_ >= 0) return false;
  events_.push_back(std::move(event));
  return true;
}

std::optional<MemberId> SharedPeer::admit(const std::string& introduction, bool observer) {
  const MemberId low = observer ? k_shared_hands : 0, high = observer ? k_most_members : k_shared_hands;
  // Above all who were here, so that nobody new is the keeper and no number means two people, as long as that goes.
  // If there is no other, one of somebody who was dropped.
  std::optional<MemberId> free, former;
  for (MemberId m = low; m < high; ++m) {
    const bool taken = members_[m] || (reserved_ >> m & 1U) != 0;
    if (taken) continue;
    if (rollback_.stream(m) == nullptr) {
      free = m;
      break;
    }
    if (!free && !links_[m]) free = m;
    if (!former && links_[m]) former = m;
  }
  if (!free) free = former;
  SessionEvent event;
  event.kind = SessionEvent::Kind::admit;
  event.text = introduction;
  if (!free || !is_keeper()) return std::nullopt;
  event.member = *free;
  if (!announce(std::move(event))) return std::nullopt;
  reserved_ |= 1U << *free;
  return free;
}

void SharedPeer::leave() {
  SessionEvent event;
  event.kind = SessionEvent::Kind::leave;
  events_.push_front(event);
  leave_asked_ = true;
}

bool SharedPeer::is_done(double now) const {
  now = steady(now);
  if (lost_) return true;
  if (leave_asked_at_ < 0) return false;
  // Whoever does not take part yet says goodbye with its first input, or the others would wait for it; so do newcomers
  // who have not heard us yet.
  const bool took_part = leaving_ >= 0 || (members_[self_] && rollback_.now() > members_[self_]->first);
  const bool all_heard = std::none_of(links_.begin(), links_.end(), [](const std::optional<Linked>& other) {
    return other && !other->former && other->have < 0;
  });
  if (now > leave_asked_at_ + (took_part && all_heard ? k_farewell : k_first_farewell)) return true;
  return leaving_ >= 0 && std::all_of(links_.begin(), links_.end(), [&](const std::optional<Linked>& other) {
           return !other || other->former || other->have > leaving_;
         });
}

ObjectiveSnapshot SharedPeer::snapshot() const {
  ObjectiveSnapshot snapshot;
  snapshot.tick = rollback_.objective();
  snapshot.decided = decided_;
  snapshot.branch = branch_;
  snapshot.synchronised = synchronised_;
  snapshot.members = members_;
  snapshot.marks = marks_;
  snapshot.former = former_;
  return snapshot;
}

// ------------------------------------------------------------------------------------------------ desync alarm

void SharedPeer::set_hash(Tick tick, std::uint64_t hash) {
  hashes_[tick] = hash;
  if (hashes_.size() > k_kept_hashes) hashes_.erase(hashes_.begin());
}

void SharedPeer::compare_hashes(std::vector<PeerRequest>& requests) {
  for (MemberId m = 0; m < k_most_members; ++m) {
    if (!links_[m] || !is_active(m)) continue;
    for (const auto& [tick, own] : hashes_) {
      const StateHash& theirs = links_[m]->hashes[hash_index(tick)];
      if (theirs.tick != tick || tick <= links_[m]->compared || tick > agreed_) continue;
      links_[m]->compared = tick;
      const bool differed = std::exchange(links_[m]->differs, own != theirs.hash);
      if (own == theirs.hash) {
        healed_in_a_row_ = 0;
        continue;
      }
      ++statistics_.desyncs;
      if (!differed) requests.emplace_back(SessionNotice{SessionNotice::Kind::desync, tick, m, {}});
      if (disputed_ == 0) disputed_ = tick;
    }
  }
  if (disputed_ > 0) settle_dispute(requests);
}

// Most are right; of equally many those with the keeper. Counted when all have told their hash, or have had the time.
void SharedPeer::settle_dispute(std::vector<PeerRequest>& requests) {
  const Tick tick = disputed_;
  const auto own = hashes_.find(tick);
  std::map<std::uint64_t, std::uint32_t> members_with;  // a hash
  if (own != hashes_.end()) members_with[own->second] = 1U << self_;
  bool all = true;
  for (MemberId m = 0; m < k_most_members; ++m) {
    if (!links_[m] || !is_active(m)) continue;
    const StateHash& theirs = links_[m]->hashes[hash_index(tick)];
    all = all && theirs.tick >= tick;
    if (theirs.tick == tick) members_with[theirs.hash] |= 1U << m;
  }
  if (!all && rollback_.objective() < tick + Tick{k_told_hashes} * settings_.hash_every) return;
  disputed_ = 0;
  if (own == hashes_.end()) return;
  const auto rank = [&](const auto& group) {
    return std::pair(std::popcount(group.second), (group.second >> keeper()) & 1U);
  };
  const std::uint32_t right =
      std::max_element(members_with.begin(), members_with.end(), [&](const auto& a, const auto& b) {
        return rank(a) < rank(b);
      })->second;
  if (((right >> self_) & 1U) != 0) return;
  const auto from = static_cast<MemberId>(((right >> keeper()) & 1U) != 0 ? keeper() : std::countr_zero(right));
  // Not the state alone is another one, but what was taken to have been done.
  if (healed_in_a_row_ >= k_most_heals) return lose(introduction_of(from));
  requests.emplace_back(FetchSnapshot{from, tick});
}

bool SharedPeer::heal(const ObjectiveSnapshot& snapshot, std::vector<PeerRequest>& requests) {
  const Tick before = rollback_.now();
  if (snapshot.tick < rollback_.objective() - Rollback::k_widest_window || !rollback_.restart(snapshot.tick))
    return false;
  clock_.missed(static_cast<double>(before - snapshot.tick));
  ++healed_in_a_row_;
  hashes_.clear();
  disputed_ = 0;
  requests.emplace_back(SessionNotice{SessionNotice::Kind::healed, snapshot.tick, self_, {}});
  return true;
}

}  // namespace cotouch

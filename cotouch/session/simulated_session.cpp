#include <cotouch/session/simulated_session.h>

#include <cotouch/base/hash.h>
#include <cotouch/session/state_difference.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace cotouch {
namespace {

constexpr std::size_t k_around = 25 + 28;  // bytes: the seal (net/channel.h), UDP and IPv4
constexpr std::size_t k_log = 1024;
constexpr double k_ask_again = 0.5, k_tell_again = 0.3, k_search_again = 3;  // seconds

// What simulated machines say to each other outside of sessions.
enum class Packet : std::uint8_t {
  message,   // from a member's core: incarnations of sender and receiver, the message
  ask,       // to be let in: incarnation
  redirect,  // ask that machine instead
  snapshot,  // you are this member: number, incarnation, snapshot
  fetch,     // a snapshot to heal with
  healing,   // it
  rank,      // of a session, to somebody who was in it
};

std::string introduction_of(std::uint32_t machine, std::uint32_t incarnation) {
  return std::to_string(machine) + " " + std::to_string(incarnation);
}

}  // namespace

SimulatedSession::SimulatedSession(std::shared_ptr<const WorldModel> model, const SimulationSettings& settings,
                                   Hands hands)
    : model_(std::move(model)),
      settings_(settings),
      hands_(std::move(hands)),
      random_(settings.seed),
      network_(settings.machines, settings.seed ^ 0x5eed),
      machines_(settings.machines),
      start_(*model_),
      loose_scratch_(*model_) {
  network_.connect_all(settings_.network);
  for (std::uint32_t i = 0; i < machines_.size(); ++i) {
    Machine& machine = machines_[i];
    machine.number = i;
    machine.drift = random_.uniform(-settings_.clock_drift, settings_.clock_drift);
    machine.log.resize(k_log);
    machine.next_poll = random_.uniform(0, settings_.peer.rollback.tick_seconds);
    if (i > 0) join(i);
  }
  host(0);
}

void SimulatedSession::host(std::size_t machine) {
  Machine& m = machines_[machine];
  forget(m);
  ++m.incarnation;
  ObjectiveSnapshot snapshot;
  m.session = ++sessions_;
  snapshot.members[0] = Member{0, introduction_of(m.number, m.incarnation)};
  snapshot.state.assign(start_.bytes().begin(), start_.bytes().end());
  start(m, 0, snapshot);
}

const WorldState& SimulatedSession::view(std::size_t machine) const {
  const Machine& m = machines_[machine];
  return m.loosely ? m.loose : m.runner->now();
}

// ------------------------------------------------------------------------------------------------ time

void SimulatedSession::run_until(double time) {
  while (true) {
    std::size_t next = 0;
    for (std::size_t i = 1; i < machines_.size(); ++i)
      if (machines_[i].next_poll < machines_[next].next_poll) next = i;
    const double polled = machines_[next].next_poll, arrives = network_.next_time();
    if (std::min(polled, arrives) > time) break;
    now_ = std::max(now_, std::min(polled, arrives));
    if (arrives <= polled) {
      SimulatedNetwork::Datagram datagram;
      while (network_.receive(now_, datagram)) {
        Machine& machine = machines_[datagram.to];
        if (now_ >= machine.asleep_until) deliver(machine, datagram.from, datagram.bytes);
      }
    } else {
      Machine& machine = machines_[next];
      if (now_ < machine.asleep_until) {
        machine.next_poll = machine.asleep_until;
        continue;
      }
      poll(machine);
      const double due =
          machine.peer ? (machine.peer->next_poll() - machine.turned) / (1 + machine.drift) : now_ + 0.05;
      machine.next_poll = std::max(due, now_ + 1e-4) + random_.uniform(0, settings_.late_polls);
    }
  }
  now_ = std::max(now_, time);
}

void SimulatedSession::poll(Machine& machine) {
  if (!machine.peer) return poll_joining(machine);
  SharedPeer& peer = *machine.peer;
  const double clock = clock_of(machine);
  const Tick before = peer.now();
  const std::uint64_t waits = peer.statistics().waits;
  const MemberHands hands = sendable(hands_(machine.number, now_, view(machine.number)));
  std::vector<PeerRequest> requests;
  const bool took = peer.poll(clock, hands, requests);
  for (PeerRequest& request : requests) {
    carry_out(machine, request);
    if (!machine.peer) return;
  }
  settle(machine);
  if (peer.statistics().waits > waits) machine.statistics.waited += settings_.peer.rollback.tick_seconds;
  if (peer.statistics().last_rollback > 0)
    machine.statistics.rollbacks.push_back(static_cast<std::uint32_t>(peer.statistics().last_rollback));
  if (took && hands.hand.present) {
    ++machine.statistics.own_inputs;
    const HandRecord& own = view(machine.number).hands()[peer.self()];
    if (own.present == 0 || !(own.pose.position == hands.hand.pose.position)) ++machine.statistics.own_inputs_late;
  }
  if (on_tick && peer.now() > before) on_tick(machine.number, peer.now(), view(machine.number));
  send_snapshots(machine);
  search_former(machine);
  if (peer.is_done(clock)) forget(machine);
}

void SimulatedSession::carry_out(Machine& machine, PeerRequest& request) {
  if (const auto* load = std::get_if<LoadState>(&request)) {
    machine.runner->carry_out(*load);
  } else if (auto* advance = std::get_if<AdvanceState>(&request)) {
    if (settings_.broken == machine.number && advance->tick % 100 == 0) advance->inputs.hands[0] = {};
    machine.runner->carry_out(*advance);
  } else if (const auto* save = std::get_if<SaveState>(&request)) {
    machine.runner->carry_out(*save);
  } else if (const auto* confirm = std::get_if<ConfirmTick>(&request)) {
    machine.runner->carry_out(*confirm);
    confirmed(machine, *confirm);
  } else if (const auto* loosely = std::get_if<AdvanceLoosely>(&request)) {
    if (!std::exchange(machine.loosely, true)) machine.loose = machine.runner->objective_state();
    step_shared(*model_, start_, machine.loose, loosely->inputs, loose_scratch_);
  } else if (auto* message = std::get_if<SendMessage>(&request)) {
    const std::optional<Route>& route = machine.routes[message->to];
    if (!route) return;
    std::vector<std::byte> bytes;
    ByteWriter out(bytes);
    out.number(Packet::message);
    out.number(machine.incarnation);
    out.number(route->incarnation);
    machine.statistics.bytes_sent += message->bytes.size() + k_around;
    ++machine.statistics.messages_sent;
    out.raw(message->bytes);
    send(machine, route->machine, std::move(bytes));
  } else if (const auto* connect = std::get_if<ConnectMember>(&request)) {
    const Route route = route_of(connect->introduction);
    machine.routes[connect->member] = route;
    // Whoever is back is not missed any more.
    for (const std::string& former : std::vector(machine.peer->former()))
      if (route_of(former).machine == route.machine) machine.peer->forget_former(former);
    for (Newcomer& newcomer : machine.newcomers)
      if (newcomer.member == connect->member) newcomer.admitted = true;
  } else if (const auto* disconnect = std::get_if<DisconnectMember>(&request)) {
    machine.routes[disconnect->member].reset();
  } else if (const auto* again = std::get_if<JoinAgain>(&request)) {
    ++machine.statistics.losses;
    machine.statistics.abandoned += machine.unsettled.size();
    const std::uint32_t contact = again->introduction.empty() ? 0 : route_of(again->introduction).machine;
    join(machine.number);
    machine.contact = contact;
  } else if (const auto* fetch = std::get_if<FetchSnapshot>(&request)) {
    const std::optional<Route>& route = machine.routes[fetch->from];
    if (!route) return;
    std::vector<std::byte> bytes;
    ByteWriter out(bytes);
    out.number(Packet::fetch);
    out.number(machine.incarnation);
    out.number(machine.peer->objective());
    machine.fetching = true;
    send(machine, route->machine, std::move(bytes));
  } else if (const auto* notice = std::get_if<SessionNotice>(&request)) {
    if (notice->kind == SessionNotice::Kind::desync) ++machine.statistics.desyncs;
    if (notice->kind == SessionNotice::Kind::healed) ++machine.statistics.heals;
    if (notice->kind == SessionNotice::Kind::synchronised) machine.loosely = false;
    if (notice->kind == SessionNotice::Kind::branched) machine.unsettled.branch_off(machine.peer->branch());
    if (on_notice) on_notice(machine.number, *notice);
  }
}

// ------------------------------------------------------------------------------------------------ what is agreed on

void SimulatedSession::confirmed(Machine& machine, const ConfirmTick& confirm) {
  const Tick tick = confirm.tick + 1;
  const std::uint64_t hash = machine.runner->saved(tick).hash();
  ++machine.statistics.confirmed;
  if (tick % settings_.peer.hash_every == 0) machine.peer->set_hash(tick, hash);
  machine.log[static_cast<std::size_t>(tick) % k_log] = {tick, hash};
  machine.unsettled.add({.tick = tick, .hash = hash});
  compare(machine, tick, hash);
  if (tick > history_tick_) {
    history_tick_ = tick;
    history_ = Random(history_ ^ hash).bits();
  }
}

void SimulatedSession::settle(Machine& machine) {
  machine.unsettled.settle(machine.peer->agreed(), [&](const AgreedTick& state) {
    std::vector<std::uint64_t>& known = agreed_[{machine.session, state.branch}];
    ++machine.statistics.agreed;
    const auto index = static_cast<std::size_t>(state.tick);
    if (index >= known.size()) known.resize(index + 1);
    if (known[index] == 0) known[index] = state.hash;
    if (known[index] != state.hash && overruled_++ == 0)
      first_overruled_ = "tick " + std::to_string(state.tick) + " at machine " + std::to_string(machine.number) +
                         ", branch " + hex(state.branch) + ", at " + std::to_string(now_) + " s";
  });
}

void SimulatedSession::compare(Machine& machine, Tick tick, std::uint64_t hash) {
  for (const Machine& other : machines_) {
    if (!other.peer || other.number == machine.number || other.fetching || machine.fetching) continue;
    const SharedPeer &a = *machine.peer, &b = *other.peer;
    const auto knows = [](const Machine& who, const SharedPeer& peer, const Machine& whom, const SharedPeer& them) {
      const std::optional<Route>& route = who.routes[them.self()];
      return peer.is_active(them.self()) && route && route->machine == whom.number &&
             route->incarnation == whom.incarnation;
    };
    if (!knows(machine, a, other, b) || !knows(other, b, machine, a)) continue;
    const Confirmed& theirs = other.log[static_cast<std::size_t>(tick) % k_log];
    if (theirs.tick != tick || theirs.hash == hash) continue;
    if (mismatches_++ == 0)
      first_mismatch_ = "tick " + std::to_string(tick) + " of machines " + std::to_string(machine.number) + " and " +
                        std::to_string(other.number) + " at " + std::to_string(now_) + " s";
  }
}

// ------------------------------------------------------------------------------------------------ joining

void SimulatedSession::start(Machine& machine, MemberId self, const ObjectiveSnapshot& snapshot) {
  WorldState state(*model_);
  if (!state.restore(snapshot.state)) return;
  machine.peer.emplace(settings_.peer, self, snapshot, clock_of(machine));
  machine.runner = std::make_unique<WorldRunner>(model_, state, snapshot.tick);
  machine.loosely = false;
  machine.joining = false;
  machine.unsettled.begin(snapshot.branch);
  machine.routes = {};
  machine.newcomers.clear();
  machine.fetching = false;
  std::fill(machine.log.begin(), machine.log.end(), Confirmed{});
  machine.next_poll = now_;
  ++machine.statistics.joins;
  for (MemberId m = 0; m < k_most_members; ++m) {
    if (!snapshot.members[m]) continue;
    PeerRequest connect = ConnectMember{m, snapshot.members[m]->introduction};
    carry_out(machine, connect);
  }
}

void SimulatedSession::forget(Machine& machine) {
  machine.peer.reset();
  machine.runner.reset();
  machine.joining = false;
}

void SimulatedSession::crash(std::size_t machine) {
  forget(machines_[machine]);
}

void SimulatedSession::leave(std::size_t machine) {
  if (machines_[machine].peer) machines_[machine].peer->leave();
}

void SimulatedSession::join(std::size_t machine) {
  Machine& m = machines_[machine];
  forget(m);
  ++m.incarnation;
  m.joining = true;
  m.asked = -1;
  m.contact = 0;
}

void SimulatedSession::pause(std::size_t machine, double seconds) {
  machines_[machine].asleep_until = now_ + seconds;
}

void SimulatedSession::turn_clock(std::size_t machine, double seconds) {
  machines_[machine].turned += seconds;
}

void SimulatedSession::damage(std::size_t machine) {
  machines_[machine].runner->damage();
}

void SimulatedSession::poll_joining(Machine& machine) {
  if (!machine.joining || now_ < machine.asked + k_ask_again) return;
  // Whoever is asked may be gone: try the others in turn.
  const bool first = machine.asked < 0;
  machine.asked = now_;
  if (!first || machine.contact == machine.number)
    machine.contact = static_cast<std::uint32_t>((machine.contact + 1) % machines_.size());
  if (machine.contact == machine.number)
    machine.contact = static_cast<std::uint32_t>((machine.contact + 1) % machines_.size());
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  out.number(Packet::ask);
  out.number(machine.incarnation);
  send(machine, machine.contact, std::move(bytes));
}

std::vector<std::byte> SimulatedSession::snapshot_of(const Machine& machine, Tick latest) const {
  ObjectiveSnapshot snapshot = machine.peer->snapshot();
  snapshot.tick = std::min(snapshot.tick, latest);
  const std::span<const std::byte> state = machine.runner->saved(snapshot.tick).bytes();
  snapshot.state.assign(state.begin(), state.end());
  return encode_snapshot(snapshot);
}

// To newcomers who are in the roll by now, until they are heard.
void SimulatedSession::send_snapshots(Machine& machine) {
  std::erase_if(machine.newcomers, [&](const Newcomer& n) {
    const PeerLink* link = machine.peer->link(n.member);
    return n.admitted && (link == nullptr || link->has_echo());
  });
  for (Newcomer& newcomer : machine.newcomers) {
    if (!newcomer.admitted || now_ < newcomer.told + k_tell_again) continue;
    newcomer.told = now_;
    std::vector<std::byte> bytes;
    ByteWriter out(bytes);
    out.number(Packet::snapshot);
    out.number(newcomer.member);
    out.number(newcomer.who.incarnation);
    out.raw(snapshot_of(machine, k_never));
    send(machine, newcomer.who.machine, std::move(bytes));
  }
}

SimulatedSession::Route SimulatedSession::route_of(const std::string& introduction) {
  return {static_cast<std::uint32_t>(std::stoul(introduction)),
          static_cast<std::uint32_t>(std::stoul(introduction.substr(introduction.find(' '))))};
}

void SimulatedSession::search_former(Machine& machine) {
  if (now_ < machine.searched + k_search_again) return;
  machine.searched = now_;
  for (const std::string& introduction : machine.peer->former()) tell_rank(machine, route_of(introduction).machine);
}

void SimulatedSession::tell_rank(Machine& machine, std::uint32_t to) {
  const SessionRank rank = machine.peer->rank();
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  out.number(Packet::rank);
  out.number(rank.size_byte());
  out.number(rank.lowest);
  out.text(rank.keeper);
  send(machine, to, std::move(bytes));
}

void SimulatedSession::send(Machine& from, std::uint32_t to, std::vector<std::byte> bytes) {
  // Sealed datagrams that were altered on the way are never opened: a checksum stands for that.
  const std::uint64_t sum = hash_bytes(bytes);
  ByteWriter(bytes).number(sum);
  network_.send(now_, from.number, to, bytes);
}

void SimulatedSession::deliver(Machine& machine, std::uint32_t from, std::span<const std::byte> bytes) {
  if (bytes.size() < 8) return;
  std::uint64_t sum = 0;
  std::memcpy(&sum, bytes.data() + bytes.size() - 8, 8);
  bytes = bytes.first(bytes.size() - 8);
  if (hash_bytes(bytes) != sum) return;
  ByteReader in(bytes);
  const auto packet = static_cast<Packet>(in.number<std::uint8_t>());
  if (packet == Packet::message) {
    const auto theirs = in.number<std::uint32_t>(), ours = in.number<std::uint32_t>();
    if (!in.ok() || !machine.peer || ours != machine.incarnation) return;
    for (MemberId m = 0; m < k_most_members; ++m)
      if (machine.routes[m] && machine.routes[m]->machine == from && machine.routes[m]->incarnation == theirs &&
          m != machine.peer->self())
        return machine.peer->receive(clock_of(machine), m, in.rest());
  } else if (packet == Packet::ask) {
    const auto incarnation = in.number<std::uint32_t>();
    if (!machine.peer) return;
    if (!machine.peer->is_keeper()) {
      const std::optional<Route>& keeper = machine.routes[machine.peer->keeper()];
      if (!keeper || machine.peer->is_cut_off()) return;
      std::vector<std::byte> answer;
      ByteWriter out(answer);
      out.number(Packet::redirect);
      out.number(keeper->machine);
      return send(machine, from, std::move(answer));
    }
    for (const Newcomer& known : machine.newcomers)
      if (known.who.machine == from && known.who.incarnation == incarnation) return;
    // Asked long ago, and in by now.
    for (MemberId m = 0; m < k_most_members; ++m)
      if (machine.peer->is_member(m) && machine.routes[m] && machine.routes[m]->machine == from &&
          machine.routes[m]->incarnation == incarnation)
        return;
    const auto member = machine.peer->admit(introduction_of(from, incarnation), false);
    if (member) machine.newcomers.push_back({{from, incarnation}, *member, false, -1});
  } else if (packet == Packet::redirect) {
    const auto keeper = in.number<std::uint32_t>();
    if (!machine.joining || keeper >= machines_.size() || keeper == machine.number) return;
    machine.contact = keeper;
    std::vector<std::byte> bytes_out;
    ByteWriter out(bytes_out);
    out.number(Packet::ask);
    out.number(machine.incarnation);
    send(machine, keeper, std::move(bytes_out));
  } else if (packet == Packet::snapshot) {
    const auto member = in.number<std::uint8_t>();
    const auto incarnation = in.number<std::uint32_t>();
    if (!machine.joining || incarnation != machine.incarnation || member >= k_most_members) return;
    machine.session = machines_[from].session;
    if (const auto snapshot = decode_snapshot(in.rest())) start(machine, member, *snapshot);
  } else if (packet == Packet::rank) {
    SessionRank theirs;
    theirs.set_size(in.number<std::uint8_t>());
    theirs.lowest = in.number<std::uint8_t>();
    theirs.keeper = in.text(64);
    if (!machine.peer) return;
    for (MemberId m = 0; m < k_most_members; ++m)
      if (machine.peer->is_active(m) && machine.routes[m] && machine.routes[m]->machine == from) return;
    if (!machine.peer->met(theirs) && machine.peer->rank().outranks(theirs) && now_ > machine.searched + 0.5)
      tell_rank(machine, from);
  } else if (packet == Packet::fetch) {
    const auto incarnation = in.number<std::uint32_t>();
    const auto latest = in.number<Tick>();
    if (!machine.peer || machine.fetching || latest < machine.peer->now() - Rollback::k_widest_window + 1) return;
    std::vector<std::byte> answer;
    ByteWriter out(answer);
    out.number(Packet::healing);
    out.number(incarnation);
    out.raw(snapshot_of(machine, latest));
    send(machine, from, std::move(answer));
  } else if (packet == Packet::healing) {
    const auto incarnation = in.number<std::uint32_t>();
    if (!machine.peer || !machine.fetching || incarnation != machine.incarnation) return;
    const auto snapshot = decode_snapshot(in.rest());
    WorldState state(*model_);
    std::vector<PeerRequest> requests;
    if (!snapshot || !state.restore(snapshot->state) || !machine.peer->heal(*snapshot, requests)) return;
    machine.statistics.difference = first_difference(*model_, machine.runner->saved(snapshot->tick), state);
    machine.runner->restart(state, snapshot->tick);
    machine.unsettled.heal(snapshot->tick);
    machine.fetching = false;
    for (PeerRequest& request : requests) carry_out(machine, request);
  }
}

}  // namespace cotouch

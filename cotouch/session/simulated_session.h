// A whole shared session in one process, in simulated time: machines with clocks of their own, joined by bad networks,
// each running the real SharedPeer on a real world. The same seed gives the same run, to the bit, on every machine.
// Experiments, tests and the search for faults use it.
//
// Machine 0 hosts. Every objective state is compared with those of all machines that take part in the same session at
// that moment; a difference is counted as a mismatch, which must never happen. Every state that is called agreed is
// compared with what any machine ever called agreed before, on the same branch or on none; a difference is counted as
// overruled, which must never happen either.
#pragma once

#include <cotouch/base/random.h>
#include <cotouch/net/simulated_network.h>
#include <cotouch/session/shared_peer.h>
#include <cotouch/session/unsettled_ticks.h>
#include <cotouch/session/world_runner.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cotouch {

struct SimulationSettings {
  PeerSettings peer;
  NetworkProfile network;
  std::size_t machines = 2;  // all but the first begin to join at once
  std::uint64_t seed = 1;
  double clock_drift = 50e-6;  // largest error of a machine's clock rate
  double late_polls = 0.001;   // seconds that a machine may be late to do what is due
  // For tests of the comparison itself: this machine's world misses what member 0 does in one tick of a hundred.
  std::optional<std::size_t> broken = {};
};

class SimulatedSession {
 public:
  // What a machine's hands do, given its own view of the world.
  using Hands = std::function<MemberHands(std::size_t machine, double now, const WorldState& view)>;

  struct MachineStatistics {
    std::uint64_t bytes_sent = 0, messages_sent = 0;  // with all that is put around a message: seal, UDP and IPv4
    std::vector<std::uint32_t> rollbacks;             // ticks replayed, each time
    std::uint64_t confirmed = 0, agreed = 0;
    std::uint64_t abandoned = 0;  // confirmed, and not agreed when the machine joined another part
    std::uint64_t own_inputs = 0, own_inputs_late = 0;  // not in the own view at the next tick
    std::uint64_t joins = 0, losses = 0, desyncs = 0, heals = 0;
    double waited = 0;       // seconds with a full window
    std::string difference;  // the first field that differed when it was healed last
  };

  SimulatedSession(std::shared_ptr<const WorldModel> model, const SimulationSettings& settings, Hands hands);

  double now() const { return now_; }
  void run_until(double time);

  // Faults and people who come and go.
  void crash(std::size_t machine);                  // without a word
  void leave(std::size_t machine);                  // orderly
  void host(std::size_t machine);                   // a session of its own
  void join(std::size_t machine);                   // anew, with nothing but the address of a machine that takes part
  void pause(std::size_t machine, double seconds);  // a laptop that sleeps
  void turn_clock(std::size_t machine, double seconds);  // forward, or back if negative
  // Changes a bit of this machine's world, as a broken memory would.
  void damage(std::size_t machine);
  SimulatedNetwork& network() { return network_; }

  std::size_t machines() const { return machines_.size(); }
  bool takes_part(std::size_t machine) const { return machines_[machine].peer.has_value(); }
  SharedPeer& peer(std::size_t machine) { return *machines_[machine].peer; }
  const WorldRunner& runner(std::size_t machine) const { return *machines_[machine].runner; }
  // What the machine's user sees: the subjective state, or the loose one while synchronisation is off.
  const WorldState& view(std::size_t machine) const;
  const MachineStatistics& statistics(std::size_t machine) const { return machines_[machine].statistics; }
  std::uint64_t mismatches() const { return mismatches_; }
  const std::string& first_mismatch() const { return first_mismatch_; }
  std::uint64_t overruled() const { return overruled_; }
  const std::string& first_overruled() const { return first_overruled_; }
  // A hash of all that was agreed on so far, for comparing whole runs.
  std::uint64_t history() const { return history_; }

  // Called after each tick of a machine with its view: the state before `tick`.
  std::function<void(std::size_t machine, Tick tick, const WorldState& view)> on_tick;
  std::function<void(std::size_t machine, const SessionNotice& notice)> on_notice;

 private:
  struct Route {
    std::uint32_t machine = 0, incarnation = 0;
  };
  struct Confirmed {
    Tick tick = -1;
    std::uint64_t hash = 0;
  };
  struct Newcomer {
    Route who;
    MemberId member = 0;
    bool admitted = false;
    double told = -1;
  };
  struct Machine {
    std::uint32_t number = 0, incarnation = 0;
    double drift = 0, turned = 0, asleep_until = -1, next_poll = 0;
    std::optional<SharedPeer> peer;
    std::unique_ptr<WorldRunner> runner;
    WorldState loose;
    bool loosely = false;
    std::array<std::optional<Route>, k_most_members> routes;
    bool joining = false;
    std::uint32_t contact = 0;
    double asked = -1;
    std::vector<Newcomer> newcomers;
    std::vector<Confirmed> log;  // a ring
    UnsettledTicks unsettled;
    std::uint32_t session = 0;
    bool fetching = false;
    double searched = 0;
    MachineStatistics statistics;
  };
  double clock_of(const Machine& machine) const { return now_ * (1 + machine.drift) + machine.turned; }
  void poll(Machine& machine);
  void poll_joining(Machine& machine);
  void carry_out(Machine& machine, PeerRequest& request);
  void confirmed(Machine& machine, const ConfirmTick& tick);
  void compare(Machine& machine, Tick tick, std::uint64_t hash);
  void settle(Machine& machine);
  void deliver(Machine& machine, std::uint32_t from, std::span<const std::byte> bytes);
  void start(Machine& machine, MemberId self, const ObjectiveSnapshot& snapshot);
  void send(Machine& from, std::uint32_t to, std::vector<std::byte> bytes);
  void send_snapshots(Machine& machine);
  void search_former(Machine& machine);
  void tell_rank(Machine& machine, std::uint32_t to);
  static Route route_of(const std::string& introduction);
  std::vector<std::byte> snapshot_of(const Machine& machine, Tick latest) const;
  void forget(Machine& machine);

  std::shared_ptr<const WorldModel> model_;
  SimulationSettings settings_;
  Hands hands_;
  Random random_;
  SimulatedNetwork network_;
  std::vector<Machine> machines_;
  WorldState start_;
  StepScratch loose_scratch_;
  double now_ = 0;
  std::uint64_t mismatches_ = 0, overruled_ = 0, history_ = 0;
  Tick history_tick_ = 0;
  std::string first_mismatch_, first_overruled_;
  std::uint32_t sessions_ = 0;  // that were hosted
  // What was ever called agreed in a session and a branch of it: the hash before each tick, 0 if there is none.
  std::map<std::pair<std::uint32_t, BranchId>, std::vector<std::uint64_t>> agreed_;
};

}  // namespace cotouch

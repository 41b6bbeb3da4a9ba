// One member of a shared session (paper 004, section 3): a pure object without clock, sockets or world. Time and
// messages come in; what is to be simulated and sent comes out as requests, in order. The real loop and the simulation
// drive it alike.
//
// Every member sends its inputs to every other one. A tick is objective here once all inputs of it are known. The world
// goes at most a window of ticks beyond that; then it waits. A tick is agreed once everybody who takes part has told
// that it is objective there: what is objective here only may still be overruled if the others drop this member.
//
// Who takes part. The keeper, the lowest member that takes part, admits newcomers by an event in its inputs, so that
// everybody learns of them at the same tick. Whoever leaves says so in its last input. If a member that the others wait
// for brings no new input for `patience` seconds, the lowest of the others proposes to drop it: all of them promise to
// take no more from it and tell how far they know it; then it is decided that its inputs end at the last one that any
// of them knows. So they change no tick that one of them called objective, and no agreed one, whoever they are. If
// those who agree are not the larger half (or the half with the lowest member), they wait `patience_alone` seconds
// before they go on without the rest, as a branch. When two parts that went on without each other meet again, the
// branch (of two the smaller one, or the one without the lowest member) joins the other anew. docs/protocol.md has the
// argument.
#pragma once

#include <cotouch/session/peer_message.h>
#include <cotouch/session/rollback.h>
#include <cotouch/session/tick_clock.h>

#include <deque>
#include <map>
#include <string>

namespace cotouch {

struct PeerSettings {
  RollbackSettings rollback;
  double patience = 3;         // seconds
  double patience_alone = 10;  // seconds
  Tick hash_every = 64;        // ticks between hashes that are compared
};

// A message for another member.
struct SendMessage {
  MemberId to = 0;
  std::vector<std::byte> bytes;
};
// This member can be talked to from now on.
struct ConnectMember {
  MemberId member = 0;
  std::string introduction;
};
// It will not be talked to any more.
struct DisconnectMember {
  MemberId member = 0;
};
// The others went on without us: ask to join them again, best where `introduction` leads.
struct JoinAgain {
  std::string introduction;
};
// Our state is not what most of the others have: ask `from` for an objective snapshot and give it to heal().
struct FetchSnapshot {
  MemberId from = 0;
  Tick tick = 0;  // at which the states differ
};
// With synchronisation off: a tick of the world in which inputs count when they arrive.
struct AdvanceLoosely {
  TickInputs inputs;
};
// For people and for the journal.
struct SessionNotice {
  enum class Kind : std::uint8_t {
    joined,
    left,
    dropped,
    said,
    marked,
    unmarked,
    synchronised,
    desync,
    healed,
    branched,  // what is confirmed from now on is of branch(); `tick`: agreed()
  };
  Kind kind = Kind::joined;
  Tick tick = 0;
  MemberId member = 0;
  SessionEvent event;
};

using PeerRequest = std::variant<LoadState, AdvanceState, SaveState, ConfirmTick, AdvanceLoosely, SendMessage,
                                 ConnectMember, DisconnectMember, JoinAgain, FetchSnapshot, SessionNotice>;

struct PeerStatistics {
  std::uint64_t rollbacks = 0, replayed_ticks = 0, ticks = 0, waits = 0;
  std::uint64_t dropped_messages = 0;  // that were none, or from nobody
  std::uint64_t repairs = 0;           // runs of inputs sent again
  Tick last_rollback = 0;              // ticks replayed by the last poll
  std::uint64_t desyncs = 0;
};

class SharedPeer {
 public:
  // Goes on from a snapshot in which `self` is a member. `now` is any clock, seconds; if it goes back, time stands
  // still.
  SharedPeer(const PeerSettings& settings, MemberId self, const ObjectiveSnapshot& snapshot, double now);

  // What arrived from another member. Never throws; what makes no sense is counted and dropped.
  void receive(double now, MemberId from, std::span<const std::byte> message);

  // Does what is due and appends what is to be done, in order. `hands` is what this member's hands do now; returns
  // whether a tick took it (actions must then not be given again).
  bool poll(double now, const MemberHands& hands, std::vector<PeerRequest>& requests);
  // When poll() should be called again at the latest.
  double next_poll() const { return clock_.next() - set_back_; }

  // Goes out with the next tick. False if too much is waiting already.
  bool announce(SessionEvent event);
  // For the keeper: number of the newcomer, if there is room. SessionNotice joined says when a snapshot that contains
  // it can be made.
  std::optional<MemberId> admit(const std::string& introduction, bool observer);
  // The last tick is the next one; is_done() once the others know, or after a second.
  void leave();
  bool is_done(double now) const;

  // The hash of the objective state before `tick`, for those multiples of hash_every that were confirmed.
  void set_hash(Tick tick, std::uint64_t hash);
  // An objective snapshot from another member; false if it does not reach back to it.
  bool heal(const ObjectiveSnapshot& snapshot, std::vector<PeerRequest>& requests);

  // Those who were dropped may have gone on, in a session that has the same beginning. Whoever owns this asks them now
  // and then how they stand, tells them rank(), and calls this with their answer: true if they go on and we join them.
  const std::vector<std::string>& former() const { return former_; }
  void forget_former(const std::string& introduction) { std::erase(former_, introduction); }
  SessionRank rank() const;
  bool met(const SessionRank& other);

  // Who takes part and what stands, without the world's state.
  ObjectiveSnapshot snapshot() const;

  // Hands that this member may lead, bit n for hand n: its own, and those that nobody else has or is about to have.
  std::uint32_t usable_hands() const;
  // Who leads each hand in the newest tick of the view.
  HandLeaders leaders() const;

  MemberId self() const { return self_; }
  Tick now() const { return rollback_.now(); }
  Tick objective() const { return rollback_.objective(); }
  // Ticks before this one are the same for everybody for ever: on the session's line, or on this branch of it.
  Tick agreed() const { return agreed_; }
  BranchId branch() const { return branch_; }
  const RollbackSettings& rollback_settings() const { return settings_.rollback; }
  bool is_member(MemberId member) const { return member < k_most_members && members_[member].has_value(); }
  // Takes part, and nobody has decided or heard that it ends.
  bool is_active(MemberId member) const { return (active_members() >> member & 1U) != 0; }
  const std::optional<Member>& member(MemberId member) const { return members_[member]; }
  const PeerLink* link(MemberId member) const { return links_[member] ? &links_[member]->link : nullptr; }
  // Ticks that the own clock was ahead of this member's when its newest tick began; 0 if that is not known.
  double lead_of(MemberId member) const;
  MemberId keeper() const;
  bool is_keeper() const { return keeper() == self_; }
  bool synchronised() const { return synchronised_; }
  const std::vector<SessionMark>& marks() const { return marks_; }
  // The world waits for these; bit m for member m.
  std::uint32_t waiting_for() const { return rollback_.is_full() ? rollback_.awaited() : 0; }
  bool is_cut_off() const { return cut_off_; }
  bool is_lost() const { return lost_; }
  const PeerStatistics& statistics() const { return statistics_; }
  // The newest that another member said of its view.
  const std::optional<ViewMessage>& view_of(MemberId member) const { return views_[member]; }
  // Tells the others where a body is in this view.
  void show_view(const ViewMessage& view, std::vector<PeerRequest>& requests);

 private:
  // Nobody honest is further ahead; one lie must not use up all numbers.
  static constexpr std::uint32_t k_round_jump = 1U << 16;
  static constexpr std::size_t k_most_queued = 512;
  static constexpr std::size_t k_around_event = 32;  // bytes beside its text, at most
  static constexpr std::size_t k_told_hashes = 4;    // of each member
  static constexpr std::uint32_t k_kept_sends = 16;  // a power of two, because their number wraps
  struct Linked {
    Linked(double now, double tick_seconds) : link(now, tick_seconds), progress(now) {}
    PeerLink link;
    Tick have = -1;           // of our inputs, all before this one are known there
    Tick objective = 0;       // theirs, as far as they told it to us
    Tick told_objective = 0;  // ours, as far as we told it to them
    struct Repair {
      Tick next = 0, end = 0;  // what of our inputs is sent again
      int copies = 0;          // still to be sent, with the present one
      double sent = -1;
    } repair;
    double progress;                // when its stream last grew
    double told = -1, probed = -1;  // when we last sent a decision, a probe
    Ballot decided;
    std::array<StateHash, k_told_hashes> hashes;  // the newest it has told
    Tick compared = 0;                            // with ours
    bool differs = false;                         // from ours, when it was compared last
    bool former = false;                          // dropped; perhaps it comes back
    int refusals = 0;                             // of our proposals, since the last decision
    double filled = -1;                           // when it was last given inputs of others
  };
  struct Proposal {
    ProposeMessage message;
    std::uint32_t dropped = 0, asked = 0, promised = 0;
    std::uint32_t owing = 0;  // say that they know inputs which they have not given us
    double started = 0, sent = -1;
    std::array<std::vector<StreamEnd>, k_most_members> answers;
  };

  // shared_peer.cpp
  double steady(double now) const;
  void take(double now, MemberId from, const InputsMessage& message);
  void take(double now, MemberId from, const ViewMessage& message);
  void confirm_ticks(double now, std::vector<PeerRequest>& requests);
  void settle_ticks();
  void apply_events(double now, Tick tick, std::vector<PeerRequest>& requests);
  void apply(double now, Tick tick, MemberId by, const SessionEvent& event, std::vector<PeerRequest>& requests);
  void remove(MemberId member, bool dropped, Tick tick, std::vector<PeerRequest>& requests);
  enum class Ran : std::uint8_t { no, without_hand, with_hand };
  Ran run_tick(const MemberHands& hands, std::vector<PeerRequest>& requests);
  PeerInput own_input(const MemberHands& hands);
  TickInputs loose_inputs();
  std::optional<double> mean_lead(double now) const;
  std::optional<double> mean_distance_shown() const;
  template <class Known, class Lead>
  std::optional<double> mean_of_links(const Known& known, const Lead& lead) const;
  void compare_hashes(std::vector<PeerRequest>& requests);
  void settle_dispute(std::vector<PeerRequest>& requests);
  std::size_t hash_index(Tick tick) const {
    return static_cast<std::size_t>(tick / settings_.hash_every) % k_told_hashes;
  }

  // shared_peer_sending.cpp
  void send_inputs(double now, std::vector<PeerRequest>& requests);
  Tick repeated_from(Tick next, double loss) const;
  double overdue(const PeerLink& link) const;
  Tick plan_repair(double now, Linked& other, Tick newest) const;
  static InputRun run_of(const InputStream& stream, Tick first, Tick end);

  // shared_peer_membership.cpp
  void take(double now, MemberId from, const ProposeMessage& message);
  void take(double now, MemberId from, const PromiseMessage& message);
  void take(double now, MemberId from, const DecideMessage& message);
  void take(double now, MemberId from, const WantMessage& message);
  void take(double now, MemberId from, const FillMessage& message);
  void take(double now, MemberId from, const ProbeMessage& message);
  void notice_sleep(double now);
  void watch_members(double now);
  std::uint32_t suspects(double now) const;
  void pass_over(double now, MemberId proposer);
  void forgive_proposers();
  void propose(double now, std::uint32_t dropped);
  void follow_proposal(double now);
  void decide(double now, const DecideMessage& decision);
  void ask_for_gaps(double now);
  void probe_former(double now);
  std::vector<StreamEnd> ends_of(std::uint32_t members) const;
  std::uint32_t active_members() const;
  bool may_go_on(std::uint32_t remaining, double now) const;
  bool is_larger_part(std::uint32_t remaining) const;
  BranchId branch_after(const Ballot& ballot, std::uint32_t remaining) const;
  void lose(std::string introduction);
  std::string introduction_of(MemberId member) const { return members_[member] ? members_[member]->introduction : ""; }
  // Heard within the patience; to be asked rather than spoken for.
  bool is_heard(double now, MemberId member) const;
  bool may_propose(double now, MemberId proposer, std::uint32_t dropped) const;
  bool misses(double now, MemberId member) const;
  void yield(double now);
  bool is_believable(double now, MemberId from, const DecideMessage& message) const;
  // No input after this one can be known to anybody, because all wait for each other.
  Tick latest_end() const { return rollback_.now() + 2 * Rollback::k_widest_window; }
  bool is_near(const Ballot& ballot) const { return ballot.round <= highest_round_ + std::uint64_t{k_round_jump}; }
  void queue(MemberId to, std::vector<std::byte> bytes) {
    if (outbox_.size() < k_most_queued) outbox_.push_back({to, std::move(bytes)});
  }

  PeerSettings settings_;
  MemberId self_;
  Rollback rollback_;
  TickClock clock_;
  std::array<std::optional<Member>, k_most_members> members_;
  std::array<std::optional<Linked>, k_most_members> links_;
  std::array<std::optional<ViewMessage>, k_most_members> views_;
  std::array<Tick, k_most_members> loosely_seen_{};
  std::vector<SessionMark> marks_;
  bool synchronised_ = true;
  std::deque<SessionEvent> events_;
  std::uint32_t reserved_ = 0;  // numbers given to newcomers who are not members yet
  std::int64_t leaving_ = -1;   // the tick of our leave; -1: none
  bool leave_asked_ = false;
  double leave_asked_at_ = -1;

  Tick agreed_ = 0;
  BranchId branch_, told_branch_;
  Ballot promised_, decided_;
  double yields_until_ = -1;  // somebody else's proposal goes first
  std::uint32_t highest_round_ = 0;
  std::uint32_t frozen_ = 0;        // nothing is taken from these any more, but through others
  std::uint32_t passed_over_ = 0;   // should have proposed what had to be, and did not
  double waits_for_proposer_ = -1;  // since when; -1: for nobody
  MemberId awaited_proposer_ = 0;
  int proposed_again_ = 0;  // rounds that dropped nobody new
  std::optional<Proposal> proposal_;
  std::optional<DecideMessage> last_decision_;
  double asked_for_gaps_ = -1;
  bool cut_off_ = false, lost_ = false, told_lost_ = false;
  std::string join_via_;
  std::vector<std::string> former_;

  Tick events_until_ = 0;                 // events of ticks before this one have happened
  std::map<Tick, std::uint64_t> hashes_;  // own, of the newest comparisons
  int healed_in_a_row_ = 0;
  Tick disputed_ = 0;  // where somebody's hash was another; 0: nowhere
  double last_sent_ = -1;
  std::array<Tick, k_kept_sends> sent_next_{};  // the next own input when each of the newest messages was sent
  std::uint32_t sends_ = 0;
  double polled_ = -1;
  double ticked_ = -1;               // when the newest tick began
  double set_back_ = 0;              // seconds that the clock went back in all
  std::vector<SendMessage> outbox_;  // what receive() has to say, until the next poll
  PeerStatistics statistics_;
};

}  // namespace cotouch

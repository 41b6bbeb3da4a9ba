// How members agree on who is dropped, and what becomes of those who were.
#include <cotouch/session/shared_peer.h>

#include <cotouch/base/hash.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace cotouch {
namespace {

constexpr double k_repeat = 0.25;  // seconds between repetitions of what may have been lost
constexpr double k_probe_interval = 1;
constexpr Tick k_filled_at_once = 64;
constexpr int k_fills = 4;                // messages for one request
constexpr double k_fill_interval = 0.05;  // seconds between wishes of one member
constexpr int k_most_refusals = 6;
constexpr double k_asleep = 0.5;  // seconds without a poll
constexpr int k_slow = 3;         // times the patience: then whoever is heard but does not do its part is given up, too

std::uint32_t bit(MemberId member) {
  return 1U << member;
}

template <class Do>
void for_each(std::uint32_t members, const Do& what) {
  for (; members != 0; members &= members - 1) what(static_cast<MemberId>(std::countr_zero(members)));
}

std::uint32_t members_of(std::span<const StreamEnd> ends) {
  std::uint32_t members = 0;
  for (const StreamEnd& end : ends) members |= bit(end.member);
  return members;
}

// More than half of all, or half of them with the lowest: two such parts have somebody in common.
bool is_larger_half(std::uint32_t part, std::uint32_t all) {
  const int left = std::popcount(part & all), total = std::popcount(all);
  return 2 * left > total || (2 * left == total && (part & all & -all) != 0);
}

const StreamEnd* find(std::span<const StreamEnd> ends, MemberId member) {
  const auto found = std::find_if(ends.begin(), ends.end(), [&](const StreamEnd& e) { return e.member == member; });
  return found == ends.end() ? nullptr : &*found;
}

}  // namespace

std::vector<StreamEnd> SharedPeer::ends_of(std::uint32_t members) const {
  std::vector<StreamEnd> ends;
  for_each(members, [&](MemberId m) {
    const InputStream* stream = rollback_.stream(m);
    if (stream == nullptr) return ends.push_back({m, 0, false});
    ends.push_back({m, stream->next(), stream->is_over()});
  });
  return ends;
}

// The larger part goes on at once, the other waits: perhaps it is only cut off.
bool SharedPeer::may_go_on(std::uint32_t remaining, double now) const {
  if (is_larger_part(remaining)) return true;
  double heard = -1;
  for_each((active_members() | bit(self_)) & ~remaining, [&](MemberId m) {
    if (links_[m]) heard = std::max(heard, links_[m]->progress);
  });
  return now > heard + settings_.patience_alone;
}

// Can no others be the larger half as well? They may not know yet of newcomers whom we know, or know of more; so it has
// to be the larger half of those alone whose first tick is agreed, and again with each newcomer.
bool SharedPeer::is_larger_part(std::uint32_t remaining) const {
  std::vector<std::pair<Tick, MemberId>> newcomers;
  std::uint32_t all = 0;
  for_each(active_members() | bit(self_), [&](MemberId m) {
    const Tick first = members_[m] ? members_[m]->first : 0;
    if (first > agreed_)
      newcomers.emplace_back(first, m);
    else
      all |= bit(m);
  });
  std::sort(newcomers.begin(), newcomers.end());
  bool larger = all == 0 || is_larger_half(remaining, all);
  for (const auto& [first, newcomer] : newcomers) {
    all |= bit(newcomer);
    larger = larger && is_larger_half(remaining, all);
  }
  return larger;
}

// Of what those are part who go on without the rest. Every branch has another number.
BranchId SharedPeer::branch_after(const Ballot& ballot, std::uint32_t remaining) const {
  if (is_larger_part(remaining)) return branch_;
  Hasher hasher;
  hasher.add(branch_);
  hasher.add(ballot.round);
  hasher.add(ballot.proposer);
  hasher.add(std::string_view(introduction_of(ballot.proposer)));
  return std::max<BranchId>(1, hasher.digest());
}

// Those whom we wait for and who bring nothing new, and those who were given up already. While there are such, also
// those who say nothing at all: nobody may wait for them to propose or to promise something.
std::uint32_t SharedPeer::suspects(double now) const {
  const std::uint32_t active = active_members() & ~bit(self_);
  std::uint32_t found = frozen_ & active;
  for_each(rollback_.awaited() & active, [&](MemberId m) {
    if (links_[m] && now > links_[m]->progress + settings_.patience && rollback_.now() > rollback_.objective())
      found |= bit(m);
  });
  // An end was decided, but whoever knows the inputs before it is gone: an earlier one has to do.
  for_each(rollback_.awaited() & ~active & ~bit(self_), [&](MemberId m) {
    if (links_[m] && now > links_[m]->progress + k_slow * settings_.patience) found |= bit(m);
  });
  if (found != 0)
    for_each(active, [&](MemberId m) {
      if (links_[m] && now > links_[m]->link.last_heard() + settings_.patience) found |= bit(m);
    });
  if (proposal_ && now > proposal_->started + k_slow * settings_.patience)
    found |= ((proposal_->asked & ~proposal_->promised) | proposal_->owing) & active;
  for_each(active, [&](MemberId m) {
    if (links_[m] && links_[m]->refusals >= k_most_refusals) found |= bit(m);
  });
  if (found != 0) found |= passed_over_ & active;
  return found;
}

void SharedPeer::forgive_proposers() {
  passed_over_ = 0;
  waits_for_proposer_ = -1;
  proposed_again_ = 0;
}

// Whoever should propose and does not, or never gets it done, has no say in it any more, though it is heard. Before
// that it may itself have waited for one who promised nothing.
void SharedPeer::pass_over(double now, MemberId proposer) {
  if (proposer == self_ || cut_off_) {
    waits_for_proposer_ = -1;
  } else if (waits_for_proposer_ < 0 || std::exchange(awaited_proposer_, proposer) != proposer) {
    waits_for_proposer_ = now;
  } else if (now > waits_for_proposer_ + (k_slow + 1) * settings_.patience) {
    passed_over_ |= bit(proposer);
    waits_for_proposer_ = -1;
  }
}

// Whoever slept heard nobody, and must not blame the others for that.
void SharedPeer::notice_sleep(double now) {
  const double slept = polled_ < 0 ? 0 : now - polled_;
  polled_ = now;
  if (slept < k_asleep) return;
  waits_for_proposer_ = -1;
  for (std::optional<Linked>& other : links_) {
    if (!other) continue;
    other->progress = std::min(now, other->progress + slept);
    other->link.slept(now, slept);
  }
}

void SharedPeer::watch_members(double now) {
  const std::uint32_t suspected = suspects(now);
  cut_off_ = false;
  if (suspected == 0) {
    proposal_.reset();
    forgive_proposers();
  } else {
    const std::uint32_t remaining = (active_members() | bit(self_)) & ~suspected;
    cut_off_ = !may_go_on(remaining, now);
    const auto lowest = static_cast<MemberId>(std::countr_zero(remaining));
    pass_over(now, lowest);
    if (lowest != self_ || leaving_ >= 0)
      proposal_.reset();
    else if (now >= yields_until_ &&
             (!proposal_ || proposal_->dropped != suspected || promised_ > proposal_->message.ballot))
      propose(now, suspected);
    if (proposal_) follow_proposal(now);
  }
  ask_for_gaps(now);
  probe_former(now);
  // Whoever shows an older decision has not heard of the newest.
  if (last_decision_)
    for (MemberId m = 0; m < k_most_members; ++m) {
      if (!links_[m] || links_[m]->former || !is_member(m) || links_[m]->decided >= decided_) continue;
      if (now < links_[m]->told + k_repeat) continue;
      links_[m]->told = now;
      queue(m, write_message(*last_decision_));
    }
}

void SharedPeer::propose(double now, std::uint32_t dropped) {
  proposal_.emplace(Proposal{});
  proposal_->message.ballot = {std::max(highest_round_, promised_.round) + 1, self_};
  proposal_->dropped = dropped;
  proposal_->started = now;
  proposal_->asked = active_members() & ~dropped & ~bit(self_);
  highest_round_ = proposal_->message.ballot.round;
  promised_ = proposal_->message.ballot;
  frozen_ |= dropped;
  proposal_->message.ends = ends_of(dropped);
}

void SharedPeer::follow_proposal(double now) {
  Proposal& proposal = *proposal_;
  proposal.message.ends = ends_of(proposal.dropped);
  // Whoever leaves meanwhile is not asked any more.
  const std::uint32_t active = active_members(), missing = proposal.asked & ~proposal.promised & active;
  if (missing != 0) {
    if (now < proposal.sent + k_repeat) return;
    proposal.sent = now;
    for_each(missing, [&](MemberId m) { queue(m, write_message(proposal.message)); });
    return;
  }
  const std::uint32_t remaining = (active | bit(self_)) & ~proposal.dropped;
  if (!may_go_on(remaining, now)) return;
  // The last input that any of us knows is the end, unless an end was decided before.
  DecideMessage decision;
  decision.ballot = proposal.message.ballot;
  decision.branch = branch_after(decision.ballot, remaining);
  bool complete = true;
  proposal.owing = 0;
  for (StreamEnd end : proposal.message.ends) {
    MemberId knows = self_;
    for_each(proposal.promised & active, [&](MemberId m) {
      const StreamEnd* theirs = find(proposal.answers[m], end.member);
      if (theirs == nullptr || end.final) return;
      // Nobody can know so much, or have been told of an end before what we all agreed on.
      if (theirs->next > latest_end() || (theirs->final && theirs->next < rollback_.objective())) {
        proposal.owing |= bit(m);
        complete = false;
        return;
      }
      if (theirs->final || theirs->next > end.next) {
        end = *theirs;
        knows = m;
      }
    });
    const InputStream* stream = rollback_.stream(end.member);
    if (stream != nullptr && stream->next() < end.next) {
      complete = false;
      proposal.owing |= bit(knows);
      if (now >= asked_for_gaps_ + k_repeat) queue(knows, write_message(WantMessage{end.member, stream->next()}));
    }
    end.final = true;
    decision.ends.push_back(end);
  }
  if (!complete) {
    if (now >= asked_for_gaps_ + k_repeat) asked_for_gaps_ = now;
    return;
  }
  decide(now, decision);
}

void SharedPeer::decide(double now, const DecideMessage& decision) {
  // What has ended so already, or was of somebody who had the number before, changes nothing.
  const auto is_news = [&](const StreamEnd& end) {
    const InputStream* stream = rollback_.stream(end.member);
    return stream != nullptr && end.next >= stream->first() && !(stream->is_over() && stream->end() == end.next);
  };
  for (const StreamEnd& end : decision.ends)
    if (end.member == self_ || (is_news(end) && end.next < rollback_.objective()))
      return lose(introduction_of(decision.ballot.proposer));
  decided_ = promised_ = decision.ballot;
  branch_ = decision.branch;
  highest_round_ = std::max(highest_round_, decided_.round);
  last_decision_ = decision;
  for (const StreamEnd& end : decision.ends) {
    if (!is_news(end)) continue;
    rollback_.finish(end.member, end.next);
    frozen_ |= bit(end.member);
  }
  proposal_.reset();
  forgive_proposers();
  // Nobody was awaited for their own sake while this went on.
  for (std::optional<Linked>& other : links_)
    if (other) other->progress = std::max(other->progress, now), other->refusals = 0;
}

bool SharedPeer::is_heard(double now, MemberId member) const {
  return links_[member] && now < links_[member]->link.last_heard() + settings_.patience;
}

// Only the lowest of those who stay, as far as can be seen from here.
bool SharedPeer::may_propose(double now, MemberId proposer, std::uint32_t dropped) const {
  bool may = true;
  for_each(active_members() & ~dropped & (bit(proposer) - 1),
           [&](MemberId m) { may = may && m != self_ && !is_heard(now, m); });
  return may;
}

bool SharedPeer::misses(double now, MemberId member) const {
  return ((rollback_.awaited() | frozen_) >> member & 1U) != 0 || !is_heard(now, member);
}

// Two who propose against each other would never end: whoever was overtaken lets the other finish, the lowest the
// shortest time.
void SharedPeer::yield(double now) {
  proposal_.reset();
  yields_until_ = now + settings_.patience * (1 + self_ / 8.0);
}

// Whoever is dropped goes with those who are the larger part and on the same branch, and with nobody else: it may be
// one who hears nobody, or who lies, and most would follow. Whoever stays has promised it, or gives up the same
// members by itself, as a newcomer does whom the proposer did not know.
//
// What the proposer has decided it says itself, as long as it is heard; until then nobody else's word for it counts,
// unless we have promised.
bool SharedPeer::is_believable(double now, MemberId from, const DecideMessage& message) const {
  const MemberId proposer = message.ballot.proposer;
  const std::uint32_t dropped = members_of(message.ends), active = active_members();
  if ((dropped & bit(self_)) != 0) {
    if (message.branch != branch_ || !is_larger_part(active & ~dropped)) return false;
  } else if ((dropped & active & ~(frozen_ | suspects(now))) != 0) {
    return false;
  }
  if (from == proposer) return may_propose(now, from, dropped);
  if (proposer == self_) return false;
  if (message.ballot == promised_ || (links_[proposer] && links_[proposer]->decided >= message.ballot)) return true;
  return is_active(proposer) && !is_heard(now, proposer);
}

void SharedPeer::take(double now, MemberId from, const ProposeMessage& message) {
  const std::uint32_t dropped = members_of(message.ends);
  if (links_[from]->former || message.ballot.proposer != from || !is_near(message.ballot)) return;
  if (!may_propose(now, from, dropped)) return;
  highest_round_ = std::max(highest_round_, message.ballot.round);
  if ((dropped & bit(self_)) != 0) return;  // they will decide without us, and tell us then
  // Whoever misses the others alone has to go itself.
  bool missed = false;
  for_each(dropped, [&](MemberId m) { missed = missed || misses(now, m); });
  if (!missed) return;
  // Nobody follows somebody whom it has promised to drop, or decides about a time after its own leave: of two decisions
  // that have a member in common, the later one is then made by some of those who made the first.
  const bool may_promise = (frozen_ & bit(from)) == 0 && leaving_ < 0;
  if (message.ballot >= promised_ && !may_promise) return;
  PromiseMessage answer;
  answer.ballot = promised_;
  if (message.ballot >= promised_) {
    const std::uint32_t newly = dropped & active_members() & ~frozen_;
    // It does its part; but who proposes the same again and again is not refused so often.
    if (newly != 0) proposed_again_ = 0;
    if (message.ballot > promised_ && proposed_again_++ <= k_most_refusals) waits_for_proposer_ = -1;
    promised_ = answer.ballot = message.ballot;
    frozen_ |= newly;
    answer.ends = ends_of(dropped);
    if (proposal_ && proposal_->message.ballot < promised_) yield(now);
  }
  queue(from, write_message(answer));
}

void SharedPeer::take(double now, MemberId from, const PromiseMessage& message) {
  if (!proposal_ || !is_near(message.ballot) || (proposal_->asked & bit(from)) == 0) return;
  if (message.ballot > proposal_->message.ballot) {
    highest_round_ = std::max(highest_round_, message.ballot.round);
    ++links_[from]->refusals;
    yield(now);  // then again, in a later round, if there is still a reason
    promised_ = std::max(promised_, Ballot{message.ballot.round, 0});
    return;
  }
  if (message.ballot != proposal_->message.ballot) return;
  proposal_->promised |= bit(from);
  proposal_->answers[from] = message.ends;
}

void SharedPeer::take(double now, MemberId from, const DecideMessage& message) {
  if (links_[from]->former || message.ballot < promised_ || message.ballot <= decided_) return;
  if ((members_of(message.ends) & bit(from)) != 0 || !is_near(message.ballot)) return;
  if (!is_believable(now, from, message)) return;
  for (const StreamEnd& end : message.ends)
    if (end.next > latest_end()) return;
  decide(now, message);
}

void SharedPeer::take(double now, MemberId from, const WantMessage& message) {
  const InputStream* stream = rollback_.stream(message.member);
  if (stream == nullptr || now < links_[from]->filled + k_fill_interval) return;
  Tick first = message.first;
  for (int i = 0; i < k_fills && first < stream->next(); ++i) {
    InputRun run;
    run.first = first;
    for (Tick tick = first; tick < stream->next() && tick < first + k_filled_at_once; ++tick) {
      const PeerInput* input = stream->at(tick);
      if (input == nullptr) return;
      run.inputs.push_back(input);
    }
    std::size_t written = 0;
    queue(from, write_fill(message.member, run, &written));
    first += static_cast<Tick>(written);
    links_[from]->filled = now;
  }
}

void SharedPeer::take(double /*now*/, MemberId from, const FillMessage& message) {
  // Only of somebody who cannot be asked: whoever can speaks for itself.
  if (links_[from]->former || (frozen_ & bit(message.member)) == 0) return;
  for (std::size_t i = 0; i < message.block.inputs.size(); ++i)
    rollback_.receive(message.member, message.block.first + static_cast<Tick>(i), message.block.inputs[i]);
}

// Inputs of members that were dropped and that others still know.
void SharedPeer::ask_for_gaps(double now) {
  if (now < asked_for_gaps_ + k_repeat) return;
  for_each(rollback_.awaited(), [&](MemberId gone) {
    const InputStream* stream = rollback_.stream(gone);
    if (stream->end() == k_never) return;
    asked_for_gaps_ = now;
    for_each(active_members() & ~bit(self_), [&](MemberId m) {
      queue(m, write_message(WantMessage{gone, stream->next()}));
    });
  });
}

void SharedPeer::probe_former(double now) {
  for (MemberId m = 0; m < k_most_members; ++m) {
    if (!links_[m] || !links_[m]->former || now < links_[m]->probed + k_probe_interval) continue;
    links_[m]->probed = now;
    queue(m, write_message(ProbeMessage{decided_, rank()}));
  }
}

void SharedPeer::take(double now, MemberId from, const ProbeMessage& message) {
  if (links_[from]->former)
    met(message.rank);
  else if ((branch_ != 0 || !message.rank.branch) && message.decided > decided_ &&
           now > links_[from]->progress + settings_.patience)
    lose(message.rank.keeper);  // they dropped us while we were away, and send no more inputs; we never dropped them
}

SessionRank SharedPeer::rank() const {
  return {branch_ != 0, static_cast<std::uint8_t>(std::popcount(active_members())), keeper(),
          introduction_of(keeper())};
}

bool SharedPeer::met(const SessionRank& other) {
  if (!other.outranks(rank())) return false;
  lose(other.keeper);
  return true;
}

void SharedPeer::lose(std::string introduction) {
  lost_ = true;
  join_via_ = std::move(introduction);
}

}  // namespace cotouch

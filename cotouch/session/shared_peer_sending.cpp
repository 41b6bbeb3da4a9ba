// What a member sends to the others: its inputs, and those again that were lost.
#include <cotouch/session/shared_peer.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr double k_idle_interval = 0.03;                    // seconds between messages while the world waits
constexpr int k_fewest_repeated = 3, k_most_repeated = 10;  // messages that an input is in
constexpr Tick k_repaired_at_once = 48;
constexpr double k_soonest_repair = 0.03;       // seconds: the time that the repetitions take
constexpr std::size_t k_repaired_events = 400;  // bytes of them in one piece

// How many times each input must be sent, ticks after each other, so that all of them are lost once in ten thousand.
int repeats_for(double loss) {
  int count = k_fewest_repeated;
  double all_lost = loss * loss * loss;
  for (; all_lost > 1e-4 && count < k_most_repeated; ++count) all_lost *= loss;
  return count;
}

// The same for what is sent again: lost once in a hundred.
int copies_for(double loss) {
  int count = 1;
  for (double all_lost = loss; all_lost > 0.01 && count < 4; ++count) all_lost *= loss;
  return count;
}

}  // namespace

// The inputs from `first` on, as many as fit into a message beside the newest.
InputRun SharedPeer::run_of(const InputStream& stream, Tick first, Tick end) {
  InputRun run;
  run.first = first;
  std::size_t bytes = 0;
  for (Tick tick = first; tick < end; ++tick) {
    const PeerInput* input = stream.at(tick);
    if (input == nullptr) break;
    for (const SessionEvent& event : input->events) bytes += event.text.size() + k_around_event;
    if (bytes > k_repaired_events && !run.inputs.empty()) break;
    run.inputs.push_back(input);
  }
  return run;
}

void SharedPeer::send_inputs(double now, std::vector<PeerRequest>& requests) {
  const bool waits = rollback_.is_full();
  if (waits && now < last_sent_ + k_idle_interval) return;
  last_sent_ = now;
  const InputStream* own = rollback_.stream(self_);
  const Tick next = own == nullptr ? rollback_.now() : own->next();
  for (MemberId m = 0; m < k_most_members; ++m) {
    if (!links_[m] || links_[m]->former) continue;
    Linked& other = *links_[m];
    InputsMessage head;
    head.timing.sequence = other.link.next_sequence();
    head.timing.sent = stamp_of(now);
    head.timing.has_echo = other.link.has_echo();
    head.timing.echo = other.link.echo();
    head.timing.held = other.link.held(now);
    head.timing.loss = other.link.loss_byte();
    head.timing.their_tick = rollback_.now();
    // What is objective without somebody's newest inputs is not so for them.
    if ((frozen_ >> m & 1U) == 0) other.told_objective = rollback_.objective();
    head.objective = other.told_objective;
    const InputStream* theirs = rollback_.stream(m);
    head.have = theirs == nullptr ? 0 : theirs->next();
    head.decided = decided_;
    // Each hash a few times: one of them will arrive.
    if (!hashes_.empty() && rollback_.objective() - hashes_.rbegin()->first < settings_.hash_every / 2)
      head.hash = StateHash{hashes_.rbegin()->first, hashes_.rbegin()->second};
    std::vector<InputRun> runs;
    const Tick first =
        own == nullptr ? next : std::max({own->first(), repeated_from(next, other.link.loss_out()), other.have});
    if (first < next) runs.push_back(run_of(*own, first, next));
    bool repairs = false;
    if (own != nullptr && other.have >= 0) {
      const Tick end = plan_repair(now, other, first);
      const Tick from = std::max(other.have, other.repair.next);
      if (from < end && own->keeps(from)) {
        repairs = true;
        if (runs.empty()) runs.push_back({next, {}});  // nothing is new
        runs.push_back(run_of(*own, from, std::min(end, from + k_repaired_at_once)));
        ++statistics_.repairs;
      }
    }
    std::size_t sent_again = 0;
    requests.emplace_back(SendMessage{m, write_inputs_message(head, runs, &sent_again)});
    if (repairs) other.repair.next = runs.back().first + static_cast<Tick>(sent_again);
  }
  sent_next_[sends_++ % k_kept_sends] = next;
}

// Every input is in so many messages, also if several ticks were made up for between two of them.
Tick SharedPeer::repeated_from(Tick next, double loss) const {
  static_assert(k_most_repeated <= k_kept_sends);
  const int repeats = repeats_for(loss);
  const Tick earlier = sent_next_[(sends_ - static_cast<std::uint32_t>(repeats)) % k_kept_sends];
  return std::max(std::min(next - repeats, earlier), next - k_repaired_at_once);
}

// Seconds after which something should have been acknowledged. Half a window is the most, however slow the way seems:
// what is sent again should arrive before the world has to wait for it.
double SharedPeer::overdue(const PeerLink& link) const {
  const double latest = 0.5 * static_cast<double>(settings_.rollback.window) * settings_.rollback.tick_seconds;
  return std::clamp(1.25 * link.round_trip() + 4 * link.jitter() + 0.02, std::min(k_soonest_repair, latest), latest);
}

// Before which tick inputs are to be sent again: what should have been acknowledged by now was lost with all its
// repetitions. It goes out in one piece after the other, newcomers lack seconds of it; all of it several times if much
// is lost, because a round trip later it may be too late; and again if that did not help. What becomes overdue
// meanwhile does not wait for that. What fits into one piece begins at the gap each time: if only a few messages did,
// holding these would hold the world.
Tick SharedPeer::plan_repair(double now, Linked& other, Tick newest) const {
  Linked::Repair& repair = other.repair;
  const double patience = overdue(other.link);
  const Tick due = std::min(newest, rollback_.now() - static_cast<Tick>(patience / settings_.rollback.tick_seconds));
  if (other.have >= due) {
    repair.copies = 0;
    return 0;
  }
  const bool goes_on = std::max(other.have, repair.next) < repair.end;
  if (!goes_on && repair.copies <= 1 && now <= repair.sent + patience) {
    repair.next = due - other.have <= k_repaired_at_once ? other.have : repair.end;
    repair.end = std::max(repair.end, due);
    return repair.end;
  }
  repair.sent = now;
  if (goes_on) return repair.end;
  if (repair.copies > 1) {
    --repair.copies;
  } else {
    repair.copies = copies_for(other.link.loss_out());
    repair.end = due;
  }
  repair.next = other.have;
  return repair.end;
}

void SharedPeer::show_view(const ViewMessage& view, std::vector<PeerRequest>& requests) {
  for (MemberId m = 0; m < k_most_members; ++m)
    if (links_[m] && !links_[m]->former) requests.emplace_back(SendMessage{m, write_message(view)});
}

}  // namespace cotouch

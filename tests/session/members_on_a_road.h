// Members without a world whose messages take as long as a test says, each by itself: what somebody on the path can do
// without keys.
#pragma once

#include <cotouch/session/shared_peer.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cotouch::testing_session {

class MembersOnARoad {
 public:
  // Seconds that a message takes which is sent now; negative: it is lost.
  using Delay = std::function<double(double now, MemberId from, MemberId to)>;

  MembersOnARoad(MemberId members, Delay delay, const PeerSettings& settings = {})
      : delay_(std::move(delay)), history_(members), trouble_(members) {
    ObjectiveSnapshot snapshot;
    for (MemberId m = 0; m < members; ++m) snapshot.members[m] = Member{0, std::string(1, static_cast<char>('a' + m))};
    for (MemberId m = 0; m < members; ++m) peers_.emplace_back(settings, m, snapshot, now_);
  }

  SharedPeer& operator[](MemberId member) { return peers_[member]; }
  double now() const { return now_; }
  void change(Delay delay) { delay_ = std::move(delay); }
  // Is this message held for ever? Somebody on the path knows no more of it than how long it is.
  std::function<bool(MemberId from, MemberId to, const std::vector<std::byte>& bytes)> holds;
  // Nobody looks at this member's clock for so long, and what arrives meanwhile waits.
  void stop(MemberId member, double seconds) { stopped_[member] = now_ + seconds; }

  void go_on(double seconds) {
    const double end = now_ + seconds;
    while (true) {
      const auto next = std::min_element(peers_.begin(), peers_.end(), [&](const SharedPeer& a, const SharedPeer& b) {
        return polled_next(a) < polled_next(b);
      });
      const double polled = std::max(now_, polled_next(*next));
      const double arrives = under_way_.empty() ? end : std::max(now_, under_way_.begin()->first);
      if (std::min(polled, arrives) >= end) break;
      now_ = std::min(polled, arrives);
      if (arrives <= polled)
        deliver();
      else
        poll(*next);
    }
    now_ = end;
  }

  // The ticks of a member in each piece of so many seconds since `from`.
  std::vector<Tick> ticks_of(MemberId member, double from, double seconds) const {
    const auto tick_at = [&](double time) { return std::prev(history_[member].upper_bound(time))->second; };
    std::vector<Tick> pieces;
    for (double begin = from; begin + seconds <= now_; begin += seconds)
      pieces.push_back(tick_at(begin + seconds) - tick_at(begin));
    return pieces;
  }
  // How often a member was told that somebody was dropped, or that it has to join again.
  std::size_t trouble(MemberId member) const { return trouble_[member]; }
  // Ticks for which not all have agreed on the same inputs.
  std::size_t mismatches() const { return mismatches_; }

 private:
  static constexpr double k_late = 1e-4;              // seconds that a member is late to do what is due
  static constexpr double k_places_per_second = 0.7;  // a hand at rest is predicted right, and costs nothing
  struct Message {
    MemberId from = 0, to = 0;
    std::vector<std::byte> bytes;
  };

  double stopped_until(MemberId member) const {
    const auto found = stopped_.find(member);
    return found != stopped_.end() ? found->second : 0;
  }
  double polled_next(const SharedPeer& peer) const {
    if (peer.is_lost() && trouble_[peer.self()] > 0) return std::numeric_limits<double>::infinity();
    return std::max(peer.next_poll(), stopped_until(peer.self())) + k_late;
  }
  void deliver() {
    const Message message = std::move(under_way_.begin()->second);
    under_way_.erase(under_way_.begin());
    if (now_ < stopped_until(message.to))
      under_way_.emplace(stopped_until(message.to), message);
    else
      peers_[message.to].receive(now_, message.from, message.bytes);
  }
  void poll(SharedPeer& peer) {
    HandInput hand;
    hand.present = true;
    hand.pose.position.x = std::floor(now_ * k_places_per_second) * 0.01 * (1 + peer.self());
    std::vector<PeerRequest> requests;
    peer.poll(now_, sendable(hand), requests);
    history_[peer.self()][now_] = peer.now();
    for (PeerRequest& request : requests) {
      if (auto* message = std::get_if<SendMessage>(&request)) {
        const bool held = holds && holds(peer.self(), message->to, message->bytes);
        const double delay = held ? -1 : delay_(now_, peer.self(), message->to);
        if (delay >= 0) under_way_.emplace(now_ + delay, Message{peer.self(), message->to, std::move(message->bytes)});
      } else if (const auto* confirmed = std::get_if<ConfirmTick>(&request)) {
        const auto [known, is_new] = agreed_.emplace(confirmed->tick, confirmed->inputs.hands);
        if (!is_new && known->second != confirmed->inputs.hands) ++mismatches_;
      } else if (const auto* notice = std::get_if<SessionNotice>(&request)) {
        if (notice->kind == SessionNotice::Kind::dropped) ++trouble_[peer.self()];
      } else if (std::holds_alternative<JoinAgain>(request)) {
        ++trouble_[peer.self()];
      }
    }
  }

  Delay delay_;
  double now_ = 100;
  std::vector<SharedPeer> peers_;
  std::multimap<double, Message> under_way_;
  std::vector<std::map<double, Tick>> history_;  // of each member: the next tick after each poll
  std::vector<std::size_t> trouble_;
  std::map<MemberId, double> stopped_;
  std::map<Tick, std::array<HandInput, k_shared_hands>> agreed_;
  std::size_t mismatches_ = 0;
};

}  // namespace cotouch::testing_session

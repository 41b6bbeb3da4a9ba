// Members that hear each other at once, without a world, and one of them who may lie.
#pragma once

#include <cotouch/session/shared_peer.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cotouch::testing_session {

constexpr MemberId k_liar = 2;

class Table {
 public:
  // The last one takes part from `first` on.
  explicit Table(MemberId members, Tick first = 0) {
    ObjectiveSnapshot snapshot;
    for (MemberId m = 0; m < members; ++m) snapshot.members[m] = Member{0, std::string(1, static_cast<char>('a' + m))};
    snapshot.members[members - 1]->first = first;
    for (MemberId m = 0; m < members; ++m) peers_.emplace_back(PeerSettings{}, m, snapshot, now_);
  }

  SharedPeer& operator[](MemberId member) { return peers_[member]; }
  double now() const { return now_; }
  void silence(MemberId member) { silent_ |= 1U << member; }
  // Nothing arrives there that comes from here.
  void cut(MemberId from, MemberId to) { cut_.insert({from, to}); }
  // Messages of this kind from the liar do not go out.
  void withhold(PeerMessageType type) { withheld_ = type; }
  void lie(MemberId to, const std::vector<std::byte>& message) { peers_[to].receive(now_, k_liar, message); }
  // What this member was told that people said, with the number of who said it.
  const std::vector<std::pair<MemberId, std::string>>& said_to(MemberId member) const { return said_[member]; }

  // How many marks were taken back in its view.
  std::size_t unmarked(MemberId member) const { return unmarked_[member]; }
  // Whom this member asked for a snapshot, because its own state is not that of most.
  const std::vector<MemberId>& asked_by(MemberId member) const { return asked_[member]; }

  void go_on(double seconds) {
    for (const double end = now_ + seconds; now_ < end; now_ += 0.01)
      for (SharedPeer& peer : peers_) {
        std::vector<PeerRequest> requests;
        peer.poll(now_, {}, requests);
        for (const PeerRequest& request : requests) {
          if (const auto* message = std::get_if<SendMessage>(&request)) deliver(peer.self(), *message);
          if (const auto* fetch = std::get_if<FetchSnapshot>(&request)) asked_[peer.self()].push_back(fetch->from);
          if (const auto* notice = std::get_if<SessionNotice>(&request)) {
            if (notice->kind == SessionNotice::Kind::said)
              said_[peer.self()].emplace_back(notice->member, notice->event.text);
            unmarked_[peer.self()] += notice->kind == SessionNotice::Kind::unmarked ? 1U : 0U;
          }
        }
      }
  }

 private:
  void deliver(MemberId from, const SendMessage& message) {
    if (((silent_ >> from | silent_ >> message.to) & 1U) != 0) return;
    if (cut_.contains({from, message.to})) return;
    if (from == k_liar && withheld_ && message.bytes[0] == static_cast<std::byte>(*withheld_)) return;
    peers_[message.to].receive(now_, from, message.bytes);
  }

  double now_ = 100;
  std::vector<SharedPeer> peers_;
  std::uint32_t silent_ = 0;
  std::optional<PeerMessageType> withheld_;
  std::set<std::pair<MemberId, MemberId>> cut_;
  std::array<std::size_t, k_most_members> unmarked_{};
  std::array<std::vector<std::pair<MemberId, std::string>>, k_most_members> said_;
  std::array<std::vector<MemberId>, k_most_members> asked_;
};

}  // namespace cotouch::testing_session

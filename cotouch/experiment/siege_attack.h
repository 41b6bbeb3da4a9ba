// What the attacks of a siege have in common: what they are, what they are told and what they count.
#pragma once

#include <cotouch/experiment/rude_client.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

struct AttackKind {
  const char* name;
  const char* against;  // in words
  const char* what;     // of which there are so many in `tried`, in words
  std::uint64_t least;  // of these in a turn: an attack that does less has not taken place
};

struct AttackTally {
  std::uint64_t tried = 0;
  std::uint64_t refused = 0;  // answered with an error, closed, or not taken in

  void refuse_if(bool refusal) { refused += std::uint64_t{refusal}; }
};

// How long an attack goes on.
struct AttackTime {
  using Clock = std::chrono::steady_clock;
  // For one that has not done its least by then, because the machine is slow.
  static constexpr auto k_patience = std::chrono::seconds(30);

  Clock::time_point until;
  std::uint64_t least = 0;

  static AttackTime from_now(double seconds, std::uint64_t least) {
    return {Clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000)), least};
  }
  Clock::time_point end(std::uint64_t done) const { return done < least ? until + k_patience : until; }
  bool goes_on(std::uint64_t done) const { return Clock::now() < end(done); }
};

// A server of this machine, with a link that lets them do everything a page may do: one that stands this stands what
// strangers can do.
struct AttackTarget {
  std::uint16_t port;
  std::string key;
  std::uint32_t corners;  // of a polygon
  AttackTime time;

  std::string request(std::string_view method, std::string_view what, std::string_view more_head = {}) const {
    return RudeClient::request(port, method, what, key, more_head);
  }
  bool goes_on(const AttackTally& tally) const { return time.goes_on(tally.tried); }
  std::unique_ptr<RudeClient> client(const AttackTally& tally, int receive_buffer = 0) const {
    return std::make_unique<RudeClient>(port, time.end(tally.tried), receive_buffer);
  }
};

using RudeCrowd = std::vector<std::unique_ptr<RudeClient>>;

// siege_feeds.cpp
AttackTally never_read(const AttackTarget& target);
AttackTally empty_continuations(const AttackTarget& target);
AttackTally pings_between(const AttackTarget& target);
AttackTally flood_of_commands(const AttackTarget& target);
AttackTally recordings_in_a_loop(const AttackTarget& target);

// siege_requests.cpp
AttackTally pipeline(const AttackTarget& target);
AttackTally unread_exports(const AttackTarget& target);
AttackTally slow_heads(const AttackTarget& target);
AttackTally wrong_keys(const AttackTarget& target);
AttackTally garbage(const AttackTarget& target);

// siege_uploads.cpp
AttackTally false_uploads(const AttackTarget& target);
AttackTally endless_polygons(const AttackTarget& target);

}  // namespace cotouch

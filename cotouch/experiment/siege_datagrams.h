// Somebody on the path between two members of a session who holds datagrams back, which needs no keys: three in ten
// come late by up to four seconds.
//
// The scene's host and one other member, both with real sockets of this machine; each reaches the other only through a
// relay in between (net/udp_relay.h).
#pragma once

#include <cotouch/experiment/siege_attack.h>
#include <cotouch/net/udp_relay.h>
#include <cotouch/session/listener.h>
#include <cotouch/session/scene_library.h>
#include <cotouch/session/shared_session.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cotouch {

struct LateDatagrams {
  std::uint64_t held_back = 0;
  std::uint64_t times_alone = 0;         // that one of the two was without the other
  std::vector<double> ticks_per_second;  // of each of the two

  LateDatagrams& operator+=(const LateDatagrams& other);
};

// How fast a member's world goes, and whether it was ever alone, by what it tells four times a second.
class MemberWatch {
 public:
  void begin();
  void saw(const PeersView& peers);
  bool is_together() const;
  std::uint64_t times_alone() const;
  double ticks_per_second() const;  // since begin(); 0 if it told too little

 private:
  struct Seen {
    double at = 0;
    Tick tick = 0;
  };
  mutable std::mutex mutex_;
  Seen first_, last_;
  std::size_t seen_ = 0;
  bool together_ = false;
  std::uint64_t times_alone_ = 0;
};

class LateNetwork final : private SessionListener, private SharedSessionListener {
 public:
  // What the two keep is in `folder`.
  explicit LateNetwork(const std::filesystem::path& folder);
  ~LateNetwork() override;

  static AttackKind kind() { return {"late-datagrams", "the session's network", "datagrams held back", 50}; }
  // For the session that is besieged: it is reached through the relay, and tells how it goes.
  SharedSessionSettings host_settings() const;
  SessionListener& host_listener() { return *this; }
  // The other member comes in. Throws Error if it cannot.
  void join(const std::string& invite);
  void leave();
  // From now on datagrams are late. A member that was dropped comes in again first.
  void attack(double seconds);
  // Waits for the end; from then on none is.
  LateDatagrams result();

 private:
  // Of the host, on its session's thread; then of the other member, on its own.
  void peers_changed(const PeersView& peers) override { host_.saw(peers); }
  void peers(const PeersView& peers) override { member_.saw(peers); }
  MemberHands hands() override;

  bool are_together() const { return host_.is_together() && member_.is_together(); }

  std::filesystem::path folder_;
  FolderLibrary library_;
  std::string invite_;
  std::uint16_t host_port_;
  UdpRelay relay_;
  MemberWatch host_, member_;
  AttackTime time_;
  std::uint64_t held_back_before_ = 0;
  std::unique_ptr<SharedSession> session_;  // last: its thread uses everything above
};

}  // namespace cotouch

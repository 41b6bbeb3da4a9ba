// What a session over the network needs to know, and whom it tells what happens.
#pragma once

#include <cotouch/net/handshake.h>
#include <cotouch/net/udp_socket.h>
#include <cotouch/session/running_world.h>
#include <cotouch/session/shared_peer.h>
#include <cotouch/session/sharing.h>

#include <filesystem>
#include <string>
#include <vector>

namespace cotouch {

struct SharedSessionSettings {
  std::string name;                // of the person here, for the others
  bool observer = false;           // no hand, no display
  std::filesystem::path identity;  // file of the identity; made if there is none
  std::filesystem::path received;  // folder for scenes that come from others
  std::filesystem::path journal;   // file; empty: none
  UdpSettings udp;
  std::vector<NetAddress> advertised;  // addresses for the invite instead of this machine's own
  std::uint32_t invite_expires = 0;    // seconds since 1970; 0: never
  double answer_patience = ClientHandshake::k_patience_seconds;  // until nobody has answered who was asked to let us in
  PeerSettings peer;
};

// What all have agreed on, and no decision can change any more: the world before `tick`.
struct AgreedTick {
  Tick tick = 0;           // 0: nothing yet
  std::uint64_t hash = 0;  // of the state
  BranchId branch = 0;     // of a part that went on without the larger one; 0: the session itself
  bool task_done = false;
  double task_seconds = 0;
};

// Somebody who takes part.
struct SharedPerson {
  MemberId member = 0;
  std::string name;
  bool self = false, observer = false;
  std::string fingerprint;
};

// Hands of the world in the newest tick.
struct SharedHands {
  HandLeaders leaders = leaders_none();
  std::uint32_t usable = 0;  // those that this program may lead, bit n for hand n
};

class SharedSessionListener {
 public:
  virtual ~SharedSessionListener() = default;
  virtual void sharing(const SharingStatus& /*status*/) {}
  // The session's world is there: `feel` is what all peers feel with, `self` the own hand's number. Comes again after
  // having been away.
  virtual void world_ready(const Scene& /*scene*/, const FeelSettings& /*feel*/, MemberId /*self*/) {}
  // The newest subjective state, after every tick.
  virtual void view(const WorldState& /*state*/, const SharedHands& /*hands*/) {}
  // Every tick that all have agreed on, in order; after having been away, from a later one on.
  virtual void agreed(const AgreedTick& /*now*/) {}
  // What the hands here do now; after hands_taken() their actions have been sent.
  virtual MemberHands hands() { return {}; }
  virtual void hands_taken() {}
  virtual void people(const std::vector<SharedPerson>& /*people*/) {}
  virtual void peers(const PeersView& /*peers*/) {}  // participants are not known here; four times a second
  virtual void said(MemberId /*by*/, const std::string& /*text*/, double /*seconds*/) {}
  virtual void marked(const SessionMark& /*mark*/, bool /*removed*/) {}
  virtual void synchronised(bool /*on*/) {}
  virtual void problem(const std::string& /*sentence*/) {}
};

}  // namespace cotouch

// What there is to see of a shared session: plain values, whoever shows them.
#pragma once

#include <cotouch/session/participant.h>
#include <cotouch/session/tick.h>

#include <cotouch/base/vec.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cotouch {

struct SharingStatus {
  enum class State : std::uint8_t {
    off,
    starting,  // to host
    hosting,
    joining,
    joined,
    cut_off,  // most of the others are not heard; waiting for them
    failed,   // and off again
  };
  State state = State::off;
  std::string invite;   // while hosting, for others to join with
  std::string session;  // a short id, for people
  std::string stage;    // words, while starting or joining
  double progress = 0;  // 0 to 1, of the stage
  std::string reason;   // a sentence, if it failed or there is something to say
};

struct PeerView {
  std::uint32_t peer = 0;  // its number
  ParticipantId participant = ParticipantId::nobody;
  std::string name, color;
  bool self = false, observer = false;
  double round_trip = 0, jitter = 0;  // seconds
  double loss = 0;                    // share of its packets
  double lead = 0;                    // seconds that its clock is ahead of ours
  enum class Path : std::uint8_t { self, direct, relayed } path = Path::direct;
  enum class State : std::uint8_t { present, silent, leaving } state = State::present;
  std::string fingerprint;
};

struct PeersView {
  Tick tick = 0, agreed = 0, window = 0;
  bool branch = false;  // of a session whose larger part may go on elsewhere
  bool synchronised = true;
  std::vector<std::uint32_t> waiting_for;  // peers
  Tick rollback_ticks = 0;                 // the longest of the last second
  double bytes_in = 0, bytes_out = 0;      // per second
  double divergence = 0;                   // metres between this view and the others' at the same tick
  double divergence_angle = 0;             // radians
  std::vector<PeerView> peers;
};

// The link emulator of this program.
struct NetworkStatus {
  std::string profile;  // a name, or "custom"
  std::vector<std::string> profiles;
  double round_trip = 0, jitter = 0;  // seconds
  double loss = 0;                    // share
  bool synchronised = true;
};

struct ChatLine {
  std::string name, color, text;
  double time = 0;  // seconds since the session began
};

struct MarkView {
  std::uint32_t mark = 0;  // its number
  bool removed = false;
  BodyId body = 0;
  Vec3d point;  // in the body's frame
  std::string name, color;
};

}  // namespace cotouch

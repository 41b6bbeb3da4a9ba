// What there is to see of a running session, made at frame rate: plain numbers, whoever shows them.
#pragma once

#include <cotouch/base/pose.h>
#include <cotouch/session/participant.h>
#include <cotouch/world/model.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace cotouch {

// If there are more contacts, the deepest of so many come first.
inline constexpr std::size_t k_most_contacts_shown = 2048;

// A point in world axes with one number: depth in metres, or tree level.
struct MarkedPoint {
  Vec3f position;
  float mark = 0;
};

// Computed for the eye, from nothing but the bodies' poses.
struct ContactView {
  std::vector<MarkedPoint> contacts;   // of bodies that are held or move
  std::vector<MarkedPoint> traversed;  // coarsest first
  // Smallest distance between a body that may move and another, metres; negative: deepest penetration; infinite if
  // there is nothing to touch; not a number if nothing moves. While somebody holds bodies, only theirs count.
  float clearance = std::numeric_limits<float>::quiet_NaN();
};

// A hand that somebody holds, and what it feels.
struct HandView {
  HandId id = HandId::none;
  ParticipantId holder = ParticipantId::nobody;
  ParticipantKind holder_kind = ParticipantKind::page;  // if there is a holder
  BodyId body = 0;                                      // that it holds; 0: none
  Pose pose;                                            // where the hand is
  Pose grip;    // where contact lets it be: its frame on the body; the same as the hand's in free space
  Wrench felt;  // on the hand, torque about the hand's position
  bool force_limited = false, detail_limited = false;
  std::uint32_t level = 0;                    // deepest rendered
  std::uint32_t visited = 0, in_contact = 0;  // tree nodes, points
  float deepest = 0;                          // metres, >= 0
  std::uint32_t input_sequence = 0;           // of the newest HandMotion that the loop has seen
};

// A device at this program.
struct DeviceView {
  enum class State : std::uint8_t {
    idle,  // there is no scene that moves
    ready,
    off,  // somebody switched it off
    lost,
    faulty,
    disabled,  // its power was cut; it waits to be switched on
    unguarded,
    halted,  // what must always hold did not, so nothing is felt until another scene is opened
    hangs,
    refused,  // it is known and does not take part: it was not asked for, or cannot be used
  };

  std::uint32_t device = 0;  // its number; 0 if it was refused
  std::string name;
  ParticipantId participant = ParticipantId::nobody;
  bool motors = false;
  State state = State::idle;
  BodyId body = 0;             // that it holds; 0: none
  double force = 0, rate = 0;  // newtons that are felt, cycles a second that it is served in
  std::string reason;          // a sentence, if there is something to say

  friend bool operator==(const DeviceView&, const DeviceView&) = default;
};

// A body that is not fixed, or bends.
struct BodyView {
  BodyId id = 0;
  Motion motion = Motion::free;
  bool held = false, touching = false, resting = false;
  Pose pose;
  float speed = 0;  // m/s
};

// How a body is bent (elastic/elastic_model.h).
struct BendingView {
  BodyId body = 0;
  std::vector<float> coordinates;  // sqrt(kg) m
};

// How far a task is.
struct TaskView {
  enum class State : std::uint8_t { none, waiting, running, done };

  State state = State::none;
  BodyId body = 0;
  float position_error = 0, angle_error = 0;          // metres, radians
  float position_tolerance = 0, angle_tolerance = 0;  // metres, radians
  float seconds = 0;                                  // since it began to run
  Pose target;
};

// A session at one moment.
struct SessionView {
  std::uint32_t generation = 0;
  double time = 0;  // seconds since the scene was opened
  bool running = false, recording = false;
  float cycle_median_us = 0, cycle_longest_us = 0;  // since the view before
  std::uint64_t cycles = 0, missed = 0;             // since the scene was opened
  std::uint64_t stalls = 0;                         // times the watchdog took the forces away, since then
  std::uint32_t visited = 0, in_contact = 0;        // tree nodes and points, of everything
  std::vector<HandView> hands;
  std::vector<BodyView> bodies;
  std::vector<BendingView> bending;  // of the bodies that bend, in the order of the scene
  std::optional<TaskView> task;
  ContactView contact;
};

}  // namespace cotouch

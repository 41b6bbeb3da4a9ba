// The binary messages of the viewer's protocol (docs/viewer-protocol.md): little-endian, fixed layout, nothing
// negotiated. Floats are single precision, because they are looked at, not computed with.
#pragma once

#include <cotouch/base/pose.h>
#include <cotouch/mesh/mesh.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

inline constexpr std::size_t k_state_head_bytes = 64;
inline constexpr std::size_t k_state_hand_bytes = 104;
inline constexpr std::size_t k_hand_input_bytes = 48;
inline constexpr std::size_t k_max_contacts_sent = 2048;
inline constexpr std::size_t k_max_traversed_sent = 4096;

enum class Holder : std::uint8_t { nobody = 0, this_viewer = 1, other_viewer = 2, device = 3, script = 4 };

struct HandState {
  std::uint8_t index = 0;
  Holder holder = Holder::nobody;
  bool force_limited = false, detail_limited = false;
  std::uint8_t level = 0;
  std::uint32_t part = 0;
  Pose hand, object;
  Wrench felt;  // on the hand, torque about the object's position
  std::uint32_t visited = 0, in_contact = 0;
  float deepest = 0;  // metres, >= 0
  std::uint32_t input_sequence = 0;
};

// A point in world axes with one number: depth in metres, or tree level.
struct MarkedPoint {
  Vec3f position;
  float mark = 0;
};

struct StateFrame {
  std::uint32_t sequence = 0, generation = 0;
  double time = 0;  // seconds
  bool running = false, recording = false, replay = false;
  std::uint16_t viewers = 0;
  float cycle_median_us = 0, cycle_longest_us = 0;
  std::uint32_t cycles = 0, missed = 0;
  float clearance = std::numeric_limits<float>::quiet_NaN();  // metres
  std::vector<HandState> hands;
  std::vector<MarkedPoint> contacts;   // deepest first where there are more than can be sent
  std::vector<MarkedPoint> traversed;  // coarsest first
};

// A state frame in two pieces. Only the first differs between viewers (who holds the hand, frames left out), so the
// rest is made once and shared by all.
struct EncodedState {
  std::string head;  // head and hands
  std::shared_ptr<const std::string> points;
};

// `with_traversed` false leaves the traversed points out. Counts beyond what may be sent are cut and flagged.
EncodedState encode_state(const StateFrame& frame, bool with_traversed);
// Patches what differs between viewers in a head made by encode_state.
void set_frames_left_out(std::string& head, std::uint32_t count);
void set_holder(std::string& head, std::size_t hand, Holder holder);

// `nearness` per vertex of the part: 0 touching .. 255 at `range` metres or farther.
std::string encode_near(std::uint32_t sequence, std::uint32_t generation, std::uint32_t part, float range,
                        std::span<const std::uint8_t> nearness);

std::string encode_mesh(const TriangleMesh& mesh, std::uint32_t generation);

struct HandInput {
  std::uint32_t sequence = 0, generation = 0;
  std::uint8_t hand = 0;
  std::uint8_t buttons = 0;
  Pose pose;  // rotation normalised
};

// What a page sent. `broken_rule` names the rule that a message breaks, empty where it breaks none; `known` is false
// for a well-formed message of a type this version does not know. Never throws, reads nothing beyond the bytes.
struct DecodedInput {
  std::string_view broken_rule;
  bool known = false;
  HandInput input;
};
DecodedInput decode_input(std::string_view bytes) noexcept;

}  // namespace cotouch

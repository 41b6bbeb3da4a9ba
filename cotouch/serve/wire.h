// The binary messages of the viewer's protocol (docs/viewer-protocol.md). Where each number lies is in wire_layout.h,
// which is generated; here is what goes into a message and in which order.
#pragma once

#include <cotouch/base/pose.h>
#include <cotouch/mesh/mesh.h>
#include <cotouch/session/view.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace cotouch {

inline constexpr std::size_t k_max_contacts_sent = k_most_contacts_shown;
inline constexpr std::size_t k_max_traversed_sent = 4096;

// What a state frame has beyond what it shows.
struct FrameStamp {
  std::uint32_t sequence = 0;
  std::uint32_t viewers = 0;
  bool replay = false;
};

// A state frame in two pieces. Only the first differs between viewers (frames left out), so the rest is made once and
// shared by all.
struct EncodedState {
  std::string head;  // head and clock
  std::shared_ptr<const std::string> rest;
};

// `with_traversed` false leaves the traversed points out. Counts beyond what may be sent are cut and flagged.
EncodedState encode_state(const SessionView& view, const FrameStamp& stamp, bool with_traversed);
// Patches what differs between viewers in a head made by encode_state.
void set_frames_left_out(std::string& head, std::uint32_t count);
// Bytes of a frame with so many hands, bodies and contacts, without task and traversed points.
std::size_t state_bytes(std::size_t hands, std::size_t bodies, std::size_t contacts);
std::size_t task_bytes();                                                // what a task adds
std::size_t bending_bytes(std::size_t bodies, std::size_t coordinates);  // what bodies that bend add

// `nearness` per vertex of the part: 0 touching .. 255 at `range` metres or farther.
std::string encode_near(std::uint32_t sequence, std::uint32_t generation, std::uint32_t part, float range,
                        std::span<const std::uint8_t> nearness);

std::string encode_mesh(const TriangleMesh& mesh, std::uint32_t generation);
// What comes before a recording's state frames.
std::string encode_recording_head(std::uint32_t frames, double seconds);

// Where a page wants its hand to be.
struct PageInput {
  std::uint32_t sequence = 0, generation = 0;
  HandId hand = HandId::none;
  std::uint8_t buttons = 0;
  Pose pose;  // rotation normalised
};

// What a page sent. `broken_rule` names the rule that a message breaks, empty if it breaks none; `known` is false for a
// well-formed message of a type this version does not know. Never throws, reads nothing beyond the bytes.
struct DecodedInput {
  std::string_view broken_rule;
  bool known = false;
  PageInput input;
};
DecodedInput decode_input(std::string_view bytes) noexcept;

}  // namespace cotouch

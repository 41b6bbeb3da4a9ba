// Text messages from a page: JSON objects with a `type` (docs/viewer-protocol.md).
#pragma once

#include <cotouch/base/vec.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

inline constexpr std::size_t k_max_command_bytes = 4096;

// Every member of every command; absent if the page left it out.
struct ViewerCommand {
  std::string type;
  std::optional<std::int64_t> id;  // wants a reply
  std::optional<bool> traversed, near;
  std::optional<double> fps, contact_stiffness, max_force, budget_us;
  std::optional<double> gravity, density, mass;  // m/s^2, kg/m^3, kg
  std::optional<double> delay_ms, jitter_ms, loss;
  std::optional<bool> on, lose_changes;
  std::optional<std::uint32_t> hand, body, job, mark, device;
  std::string material, law;             // of a body that bends
  std::string unit, up;                  // of a body that was dropped
  std::optional<double> young, poisson;  // Pa
  std::optional<std::uint32_t> coordinates, tets;
  std::vector<std::string> anchors;
  std::optional<Vec3d> point;  // in a body's frame
  std::string name, recording, motion;
  std::string invite, profile, text;
  std::optional<std::int64_t> protocol;  // of a page's hello
  std::vector<std::string> features;
  std::string senseless;  // a member of the wrong type or out of all bounds; empty if there is none
};

struct ParsedCommand {
  std::string_view broken_rule;  // empty if the message keeps to the protocol
  ViewerCommand command;
};
ParsedCommand parse_command(std::string_view text);

}  // namespace cotouch

// Text messages from a page: JSON objects with a `type` (docs/viewer-protocol.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cotouch {

inline constexpr std::size_t k_max_command_bytes = 4096;

// Every member of every command; absent where the page left it out.
struct ViewerCommand {
  std::string type;
  std::optional<std::int64_t> id;  // wants a reply
  std::optional<bool> traversed, near;
  std::optional<double> fps, contact_stiffness, max_force, budget_us;
  std::optional<std::uint32_t> hand, part, job;
  std::string name, role, recording;
  std::string senseless;  // a member of the wrong type or out of all bounds; empty where there is none
};

struct ParsedCommand {
  std::string_view broken_rule;  // empty where the message keeps to the protocol
  ViewerCommand command;
};
ParsedCommand parse_command(std::string_view text);

}  // namespace cotouch

#include <cotouch/serve/viewer_command.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace cotouch {
namespace {

using nlohmann::json;

// Far deeper than any command, far shallower than what a parser's stack cannot hold.
constexpr int k_max_depth = 8;

std::string text_member(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<double> number_member(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<std::int64_t> whole_member(const json& object, const char* key) {
  const auto number = number_member(object, key);
  // Whole numbers that a double holds exactly.
  if (!number || *number != std::floor(*number) || std::abs(*number) > 0x1p53) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<std::uint32_t> index_member(const json& object, const char* key) {
  const auto number = whole_member(object, key);
  if (!number || *number < 0 || *number > 0xffffffff) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

std::optional<bool> truth_member(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_boolean()) return std::nullopt;
  return found->get<bool>();
}

}  // namespace

ParsedCommand parse_command(std::string_view text) {
  const auto broken = [](std::string_view rule) { return ParsedCommand{rule, {}}; };
  if (text.size() > k_max_command_bytes) return broken("a text message has at most 4096 bytes");
  bool too_deep = false;
  const json object = json::parse(
      text.begin(), text.end(),
      [&](int depth, json::parse_event_t, json&) {
        too_deep = too_deep || depth > k_max_depth;
        return !too_deep;
      },
      false);
  if (too_deep || object.is_discarded() || !object.is_object()) return broken("a text message is a JSON object");

  ParsedCommand parsed;
  ViewerCommand& command = parsed.command;
  command.type = text_member(object, "type");
  command.id = whole_member(object, "id");
  command.traversed = truth_member(object, "traversed");
  command.near = truth_member(object, "near");
  command.fps = number_member(object, "fps");
  command.contact_stiffness = number_member(object, "contact_stiffness");
  command.max_force = number_member(object, "max_force");
  command.budget_us = number_member(object, "budget_us");
  command.hand = index_member(object, "hand");
  command.part = index_member(object, "part");
  command.job = index_member(object, "job");
  command.name = text_member(object, "name");
  command.role = text_member(object, "role");
  command.recording = text_member(object, "recording");
  return parsed;
}

}  // namespace cotouch

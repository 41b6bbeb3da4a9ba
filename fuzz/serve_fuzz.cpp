// What strangers send to the server: client frames, commands, addresses and scene files.
#include <cotouch/base/error.h>
#include <cotouch/serve/page_command.h>
#include <cotouch/serve/target.h>
#include <cotouch/serve/viewer_command.h>
#include <cotouch/serve/wire.h>
#include <cotouch/session/names.h>
#include <cotouch/session/scene_file.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <variant>

namespace {

using namespace cotouch;

bool is_within(const std::optional<double>& value, double most) {
  return !value || (*value >= 0 && *value <= most);
}

// What the session and the other peers may rely on.
void check_command(const SessionCommand& command) {
  if (const auto* said = std::get_if<Say>(&command))
    if (said->text.empty() || said->text.size() > 500 || said->text != printable(said->text)) std::abort();
  if (const auto* joined = std::get_if<JoinSharing>(&command))
    if (joined->invite.empty() || joined->invite.size() > 1024 || joined->name != clean_name(joined->name))
      std::abort();
  if (const auto* network = std::get_if<SetNetwork>(&command))
    if (!is_within(network->round_trip, 2) || !is_within(network->jitter, 1) || !is_within(network->loss, 0.9))
      std::abort();
  if (const auto* mark = std::get_if<PlaceMark>(&command))
    if (!is_finite(mark->point)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: {
      const DecodedInput decoded = decode_input(bytes);
      if (decoded.known && decoded.broken_rule.empty() && !is_finite(decoded.input.pose)) std::abort();
      break;
    }
    case 1: {
      const ParsedCommand parsed = parse_command(bytes);
      if (!parsed.broken_rule.empty()) break;
      std::string why;
      const auto command = to_session_command(parsed.command, why);
      if (command) check_command(*command);
      if (!command && why.empty()) std::abort();
      break;
    }
    case 2:
      if (const auto target = parse_target(bytes)) {
        const std::string label = clean_label(target->value("name"));
        if (label.empty() || label.size() > 64 || label.find('/') != std::string::npos) std::abort();
      }
      break;
    default: {
      SceneFile file;
      try {
        file = parse_scene_file(bytes, "fuzz");
      } catch (const Error&) {
        return 0;
      }
      // What was accepted can be written and read again; an Error from here is a finding.
      const SceneFile again = parse_scene_file(format_scene_file(file), "again");
      if (again.scene.bodies.size() != file.scene.bodies.size()) std::abort();
    }
  }
  return 0;
}

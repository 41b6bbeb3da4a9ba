// What strangers send to the server: client frames, commands, addresses and scene files.
#include <cotouch/base/error.h>
#include <cotouch/serve/target.h>
#include <cotouch/serve/viewer_command.h>
#include <cotouch/serve/wire.h>
#include <cotouch/session/names.h>
#include <cotouch/session/scene_file.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cotouch;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: {
      const DecodedInput decoded = decode_input(bytes);
      if (decoded.known && decoded.broken_rule.empty() && !is_finite(decoded.input.pose)) std::abort();
      break;
    }
    case 1: parse_command(bytes); break;
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

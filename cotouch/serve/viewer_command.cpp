#include <cotouch/serve/viewer_command.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace cotouch {
namespace {

using nlohmann::json;

// Far deeper than any command, far shallower than what a parser's stack cannot hold.
constexpr int k_max_depth = 8;

// Reads members, and remembers the first that is there but makes no sense.
class Members {
 public:
  explicit Members(const json& object) : object_(object) {}

  std::string text(const char* key) {
    const json* found = find(key);
    if (found == nullptr) return {};
    if (found->is_string()) return found->get<std::string>();
    return refuse(key), std::string();
  }
  std::optional<double> number(const char* key) {
    const json* found = find(key);
    if (found == nullptr) return std::nullopt;
    if (found->is_number()) return found->get<double>();
    return refuse(key), std::nullopt;
  }
  std::optional<std::int64_t> whole(const char* key) {
    const auto value = number(key);
    // Whole numbers that a double holds exactly.
    if (!value || (*value == std::floor(*value) && std::abs(*value) <= 0x1p53)) return value;
    return refuse(key), std::nullopt;
  }
  std::optional<std::uint32_t> index(const char* key) {
    const auto value = whole(key);
    if (!value) return std::nullopt;
    if (*value >= 0 && *value <= 0xffffffff) return static_cast<std::uint32_t>(*value);
    return refuse(key), std::nullopt;
  }
  std::optional<bool> truth(const char* key) {
    const json* found = find(key);
    if (found == nullptr) return std::nullopt;
    if (found->is_boolean()) return found->get<bool>();
    return refuse(key), std::nullopt;
  }
  // Three finite numbers.
  std::optional<Vec3d> point(const char* key) {
    const json* found = find(key);
    if (found == nullptr) return std::nullopt;
    double numbers[3] = {};
    bool good = found->is_array() && found->size() == 3;
    for (std::size_t i = 0; good && i < 3; ++i) {
      const json& entry = (*found)[i];
      good = entry.is_number() && std::isfinite(entry.get<double>());
      if (good) numbers[i] = entry.get<double>();
    }
    if (good) return Vec3d{numbers[0], numbers[1], numbers[2]};
    return refuse(key), std::nullopt;
  }
  std::vector<std::string> texts(const char* key) {
    const json* found = find(key);
    std::vector<std::string> all;
    if (found == nullptr) return all;
    if (!found->is_array()) return refuse(key), all;
    for (const json& entry : *found)
      if (entry.is_string()) all.push_back(entry.get<std::string>());
    return all;
  }
  // The same if nothing else may be among them.
  std::vector<std::string> only_texts(const char* key) {
    std::vector<std::string> all = texts(key);
    if (const json* found = find(key); found != nullptr && all.size() != found->size()) refuse(key);
    return all;
  }
  const std::string& senseless() const { return senseless_; }

 private:
  const json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  void refuse(const char* key) {
    if (senseless_.empty()) senseless_ = key;
  }

  const json& object_;
  std::string senseless_;
};

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
  Members members(object);
  command.type = members.text("type");
  command.id = members.whole("id");
  command.traversed = members.truth("traversed");
  command.near = members.truth("near");
  command.fps = members.number("fps");
  command.contact_stiffness = members.number("contact_stiffness");
  command.max_force = members.number("max_force");
  command.budget_us = members.number("budget_us");
  command.gravity = members.number("gravity");
  command.density = members.number("density");
  command.mass = members.number("mass");
  command.delay_ms = members.number("delay_ms");
  command.jitter_ms = members.number("jitter_ms");
  command.loss = members.number("loss");
  command.on = members.truth("on");
  command.lose_changes = members.truth("lose_changes");
  command.hand = members.index("hand");
  command.body = members.index("body");
  command.job = members.index("job");
  command.mark = members.index("mark");
  command.device = members.index("device");
  command.material = members.text("material");
  command.law = members.text("law");
  command.unit = members.text("unit");
  command.up = members.text("up");
  command.young = members.number("young");
  command.poisson = members.number("poisson");
  command.coordinates = members.index("coordinates");
  command.tets = members.index("tets");
  command.anchors = members.only_texts("anchors");
  command.point = members.point("point");
  command.name = members.text("name");
  command.recording = members.text("recording");
  command.motion = members.text("motion");
  command.invite = members.text("invite");
  command.profile = members.text("profile");
  command.text = members.text("text");
  command.protocol = members.whole("protocol");
  command.features = members.texts("features");
  command.senseless = members.senseless();
  return parsed;
}

}  // namespace cotouch

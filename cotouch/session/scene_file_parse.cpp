#include <cotouch/session/scene_file.h>

#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/base/units.h>
#include <cotouch/session/arbitration.h>
#include <cotouch/session/names.h>
#include <cotouch/session/plain_number.h>

#include <algorithm>
#include <array>
#include <cmath>

#define TOML_HEADER_ONLY 1
// What toml++ 3.3 asserts about its input, a hostile file can break, and its parser copes. So that an assertion neither
// stops the process nor becomes an assumption of the optimiser, it is nothing in every build.
#undef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_text = 1U << 20;
constexpr std::size_t k_most_text_bytes = 500;
constexpr std::size_t k_most_path_poses = 1000;
constexpr std::size_t k_most_exclusions = 2048;
constexpr double k_fastest = 100;        // m/s
constexpr double k_fastest_turn = 1000;  // rad/s
constexpr double k_highest_force = 8.5;  // N, what a device gives

// Version 1 counted stiffness for each point and scaled many points down; its default felt like today's.
constexpr double k_stiffness_of_version_1 = 1000;

// toml++ 3.3 runs into undefined behaviour on some signs beyond ASCII outside of texts, so it sees none: their bytes
// travel as %XX (and % as %25) and are turned back in the texts that come out.
std::string to_ascii(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && c != '%') {
      out += c;
      continue;
    }
    out += '%';
    out += "0123456789ABCDEF"[byte >> 4];
    out += "0123456789ABCDEF"[byte & 15];
  }
  return out;
}

std::string from_ascii(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'A' + 10; };
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && is_digit(text[i + 1]) && is_digit(text[i + 2])) {
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

class SceneReader {
 public:
  explicit SceneReader(const std::string& refusal) : refusal_(refusal) {}

  SceneFile read(const toml::table& table) {
    const auto version = table["cotouch"].value_exact<std::int64_t>();
    if (!version) fail("it does not begin with `cotouch = 2`, so it is not a scene file");
    if (*version == 1) return read_version_1(table);
    if (*version != 2)
      fail("it is of a version that this cotouch does not know; use a newer cotouch", ErrorCode::unsupported);
    allow_only(table, {"cotouch", "name", "title", "summary", "gravity", "friction", "restitution", "drag",
                       "contact_stiffness", "max_force", "exclude", "task", "body", "hand"});
    read_names(table);
    Scene& scene = file_.scene;
    scene.gravity = gravity(table);
    scene.friction = number(table, "friction", scene.friction, 0, 10);
    scene.restitution = number(table, "restitution", scene.restitution, 0, 1);
    scene.drag = number(table, "drag", scene.drag, 0, 1000);
    scene.contact_stiffness = number(table, "contact_stiffness", scene.contact_stiffness, contact_stiffness_range());
    scene.coupling.max_force = number(table, "max_force", scene.coupling.max_force, 0, k_highest_force);
    for (const toml::table* body : tables(table, "body", "[[body]]", k_most_scene_bodies)) {
      where_ = "body " + std::to_string(scene.bodies.size() + 1) + ": ";
      read_body(*body);
    }
    where_.clear();
    read_exclusions(table);
    read_task(table);
    for (const toml::table* hand : tables(table, "hand", "[[hand]]", k_most_scene_hands)) {
      where_ = "hand " + std::to_string(scene.scripts.size() + 1) + ": ";
      read_hand(*hand);
    }
    where_.clear();
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(const std::string& why, ErrorCode code = ErrorCode::damaged_file) const {
    throw Error(refusal_ + where_ + why + ".", code);
  }

  SceneFile read_version_1(const toml::table& table) {
    allow_only(table, {"cotouch", "name", "title", "summary", "contact_stiffness", "max_force", "moving", "part"});
    read_names(table);
    Scene& scene = file_.scene;
    scene.contact_stiffness = std::clamp(number(table, "contact_stiffness", k_stiffness_of_version_1, 0, 1e6) *
                                             (ContactSettings{}.stiffness / k_stiffness_of_version_1),
                                         contact_stiffness_range().low, contact_stiffness_range().high);
    // Scenes saved long ago may ask for more than any device gives; they get what it gives.
    scene.coupling.max_force = std::min(number(table, "max_force", scene.coupling.max_force, 0, 40), k_highest_force);
    choice(table, "moving", {"shell", "field"}, 0);  // which body brings its shell follows from their points now
    scene.drag = 20;                                 // what is let go stays where it is, as it did
    for (const toml::table* entry : tables(table, "part", "[[part]]", k_most_scene_bodies)) {
      where_ = "part " + std::to_string(scene.bodies.size() + 1) + ": ";
      allow_only(*entry,
                 {"name", "asset", "mesh", "unit", "resolution", "points", "role", "position", "rotation", "color"});
      SceneBody& body = add_body();
      read_part(*entry, body);
      std::swap(body.pose, body.parts.back().place);
      body.name = body.parts.back().name;
      if (choice(*entry, "role", {"static", "moving"}, 0) == 1) body.motion = Motion::free;
    }
    where_.clear();
    if (std::count_if(scene.bodies.begin(), scene.bodies.end(),
                      [](const SceneBody& body) { return body.motion == Motion::free; }) > 1)
      fail("more than one part is moving; in a file of version 1 a hand holds one");
    return std::move(file_);
  }

  void read_names(const toml::table& table) {
    Scene& scene = file_.scene;
    scene.name = text(table, "name", "");
    if (!scene.name.empty() && !is_identifier(scene.name))
      fail("its name has other signs than letters, digits, - and _");
    scene.title = text(table, "title", scene.name);
    scene.summary = text(table, "summary", "");
    scene.editable = true;
  }

  Vec3d gravity(const toml::table& table) const {
    const toml::node* node = table.get("gravity");
    Vec3d pull;
    if (node != nullptr && node->is_number())
      pull = {0, 0, -number(table, "gravity", 0, 0, 1000)};
    else
      pull = vector(table, "gravity");
    if (!(norm(pull) <= 1000)) fail("`gravity` is more than 1000 m/s^2");
    return pull;
  }

  SceneBody& add_body() {
    SceneBody& body = file_.scene.bodies.emplace_back();
    body.id = static_cast<std::uint32_t>(file_.scene.bodies.size());
    body.removable = true;
    file_.sources.emplace_back();
    return body;
  }

  void read_body(const toml::table& table) {
    allow_only(table, {"name", "motion", "holding", "position", "rotation", "density", "mass", "center", "inertia",
                       "clearance", "velocity", "spin", "path", "path_speed", "part"});
    SceneBody& body = add_body();
    constexpr std::array k_motions{Motion::fixed, Motion::path, Motion::free};
    body.motion = k_motions[choice(table, "motion", {"fixed", "path", "free"}, 0)];
    constexpr std::array k_holdings{Holding::quasi_static, Holding::dynamic};
    body.holding = k_holdings[choice(table, "holding", {"quasi_static", "dynamic"}, 0)];
    body.pose = pose(table);
    body.density = number(table, "density", body.density, density_range());
    body.mass = mass(table);
    body.clearance = number(table, "clearance", body.clearance, 0, 1);
    body.velocity = vector(table, "velocity", k_fastest);
    body.spin = vector(table, "spin", k_fastest_turn);
    body.path_speed = number(table, "path_speed", body.path_speed, 1e-4, k_fastest);
    read_path(table, body);
    const std::string here = where_;
    for (const toml::table* part : tables(table, "part", "[[body.part]]", k_most_body_parts)) {
      where_ = here + "part " + std::to_string(body.parts.size() + 1) + ": ";
      allow_only(*part, {"name", "asset", "mesh", "unit", "resolution", "points", "position", "rotation", "color"});
      read_part(*part, body);
    }
    where_ = here;
    if (body.parts.empty()) fail("it has no part; write [[body.part]] below it");
    body.name = clean_label(text(table, "name", body.parts.front().name));
  }

  std::optional<MassProperties> mass(const toml::table& table) const {
    const bool any = table.contains("mass") || table.contains("center") || table.contains("inertia");
    if (!any) return std::nullopt;
    if (table.contains("density") || !table.contains("mass") || !table.contains("center") || !table.contains("inertia"))
      fail("give it either a `density` or all of `mass`, `center` and `inertia`");
    MassProperties matter;
    matter.mass = number(table, "mass", 0, 1e-6, 1e6);
    matter.center = vector(table, "center", k_farthest_position);
    const auto i = numbers<6>(*table.get("inertia"), "inertia");
    matter.inertia.m = {i[0], i[3], i[5], i[3], i[1], i[4], i[5], i[4], i[2]};
    if (!is_physical(matter)) fail("nothing that exists has such an `inertia` (xx, yy, zz, xy, yz, zx)");
    return matter;
  }

  void read_path(const toml::table& table, SceneBody& body) const {
    const toml::node* node = table.get("path");
    if ((node != nullptr) != (body.motion == Motion::path)) fail("a `path` and the motion \"path\" go together");
    if (node == nullptr) return;
    body.path = poses(*node, "path", 2);
  }

  std::vector<Pose> poses(const toml::node& node, const char* key, std::size_t least) const {
    const toml::array* list = node.as_array();
    if (list == nullptr || list->size() < least || list->size() > k_most_path_poses)
      fail(std::string("`") + key + "` is not a list of " + std::to_string(least) + " to " +
           std::to_string(k_most_path_poses) + " poses");
    std::vector<Pose> out;
    for (const toml::node& entry : *list) {
      const auto v = numbers<7>(entry, key);
      out.push_back({checked_position({v[0], v[1], v[2]}, key), checked_rotation({v[3], v[4], v[5], v[6]}, key)});
    }
    return out;
  }

  void read_part(const toml::table& table, SceneBody& body) {
    if (++parts_ > k_most_scene_parts)
      fail("the scene has more than " + std::to_string(k_most_scene_parts) + " parts", ErrorCode::too_large);
    PartSource from;
    from.asset = file(table, "asset");
    from.mesh = file(table, "mesh");
    if (from.asset.empty() == from.mesh.empty()) fail("give it either an `asset` or a `mesh`");
    from.unit = text(table, "unit", "");
    if (!from.unit.empty()) {
      try {
        metres_per(from.unit);
      } catch (const Error&) {
        fail("its `unit` is none that cotouch knows, such as \"mm\"");
      }
    }
    ScenePart part;
    part.name = clean_label(text(table, "name", (from.asset.empty() ? from.mesh : from.asset).stem().string()));
    part.color = color(table);
    part.settings.field.resolution =
        static_cast<int>(number(table, "resolution", 128, k_lowest_resolution, k_highest_resolution));
    part.settings.shell.points = static_cast<std::uint32_t>(number(table, "points", 16384, 16, 4'194'304));
    part.place = pose(table);
    body.parts.push_back(std::move(part));
    file_.sources.back().push_back(std::move(from));
  }

  std::string color(const toml::table& table) const {
    std::string value = text(table, "color", "");
    const auto is_hex = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    };
    if (!value.empty() &&
        (value.size() != 7 || value[0] != '#' || !std::all_of(value.begin() + 1, value.end(), is_hex)))
      fail("its `color` is not of the form \"#rrggbb\"");
    return value;
  }

  void read_exclusions(const toml::table& table) {
    const toml::node* node = table.get("exclude");
    if (node == nullptr) return;
    const toml::array* list = node->as_array();
    if (list == nullptr || list->size() > k_most_exclusions) fail("`exclude` is not a list of pairs of bodies");
    for (const toml::node& entry : *list) {
      const toml::array* pair = entry.as_array();
      if (pair == nullptr || pair->size() != 2) fail("`exclude` is not a list of pairs of bodies");
      const std::uint32_t a = body_id(*pair->get(0), "exclude"), b = body_id(*pair->get(1), "exclude");
      if (a == b) fail("`exclude` names a body with itself");
      file_.scene.excluded.emplace_back(a, b);
    }
  }

  void read_task(const toml::table& root) {
    const toml::node* node = root.get("task");
    if (node == nullptr) return;
    where_ = "task: ";
    const toml::table* table = node->as_table();
    if (table == nullptr) fail("it is not a table; write [task] above it");
    allow_only(*table, {"body", "position", "rotation", "tolerance", "angle", "angle_radians", "summary"});
    if (!table->contains("body")) fail("it does not say which `body` it is about");
    Task task;
    task.body = body_id(*table->get("body"), "body");
    if (file_.scene.find(task.body)->motion != Motion::free) fail("its body is not free");
    task.target = pose(*table);
    task.position_tolerance = number(*table, "tolerance", task.position_tolerance, 0, k_farthest_position);
    if (table->contains("angle") && table->contains("angle_radians"))
      fail("give it either an `angle` in degrees or `angle_radians`");
    if (table->contains("angle"))
      task.angle_tolerance = radians_of_degrees(number(*table, "angle", 0, 0, 180));
    else
      task.angle_tolerance = number(*table, "angle_radians", task.angle_tolerance, 0, k_pi);
    task.summary = text(*table, "summary", "");
    file_.scene.task = std::move(task);
    where_.clear();
  }

  void read_hand(const toml::table& table) {
    allow_only(table, {"body", "path", "speed"});
    for (const char* key : {"body", "path"})
      if (!table.contains(key)) fail(std::string("it has no `") + key + "`");
    HandScript script;
    script.body = body_id(*table.get("body"), "body");
    if (file_.scene.find(script.body)->motion != Motion::free) fail("its body is not free");
    script.keys = poses(*table.get("path"), "path", 1);
    script.speed = number(table, "speed", script.speed, 1e-4, k_fastest);
    file_.scene.scripts.push_back(std::move(script));
  }

  // Bodies are named by their number in the file, from 1, or by a name that only one of them has.
  std::uint32_t body_id(const toml::node& node, const char* key) const {
    const auto& bodies = file_.scene.bodies;
    if (const auto index = node.value_exact<std::int64_t>()) {
      if (*index < 1 || *index > static_cast<std::int64_t>(bodies.size()))
        fail(std::string("`") + key + "` names the body " + std::to_string(*index) + ", which is not there");
      return static_cast<std::uint32_t>(*index);
    }
    const auto name = node.value_exact<std::string>();
    if (!name) fail(std::string("`") + key + "` does not name a body");
    const std::string wanted = clean_label(from_ascii(*name));
    const auto has_name = [&](const SceneBody& body) { return body.name == wanted; };
    const auto found = std::find_if(bodies.begin(), bodies.end(), has_name);
    if (found == bodies.end()) fail(std::string("`") + key + "` names the body \"" + wanted + "\", which is not there");
    if (std::find_if(found + 1, bodies.end(), has_name) != bodies.end())
      fail(std::string("`") + key + "` names \"" + wanted + "\", but several bodies are called so; use a number");
    return found->id;
  }

  // A misspelt key would otherwise change nothing, without a word.
  void allow_only(const toml::table& table, std::initializer_list<std::string_view> keys) const {
    for (const auto& [key, value] : table)
      if (std::find(keys.begin(), keys.end(), key.str()) == keys.end())
        fail("nothing is called `" + clean_label(from_ascii(key.str())) + "` here");
  }

  std::vector<const toml::table*> tables(const toml::table& table, const char* key, const char* heading,
                                         std::size_t most) const {
    std::vector<const toml::table*> out;
    const toml::node* node = table.get(key);
    if (node == nullptr) return out;
    const toml::array* list = node->as_array();
    const std::string advice = std::string("; write ") + heading + " above each";
    if (list == nullptr) fail(std::string("`") + key + "` is not a list" + advice);
    if (list->size() > most)
      fail("there are more than " + std::to_string(most) + " of `" + key + "`", ErrorCode::too_large);
    for (const toml::node& entry : *list) {
      if (!entry.is_table()) fail(std::string("`") + key + "` is not a list of tables" + advice);
      out.push_back(entry.as_table());
    }
    return out;
  }

  std::string text(const toml::table& table, const char* key, std::string otherwise) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return otherwise;
    const auto value = node->value_exact<std::string>();
    if (!value) fail(std::string("`") + key + "` is not a text in quotes");
    std::string out = from_ascii(*value);
    if (out.size() > k_most_text_bytes)
      fail(std::string("`") + key + "` is longer than " + std::to_string(k_most_text_bytes) + " bytes");
    return out;
  }

  double number(const toml::table& table, const char* key, double otherwise, double low, double high) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return otherwise;
    const auto value = node->value<double>();
    // The negation also catches what is not a number.
    if (!node->is_number() || !value || !(*value >= low && *value <= high))
      fail(std::string("`") + key + "` is not a number from " + long_number(low) + " to " + long_number(high));
    return *value;
  }

  double number(const toml::table& table, const char* key, double otherwise, const SettingRange& range) const {
    return number(table, key, otherwise, range.low, range.high);
  }

  // The place of the word among those allowed.
  std::size_t choice(const toml::table& table, const char* key, std::initializer_list<const char*> words,
                     std::size_t otherwise) const {
    if (!table.contains(key)) return otherwise;
    const std::string value = text(table, key, "");
    const auto found = std::find(words.begin(), words.end(), value);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    std::string all;
    for (const char* word : words) all += std::string(all.empty() ? "\"" : ", \"") + word + "\"";
    fail(std::string("`") + key + "` is none of " + all);
  }

  template <std::size_t count>
  std::array<double, count> numbers(const toml::node& node, const char* key) const {
    const toml::array* list = node.as_array();
    std::array<double, count> out{};
    bool good = list != nullptr && list->size() == count;
    for (std::size_t i = 0; good && i < count; ++i) {
      const toml::node& entry = *list->get(i);
      const auto value = entry.value<double>();
      good = entry.is_number() && value && std::isfinite(*value);
      if (good) out[i] = *value;
    }
    if (!good) fail(std::string("`") + key + "` is not a list of " + std::to_string(count) + " numbers");
    return out;
  }

  Vec3d vector(const toml::table& table, const char* key, double largest = 1e9) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return {};
    const auto v = numbers<3>(*node, key);
    const Vec3d out{v[0], v[1], v[2]};
    if (!(norm(out) <= largest)) fail(std::string("`") + key + "` is larger than " + long_number(largest));
    return out;
  }

  Vec3d checked_position(const Vec3d& position, const char* key) const {
    if (!(norm(position) <= k_farthest_position))
      fail(std::string("its `") + key + "` is farther away than a kilometre");
    return position;
  }

  Quat checked_rotation(const Quat& q, const char* key) const {
    const double length = std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!(std::abs(length - 1) <= 0.01))
      fail(std::string("its `") + key + "` has a rotation (w, x, y, z) that does not have length one");
    // What was saved comes back to the last bit: normalising twice is not the same as once.
    constexpr double k_rounding = 1e-14;
    return std::abs(length - 1) <= k_rounding ? q : normalized(q);
  }

  Pose pose(const toml::table& table) const {
    Pose out;
    if (const toml::node* node = table.get("position")) {
      const auto p = numbers<3>(*node, "position");
      out.position = checked_position({p[0], p[1], p[2]}, "position");
    }
    if (const toml::node* node = table.get("rotation")) {
      const auto q = numbers<4>(*node, "rotation");
      out.rotation = checked_rotation({q[0], q[1], q[2], q[3]}, "rotation");
    }
    return out;
  }

  fs::path file(const toml::table& table, const char* key) const {
    const std::string name = text(table, key, "");
    if (name.empty()) return {};
    fs::path path(name);
    bool inside = path.is_relative() && name.find('\\') == std::string::npos && name.find('\0') == std::string::npos;
    for (const fs::path& piece : path) inside = inside && piece != "..";
    if (!inside) fail(std::string("`") + key + "` must name a file in the scene's own folder", ErrorCode::refused);
    return path;
  }

  std::string refusal_;  // how its sentences begin
  std::string where_;
  std::size_t parts_ = 0;
  SceneFile file_;
};

}  // namespace

SceneFile parse_scene_text(std::string_view text, const std::string& refusal) {
  if (text.size() > k_most_text) throw Error(refusal + "it is larger than one MiB.", ErrorCode::too_large);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark
  toml::table table;
  try {
    table = toml::parse(to_ascii(text));
  } catch (const toml::parse_error& error) {
    throw Error(
        refusal + "line " + std::to_string(error.source().begin.line) + ": " + std::string(error.description()) + ".",
        ErrorCode::damaged_file);
  }
  return SceneReader(refusal).read(table);
}

SceneFile parse_scene_file(std::string_view text, const std::string& source) {
  return parse_scene_text(text, "The scene " + source + " cannot be used: ");
}

}  // namespace cotouch

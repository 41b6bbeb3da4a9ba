#include <cotouch/session/scene_file.h>

#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/base/units.h>
#include <cotouch/device/page_device.h>
#include <cotouch/session/arbitration.h>
#include <cotouch/session/names.h>
#include <cotouch/session/toml_reader.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_text = 1U << 20;
constexpr std::size_t k_most_path_poses = 1000;
constexpr std::size_t k_most_exclusions = 2048;
constexpr double k_fastest = 100;        // m/s
constexpr double k_fastest_turn = 1000;  // rad/s
constexpr double k_highest_force = PageDevice::k_limits.motors.peak_force;

// Version 1 counted stiffness for each point and scaled many points down; its default felt like today's.
constexpr double k_stiffness_of_version_1 = 1000;

class SceneReader : private TomlReader {
 public:
  explicit SceneReader(const std::string& refusal) : TomlReader(refusal) {}

  SceneFile read(const toml::table& table) {
    const auto version = table["cotouch"].value_exact<std::int64_t>();
    if (!version) fail("it does not begin with `cotouch = 2`, so it is not a scene file");
    if (*version == 1) return read_version_1(table);
    if (*version != 2)
      fail("it is of a version that this cotouch does not know; use a newer cotouch", ErrorCode::unsupported);
    allow_only(table, {"cotouch", "name", "title", "summary", "gravity", "friction", "restitution", "drag",
                       "contact_stiffness", "max_force", "exclude", "pair", "task", "body", "hand"});
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
    std::size_t pairs = 0;
    for (const toml::table* pair : tables(table, "pair", "[[pair]]", k_most_exclusions)) {
      where_ = "pair " + std::to_string(++pairs) + ": ";
      read_pair(*pair);
    }
    where_.clear();
    read_task(table);
    for (const toml::table* hand : tables(table, "hand", "[[hand]]", k_most_scene_hands)) {
      where_ = "hand " + std::to_string(scene.scripts.size() + 1) + ": ";
      read_hand(*hand);
    }
    where_.clear();
    return std::move(file_);
  }

 private:
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
      allow_only(*entry, {"name", "asset", "mesh", "unit", "up", "resolution", "points", "role", "position", "rotation",
                          "color"});
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
      allow_only(*part, {"name", "asset", "mesh", "unit", "up", "resolution", "points", "position", "rotation", "color",
                         "elastic"});
      read_part(*part, body);
      if (body.parts.back().settings.elastic && table.contains("density"))
        fail("its material says how dense it is; write the `density` into `elastic`");
    }
    where_ = here;
    if (body.parts.empty()) fail("it has no part; write [[body.part]] below it");
    const auto bends = [](const ScenePart& part) { return part.settings.elastic.has_value(); };
    if (body.parts.size() > 1 && std::any_of(body.parts.begin(), body.parts.end(), bends))
      fail("it is elastic, so it must be one part alone");
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
    from.up = text(table, "up", "");
    if (!from.up.empty() && from.up != "x" && from.up != "y" && from.up != "z")
      fail("its `up` is not \"x\", \"y\" or \"z\"");
    ScenePart part;
    part.name = clean_label(text(table, "name", (from.asset.empty() ? from.mesh : from.asset).stem().string()));
    part.color = color(table);
    part.settings.field.resolution =
        static_cast<int>(whole_number(table, "resolution", 128, k_lowest_resolution, k_highest_resolution));
    part.settings.shell.points = whole_number(table, "points", 16384, 16, 4'194'304);
    part.settings.elastic = elastic(table);
    if (part.settings.elastic && from.mesh.empty())
      fail("an asset bends as it was prepared; leave `elastic` out or name its `mesh`");
    part.place = pose(table);
    body.parts.push_back(std::move(part));
    file_.sources.back().push_back(std::move(from));
  }

  std::optional<ElasticSettings> elastic(const toml::table& part) {
    const toml::node* node = part.get("elastic");
    if (node == nullptr) return std::nullopt;
    const toml::table* table = node->as_table();
    if (table == nullptr) fail("`elastic` is not a table; write elastic = { material = \"rubber\" }");
    const std::string here = where_;
    where_ += "elastic: ";
    allow_only(*table, {"material", "young", "poisson", "density", "mass_damping", "stiffness_damping", "law",
                        "coordinates", "tets", "edge", "domains", "anchors"});
    ElasticSettings out;
    try {
      out.material = material(*table);
      out.anchors = anchors(*table);
      constexpr std::array k_laws{ElasticLaw::stvk, ElasticLaw::warped};
      out.law = k_laws[choice(*table, "law", {"stvk", "warped"}, 0)];
      out.coordinates = whole_number(*table, "coordinates", out.coordinates, 1, k_most_coordinates);
      if (table->contains("tets") && table->contains("edge")) fail("give it either `tets` or an `edge`");
      out.tets.target_tets = whole_number(*table, "tets", out.tets.target_tets, k_fewest_tets, k_most_scene_tets);
      out.tets.edge = number(*table, "edge", 0, 1e-6, k_farthest_position);
      out.domains = whole_number(*table, "domains", out.domains, 1, k_most_domains);
      check_elastic(out);
    } catch (const Error& error) {
      // What is wrong with a material or an anchor is said without the file's name.
      const std::string sentence = error.what();
      if (sentence.starts_with(refusal_)) throw;
      fail(sentence.substr(0, sentence.find_last_not_of('.') + 1));
    }
    where_ = here;
    return out;
  }

  // By its name, of which some numbers may be others, or by its numbers alone.
  Material material(const toml::table& table) const {
    const std::string name = text(table, "material", "");
    if (name.empty() && !(table.contains("young") && table.contains("poisson") && table.contains("density")))
      fail("give it a `material` such as \"rubber\", or all of `young`, `poisson` and `density`");
    Material out = name.empty() ? Material{} : material_named(name);
    constexpr double k_any = 1e30;  // check_elastic knows what makes sense
    out.young = number(table, "young", out.young, 0, k_any);
    out.poisson = number(table, "poisson", out.poisson, -1, 1);
    out.density = number(table, "density", out.density, density_range());
    out.mass_damping = number(table, "mass_damping", out.mass_damping, 0, k_any);
    out.stiffness_damping = number(table, "stiffness_damping", out.stiffness_damping, 0, k_any);
    return out;
  }

  std::vector<Anchor> anchors(const toml::table& table) const {
    std::vector<Anchor> out;
    const toml::node* node = table.get("anchors");
    if (node == nullptr) return out;
    const toml::array* list = node->as_array();
    if (list == nullptr || list->size() > k_most_anchors)
      fail("`anchors` is not a list of at most " + std::to_string(k_most_anchors) + " texts such as \"x<0.01\"");
    for (const toml::node& entry : *list) {
      const auto value = entry.value_exact<std::string>();
      if (!value || value->size() > k_most_text_bytes)
        fail("`anchors` has something that is not a text such as \"x<0.01\"");
      out.push_back(parse_anchor(from_ascii(*value)));
    }
    return out;
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
      file_.scene.rules.push_back({a, b, false});
    }
  }

  void read_pair(const toml::table& table) {
    allow_only(table, {"bodies", "engine"});
    for (const char* key : {"bodies", "engine"})
      if (!table.contains(key)) fail(std::string("it has no `") + key + "`");
    const toml::array* bodies = table.get("bodies")->as_array();
    if (bodies == nullptr || bodies->size() != 2) fail("its `bodies` are not two");
    PairRule rule{body_id(*bodies->get(0), "bodies"), body_id(*bodies->get(1), "bodies")};
    if (rule.a == rule.b) fail("its `bodies` are one and the same");
    const auto is_about_them = [&](const PairRule& other) { return other.is_about(rule.a, rule.b); };
    if (std::ranges::any_of(file_.scene.rules, is_about_them))
      fail("its `bodies` have an engine or are in `exclude` already");
    rule.engine = text(table, "engine", "");
    const auto has_name = [&](const EngineKind* kind) { return kind->name() == rule.engine; };
    if (std::ranges::none_of(engine_kinds(), has_name)) {
      std::string names;
      for (const EngineKind* kind : engine_kinds())
        names += (names.empty() ? "" : ", ") + std::string("\"") + std::string(kind->name()) + "\"";
      fail("its `engine` is none of those there are: " + names, ErrorCode::unsupported);
    }
    file_.scene.rules.push_back(std::move(rule));
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
    // Whether an asset bends is known once it is read.
    const SceneBody& body = *file_.scene.find(script.body);
    const bool may_bend =
        body.parts.size() == 1 && (body.parts[0].settings.elastic || file_.sources[script.body - 1][0].mesh.empty());
    if (body.motion != Motion::free && !(body.motion == Motion::fixed && may_bend))
      fail("its body neither is free nor bends");
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

#include <cotouch/serve/scene_file.h>

#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/hash.h>
#include <cotouch/base/units.h>
#include <cotouch/contact/asset.h>
#include <cotouch/contact/cache.h>
#include <cotouch/mesh/import.h>
#include <cotouch/serve/target.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>

#define TOML_HEADER_ONLY 1
// What toml++ 3.3 asserts about its input, a hostile file can break, and its parser copes. So that an assertion neither
// stops the process nor becomes an assumption of the optimiser, it is nothing in every build.
#undef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t k_max_file = 1U << 20;
constexpr double k_farthest = 1000;  // metres; farther than any part one can hold
constexpr std::size_t k_max_text = 500;

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
  explicit SceneReader(const std::string& source) : source_(source) {}

  SceneFile read(const toml::table& table) {
    const auto version = table["cotouch"].value<std::int64_t>();
    if (!version) fail("it does not begin with `cotouch = 1`, so it is not a scene file");
    if (*version != 1) fail("it is of a version that this cotouch does not know; use a newer cotouch");
    allow_only(table, {"cotouch", "name", "title", "summary", "contact_stiffness", "max_force", "moving", "part"});
    SceneFile scene;
    scene.name = text(table, "name", "");
    if (!scene.name.empty() && !is_identifier(scene.name))
      fail("its name has other signs than letters, digits, - and _");
    scene.title = text(table, "title", scene.name);
    scene.summary = text(table, "summary", "");
    scene.contact_stiffness = number(table, "contact_stiffness", scene.contact_stiffness, 10, 100'000);
    scene.max_force = number(table, "max_force", scene.max_force, 0, 40);
    scene.moving = choice(table, "moving", "shell", "field") ? Moving::shell : Moving::field;

    const toml::node* parts = table.get("part");
    if (parts == nullptr) return scene;
    const toml::array* list = parts->as_array();
    if (list == nullptr) fail("`part` is not a list; write [[part]] above each part");
    if (list->size() > k_max_parts) fail("it has more than " + std::to_string(k_max_parts) + " parts");
    for (const toml::node& node : *list) {
      where_ = "part " + std::to_string(scene.parts.size() + 1) + ": ";
      if (!node.is_table()) fail("it is not a table; write [[part]] above each part");
      scene.parts.push_back(read_part(*node.as_table()));
    }
    where_.clear();
    if (std::count_if(scene.parts.begin(), scene.parts.end(), [](const SceneFilePart& p) { return p.moving; }) > 1)
      fail("more than one part is moving; a hand holds one");
    return scene;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error("The scene " + source_ + " cannot be used: " + where_ + why + ".");
  }

  SceneFilePart read_part(const toml::table& table) const {
    allow_only(table,
               {"name", "asset", "mesh", "unit", "resolution", "points", "role", "position", "rotation", "color"});
    SceneFilePart part;
    part.asset = file(table, "asset");
    part.mesh = file(table, "mesh");
    if (part.asset.empty() == part.mesh.empty()) fail("give it either an `asset` or a `mesh`");
    part.name = clean_label(text(table, "name", (part.asset.empty() ? part.mesh : part.asset).stem().string()));
    part.color = text(table, "color", "");
    const auto is_hex = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    };
    if (!part.color.empty() && (part.color.size() != 7 || part.color[0] != '#' ||
                                !std::all_of(part.color.begin() + 1, part.color.end(), is_hex)))
      fail("its `color` is not of the form \"#rrggbb\"");
    part.unit = text(table, "unit", "");
    if (!part.unit.empty()) metres_per(part.unit);
    part.settings.field.resolution =
        static_cast<int>(number(table, "resolution", 128, k_lowest_resolution, k_highest_resolution));
    part.settings.shell.points = static_cast<std::uint32_t>(number(table, "points", 16384, 16, 4'194'304));
    part.moving = !choice(table, "role", "static", "moving");

    const auto position = numbers<3>(table, "position", {0, 0, 0});
    part.pose.position = {position[0], position[1], position[2]};
    if (!(norm(part.pose.position) <= k_farthest)) fail("its `position` is farther away than a kilometre");
    const auto q = numbers<4>(table, "rotation", {1, 0, 0, 0});
    const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(std::abs(length - 1) <= 0.01)) fail("its `rotation` (w, x, y, z) does not have length one");
    part.pose.rotation = normalized(Quat{q[0], q[1], q[2], q[3]});
    return part;
  }

  // A misspelt key would otherwise change nothing, without a word.
  void allow_only(const toml::table& table, std::initializer_list<std::string_view> keys) const {
    for (const auto& [key, value] : table)
      if (std::find(keys.begin(), keys.end(), key.str()) == keys.end())
        fail("nothing is called `" + clean_label(key.str()) + "` here");
  }

  std::string text(const toml::table& table, const char* key, std::string otherwise) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return otherwise;
    const auto value = node->value_exact<std::string>();
    if (!value) fail(std::string("`") + key + "` is not a text in quotes");
    if (value->size() > k_max_text) fail(std::string("`") + key + "` is too long");
    return from_ascii(*value);
  }

  double number(const toml::table& table, const char* key, double otherwise, double low, double high) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return otherwise;
    const auto value = node->value<double>();
    // The negation also catches what is not a number.
    if (!node->is_number() || !value || !(*value >= low && *value <= high))
      fail(std::string("`") + key + "` is not a number from " + std::to_string(static_cast<long>(low)) + " to " +
           std::to_string(static_cast<long>(high)));
    return *value;
  }

  // True for the first word, which is also the default.
  bool choice(const toml::table& table, const char* key, const char* first, const char* second) const {
    const std::string value = text(table, key, first);
    if (value != first && value != second)
      fail(std::string("`") + key + "` is neither \"" + first + "\" nor \"" + second + "\"");
    return value == first;
  }

  template <std::size_t count>
  std::array<double, count> numbers(const toml::table& table, const char* key,
                                    const std::array<double, count>& otherwise) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return otherwise;
    const toml::array* list = node->as_array();
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

  fs::path file(const toml::table& table, const char* key) const {
    const std::string name = text(table, key, "");
    if (name.empty()) return {};
    fs::path path(name);
    bool inside = path.is_relative() && name.find('\\') == std::string::npos && name.find('\0') == std::string::npos;
    for (const fs::path& piece : path) inside = inside && piece != "..";
    if (!inside) fail(std::string("`") + key + "` must name a file in the scene's own folder");
    return path;
  }

  std::string source_;
  std::string where_;
};

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte >= 0x20 && byte != 0x7f) {
      out += c;
    } else {
      out += ' ';
    }
  }
  return out + '"';
}

// The shortest text that reads back as the same number, with a point so that TOML takes it for a float.
std::string plain(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, end.ptr);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

SceneFile parse_scene_file(std::string_view text, const std::string& source) {
  if (text.size() > k_max_file) throw Error("The scene " + source + " cannot be used: it is larger than one MiB.");
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark
  toml::table table;
  try {
    table = toml::parse(to_ascii(text));
  } catch (const toml::parse_error& error) {
    throw Error("The scene " + source + " cannot be used: line " + std::to_string(error.source().begin.line) + ": " +
                std::string(error.description()) + ".");
  }
  return SceneReader(source).read(table);
}

std::string format_scene_file(const SceneFile& scene) {
  std::string out = "# A cotouch scene. Open it with: cotouch play scene.toml\ncotouch = 1\n";
  const auto line = [&](const char* key, const std::string& value) {
    out.append(key).append(" = ").append(value) += '\n';
  };
  line("name", in_quotes(scene.name));
  line("title", in_quotes(scene.title));
  line("summary", in_quotes(scene.summary));
  line("contact_stiffness", plain(scene.contact_stiffness));
  line("max_force", plain(scene.max_force));
  line("moving", scene.moving == Moving::shell ? "\"shell\"" : "\"field\"");
  for (const SceneFilePart& part : scene.parts) {
    out += "\n[[part]]\n";
    line("name", in_quotes(part.name));
    if (!part.asset.empty()) line("asset", in_quotes(part.asset.generic_string()));
    if (!part.mesh.empty()) {
      line("mesh", in_quotes(part.mesh.generic_string()));
      if (!part.unit.empty()) line("unit", in_quotes(part.unit));
      line("resolution", std::to_string(part.settings.field.resolution));
      line("points", std::to_string(part.settings.shell.points));
    }
    line("role", part.moving ? "\"moving\"" : "\"static\"");
    const Vec3d& p = part.pose.position;
    const Quat& q = part.pose.rotation;
    line("position", "[" + plain(p.x) + ", " + plain(p.y) + ", " + plain(p.z) + "]");
    line("rotation", "[" + plain(q.w) + ", " + plain(q.x) + ", " + plain(q.y) + ", " + plain(q.z) + "]");
    if (!part.color.empty()) line("color", in_quotes(part.color));
  }
  return out;
}

LoadedScene load_scene_file(const fs::path& file, Progress& progress) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (error)
    throw Error("The scene " + file.string() + " cannot be opened: " + error.message() + ".",
                error == std::errc::no_such_file_or_directory ? ErrorCode::not_found : ErrorCode::io);
  if (size > k_max_file) throw Error("The scene " + file.string() + " cannot be used: it is larger than one MiB.");
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const SceneFile scene_file = parse_scene_file(text, file.string());

  LoadedScene scene;
  scene.name = scene_file.name.empty() ? file.stem().string() : scene_file.name;
  if (!is_identifier(scene.name)) scene.name = "scene";
  scene.title = scene_file.title.empty() ? scene.name : scene_file.title;
  scene.summary = scene_file.summary;
  scene.editable = true;
  scene.moving = scene_file.moving;
  scene.contact_stiffness = scene_file.contact_stiffness;
  scene.coupling.max_force = scene_file.max_force;
  for (const SceneFilePart& entry : scene_file.parts) {
    const fs::path folder = file.parent_path();
    Part part;
    if (!entry.asset.empty()) {
      progress.update("reading " + entry.name, 0);
      part = read_asset(folder / entry.asset);
    } else {
      progress.update("reading " + entry.name, 0);
      ImportOptions options;
      if (!entry.unit.empty()) options.unit = entry.unit;
      part = prepare_cached(load_mesh(folder / entry.mesh, options).mesh, entry.settings, progress);
    }
    ScenePart loaded = make_scene_part(std::make_shared<const Part>(std::move(part)));
    loaded.id = static_cast<std::uint32_t>(scene.parts.size()) + 1;
    loaded.name = entry.name;
    loaded.color = entry.color;
    loaded.moving = entry.moving;
    loaded.removable = true;
    loaded.pose = entry.pose;
    scene.parts.push_back(std::move(loaded));
  }
  return scene;
}

fs::path save_scene(const LoadedScene& scene, const std::string& name, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error("Cannot make the folder " + folder.string() + ": " + error.message() + ".");
  SceneFile scene_file;
  scene_file.name = name;
  scene_file.title = scene.title.empty() ? name : scene.title;
  scene_file.summary = scene.summary;
  scene_file.contact_stiffness = scene.contact_stiffness;
  scene_file.max_force = scene.coupling.max_force;
  scene_file.moving = scene.moving;
  std::set<std::string> kept;
  for (const ScenePart& part : scene.parts) {
    SceneFilePart entry;
    entry.name = part.name;
    entry.color = part.color;
    entry.moving = part.moving;
    entry.pose = part.pose;
    // Names of our own making: a part's name came from a stranger.
    entry.asset = "part-" + std::to_string(part.id) + ".cot";
    kept.insert(entry.asset.string());
    write_asset(*part.part, folder / entry.asset);
    scene_file.parts.push_back(std::move(entry));
  }
  fs::path file = folder / "scene.toml";
  write_file(file, format_scene_file(scene_file));
  // Parts of an earlier save under this name.
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string old = it->path().filename().string();
    if (old.starts_with("part-") && old.ends_with(".cot") && !kept.contains(old)) fs::remove(it->path(), error);
  }
  return file;
}

}  // namespace cotouch

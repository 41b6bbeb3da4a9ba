#include <cotouch/session/scene_file.h>

#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/read_file.h>
#include <cotouch/base/trig.h>
#include <cotouch/base/units.h>
#include <cotouch/mesh/import.h>
#include <cotouch/part/asset.h>
#include <cotouch/session/names.h>
#include <cotouch/session/plain_number.h>
#include <cotouch/session/scene_limits.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t k_most_bytes = 1U << 20;

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

// With a point, so that TOML takes it for a float.
std::string number(double value) {
  std::string text = plain_number(value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string list(std::initializer_list<double> values) {
  std::string out = "[";
  for (const double value : values) out += (out.size() > 1 ? ", " : "") + number(value);
  return out + "]";
}

std::string list(const Vec3d& v) {
  return list({v.x, v.y, v.z});
}

std::string list(const Quat& q) {
  return list({q.w, q.x, q.y, q.z});
}

std::string list(const std::vector<Pose>& poses) {
  std::string out;
  for (const auto& [p, q] : poses) out += (out.empty() ? "" : ", ") + list({p.x, p.y, p.z, q.w, q.x, q.y, q.z});
  return "[" + out + "]";
}

// To a billionth of a degree, as it was written if somebody wrote it.
double rounded_degrees(double radians) {
  return std::round(radians * 180 / k_pi * 1e9) / 1e9;
}

// By a hand that shows the scene.
bool can_be_led(const SceneBody& body) {
  return body.motion == Motion::free || (body.motion == Motion::fixed && is_elastic(body));
}

std::string elastic(const ElasticSettings& settings) {
  const std::vector<std::string> names = material_names();
  const auto known = std::find_if(names.begin(), names.end(),
                                  [&](const std::string& name) { return material_named(name) == settings.material; });
  std::string out = "{ ";
  if (known != names.end()) {
    out += "material = " + in_quotes(*known);
  } else {
    const Material& m = settings.material;
    out += "young = " + number(m.young) + ", poisson = " + number(m.poisson) + ", density = " + number(m.density) +
           ", mass_damping = " + number(m.mass_damping) + ", stiffness_damping = " + number(m.stiffness_damping);
  }
  out += std::string(", law = ") + (settings.law == ElasticLaw::stvk ? "\"stvk\"" : "\"warped\"");
  out += ", coordinates = " + std::to_string(settings.coordinates);
  if (settings.tets.edge > 0)
    out += ", edge = " + number(settings.tets.edge);
  else
    out += ", tets = " + std::to_string(settings.tets.target_tets);
  out += ", domains = " + std::to_string(settings.domains);
  std::string anchors;
  for (const Anchor& anchor : settings.anchors) anchors += (anchors.empty() ? "" : ", ") + in_quotes(to_string(anchor));
  if (!anchors.empty()) out += ", anchors = [" + anchors + "]";
  return out + " }";
}

bool has_name(const std::string& unit) {
  try {
    return metres_per(unit) > 0;
  } catch (const Error&) {
    return false;
  }
}

class SceneWriter {
 public:
  std::string write(const SceneFile& file) {
    const Scene& scene = file.scene;
    out_ = "# A cotouch scene. Open it with: cotouch play scene.toml\n";
    line("cotouch", "2");
    line("name", in_quotes(scene.name));
    line("title", in_quotes(scene.title));
    line("summary", in_quotes(scene.summary));
    line("gravity", list(scene.gravity));
    line("friction", number(scene.friction));
    line("restitution", number(scene.restitution));
    line("drag", number(scene.drag));
    line("contact_stiffness", number(scene.contact_stiffness));
    line("max_force", number(scene.coupling.max_force));
    write_exclusions(scene);
    if (scene.task) write_task(scene);
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) write_body(scene.bodies[i], file.sources[i]);
    for (const PairRule& rule : scene.rules) write_pair(scene, rule);
    for (const HandScript& script : scene.scripts) write_hand(scene, script);
    return std::move(out_);
  }

 private:
  void line(const char* key, const std::string& value) {
    out_.append(indent_).append(key).append(" = ").append(value) += '\n';
  }

  static std::size_t number_of(const Scene& scene, std::uint32_t id) {
    return static_cast<std::size_t>(scene.find(id) - scene.bodies.data()) + 1;
  }

  void write_pose(const Pose& pose) {
    line("position", list(pose.position));
    line("rotation", list(pose.rotation));
  }

  void write_exclusions(const Scene& scene) {
    std::string pairs;
    for (const PairRule& rule : scene.rules)
      if (!rule.touches && holds(scene, rule)) pairs += (pairs.empty() ? "" : ", ") + bodies_of(scene, rule);
    if (!pairs.empty()) line("exclude", "[" + pairs + "]");
  }

  void write_pair(const Scene& scene, const PairRule& rule) {
    if (!rule.touches || rule.engine.empty() || !holds(scene, rule)) return;
    out_ += "\n[[pair]]\n";
    line("bodies", bodies_of(scene, rule));
    line("engine", in_quotes(rule.engine));
  }

  // Not if one of the two was taken out, or if another rule about them comes first.
  static bool holds(const Scene& scene, const PairRule& rule) {
    const auto is_first = [&](const PairRule& other) { return other.is_about(rule.a, rule.b); };
    return scene.find(rule.a) != nullptr && scene.find(rule.b) != nullptr &&
           &*std::ranges::find_if(scene.rules, is_first) == &rule;
  }
  static std::string bodies_of(const Scene& scene, const PairRule& rule) {
    return "[" + std::to_string(number_of(scene, rule.a)) + ", " + std::to_string(number_of(scene, rule.b)) + "]";
  }

  void write_task(const Scene& scene) {
    if (scene.find(scene.task->body) == nullptr) return;
    out_ += "\n[task]\n";
    line("body", std::to_string(number_of(scene, scene.task->body)));
    write_pose(scene.task->target);
    line("tolerance", number(scene.task->position_tolerance));
    const double angle = scene.task->angle_tolerance, degrees = rounded_degrees(angle);
    if (radians_of_degrees(degrees) == angle)
      line("angle", number(degrees));
    else
      line("angle_radians", number(angle));
    line("summary", in_quotes(scene.task->summary));
  }

  void write_hand(const Scene& scene, const HandScript& script) {
    const SceneBody* body = scene.find(script.body);
    if (body == nullptr || !can_be_led(*body)) return;  // taken out, docked or made fixed
    out_ += "\n[[hand]]\n";
    line("body", std::to_string(number_of(scene, script.body)));
    line("path", list(script.keys));
    line("speed", number(script.speed));
  }

  void write_body(const SceneBody& body, const std::vector<PartSource>& sources) {
    out_ += "\n[[body]]\n";
    line("name", in_quotes(body.name));
    line("motion", body.motion == Motion::fixed ? "\"fixed\"" : body.motion == Motion::path ? "\"path\"" : "\"free\"");
    line("holding", body.holding == Holding::quasi_static ? "\"quasi_static\"" : "\"dynamic\"");
    write_pose(body.pose);
    if (body.mass) {
      const auto& i = body.mass->inertia.m;
      line("mass", number(body.mass->mass));
      line("center", list(body.mass->center));
      line("inertia", list({i[0], i[4], i[8], i[1], i[5], i[2]}));
    } else if (!is_elastic(body)) {
      line("density", number(body.density));
    }
    line("clearance", number(body.clearance));
    line("velocity", list(body.velocity));
    line("spin", list(body.spin));
    if (body.motion == Motion::path) {
      line("path", list(body.path));
      line("path_speed", number(body.path_speed));
    }
    indent_ = "  ";
    for (std::size_t i = 0; i < body.parts.size(); ++i) write_part(body.parts[i], sources[i]);
    indent_.clear();
  }

  void write_part(const ScenePart& part, const PartSource& source) {
    out_ += "  [[body.part]]\n";
    line("name", in_quotes(part.name));
    if (!source.asset.empty()) {
      line("asset", in_quotes(source.asset.generic_string()));
      if (part.import && has_name(part.import->facts.unit)) {
        line("unit", in_quotes(part.import->facts.unit));
        line("up", in_quotes(std::string(1, part.import->facts.up_axis)));
      }
    } else {
      line("mesh", in_quotes(source.mesh.generic_string()));
      if (!source.unit.empty()) line("unit", in_quotes(source.unit));
      if (!source.up.empty()) line("up", in_quotes(source.up));
      line("resolution", std::to_string(part.settings.field.resolution));
      line("points", std::to_string(part.settings.shell.points));
      if (part.settings.elastic) line("elastic", elastic(*part.settings.elastic));
    }
    write_pose(part.place);
    if (!part.color.empty()) line("color", in_quotes(part.color));
  }

  std::string out_, indent_;
};

// Calls what is done by one name, whatever it calls itself.
class NamedStage final : public Progress {
 public:
  NamedStage(Progress& outer, std::string name) : outer_(outer), name_(std::move(name)) { update({}, 0); }
  void update(std::string_view, double fraction) override { outer_.update(name_, fraction); }

 private:
  Progress& outer_;
  std::string name_;
};

// Reads the files of parts, each of them once.
class PartReader {
 public:
  explicit PartReader(fs::path folder) : folder_(std::move(folder)) {}

  void read(const PartSource& source, ScenePart& part, Progress& progress) {
    check_inside(source.asset.empty() ? source.mesh : source.asset);
    if (!source.asset.empty()) {
      std::shared_ptr<const Part>& known = assets_[source.asset];
      if (!known) known = std::make_shared<const Part>(read_asset(folder_ / source.asset));
      part.part = known;
      part.settings = known->settings;
      if (!source.unit.empty() && !source.up.empty()) part.import = import_of(source);
      return;
    }
    Mesh& known = meshes_[{source.mesh, source.unit, source.up}];
    if (!known.mesh) {
      ImportOptions options;
      options.limits = limits_for_parts();
      if (!source.unit.empty()) options.unit = source.unit;
      if (!source.up.empty()) options.up_axis = source.up;
      ImportedMesh imported = load_mesh(folder_ / source.mesh, options, progress);
      known.import = std::make_shared<const PartImport>(PartImport{imported.facts, imported.report.warnings()});
      known.mesh = std::make_shared<const TriangleMesh>(std::move(imported.mesh));
    }
    part.mesh = known.mesh;
    part.import = known.import;
  }

 private:
  // What a scene says of an asset: how its mesh was read once.
  static std::shared_ptr<const PartImport> import_of(const PartSource& source) {
    PartImport import;
    import.facts.unit = source.unit;
    import.facts.metres_per_unit = metres_per(source.unit);
    import.facts.up_axis = source.up.front();
    import.facts.unit_from = import.facts.up_from = ImportFacts::From::given;
    return std::make_shared<const PartImport>(std::move(import));
  }

  struct Mesh {
    std::shared_ptr<const TriangleMesh> mesh;
    std::shared_ptr<const PartImport> import;
  };
  // Names were checked when the file was parsed; links are what is left by which a stranger's folder could lead
  // outside.
  void check_inside(const fs::path& name) const {
    std::error_code error;
    const fs::path home = fs::canonical(folder_.empty() ? fs::path(".") : folder_, error);
    const fs::path there = fs::canonical(folder_ / name, error);
    if (error) return;  // whoever opens it says why it cannot be
    if (std::mismatch(home.begin(), home.end(), there.begin(), there.end()).first != home.end())
      throw Error(name.string() + " is a link to a file outside of the scene's folder. Put the file itself there.",
                  ErrorCode::refused);
  }

  fs::path folder_;
  std::map<fs::path, std::shared_ptr<const Part>> assets_;
  std::map<std::tuple<fs::path, std::string, std::string>, Mesh> meshes_;
};

}  // namespace

double radians_of_degrees(double degrees) {
  return degrees * k_pi / 180;
}

std::string format_scene_file(const SceneFile& file) {
  return SceneWriter().write(file);
}

Scene load_scene_file(const fs::path& path, Progress& progress) {
  // Until all is read: somebody who saves it anew removes parts.
  std::optional<FolderLock> lock = FolderLock::to_read(path.parent_path());
  SceneFile file = parse_scene_file(read_text(path, k_most_bytes), path.string());
  Scene& scene = file.scene;
  if (scene.name.empty()) scene.name = path.stem().string();
  if (!is_identifier(scene.name)) scene.name = "scene";
  if (scene.title.empty()) scene.title = scene.name;

  PartReader reader(path.parent_path());
  for (std::size_t i = 0; i < scene.bodies.size(); ++i)
    for (std::size_t j = 0; j < scene.bodies[i].parts.size(); ++j) {
      ScenePart& part = scene.bodies[i].parts[j];
      NamedStage reading(progress, "reading " + part.name);
      try {
        reader.read(file.sources[i][j], part, reading);
      } catch (const Cancelled&) {
        throw;
      } catch (const Error& error) {
        // The part's file alone would not tell who asked for it.
        throw Error("The scene " + path.string() + " cannot be opened: " + error.what(), error.code());
      }
    }
  lock.reset();
  prepare(scene, progress);
  try {
    for (std::size_t i = 0; i < scene.scripts.size(); ++i)
      if (!can_be_led(*scene.find(scene.scripts[i].body)))
        throw Error("hand " + std::to_string(i + 1) + ": its body neither is free nor bends.", ErrorCode::damaged_file);
    check_weight(*make_model(scene));
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    throw Error("The scene " + path.string() + " cannot be used: " + error.what(), error.code());
  }
  return std::move(scene);
}

fs::path save_scene(const Scene& scene, const std::string& name, const fs::path& folder, Replacing replacing,
                    std::string_view thumbnail) {
  if (!scene.is_prepared()) throw Error("The scene '" + name + "' can be saved only once it is prepared.");
  const FolderLock lock = FolderLock::to_write(folder);
  fs::path out = folder / "scene.toml";
  std::error_code error;
  if (replacing == Replacing::refused && fs::exists(out, error))
    throw Error("There is a scene '" + name + "' already.", ErrorCode::exists);
  SceneFile file{scene, {}};
  file.scene.name = name;
  if (file.scene.title.empty()) file.scene.title = name;
  std::map<const Part*, fs::path> written;
  std::set<std::string> kept;
  for (const SceneBody& body : scene.bodies) {
    std::vector<PartSource>& sources = file.sources.emplace_back();
    for (const ScenePart& part : body.parts) {
      fs::path& asset = written[part.part.get()];
      if (asset.empty()) asset = write_asset_by_content(*part.part, folder);
      kept.insert(asset.string());
      sources.push_back({asset, {}, {}, {}});
    }
  }
  write_file(out, format_scene_file(file));
  if (!thumbnail.empty()) write_file(folder / "thumbnail.png", thumbnail);
  // Parts of an earlier save under this name, and what one that was killed left.
  std::vector<fs::path> old;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string there = it->path().filename().string();
    const bool part = there.starts_with("part-") && there.ends_with(".cot") && !kept.contains(there);
    if (part || there.ends_with(".part")) old.push_back(it->path());
  }
  for (const fs::path& path : old) fs::remove(path, error);
  return out;
}

}  // namespace cotouch

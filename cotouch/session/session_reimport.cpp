// Bodies that came in with the wrong unit or the wrong side up.
#include <cotouch/base/error.h>
#include <cotouch/base/units.h>
#include <cotouch/field/mass.h>
#include <cotouch/mesh/raw_mesh.h>
#include <cotouch/part/cache.h>
#include <cotouch/session/session_ask.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace cotouch {
namespace {

using Kind = CommandResult::Kind;

constexpr double k_unmoved = 0.01;  // of a part's size: no farther from its place than it settles by itself
constexpr double k_smallest_part = 1e-4, k_largest_part = 100;  // metres, along the longest edge of its box

// A sentence, or nothing.
std::string obstacle_to_reimport(const SceneBody* body, const Reimport& wanted) {
  if (body == nullptr) return "There is no such body.";
  if (body->parts.size() != 1 || !body->parts[0].import) return "This body was not dropped here as a file.";
  if (is_elastic(*body)) return "Make it rigid first: where it is held would no longer be the same place.";
  if (wanted.up != "" && wanted.up != "x" && wanted.up != "y" && wanted.up != "z") return "The up axis is x, y or z.";
  return {};
}

void change_unit_and_up(TriangleMesh& mesh, const ImportFacts& before, const ImportFacts& after) {
  turn_from_z_up(mesh, before.up_axis);
  for (Vec3d& v : mesh.vertices) v *= after.metres_per_unit / before.metres_per_unit;
  turn_z_up(mesh, after.up_axis);
}

}  // namespace

CommandResult Session::carry_out(ParticipantId who, const Reimport& wanted) {
  const SceneBody* body = scene_->scene.find(wanted.body);
  if (std::string reason = obstacle_to_reimport(body, wanted); !reason.empty())
    return {Kind::wrong, std::move(reason), 0, {}};
  auto import = std::make_shared<PartImport>(*body->parts[0].import);
  const ImportFacts before = import->facts;
  if (!wanted.unit.empty()) {
    import->facts.metres_per_unit = metres_per(wanted.unit);  // throws if there is none
    import->facts.unit = wanted.unit;
    import->facts.unit_from = ImportFacts::From::given;
    import->facts.guess.clear();
  }
  if (!wanted.up.empty()) {
    import->facts.up_axis = wanted.up.front();
    import->facts.up_from = ImportFacts::From::given;
  }
  const double scale = import->facts.metres_per_unit / before.metres_per_unit;
  const std::shared_ptr<const Part> part = body->parts[0].part;
  const Vec3d size = part->mesh.bounds().size();
  const double largest = scale * std::max({size.x, size.y, size.z});
  if (largest < k_smallest_part || largest > k_largest_part)
    return {Kind::wrong, "In this unit the part is not between 0.1 mm and 100 m long.", 0, {}};
  if (std::string reason = obstacle({.who = who, .action = SessionAction::change_bodies}); !reason.empty())
    return {Kind::not_now, std::move(reason), 0, {}};

  if (import->place) {
    TriangleMesh middle;
    middle.vertices = {*import->place};
    change_unit_and_up(middle, before, import->facts);
    import->place = middle.vertices[0];
  }
  ScenePart after = body->parts[0];
  after.import = import;
  return start_job(who, JobLane::parts, body->name,
                   [this, who, id = wanted.body, part, before, after = std::move(after)](Progress& progress) mutable {
                     // The prepared part keeps its mesh, which is the file's but for unit and axes.
                     TriangleMesh mesh = part->mesh;
                     change_unit_and_up(mesh, before, after.import->facts);
                     mesh.name = part->name;
                     after.part = std::make_shared<const Part>(prepare_cached(mesh, part->settings, progress));
                     after.matter = matter_of(*after.part);
                     progress.update("drawing it", 0);
                     Scene alone;
                     alone.bodies.emplace_back().parts.push_back(after);
                     const std::vector<ShownPart> pictures = show(std::move(alone))->parts;
                     post([this, who, id, part, after = std::move(after), pictures] {
                       reimport_now(who, id, part, after, pictures);
                     });
                   });
}

void Session::reimport_now(ParticipantId who, BodyId id, const std::shared_ptr<const Part>& before,
                           const ScenePart& after, const std::vector<ShownPart>& pictures) {
  const auto make = [this, who, id, before, after]() -> std::optional<Scene> {
    const SceneBody* body = scene_->scene.find(id);
    if (is_shared() || body == nullptr || body->parts.size() != 1 || body->parts[0].part != before) {
      tell_problem(who, "The scene was changed while '" + before->name + "' was prepared; it is left as it is.");
      return std::nullopt;
    }
    Scene scene = scene_to_edit();
    SceneBody& changed = *scene.find(id);
    // Parts of one assembly fit again once all have the right unit. One that somebody moved stays where it was put.
    const auto& from = changed.parts[0].import->place;
    if (from && norm(changed.pose.position - *from) <= k_unmoved * norm(before->mesh.bounds().size()))
      changed.pose.position = *after.import->place;
    changed.parts[0] = after;
    changed.mass.reset();  // which was of another size
    return scene;
  };
  change_after_job({who, make, "A part got another unit or up axis.", pictures});
}

}  // namespace cotouch

// A scene: everything a world is made from, before and after its parts are prepared. Scenes are built in, read from
// files or put together by users; all of them are this one type.
#pragma once

#include <cotouch/mesh/import_facts.h>
#include <cotouch/world/model.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cotouch {

// How a part came out of the file that somebody dropped.
struct PartImport {
  ImportFacts facts;
  std::vector<std::string> warnings;  // a sentence each
  std::optional<Vec3d> place = {};    // of its middle in the file, in metres and with z up, if its body was put there
};

struct ScenePart {
  std::string name;
  std::string color;  // "#rrggbb", or empty: the viewer chooses
  Pose place;         // in its body's frame
  // What it is made from, and what it became: prepare() fills `part` from `mesh` and `settings`.
  std::shared_ptr<const TriangleMesh> mesh;
  PartSettings settings;
  std::shared_ptr<const Part> part;
  std::shared_ptr<const PartImport> import;  // null if it was not dropped
  std::optional<MassProperties> matter;      // of the part at 1 kg/m^3; prepare() fills it, because it takes a while
};

struct SceneBody {
  std::uint32_t id = 0;  // from 1; stays the same while bodies come and go
  std::string name;
  Motion motion = Motion::fixed;
  Holding holding = Holding::quasi_static;
  std::vector<ScenePart> parts;  // several are one rigid body
  Pose pose;
  Vec3d velocity, spin;                // at the start
  double density = 1000;               // kg/m^3, of its parts; what bends has its material's
  std::optional<MassProperties> mass;  // instead of what volume and density give
  std::vector<Pose> path;              // key poses of a body that moves along one
  double path_speed = 0.05;            // m/s
  double clearance = 0;                // metres
  bool removable = false;              // users may take it out again
};

// A hand motion that shows the scene: it takes a body at its start and leads it along key poses of that body.
struct HandScript {
  std::uint32_t body = 0;
  std::vector<Pose> keys;
  double speed = 0.05;  // m/s
};

struct Scene {
  std::string name, title, summary;
  bool editable = false;  // users may add bodies
  std::vector<SceneBody> bodies;
  std::vector<PairRule> rules;  // how pairs of bodies touch, if not as all others do
  Vec3d gravity;                // m/s^2
  double friction = 0.3;
  double restitution = 0.3;
  double drag = 0.2;                                       // 1/s, what air or oil takes from a free body's motion
  double contact_stiffness = ContactSettings{}.stiffness;  // N/m of a single point
  CouplingSettings coupling;
  std::optional<Task> task;
  std::vector<HandScript> scripts;  // may be empty

  const SceneBody* find(std::uint32_t id) const;
  SceneBody* find(std::uint32_t id);
  bool is_prepared() const;
  // In world axes, bodies at their start; a box of 20 cm around the origin if there are none.
  Box3d bounds() const;
  // Length of the bounds' diagonal: the yardstick for speeds and distances in this scene.
  double size() const;
};

// Prepares every part that is not, through the cache.
void prepare(Scene& scene, Progress& progress);
// Of a part at 1 kg/m^3, by its field, or by its mesh if it was prepared without one. Takes a while.
MassProperties matter_of(const Part& part);
// Weighs the parts that are prepared and were not weighed yet, each once, however many bodies share it.
void weigh(Scene& scene);

// The world of a prepared scene. `tick` in seconds; a budget of its own makes it a shared world's. Throws Error as
// WorldModel does.
struct ModelOptions {
  double tick = 1e-3;
  std::uint32_t hands = 4;
  WorkBudget budget;
};
std::shared_ptr<const WorldModel> make_model(const Scene& scene, const ModelOptions& options = {});
// Can a hand take the body, or a point of it? It can unless the body is rigid and does not move freely.
bool can_be_held(const SceneBody& body);
// What a body weighs: given, or from the volume and density of its parts.
MassProperties mass_of(const SceneBody& body);
// Does it bend, prepared or not? Then its density is its material's.
bool is_elastic(const SceneBody& body);

std::vector<std::string> builtin_scene_names();
// Not prepared. Throws Error naming the scenes there are.
Scene builtin_scene(std::string_view name);
// A name as a heading: "ball-socket" becomes "Ball socket".
std::string scene_title(std::string_view name);

}  // namespace cotouch

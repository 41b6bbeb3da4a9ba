#include <cotouch/world/scene.h>

#include <cotouch/base/error.h>
#include <cotouch/field/mass.h>
#include <cotouch/part/cache.h>

#include <algorithm>
#include <map>

namespace cotouch {

const SceneBody* Scene::find(std::uint32_t id) const {
  const auto found = std::find_if(bodies.begin(), bodies.end(), [id](const SceneBody& b) { return b.id == id; });
  return found == bodies.end() ? nullptr : &*found;
}

SceneBody* Scene::find(std::uint32_t id) {
  return const_cast<SceneBody*>(std::as_const(*this).find(id));
}

bool Scene::is_prepared() const {
  return std::all_of(bodies.begin(), bodies.end(), [](const SceneBody& body) {
    return std::all_of(body.parts.begin(), body.parts.end(),
                       [](const ScenePart& part) { return part.part != nullptr; });
  });
}

Box3d Scene::bounds() const {
  Box3d box;
  for (const SceneBody& body : bodies)
    for (const ScenePart& part : body.parts) {
      const TriangleMesh* mesh = part.part ? &part.part->mesh : part.mesh.get();
      if (mesh == nullptr) continue;
      const Box3d own = part.part && part.part->bounds ? *part.part->bounds : mesh->bounds();
      if (own.empty()) continue;
      const Pose pose = body.pose * part.place;
      for (int corner = 0; corner < 8; ++corner)
        box.add(transform(pose, {(corner & 1) != 0 ? own.high.x : own.low.x, (corner & 2) != 0 ? own.high.y : own.low.y,
                                 (corner & 4) != 0 ? own.high.z : own.low.z}));
    }
  if (box.empty()) return {{-0.1, -0.1, -0.1}, {0.1, 0.1, 0.1}};
  return box;
}

double Scene::size() const {
  return std::max(norm(bounds().size()), 1e-6);
}

void prepare(Scene& scene, Progress& progress) {
  std::map<const TriangleMesh*, std::shared_ptr<const Part>> made;  // bodies that share a mesh share the part
  for (SceneBody& body : scene.bodies)
    for (ScenePart& part : body.parts) {
      if (part.part) continue;
      if (!part.mesh) throw Error("The part '" + part.name + "' has no mesh to be prepared from.");
      std::shared_ptr<const Part>& known = made[part.mesh.get()];
      if (!known || !(known->settings == part.settings))
        known = std::make_shared<const Part>(prepare_cached(*part.mesh, part.settings, progress));
      part.part = known;
    }
  weigh(scene);
}

MassProperties matter_of(const Part& part) {
  const bool has_field = !part.field.data().brick_index.empty();
  return has_field ? mass_properties(part.field, 1) : mass_properties(part.mesh, 1);
}

void weigh(Scene& scene) {
  std::map<const Part*, MassProperties> weighed;
  for (SceneBody& body : scene.bodies)
    for (ScenePart& part : body.parts) {
      if (part.matter || !part.part) continue;
      // Without a field its mesh is weighed, which is not possible for every mesh: not if nobody asks.
      if (part.part->field.data().brick_index.empty() && (body.mass || body.motion != Motion::free)) continue;
      const auto [at, is_new] = weighed.try_emplace(part.part.get());
      if (is_new) at->second = matter_of(*part.part);
      part.matter = at->second;
    }
}

bool can_be_held(const SceneBody& body) {
  return body.motion == Motion::free || is_elastic(body);
}

MassProperties mass_of(const SceneBody& body) {
  if (body.mass) return *body.mass;
  std::vector<PlacedMass> pieces;
  for (const ScenePart& part : body.parts) {
    if (!part.part) throw Error("The body '" + body.name + "' can be weighed only once it is prepared.");
    MassProperties matter = part.matter ? *part.matter : matter_of(*part.part);
    const std::optional<ElasticSettings>& elastic = part.part->settings.elastic;
    const double density = elastic ? elastic->material.density : body.density;
    matter.mass *= density;
    matter.inertia = matter.inertia * density;
    pieces.push_back({matter, part.place});
  }
  return combined(pieces);
}

bool is_elastic(const SceneBody& body) {
  return std::any_of(body.parts.begin(), body.parts.end(), [](const ScenePart& part) {
    return (part.part ? part.part->settings : part.settings).elastic.has_value();
  });
}

std::shared_ptr<const WorldModel> make_model(const Scene& scene, const ModelOptions& options) {
  WorldSettings settings;
  settings.tick = options.tick;
  settings.hands = options.hands;
  settings.budget = options.budget;
  settings.gravity = scene.gravity;
  settings.friction = scene.friction;
  settings.restitution = scene.restitution;
  settings.linear_drag = settings.angular_drag = scene.drag;
  settings.contact.stiffness = scene.contact_stiffness;
  settings.coupling = scene.coupling;
  std::vector<BodyModel> bodies;
  for (const SceneBody& body : scene.bodies) {
    BodyModel model;
    model.id = body.id;
    model.name = body.name;
    model.motion = body.motion;
    model.holding = body.holding;
    for (const ScenePart& part : body.parts) model.pieces.push_back({part.part, part.place});
    model.start = body.pose;
    model.start_velocity = body.velocity;
    model.start_spin = body.spin;
    model.clearance = body.clearance;
    if (body.motion == Motion::free) model.mass = mass_of(body);
    if (body.motion == Motion::path) model.path = HandPath(body.path, body.path_speed);
    bodies.push_back(std::move(model));
  }
  return std::make_shared<const WorldModel>(std::move(bodies), settings, scene.rules, scene.task);
}

std::string scene_title(std::string_view name) {
  std::string title(name);
  std::replace(title.begin(), title.end(), '-', ' ');
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return title;
}

}  // namespace cotouch

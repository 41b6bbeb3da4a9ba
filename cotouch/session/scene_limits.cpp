#include <cotouch/session/scene_limits.h>

#include <cotouch/base/error.h>
#include <cotouch/session/scene_file.h>

#include <cstdio>

namespace cotouch {
namespace {

std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

}  // namespace

void check_savable(const Scene& scene, const std::string& refusal) {
  SceneFile file{scene, {}};
  for (const SceneBody& body : scene.bodies)
    file.sources.emplace_back(body.parts.size(), PartSource{"part.cot", {}, {}, {}});
  parse_scene_text(format_scene_file(file), refusal);
}

bool can_bend(const Scene& scene, const SceneBody& body) {
  return (scene.editable || body.removable) && body.parts.size() == 1 && body.motion != Motion::path;
}

void check_weight(const WorldModel& model) {
  const double gravity = norm(model.settings().gravity), stiffness = model.settings().contact.stiffness;
  for (std::uint32_t i = 0; i < model.bodies().size(); ++i) {
    const BodyModel& body = model.bodies()[i];
    if (body.motion != Motion::free) continue;
    const double depth = body.mass.mass * gravity / stiffness, cell = model.finest_cell(i);
    if (!(depth > cell)) continue;
    throw Error("The body '" + body.name + "' would sink through what it lies on: its " + rounded(body.mass.mass) +
                    " kg press " + rounded(depth * 1e3) + " mm deep, and a cell has " + rounded(cell * 1e3) +
                    " mm. Give it less mass, or the scene a higher contact stiffness or less gravity.",
                ErrorCode::invalid_argument);
  }
}

}  // namespace cotouch

// Bodies that users make bend, or rigid again.
#include <cotouch/base/error.h>
#include <cotouch/session/scene_file.h>
#include <cotouch/session/scene_limits.h>
#include <cotouch/session/session_ask.h>

#include <utility>

namespace cotouch {
namespace {

using Kind = CommandResult::Kind;

// What is prepared for a page takes seconds, not minutes, and its state still fits what peers exchange.
constexpr std::uint32_t k_most_session_tets = 50'000, k_most_session_coordinates = 60;

// A sentence, or nothing.
std::string obstacle_to_bending(const Scene& scene, const SceneBody* body) {
  if (body == nullptr) return "There is no such body.";
  if (body->motion == Motion::path) return "A body that moves along a path stays rigid.";
  if (body->parts.size() != 1) return "A body of several parts stays rigid; only one that is a single part can bend.";
  if (!can_bend(scene, *body)) return "In a built-in scene only copies can be made to bend, or rigid.";
  return {};
}

void check_session_elastic(const ElasticSettings& elastic) {
  check_elastic(elastic);
  if (elastic.tets.edge != 0 || elastic.tets.target_tets < k_fewest_tets ||
      elastic.tets.target_tets > k_most_session_tets)
    throw Error("A part is cut into " + std::to_string(k_fewest_tets) + " to " + std::to_string(k_most_session_tets) +
                    " tetrahedra here; for more of them use 'cotouch prepare'.",
                ErrorCode::invalid_argument);
  if (elastic.coordinates > k_most_session_coordinates)
    throw Error("A part has at most " + std::to_string(k_most_session_coordinates) +
                    " coordinates here; for more of them use 'cotouch prepare'.",
                ErrorCode::invalid_argument);
}

}  // namespace

CommandResult Session::carry_out(ParticipantId who, const BendBody& wanted) {
  const SceneBody* body = scene_->scene.find(wanted.body);
  if (std::string reason = obstacle_to_bending(scene_->scene, body); !reason.empty())
    return {Kind::wrong, std::move(reason), 0, {}};
  if (wanted.elastic) check_session_elastic(*wanted.elastic);
  if (std::string reason = obstacle({.who = who, .action = SessionAction::change_bodies}); !reason.empty())
    return {Kind::not_now, std::move(reason), 0, {}};
  const std::shared_ptr<const Part> part = body->parts[0].part;
  return start_job(
      who, JobLane::parts, "Making " + body->name + (wanted.elastic ? " bend" : " rigid"),
      [this, who, part, asked = std::make_shared<const BendBody>(wanted)](Progress& progress) {
        const auto bent = std::make_shared<const Part>(with_elastic(*part, asked->elastic, progress));
        progress.update("drawing it", 0);
        Scene alone;
        alone.bodies.emplace_back().parts.emplace_back().part = bent;
        const std::vector<ShownPart> pictures = show(std::move(alone))->parts;
        post([this, who, id = asked->body, part, bent, pictures] { bend_now(who, id, part, bent, pictures); });
      });
}

void Session::bend_now(ParticipantId who, BodyId id, const std::shared_ptr<const Part>& before,
                       const std::shared_ptr<const Part>& bent, const std::vector<ShownPart>& pictures) {
  const auto make = [this, who, id, before, bent]() -> std::optional<Scene> {
    const SceneBody* body = scene_->scene.find(id);
    if (is_shared() || body == nullptr || body->parts.size() != 1 || body->parts[0].part != before) {
      tell_problem(who, "The scene was changed while '" + before->name + "' was prepared; it is left as it is.");
      return std::nullopt;
    }
    Scene scene = scene_to_edit();
    SceneBody& changed = *scene.find(id);
    ScenePart& part = changed.parts[0];
    const bool held = !bent->elastic || bent->elastic->data().anchored;
    part.settings = bent->settings;
    part.part = bent;
    if (!held) changed.motion = Motion::free;
    return scene;
  };
  change_after_job({who, make, bent->elastic ? "A body was made to bend." : "A body was made rigid.", pictures});
}

}  // namespace cotouch

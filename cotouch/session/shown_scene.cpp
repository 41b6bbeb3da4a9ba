#include <cotouch/session/shown_scene.h>

#include <cotouch/base/error.h>
#include <cotouch/elastic/embedding.h>
#include <cotouch/mesh/subdivide.h>

#include <algorithm>
#include <array>

namespace cotouch {
namespace {

constexpr std::array<std::string_view, 5> k_still_colors{"#b4bec8", "#9fb3a8", "#c2b6a3", "#a9b0c9", "#c0adb8"};
constexpr std::array<std::string_view, 6> k_moving_colors{"#6f9fd8", "#5fb0a5", "#9a8fd6",
                                                          "#7fb7e0", "#8fc0a0", "#b3a0dc"};

// The picture's vertices among the tetrahedra.
std::vector<EmbeddedPoint> embedded(const ElasticModel& elastic, const std::vector<Vec3d>& vertices) {
  const TetMesh tets = tetrahedra_of(elastic.data());
  std::vector<Vec3f> points;
  for (const Vec3d& vertex : vertices) points.emplace_back(vertex);
  const Embedding found = embed(tets, points);
  std::vector<EmbeddedPoint> out;
  for (std::size_t i = 0; i < points.size(); ++i) out.push_back({tets.tets[found.tet[i]], found.weight[i]});
  return out;
}

}  // namespace

std::shared_ptr<const PartPicture> make_picture(std::shared_ptr<const Part> part, const DisplayLimits& limits) {
  TriangleMesh mesh = display_mesh(part->mesh, limits);
  const bool coarser = mesh.triangles.size() < part->mesh.triangles.size();
  // Nearness is drawn between vertices, so large flat faces need some in between.
  constexpr std::size_t k_most_divided = 20'000;
  const double longest_edge = norm(mesh.bounds().size()) / 25;
  mesh = with_short_edges(mesh, longest_edge, coarser ? limits.most : k_most_divided);
  ClosestTriangle closest(mesh);
  std::vector<EmbeddedPoint> embedding;
  if (part->elastic != nullptr) embedding = embedded(*part->elastic, mesh.vertices);
  return std::make_shared<const PartPicture>(
      PartPicture{std::move(part), std::move(mesh), coarser, std::move(closest), std::move(embedding)});
}

std::vector<Vec3d> bent_vertices(const PartPicture& picture, Deformation& shape) {
  std::vector<Vec3d> vertices = picture.mesh.vertices;
  for (std::size_t i = 0; i < vertices.size(); ++i) vertices[i] += shape.displacement_at(picture.embedding[i]);
  return vertices;
}

const ShownPart* ShownScene::find_part(std::uint32_t id) const {
  const auto found = std::find_if(parts.begin(), parts.end(), [id](const ShownPart& p) { return p.id == id; });
  return found == parts.end() ? nullptr : &*found;
}

const ScenePart& ShownScene::scene_part(const ShownPart& part) const {
  return scene.find(part.body)->parts[part.index];
}

std::shared_ptr<const ShownScene> show(Scene scene, const ShownScene* known) {
  if (!scene.is_prepared()) throw Error("The scene '" + scene.name + "' must be prepared before it is shown.");
  auto shown = std::make_shared<ShownScene>();
  const auto picture_of = [&](const std::shared_ptr<const Part>& part) {
    for (const std::vector<ShownPart>* parts :
         {&std::as_const(shown->parts), known != nullptr ? &known->parts : nullptr})
      if (parts != nullptr)
        for (const ShownPart& one : *parts)
          if (one.picture->part == part) return one.picture;
    return make_picture(part);
  };
  std::size_t still = 0, moving = 0;
  for (const SceneBody& body : scene.bodies)
    for (std::size_t i = 0; i < body.parts.size(); ++i) {
      const bool moves = body.motion != Motion::fixed || can_be_held(body);
      const std::size_t order = moves ? moving++ : still++;
      const std::string& own = body.parts[i].color;
      shown->parts.push_back({static_cast<std::uint32_t>(shown->parts.size()) + 1, body.id, i,
                              own.empty() ? std::string(palette_color(moves, order)) : own,
                              picture_of(body.parts[i].part)});
    }
  shown->scene = std::move(scene);
  return shown;
}

std::string_view palette_color(bool moves, std::size_t order) {
  return moves ? k_moving_colors[order % k_moving_colors.size()] : k_still_colors[order % k_still_colors.size()];
}

}  // namespace cotouch

#include <cotouch/serve/loaded_scene.h>

#include <cotouch/base/hash.h>
#include <cotouch/contact/cache.h>
#include <cotouch/mesh/subdivide.h>
#include <cotouch/world/scene.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace cotouch {
namespace {

constexpr std::array<std::string_view, 5> k_static_colors{"#b4bec8", "#9fb3a8", "#c2b6a3", "#a9b0c9", "#c0adb8"};
constexpr std::array<std::string_view, 3> k_moving_colors{"#6f9fd8", "#5fb0a5", "#9a8fd6"};

void add_corners(Box3d& box, const Box3d& part, const Pose& pose) {
  if (part.empty()) return;
  for (int corner = 0; corner < 8; ++corner)
    box.add(transform(pose, {(corner & 1) != 0 ? part.high.x : part.low.x, (corner & 2) != 0 ? part.high.y : part.low.y,
                             (corner & 4) != 0 ? part.high.z : part.low.z}));
}

void hash_pose(Hasher& hasher, const Pose& pose) {
  for (const double v : {pose.position.x, pose.position.y, pose.position.z, pose.rotation.w, pose.rotation.x,
                         pose.rotation.y, pose.rotation.z})
    hasher.add(v);
}

// One pass of vertex clustering with cells of edge `cell`.
TriangleMesh clustered(const TriangleMesh& mesh, const Box3d& bounds, double cell) {
  TriangleMesh out;
  out.name = mesh.name;
  std::unordered_map<std::uint64_t, std::uint32_t> cluster_at;  // only looked up, never walked
  std::vector<std::uint32_t> cluster(mesh.vertices.size());
  std::vector<std::uint32_t> members;
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    const Vec3d local = (mesh.vertices[i] - bounds.low) / cell;
    const std::uint64_t key = static_cast<std::uint64_t>(local.x) | static_cast<std::uint64_t>(local.y) << 21 |
                              static_cast<std::uint64_t>(local.z) << 42;
    const auto [at, is_new] = cluster_at.try_emplace(key, static_cast<std::uint32_t>(out.vertices.size()));
    if (is_new) {
      out.vertices.emplace_back();
      members.push_back(0);
    }
    cluster[i] = at->second;
    out.vertices[at->second] += mesh.vertices[i];
    ++members[at->second];
  }
  for (std::size_t i = 0; i < out.vertices.size(); ++i)
    out.vertices[i] = out.vertices[i] / static_cast<double>(members[i]);
  for (const Triangle& t : mesh.triangles) {
    const Triangle merged{cluster[t[0]], cluster[t[1]], cluster[t[2]]};
    if (merged[0] != merged[1] && merged[1] != merged[2] && merged[2] != merged[0]) out.triangles.push_back(merged);
  }
  return out;
}

}  // namespace

const ScenePart* LoadedScene::moving_part() const {
  const auto found = std::find_if(parts.begin(), parts.end(), [](const ScenePart& p) { return p.moving; });
  return found == parts.end() ? nullptr : &*found;
}

const ScenePart* LoadedScene::find(std::uint32_t id) const {
  const auto found = std::find_if(parts.begin(), parts.end(), [id](const ScenePart& p) { return p.id == id; });
  return found == parts.end() ? nullptr : &*found;
}

Box3d LoadedScene::bounds() const {
  Box3d box;
  for (const ScenePart& p : parts) add_corners(box, p.part->mesh.bounds(), p.pose);
  if (box.empty()) return {{-0.1, -0.1, -0.1}, {0.1, 0.1, 0.1}};
  return box;
}

double LoadedScene::size() const {
  return std::max(norm(bounds().size()), 1e-6);
}

std::uint64_t LoadedScene::content_hash() const {
  Hasher hasher;
  hasher.add(static_cast<std::uint32_t>(moving));
  for (const ScenePart& p : parts) {
    hasher.add(static_cast<std::uint32_t>(p.moving));
    hash_pose(hasher, p.moving ? Pose{} : p.pose);  // where a moving part starts is the recording's own
    const FieldData& field = p.part->field.data();
    hasher.add_bytes(std::as_bytes(field.samples));
    hasher.add_bytes(std::as_bytes(field.coarse));
    hasher.add(field.spacing);
    hasher.add_bytes(std::as_bytes(p.part->shell.data().positions));
    hasher.add_bytes(std::as_bytes(p.part->shell.data().inward_normals));
  }
  return hasher.digest();
}

TriangleMesh decimated(const TriangleMesh& mesh, std::size_t max_triangles) {
  const Box3d bounds = mesh.bounds();
  const Vec3d size = bounds.size();
  const double longest = std::max({size.x, size.y, size.z});
  // Twice as large cells leave about a quarter of the triangles; a whole grid of one cell leaves none.
  double cell = longest / 1024;
  TriangleMesh out = clustered(mesh, bounds, cell);
  while (out.triangles.size() > max_triangles && cell < longest) out = clustered(mesh, bounds, cell *= std::sqrt(2.0));
  return out;
}

std::string_view palette_color(bool moving, std::size_t order) {
  return moving ? k_moving_colors[order % k_moving_colors.size()] : k_static_colors[order % k_static_colors.size()];
}

std::string shown_color(const LoadedScene& scene, const ScenePart& part) {
  if (!part.color.empty()) return part.color;
  std::size_t order = 0;
  for (const ScenePart& other : scene.parts) {
    if (other.id == part.id) break;
    if (other.moving == part.moving) ++order;
  }
  return std::string(palette_color(part.moving, order));
}

ScenePart make_scene_part(std::shared_ptr<const Part> part, std::size_t max_triangles) {
  ScenePart out;
  out.name = part->name;
  out.decimated = part->mesh.triangles.size() > max_triangles;
  // Nearness is drawn between vertices, so large flat faces need some in between.
  constexpr std::size_t k_most_divided = 20'000;
  const double longest_edge = norm(part->mesh.bounds().size()) / 25;
  out.picture =
      std::make_shared<const TriangleMesh>(out.decimated ? decimated(part->mesh, max_triangles)
                                                         : with_short_edges(part->mesh, longest_edge, k_most_divided));
  out.closest = std::make_shared<const ClosestTriangle>(*out.picture);
  out.part = std::move(part);
  return out;
}

std::string scene_title(std::string_view name) {
  std::string title(name);
  std::replace(title.begin(), title.end(), '-', ' ');
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return title;
}

LoadedScene load_builtin_scene(std::string_view name, Progress& progress) {
  const SceneDescription description = builtin_scene(name);
  LoadedScene scene;
  scene.name = description.name;
  scene.title = scene_title(description.name);
  scene.summary = description.summary;
  scene.moving = description.moving;
  scene.hand = description.hand;
  scene.hand_speed = description.hand_speed;

  const auto prepared = [&](const TriangleMesh& mesh, const PartSettings& settings) {
    return make_scene_part(std::make_shared<const Part>(prepare_cached(mesh, settings, progress)));
  };
  ScenePart shell = prepared(description.shell_mesh, description.shell_settings);
  ScenePart field = prepared(description.field_mesh, description.field_settings);
  ScenePart& held = scene.moving == Moving::shell ? shell : field;
  ScenePart& rest = scene.moving == Moving::shell ? field : shell;
  held.moving = true;
  if (!description.hand.empty()) held.pose = description.hand.front();
  rest.pose = description.static_pose;
  rest.id = 1;
  held.id = 2;
  scene.parts = {std::move(rest), std::move(held)};
  return scene;
}

}  // namespace cotouch

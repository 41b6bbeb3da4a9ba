#include <cotouch/app/elastic_report.h>

#include <cotouch/elastic/deformation.h>
#include <cotouch/elastic/embedding.h>
#include <cotouch/elastic/model_modes.h>
#include <cotouch/elastic/tet_quality.h>
#include <cotouch/mesh/mass.h>
#include <cotouch/mesh/subdivide.h>

#include <fmt/format.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr double k_much_thicker = 1.5;  // times the mesh's volume
constexpr std::size_t k_told_modes = 6, k_drawn_modes = 3;

const char* name_of(ElasticLaw law) {
  return law == ElasticLaw::stvk ? "stvk" : "warped";
}

// Draws a part in its modes.
class ModePainter {
 public:
  explicit ModePainter(const Part& part) : deformation_(*part.elastic) {
    // Large flat faces need vertices in between to be seen bending.
    constexpr std::size_t k_most_divided = 20'000;
    mesh_ = with_short_edges(part.mesh, norm(part.mesh.bounds().size()) / 40, k_most_divided);
    std::vector<Vec3f> points;
    for (const Vec3d& vertex : mesh_.vertices) points.push_back(Vec3f(vertex));
    const TetMesh tets = tetrahedra_of(part.elastic->data());
    const Embedding found = embed(tets, points);
    for (std::size_t i = 0; i < points.size(); ++i) points_.push_back({tets.tets[found.tet[i]], found.weight[i]});
  }

  // Bent so that the farthest vertex moves by about this, metres.
  TriangleMesh bent(const ModelMode& mode, double farthest) {
    std::vector<double> q = mode.direction;
    // By a hair first: what a unit does may be out of all bounds.
    const double hair = 1e-3 * farthest / std::max(deformation_.model().largest_move(q.data()), 1e-12);
    for (double& value : q) value *= hair;
    const double moved = move(q);
    for (double& value : q) value *= farthest / std::max(moved, 1e-6 * farthest);
    move(q);
    return bent_;
  }

 private:
  // Returns how far the farthest vertex is from its place at rest.
  double move(const std::vector<double>& q) {
    deformation_.set(q.data());
    bent_ = mesh_;
    double farthest = 0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const Vec3d way = deformation_.displacement_at(points_[i]);
      bent_.vertices[i] += way;
      farthest = std::max(farthest, norm(way));
    }
    return farthest;
  }

  Deformation deformation_;
  TriangleMesh mesh_, bent_;
  std::vector<EmbeddedPoint> points_;
};

}  // namespace

std::optional<ElasticSettings> elastic_settings(const ElasticOptions& options) {
  if (options.material.empty()) return std::nullopt;
  ElasticSettings settings;
  settings.material = material_named(options.material);
  settings.material.young = options.young.value_or(settings.material.young);
  settings.material.poisson = options.poisson.value_or(settings.material.poisson);
  settings.material.density = options.density.value_or(settings.material.density);
  settings.law = options.law == "warped" ? ElasticLaw::warped : ElasticLaw::stvk;
  settings.coordinates = options.modes;
  settings.tets = {options.edge, options.tets};
  settings.domains = options.domains;
  for (const std::string& anchor : options.anchors) settings.anchors.push_back(parse_anchor(anchor));
  check_elastic(settings);
  return settings;
}

std::vector<std::string> elastic_lines(const Part& part) {
  if (!part.elastic || !part.settings.elastic) return {};
  const ElasticData& data = part.elastic->data();
  const Material& m = part.settings.elastic->material;
  const TetQuality quality = tet_quality(tetrahedra_of(part.elastic->data()));
  const std::size_t anchored = anchored_count(*part.elastic);
  std::vector<std::string> lines;
  lines.push_back(fmt::format("E {:.4g} Pa, Poisson's ratio {:.3g}, {:.4g} kg/m^3; law {}, {} coordinates", m.young,
                              m.poisson, m.density, name_of(data.law), data.size));
  lines.push_back(fmt::format("{} tetrahedra with {} nodes, angles from {:.1f} to {:.1f} degrees, {:.4g} cm^3",
                              quality.count, data.nodes.size(), quality.smallest_angle, quality.largest_angle,
                              quality.volume * 1e6));
  // A sheet is thickened so that it can be touched; whoever wants it to bend should know that it bends as thick as
  // that. Only a solid mesh holds a volume to compare with.
  const double solid = part.field_report.sheets > 0 && is_solid(part.mesh) ? mass_properties(part.mesh, 1).mass : 0;
  if (solid > 0 && quality.volume > k_much_thicker * solid)
    lines.push_back(
        fmt::format("thicker than the mesh, which holds {:.4g} cm^3: walls thinner than a cell are thickened; "
                    "a finer --resolution keeps them as they are",
                    solid * 1e6));
  lines.push_back(anchored > 0 ? fmt::format("{} nodes anchored", anchored) : "free: nothing anchors it");
  std::string frequencies;
  const std::vector<ModelMode> modes = modes_of(*part.elastic);
  for (std::size_t i = 0; i < std::min(modes.size(), k_told_modes); ++i)
    frequencies += fmt::format("{}{:.4g}", i == 0 ? "" : ", ", modes[i].frequency);
  lines.push_back(fmt::format("swings at {} Hz{}", frequencies, modes.size() > k_told_modes ? " ..." : ""));
  return lines;
}

nlohmann::ordered_json elastic_json(const Part& part) {
  const ElasticData& data = part.elastic->data();
  const ElasticSettings& settings = *part.settings.elastic;
  const Material& m = settings.material;
  const TetQuality quality = tet_quality(tetrahedra_of(part.elastic->data()));
  nlohmann::ordered_json json;
  json["law"] = name_of(data.law);
  json["coordinates"] = data.size;
  json["young_pa"] = m.young;
  json["poisson"] = m.poisson;
  json["density_kg_m3"] = m.density;
  json["mass_damping"] = m.mass_damping;
  json["stiffness_damping"] = m.stiffness_damping;
  json["anchors"] = nlohmann::ordered_json::array();
  for (const Anchor& anchor : settings.anchors) json["anchors"].push_back(to_string(anchor));
  json["anchored_nodes"] = anchored_count(*part.elastic);
  json["nodes"] = data.nodes.size();
  json["tets"] = quality.count;
  json["smallest_angle_deg"] = quality.smallest_angle;
  json["largest_angle_deg"] = quality.largest_angle;
  json["worst_radius_ratio"] = quality.worst_radius_ratio;
  json["volume_m3"] = quality.volume;
  json["domains"] = data.domains.size();
  json["frequencies_hz"] = nlohmann::ordered_json::array();
  for (const ModelMode& mode : modes_of(*part.elastic)) json["frequencies_hz"].push_back(mode.frequency);
  return json;
}

Image draw_modes(const Part& part, int width, int height) {
  constexpr double k_move = 0.2;  // of the part's size
  constexpr Color k_clay{196, 178, 150}, k_bent{111, 159, 216};
  const double move = k_move * norm(part.mesh.bounds().size());
  const std::vector<ModelMode> modes = modes_of(*part.elastic);
  ModePainter painter(part);
  std::vector<TriangleMesh> shapes{part.mesh};
  for (std::size_t i = 0; i < std::min(modes.size(), k_drawn_modes); ++i)
    shapes.push_back(painter.bent(modes[i], move));
  Box3d box;
  for (const TriangleMesh& shape : shapes) {
    box.add(shape.bounds().low);
    box.add(shape.bounds().high);
  }
  const Camera camera = camera_for(box, {0.9, -1.6, 0.9}, static_cast<double>(width) / height);
  std::vector<Image> images;
  for (const TriangleMesh& shape : shapes) {
    Picture picture(width, height, camera);
    picture.draw(shape, Pose{}, images.empty() ? k_clay : k_bent);
    images.push_back(picture.image());
  }
  return beside(images, 8, {255, 255, 255});
}

}  // namespace cotouch

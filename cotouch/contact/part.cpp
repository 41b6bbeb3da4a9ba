#include <cotouch/contact/part.h>

namespace cotouch {
namespace {

void make_elastic(Part& part, Progress& progress, const TetMesh* tets) {
  part.elastic.reset();
  if (!part.settings.elastic) return;
  const ElasticParts parts{part.mesh, part.field, part.shell};
  part.elastic = std::make_shared<const ElasticModel>(prepare_elastic(parts, *part.settings.elastic, progress, tets));
}

}  // namespace

Part prepare_part(const TriangleMesh& mesh, const PartSettings& settings, Progress& progress, const TetMesh* tets) {
  Part part;
  part.name = mesh.name;
  part.settings = settings;
  part.mesh = mesh;
  part.bounds = mesh.bounds();
  part.field = build_field(mesh, settings.field, progress, &part.field_report);
  part.shell = build_shell(part.field, settings.shell, progress, &part.shell_quality);
  make_elastic(part, progress, tets);
  return part;
}

Part with_elastic(const Part& part, const std::optional<ElasticSettings>& elastic, Progress& progress) {
  Part other = part;
  other.settings.elastic = elastic;
  make_elastic(other, progress, nullptr);
  return other;
}

}  // namespace cotouch

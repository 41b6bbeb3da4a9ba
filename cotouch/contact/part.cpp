#include <cotouch/contact/part.h>

namespace cotouch {

Part prepare_part(const TriangleMesh& mesh, const PartSettings& settings, Progress& progress) {
  Part part;
  part.name = mesh.name;
  part.settings = settings;
  part.mesh = mesh;
  part.field = build_field(mesh, settings.field, progress, &part.field_report);
  part.shell = build_shell(part.field, settings.shell, progress, &part.shell_quality);
  if (settings.elastic) {
    const ElasticParts parts{part.mesh, part.field, part.shell};
    part.elastic = std::make_shared<const ElasticModel>(prepare_elastic(parts, *settings.elastic, progress));
  }
  return part;
}

}  // namespace cotouch

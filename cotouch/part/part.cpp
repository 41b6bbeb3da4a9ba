#include <cotouch/base/error.h>
#include <cotouch/part/part.h>

namespace cotouch {

bool can_be_made_elastic(const Part& part) noexcept {
  return part.shell.has_tree() && !part.field.data().brick_index.empty();
}

const PartSection* Part::section(std::string_view wanted) const noexcept {
  for (const PartSection& one : sections)
    if (one.name() == wanted) return &one;
  return nullptr;
}

namespace {

void make_elastic(Part& part, Progress& progress, const TetMesh* tets) {
  part.elastic.reset();
  if (!part.settings.elastic) return;
  if (!can_be_made_elastic(part))
    throw Error("A part bends only with a distance field and a pointshell with its tree; prepare it again.",
                ErrorCode::invalid_argument);
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

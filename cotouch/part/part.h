// A part ready to be touched: its mesh for the eye, its field and its shell for the hand, and how it bends if it does.
#pragma once

#include <cotouch/base/progress.h>
#include <cotouch/elastic/prepare_elastic.h>
#include <cotouch/field/build.h>
#include <cotouch/mesh/mesh.h>
#include <cotouch/part/section.h>
#include <cotouch/shell/build.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

struct PartSettings {
  FieldSettings field;
  ShellSettings shell;
  std::optional<ElasticSettings> elastic;  // nothing: rigid
  bool operator==(const PartSettings&) const = default;
};

// What is missing was not prepared: contact engines say what they need (EngineKind::missing_as_shell).
struct Part {
  std::string name;
  PartSettings settings;
  TriangleMesh mesh;
  std::optional<Box3d> bounds;  // of the mesh; preparing and reading fill it, because looking takes a while
  Field field;
  Shell shell;
  std::shared_ptr<const ElasticModel> elastic;  // null: rigid
  FieldReport field_report;
  ShellQuality shell_quality;
  std::vector<PartSection> sections;  // what engines of other kinds have prepared for themselves, each name once

  // Null if there is none of this name.
  const PartSection* section(std::string_view wanted) const noexcept;
};

// `tets` fill the mesh, if the part is elastic and brings its own.
Part prepare_part(const TriangleMesh& mesh, const PartSettings& settings, Progress& progress,
                  const TetMesh* tets = nullptr);

// Whether it has what bending takes.
bool can_be_made_elastic(const Part& part) noexcept;
// The same part, bending in another way or, without settings, not at all; its field and shell are shared.
Part with_elastic(const Part& part, const std::optional<ElasticSettings>& elastic, Progress& progress);

}  // namespace cotouch

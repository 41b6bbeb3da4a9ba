// A part ready to be touched: its mesh for the eye, its field and its shell for the hand, and how it bends if it does.
#pragma once

#include <cotouch/base/progress.h>
#include <cotouch/elastic/prepare_elastic.h>
#include <cotouch/field/build.h>
#include <cotouch/mesh/mesh.h>
#include <cotouch/shell/build.h>

#include <memory>
#include <optional>
#include <string>

namespace cotouch {

struct PartSettings {
  FieldSettings field;
  ShellSettings shell;
  std::optional<ElasticSettings> elastic;  // nothing: rigid
  bool operator==(const PartSettings&) const = default;
};

struct Part {
  std::string name;
  PartSettings settings;
  TriangleMesh mesh;
  Field field;
  Shell shell;
  std::shared_ptr<const ElasticModel> elastic;  // null: rigid
  FieldReport field_report;
  ShellQuality shell_quality;
};

Part prepare_part(const TriangleMesh& mesh, const PartSettings& settings, Progress& progress);

}  // namespace cotouch

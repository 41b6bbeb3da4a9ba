// Files that a mesh file refers to, found by name: asked for from whoever started the reader, or taken out of the
// archive that the mesh file was in.
#pragma once

#include <cotouch/mesh/readers.h>

#include <optional>
#include <string>

namespace cotouch {

class FurtherFiles {
 public:
  virtual ~FurtherFiles() = default;
  // The bytes stay as long as the reader works. Nothing if there is no such file.
  virtual std::optional<FileBytes> find(const std::string& name) = 0;
};

class NoFurtherFiles final : public FurtherFiles {
 public:
  std::optional<FileBytes> find(const std::string&) override { return std::nullopt; }
};

}  // namespace cotouch

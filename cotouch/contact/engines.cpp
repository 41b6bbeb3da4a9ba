// Which engines there are: the one place that names them.
#include <cotouch/base/error.h>
#include <cotouch/contact/engine.h>
#include <cotouch/contact/exhaustive/exhaustive.h>
#include <cotouch/contact/nested/nested.h>

#include <vector>

namespace cotouch {

namespace {

std::vector<const EngineKind*>& kinds() noexcept {
  static std::vector<const EngineKind*> all{&nested_kind(), &exhaustive_kind()};
  return all;
}

}  // namespace

std::span<const EngineKind* const> engine_kinds() noexcept {
  return kinds();
}

void add_engine_kind(const EngineKind& kind) {
  for (const EngineKind* other : kinds())
    if (other->name() == kind.name())
      throw Error("There are two contact engines '" + std::string(kind.name()) + "'; give one another name.");
  kinds().push_back(&kind);
}

const EngineKind& default_engine_kind() noexcept {
  return *engine_kinds().front();
}

const EngineKind& engine_kind(std::string_view name) {
  std::string names;
  for (const EngineKind* kind : engine_kinds()) {
    if (kind->name() == name) return *kind;
    names += (names.empty() ? "'" : ", '") + std::string(kind->name()) + "'";
  }
  throw Error("There is no contact engine '" + std::string(name) + "'; there are " + names + ".");
}

}  // namespace cotouch

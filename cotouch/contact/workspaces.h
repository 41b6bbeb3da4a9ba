// One workspace for each kind of engine that a set of pairs uses, large enough for all of them.
#pragma once

#include <cotouch/contact/engine.h>

namespace cotouch {

class Workspaces {
 public:
  // Allocates.
  void reserve(const ContactEngine& engine);
  // For an engine that room was made for.
  ContactWorkspace& of(const ContactEngine& engine) const noexcept;

 private:
  struct OfKind {
    const EngineKind* kind;
    std::unique_ptr<ContactWorkspace> workspace;
  };
  std::vector<OfKind> all_;
};

inline void Workspaces::reserve(const ContactEngine& engine) {
  const EngineKind& kind = engine.kind();
  for (const OfKind& one : all_)
    if (one.kind == &kind) return engine.reserve(*one.workspace);
  all_.push_back({&kind, engine.make_workspace()});
}

inline ContactWorkspace& Workspaces::of(const ContactEngine& engine) const noexcept {
  std::size_t i = 0;
  while (all_[i].kind != &engine.kind()) ++i;
  return *all_[i].workspace;
}

}  // namespace cotouch

// Contact by a walk through the tree of a nested pointshell (paper 001, III). A unit of its work is a visited node.
#pragma once

#include <cotouch/contact/nested/coherence.h>
#include <cotouch/contact/nested/workspace.h>
#include <cotouch/contact/sampled/sampled.h>

namespace cotouch {

class NestedContact final : public SampledContact {
 public:
  // As SampledContact, and the shell must have a tree.
  NestedContact(const Shell& shell, const Field& field, const ContactSettings& settings,
                std::uint32_t deepest_level = ~0U);

  const EngineKind& kind() const noexcept override;
  std::shared_ptr<const ContactEngine> with(const ContactSettings& settings) const override;
  void reserve(ContactWorkspace& workspace) const override;
  std::unique_ptr<ContactCache> make_cache() const override;
  void evaluate(const PairState& state, const Detail& detail, ContactWorkspace& workspace, ContactCache* cache,
                PairContact& out, ElasticSums* bending = nullptr) const noexcept override;
  // No level of more than `most_units` nodes is opened further: few are enough to tell that bodies are far apart, some
  // hundred for a bound that is tight where they nearly touch.
  double gap(const PairState& state, double wanted, std::uint32_t most_units,
             ContactWorkspace& workspace) const noexcept override;
  void visited(const PairState& state, const ContactWorkspace& workspace, const PairContact& contact,
               std::vector<VisitedPoint>& points) const override;
  float clearance(const PairState& state, const ClearanceQuestion& question) const override;
  std::size_t memory_bytes() const noexcept override;

 private:
  template <class Source>
  double gap_of(const Source& source, double wanted, std::uint32_t most_nodes,
                NestedWorkspace& workspace) const noexcept;
};

const EngineKind& nested_kind() noexcept;

}  // namespace cotouch

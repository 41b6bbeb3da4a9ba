// Contact by asking every point of a shell, one after another, without a tree: nothing can be overlooked, so it is what
// other engines are compared with. A unit of its work is a point. It needs points and distances and nothing else.
#pragma once

#include <cotouch/contact/sampled/sampled.h>

namespace cotouch {

class ExhaustiveContact final : public SampledContact {
 public:
  ExhaustiveContact(const Shell& shell, const Field& field, const ContactSettings& settings,
                    std::uint32_t deepest_level = ~0U);

  const EngineKind& kind() const noexcept override;
  std::shared_ptr<const ContactEngine> with(const ContactSettings& settings) const override;
  void reserve(ContactWorkspace& workspace) const override;
  std::unique_ptr<ContactCache> make_cache() const override { return nullptr; }
  // Within a budget it renders a level if all points to that level fit.
  void evaluate(const PairState& state, const Detail& detail, ContactWorkspace& workspace, ContactCache* cache,
                PairContact& out, ElasticSums* bending = nullptr) const noexcept override;
  // Asks all points, however few units are wanted.
  double gap(const PairState& state, double wanted, std::uint32_t most_units,
             ContactWorkspace& workspace) const noexcept override;
  void visited(const PairState& state, const ContactWorkspace& workspace, const PairContact& contact,
               std::vector<VisitedPoint>& points) const override;
  float clearance(const PairState& state, const ClearanceQuestion& question) const override;
  std::size_t memory_bytes() const noexcept override;

 private:
  std::uint32_t affordable_level(const Detail& detail) const noexcept;
};

const EngineKind& exhaustive_kind() noexcept;

}  // namespace cotouch

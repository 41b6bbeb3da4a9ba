// An engine whose data is not always in memory, and says so.
#pragma once

#include <cotouch/contact/engine.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cotouch::testing_support {

// Which of its first two pieces are not in memory, a bit for each, and how many of those behind them.
inline std::atomic<std::uint32_t> not_in_memory{0}, further_not_in_memory{0};
// Pairs whose shell is to the left of this have all of theirs, metres.
inline std::atomic<double> complete_left_of{-1e9};

inline const EngineKind& paged_kind();

// An exhaustive engine that finds nothing if any of its pieces is missing.
class PagedEngine final : public ContactEngine {
 public:
  explicit PagedEngine(std::shared_ptr<const ContactEngine> inner) : inner_(std::move(inner)) {}
  const EngineKind& kind() const noexcept override { return paged_kind(); }
  const ContactSettings& settings() const noexcept override { return inner_->settings(); }
  std::shared_ptr<const ContactEngine> with(const ContactSettings& settings) const override {
    return std::make_shared<const PagedEngine>(inner_->with(settings));
  }
  void reserve(ContactWorkspace& workspace) const override { inner_->reserve(workspace); }
  std::unique_ptr<ContactCache> make_cache() const override { return nullptr; }
  void evaluate(const PairState& state, const Detail& detail, ContactWorkspace& workspace, ContactCache* cache,
                PairContact& out, ElasticSums* bending) const noexcept override {
    inner_->evaluate(state, detail, workspace, cache, out, bending);
    if (!detail.missing.empty()) out = {};
  }
  double gap(const PairState& state, double wanted, std::uint32_t most_units,
             ContactWorkspace& workspace) const noexcept override {
    return inner_->gap(state, wanted, most_units, workspace);
  }
  bool may_lack_data() const noexcept override { return true; }
  std::uint32_t find_missing(const PairState& state, double, std::span<std::uint32_t> pieces) const noexcept override {
    if (state.shell.pose.position.x < complete_left_of.load()) return 0;
    std::uint32_t count = 0;
    for (std::uint32_t piece = 0; piece < 2 + further_not_in_memory.load(); ++piece) {
      if (piece < 2 && (not_in_memory.load() >> piece & 1U) == 0) continue;
      if (count < pieces.size()) pieces[count] = piece;
      ++count;
    }
    return count;
  }
  void touching(const PairState& state, const ContactWorkspace& workspace, const PairContact& contact,
                std::span<TouchingPoint> points) const noexcept override {
    inner_->touching(state, workspace, contact, points);
  }
  void visited(const PairState& state, const ContactWorkspace& workspace, const PairContact& contact,
               std::vector<VisitedPoint>& points) const override {
    inner_->visited(state, workspace, contact, points);
  }
  float clearance(const PairState& state, const ClearanceQuestion& question) const override {
    return inner_->clearance(state, question);
  }
  PairExtent extent() const noexcept override { return inner_->extent(); }
  std::uint32_t levels() const noexcept override { return inner_->levels(); }
  std::uint32_t points_to_level(std::uint32_t level) const noexcept override { return inner_->points_to_level(level); }
  double largest_stiffness() const noexcept override { return inner_->largest_stiffness(); }
  std::size_t memory_bytes() const noexcept override { return inner_->memory_bytes(); }
  bool has_data_of(const ContactEngine& other) const noexcept override { return &other == this; }

 private:
  std::shared_ptr<const ContactEngine> inner_;
};

class PagedKind final : public EngineKind {
 public:
  std::string_view name() const noexcept override { return "paged, of a test"; }
  std::string_view summary() const noexcept override { return ""; }
  std::string missing_as_shell(const Part& part) const override { return inner_.missing_as_shell(part); }
  std::string missing_as_field(const Part& part) const override { return inner_.missing_as_field(part); }
  bool first_is_shell(const Part& first, const Part& second) const override {
    return inner_.first_is_shell(first, second);
  }
  PartExtent extent(const Part& part) const override { return inner_.extent(part); }
  double reach(const Part& part, const Pose& place) const override { return inner_.reach(part, place); }
  double thinnest_wall(const Part& part, double most) const override { return inner_.thinnest_wall(part, most); }
  std::uint64_t hash(const Part& part) const override { return inner_.hash(part); }
  std::shared_ptr<const ContactEngine> make(const Part& shell, const Part& field,
                                            const ContactSettings& settings) const override {
    return std::make_shared<const PagedEngine>(inner_.make(shell, field, settings));
  }
  std::unique_ptr<ContactWorkspace> make_workspace() const override { return inner_.make_workspace(); }

 private:
  const EngineKind& inner_ = engine_kind("exhaustive");
};

inline const EngineKind& paged_kind() {
  static const PagedKind kind;
  static const bool added = (add_engine_kind(kind), true);
  (void)added;
  return kind;
}

}  // namespace cotouch::testing_support

#include <cotouch/base/error.h>
#include <cotouch/base/invariant.h>
#include <cotouch/contact/nested/nested.h>
#include <cotouch/contact/nested/traversal.h>
#include <cotouch/contact/sampled/clearance.h>

#include <algorithm>

namespace cotouch {
namespace {

class NestedKind final : public SampledKind {
 public:
  std::string_view name() const noexcept override { return "nested"; }
  std::string_view summary() const noexcept override { return "a tree of points against a distance field"; }
  std::string missing_as_shell(const Part& part) const override {
    const std::string missing = SampledKind::missing_as_shell(part);
    return missing.empty() && !part.shell.has_tree() ? "has a pointshell without a tree" : missing;
  }
  std::shared_ptr<const ContactEngine> make(const Part& shell, const Part& field,
                                            const ContactSettings& settings) const override {
    return std::make_shared<const NestedContact>(shell.shell, field.field, settings);
  }
  std::unique_ptr<ContactWorkspace> make_workspace() const override { return std::make_unique<NestedWorkspace>(); }
};

// The smallest distance, level by level: a node goes on only while something below it could be smaller than the best.
class ClearanceSearch {
 public:
  ClearanceSearch(const Shell& shell, const Field& field, const PairState& state, const ClearanceQuestion& question)
      : shell_(shell),
        nodes_(shell.data().nodes.data()),
        shape_(state.shell.deformation),
        measure_(shell, field, state, question),
        most_lookups_(question.most_lookups) {}

  float run() {
    for (std::uint32_t i = 0; i < shell_.points_to_level(0); ++i) open_.push_back({i, measure_(nodes_[i].point)});
    for (std::uint32_t level = 0; level + 1 < shell_.levels() && measure_.lookups() < most_lookups_; ++level) {
      // The most promising first, so that the best falls early and rules out the rest.
      std::sort(open_.begin(), open_.end(), [](const Candidate& a, const Candidate& b) {
        return a.bound != b.bound ? a.bound < b.bound : a.node < b.node;
      });
      next_.clear();
      for (const Candidate& c : open_) {
        if (c.bound - radius(c.node) >= measure_.best()) continue;
        const std::uint32_t child = nodes_[c.node].first_child, end = nodes_[c.node + 1].first_child;
        if (!invariant(child < end && end <= shell_.data().nodes.size(), k_tree_invariant)) return measure_.best();
        next_.push_back({child, c.bound});  // its own copy
        for (std::uint32_t i = child + 1; i < end; ++i) next_.push_back({i, measure_(nodes_[i].point)});
        if (measure_.lookups() >= most_lookups_) break;
      }
      std::swap(open_, next_);
    }
    return measure_.best();
  }

 private:
  struct Candidate {
    std::uint32_t node;
    float bound;  // no point below this node is closer
  };

  // No point below a node is farther from it.
  float radius(std::uint32_t node) const {
    return nodes_[node].radius + (shape_ != nullptr ? shape_->shell_growth(node, nodes_[node].point) : 0);
  }

  const Shell& shell_;
  const ShellNode* nodes_;
  Deformation* shape_;
  ClearanceMeasure measure_;
  std::size_t most_lookups_;
  std::vector<Candidate> open_, next_;
};

}  // namespace

const EngineKind& nested_kind() noexcept {
  static const NestedKind kind;
  return kind;
}

NestedContact::NestedContact(const Shell& shell, const Field& field, const ContactSettings& settings,
                             std::uint32_t deepest_level)
    : SampledContact(shell, field, settings, deepest_level) {
  if (!shell.has_tree()) throw Error("The part that should touch has a pointshell without a tree; prepare it again.");
}

const EngineKind& NestedContact::kind() const noexcept {
  return nested_kind();
}

std::shared_ptr<const ContactEngine> NestedContact::with(const ContactSettings& settings) const {
  return std::make_shared<const NestedContact>(shell_, field_, settings, last_);
}

void NestedContact::reserve(ContactWorkspace& workspace) const {
  static_cast<NestedWorkspace&>(workspace).reserve(shell_.point_count());
}

std::unique_ptr<ContactCache> NestedContact::make_cache() const {
  return std::make_unique<CoherenceCache>(shell_.point_count());
}

void NestedContact::evaluate(const PairState& state, const Detail& detail, ContactWorkspace& workspace,
                             ContactCache* cache, PairContact& out, ElasticSums* bending) const noexcept {
  auto& own = static_cast<NestedWorkspace&>(workspace);
  auto* const coherence = static_cast<CoherenceCache*>(cache);
  bending = begin(state, out, bending);
  own.contact_count = own.point_count = 0;
  Placement placement;
  if (!place(state, placement) || !invariant(own.has_room_for(shell_.point_count()), k_workspace_invariant)) return;
  RigidSource& source = placement.source;
  if (placement.deformed != nullptr) {
    const BentFieldSource bent = placement.bent_field();
    Traversal<BentFieldSource, false>(bent, detail, last_, own, nullptr).run(out.stats);
  } else if (placement.shape != nullptr) {
    const BentSource bent = placement.bent_points();
    Traversal<BentSource, false>(bent, detail, last_, own, nullptr).run(out.stats);
  } else if (coherence != nullptr && detail.rule != Detail::Rule::by_state && !coherence->pauses()) {
    coherence->begin(center_, radius_, placement.relative, static_cast<double>(field_.spacing()),
                     static_cast<double>(source.clearance));
    source.margin += coherence->skin();
    Traversal<RigidSource, true>(source, detail, last_, own, coherence).run(out.stats);
  } else {
    Traversal<RigidSource, false>(source, detail, last_, own, nullptr).run(out.stats);
  }
  out.stats.looked_up = own.point_count;
  sum(placement, own, out, bending);
}

void NestedContact::visited(const PairState& state, const ContactWorkspace& workspace, const PairContact&,
                            std::vector<VisitedPoint>& points) const {
  Placement placement;
  if (!place(state, placement)) return;
  std::uint32_t level = 0;
  for (const std::uint32_t point : static_cast<const NestedWorkspace&>(workspace).looked_up()) {
    // Points are numbered level by level and visited in that order.
    while (point >= shell_.points_to_level(level)) ++level;
    points.push_back({point, transform(placement.shell, Vec3d(point_at(placement, point))), level});
  }
}

float NestedContact::clearance(const PairState& state, const ClearanceQuestion& question) const {
  return ClearanceSearch(shell_, field_, state, question).run();
}

std::size_t NestedContact::memory_bytes() const noexcept {
  return shell_.data().nodes.size_bytes() + shell_.data().positions.size_bytes() + field_.memory_bytes();
}

double NestedContact::gap(const PairState& state, double wanted, std::uint32_t most_units,
                          ContactWorkspace& workspace) const noexcept {
  auto& own = static_cast<NestedWorkspace&>(workspace);
  Placement p;
  if (!place(state, p) || !invariant(own.has_room_for(shell_.point_count()), k_workspace_invariant)) return wanted;
  if (p.deformed != nullptr) return gap_of(p.bent_field(), wanted, most_units, own);
  if (p.shape != nullptr) return gap_of(p.bent_points(), wanted, most_units, own);
  return gap_of(p.source, wanted, most_units, own);
}

template <class Source>
double NestedContact::gap_of(const Source& source, double wanted, std::uint32_t most_nodes,
                             NestedWorkspace& workspace) const noexcept {
  const ShellNode* const nodes = shell_.data().nodes.data();
  NestedWorkspace::Queue &queue = workspace.queue, &next = workspace.next;
  auto least = static_cast<float>(wanted);
  next.size = 0;
  // Do they lie on a level, and is there room for them?
  const auto queue_nodes = [&](std::uint32_t level, std::uint32_t begin, std::uint32_t end) {
    const std::uint32_t size = shell_.points_to_level(level), first = shell_.data().level_begin[level];
    if ((begin < first) | (end > first + size) | (end - begin > size - next.size)) [[unlikely]]
      return false;
    for (; begin < end; ++begin) next.node[next.size++] = begin;
    return true;
  };
  bool sound = queue_nodes(0, 0, shell_.points_to_level(0));
  for (std::uint32_t level = 0; next.size > 0 && least > 0; ++level) {
    std::swap(queue, next);
    next.size = 0;
    for (std::uint32_t i = 0; i < queue.size; ++i) {
      workspace.points[i] = nodes[queue.node[i]].point;
      sound &= workspace.points[i] < shell_.point_count();
    }
    if (!sound) [[unlikely]]
      break;
    source.look_up(workspace.points.data(), queue.size, queue.distance.data());
    // The nearest point itself is a bound from above: what lies farther than it need not be opened.
    for (std::uint32_t i = 0; i < queue.size; ++i) least = std::min(least, source.free(queue.distance[i]));
    const bool last = level + 1 == shell_.levels() || queue.size > most_nodes;
    float bound = least;
    for (std::uint32_t i = 0; i < queue.size; ++i) {
      const std::uint32_t node = queue.node[i];
      const bool leaf = level + 1 == shell_.levels();
      const float slack = source.free(queue.distance[i]) - (leaf ? 0 : source.radius(shell_.branches()[node]));
      if (!(slack < least)) continue;
      if (last)
        bound = std::min(bound, slack);
      else
        sound &= queue_nodes(level + 1, nodes[node].first_child, nodes[node + 1].first_child);
    }
    least = bound;
  }
  if (!sound && !invariant(false, k_tree_invariant)) return 0;
  return std::clamp(static_cast<double>(least), 0.0, wanted);
}

}  // namespace cotouch

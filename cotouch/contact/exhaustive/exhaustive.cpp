#include <cotouch/base/hash.h>
#include <cotouch/base/invariant.h>
#include <cotouch/contact/exhaustive/exhaustive.h>
#include <cotouch/contact/sampled/clearance.h>

#include <algorithm>

namespace cotouch {
namespace {

class ExhaustiveKind final : public SampledKind {
 public:
  std::string_view name() const noexcept override { return "exhaustive"; }
  std::string_view summary() const noexcept override {
    return "every point against a distance field, without a tree: slow, and what others are compared with";
  }
  // Which level is rendered depends on the levels, which no tree holds to the points here.
  std::uint64_t hash(const Part& part) const override {
    Hasher hash;
    hash.add(SampledKind::hash(part));
    hash.add_bytes(std::as_bytes(part.shell.data().level_begin));
    for (const float v : {part.field.data().quantum, part.field.data().band, part.field.data().lipschitz}) hash.add(v);
    return hash.digest();
  }
  std::shared_ptr<const ContactEngine> make(const Part& shell, const Part& field,
                                            const ContactSettings& settings) const override {
    return std::make_shared<const ExhaustiveContact>(shell.shell, field.field, settings);
  }
  std::unique_ptr<ContactWorkspace> make_workspace() const override { return std::make_unique<SampledWorkspace>(); }
};

}  // namespace

const EngineKind& exhaustive_kind() noexcept {
  static const ExhaustiveKind kind;
  return kind;
}

ExhaustiveContact::ExhaustiveContact(const Shell& shell, const Field& field, const ContactSettings& settings,
                                     std::uint32_t deepest_level)
    : SampledContact(shell, field, settings, deepest_level) {
}

const EngineKind& ExhaustiveContact::kind() const noexcept {
  return exhaustive_kind();
}

std::shared_ptr<const ContactEngine> ExhaustiveContact::with(const ContactSettings& settings) const {
  return std::make_shared<const ExhaustiveContact>(shell_, field_, settings, last_);
}

void ExhaustiveContact::reserve(ContactWorkspace& workspace) const {
  auto& contacts = static_cast<SampledWorkspace&>(workspace).contacts;
  // One more: a point that does not touch is written, too, and then written over.
  contacts.resize(std::max<std::size_t>(contacts.size(), std::size_t{shell_.point_count()} + 1));
}

std::uint32_t ExhaustiveContact::affordable_level(const Detail& detail) const noexcept {
  if (detail.rule == Detail::Rule::exactly) return std::min(detail.level, last_);
  std::uint32_t level = 0;
  while (level < last_) {
    const bool warm = level + 1 <= detail.level;
    const std::uint32_t limit = warm ? detail.budget.warm : detail.budget.cold;
    if (shell_.points_to_level(level + 1) > limit) break;
    ++level;
  }
  return level;
}

void ExhaustiveContact::evaluate(const PairState& state, const Detail& detail, ContactWorkspace& workspace,
                                 ContactCache*, PairContact& out, ElasticSums* bending) const noexcept {
  auto& own = static_cast<SampledWorkspace&>(workspace);
  own.contact_count = 0;
  bending = begin(state, out, bending);
  Placement placement;
  if (!place(state, placement)) return;
  if (!invariant(own.contacts.size() > shell_.point_count(), k_workspace_invariant)) return;
  out.stats.level = affordable_level(detail);
  const std::uint32_t count = shell_.points_to_level(out.stats.level);
  for (std::uint32_t i = 0; i < count; ++i) {
    const float distance = distance_at(placement, point_at(placement, i));
    own.contacts[own.contact_count] = {i, distance};
    own.contact_count += distance < 0 ? 1U : 0U;
  }
  out.stats.visited = out.stats.looked_up = count;
  sum(placement, own, out, bending);
}

double ExhaustiveContact::gap(const PairState& state, double wanted, std::uint32_t, ContactWorkspace&) const noexcept {
  Placement placement;
  if (!place(state, placement)) return wanted;
  auto least = static_cast<float>(wanted);
  const std::uint32_t count = shell_.points_to_level(shell_.levels() - 1);
  for (std::uint32_t i = 0; i < count && least > 0; ++i) {
    const float distance = distance_at(placement, point_at(placement, i));
    const float free =
        placement.deformed != nullptr ? placement.bent_field().free(distance) : placement.source.free(distance);
    least = std::min(least, free);
  }
  return std::clamp(static_cast<double>(least), 0.0, wanted);
}

void ExhaustiveContact::visited(const PairState& state, const ContactWorkspace&, const PairContact& contact,
                                std::vector<VisitedPoint>& points) const {
  Placement placement;
  if (!place(state, placement)) return;
  std::uint32_t level = 0;
  for (std::uint32_t point = 0; point < contact.stats.looked_up; ++point) {
    while (point >= shell_.points_to_level(level)) ++level;
    points.push_back({point, transform(placement.shell, Vec3d(point_at(placement, point))), level});
  }
}

float ExhaustiveContact::clearance(const PairState& state, const ClearanceQuestion& question) const {
  ClearanceMeasure measure(shell_, field_, state, question);
  for (std::uint32_t point = 0; point < shell_.point_count() && measure.lookups() < question.most_lookups; ++point)
    measure(point);
  return measure.best();
}

std::size_t ExhaustiveContact::memory_bytes() const noexcept {
  return shell_.data().positions.size_bytes() + field_.memory_bytes();
}

}  // namespace cotouch

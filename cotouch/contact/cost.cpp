#include <cotouch/base/error.h>
#include <cotouch/base/random.h>
#include <cotouch/base/realtime.h>
#include <cotouch/contact/cold_caches.h>
#include <cotouch/contact/cost.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

namespace cotouch {
namespace {

constexpr int k_directions = 6;
constexpr int k_repeats = 5;

// The shell at a place, how many nodes are visited there, and what one of them cost the first time.
struct Placement {
  Pose shell;
  double visited;
  double first_cost;
};

// What nodes cost, one traversal at a time and each with cold caches, because the first cycle after something else ran
// must fit as well. Processor time, not the clock: a scene that is opened while the machine is busy would be felt
// coarsely ever after.
class UnitCost {
 public:
  UnitCost(const ContactEngine& engine, ContactWorkspace& workspace) : engine_(engine), workspace_(workspace) {}

  double once(const Placement& placement) {
    PairContact result;
    caches_.chill();
    const std::int64_t start = processor_ns();
    engine_.evaluate({{placement.shell}, {}}, Detail::everything(), workspace_, nullptr, result);
    return static_cast<double>(processor_ns() - start) / placement.visited;
  }

  // The median of repeats, or `most` if that is larger, which is known as soon as most repeats are below it.
  double larger_of(double most, const Placement& placement) {
    std::array<double, k_repeats> costs{placement.first_cost};
    int below = costs[0] <= most ? 1 : 0;
    for (std::size_t i = 1; i < costs.size(); ++i) {
      costs[i] = once(placement);
      if (costs[i] <= most && ++below > k_repeats / 2) return most;
    }
    std::sort(costs.begin(), costs.end());
    return costs[k_repeats / 2];
  }

  // Whether anything was; it also keeps a compiler from leaving out the reading that cools the caches.
  bool measured() const { return caches_.sum() > 0; }

 private:
  const ContactEngine& engine_;
  ContactWorkspace& workspace_;
  ColdCaches caches_;
};

}  // namespace

double cost_of_a_unit(const ContactEngine& engine) {
  const std::unique_ptr<ContactWorkspace> workspace = engine.make_workspace();
  const PairExtent extent = engine.extent();
  const Vec3d field_center = extent.box.center();
  const double apart = norm(extent.box.size()) + 2 * extent.radius;
  const double cell = extent.finest_feature;
  if (!(cell > 0)) throw Error("A contact engine does not say how fine it feels.");

  Random random(1);
  std::vector<Placement> placements;
  for (int i = 0; i < k_directions; ++i) {
    const Vec3d direction = random.direction();
    const Vec3d axis = random.direction();
    const Quat turn = quat_from_rotation_vector(axis * random.uniform(0, 3));
    const auto at = [&](double distance) {
      return Pose{field_center + direction * distance - rotate(turn, extent.center), turn};
    };
    // Bisection: where the part, pushed towards the middle of the other, begins to touch.
    double touching = 0, free = apart;
    while (free - touching > cell / 4) {
      const double middle = (touching + free) / 2;
      PairContact result;
      engine.evaluate({{at(middle)}, {}}, Detail::everything(), *workspace, nullptr, result);
      (result.stats.in_contact > 0 ? touching : free) = middle;
    }
    for (const double depth : {0.0, cell, 3 * cell}) {
      PairContact result;
      engine.evaluate({{at(touching - depth)}, {}}, Detail::everything(), *workspace, nullptr, result);
      placements.push_back({at(touching - depth), static_cast<double>(result.stats.visited), 0});
    }
  }

  // Short traversals are mostly fixed cost and would make a node look expensive.
  double most = 0;
  for (const Placement& placement : placements) most = std::max(most, placement.visited);
  std::erase_if(placements, [&](const Placement& p) { return !(p.visited > 0 && p.visited * 4 >= most); });

  // The most expensive place counts. Driving everything out of the caches takes nearly all of the time, so only places
  // that seem to cost more than all before are measured again.
  UnitCost cost(engine, *workspace);
  for (Placement& placement : placements) placement.first_cost = cost.once(placement);
  std::ranges::sort(placements, std::greater{}, &Placement::first_cost);
  double nanoseconds = 0;
  for (const Placement& placement : placements) {
    if (placement.first_cost <= nanoseconds) break;
    nanoseconds = cost.larger_of(nanoseconds, placement);
  }
  return cost.measured() ? nanoseconds : 0;
}

WorkBudget calibrate_budget(const ContactEngine& engine, double microseconds) {
  if (!(microseconds > 0)) throw Error("The time budget must be a positive number of microseconds.");
  const double cost = cost_of_a_unit(engine);
  if (!(cost > 0)) return WorkBudget::unlimited();
  const double units = microseconds * 1000 * (1 - k_reserved_share) / cost;
  return WorkBudget::of(static_cast<std::uint32_t>(std::clamp(units, 1.0, 4e9)));
}

}  // namespace cotouch

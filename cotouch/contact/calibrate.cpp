#include <cotouch/base/error.h>
#include <cotouch/base/random.h>
#include <cotouch/base/realtime.h>
#include <cotouch/contact/cold_caches.h>
#include <cotouch/contact/nested.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace cotouch {
namespace {

// Share of the time kept for what a calibration cannot see, such as other work. (A list of nodes that is built and then
// dropped because it grew too long needs no share: visits and queued nodes together stay below the budget.)
constexpr double k_reserve = 0.1;
constexpr int k_directions = 6;
constexpr int k_repeats = 5;

// The shell at a place, and how many nodes are visited there.
struct Placement {
  Pose shell;
  double visited;
};

// What a node costs at this place: the median of repeated traversals with cold caches, because the first cycle after
// something else ran must fit as well. Not by the clock: whoever opens a scene while the machine is busy would feel it
// coarsely ever after. Driving everything out of the caches takes most of the time, so it ends as soon as the median
// cannot be above `most`, which is then returned.
double larger_of(double most, const NestedContact& engine, ContactScratch& scratch, const Placement& placement,
                 ColdCaches& caches) {
  PairContact result;
  std::array<double, k_repeats> costs;
  int below = 0;
  for (double& cost : costs) {
    caches.chill();
    const std::int64_t start = processor_ns();
    engine.evaluate({placement.shell}, {}, Detail::everything(), scratch, nullptr, result);
    cost = static_cast<double>(processor_ns() - start) / placement.visited;
    if (cost <= most && ++below > k_repeats / 2) return most;
  }
  std::sort(costs.begin(), costs.end());
  return costs[k_repeats / 2];
}

}  // namespace

WorkBudget calibrate_budget(const Shell& shell, const Field& field, double microseconds) {
  if (!(microseconds > 0)) throw Error("The time budget must be a positive number of microseconds.");
  const NestedContact engine(shell, field, {});
  ContactScratch scratch;
  scratch.reserve(shell.point_count());
  ColdCaches caches;
  Box3d bounds;
  for (const Vec3f& p : shell.data().positions) bounds.add(Vec3d(p));
  const Box3f box = field.box();
  const Vec3d field_center = Vec3d(box.low + box.high) * 0.5;
  const double apart = norm(Vec3d(box.size())) + norm(bounds.size());
  const double cell = static_cast<double>(field.spacing());

  Random random(1);
  std::vector<Placement> placements;
  for (int i = 0; i < k_directions; ++i) {
    const Vec3d direction = random.direction();
    const Vec3d axis = random.direction();
    const Quat turn = quat_from_rotation_vector(axis * random.uniform(0, 3));
    const auto at = [&](double distance) {
      return Pose{field_center + direction * distance - rotate(turn, bounds.center()), turn};
    };
    // Bisection: where the part, pushed towards the middle of the other, begins to touch.
    double touching = 0, free = apart;
    while (free - touching > cell / 4) {
      const double middle = (touching + free) / 2;
      PairContact result;
      engine.evaluate({at(middle)}, {}, Detail::everything(), scratch, nullptr, result);
      (result.stats.in_contact > 0 ? touching : free) = middle;
    }
    for (const double depth : {0.0, cell, 3 * cell}) {
      PairContact result;
      engine.evaluate({at(touching - depth)}, {}, Detail::everything(), scratch, nullptr, result);
      placements.push_back({at(touching - depth), static_cast<double>(result.stats.visited)});
    }
  }

  // Short traversals are mostly fixed cost and would make a node look expensive.
  double most = 0;
  for (const Placement& placement : placements) most = std::max(most, placement.visited);
  double nanoseconds_a_node = 0;
  for (const Placement& placement : placements)
    if (placement.visited * 4 >= most && placement.visited > 0)
      nanoseconds_a_node = larger_of(nanoseconds_a_node, engine, scratch, placement, caches);
  if (!(nanoseconds_a_node > 0) || caches.sum() == 0) return WorkBudget::unlimited();
  const double nodes = microseconds * 1000 * (1 - k_reserve) / nanoseconds_a_node;
  return WorkBudget::of(static_cast<std::uint32_t>(std::clamp(nodes, 1.0, 4e9)));
}

}  // namespace cotouch

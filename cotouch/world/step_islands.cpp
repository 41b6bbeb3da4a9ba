// Which bodies may meet within the tick.
#include <cotouch/world/step_work.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

using Role = BodyWork::Role;

double along(const Vec3d& axis, const PartExtent& box, const Mat3& turn) {
  const Vec3d in_box = turn.transposed() * axis;
  return std::fabs(in_box.x) * box.half.x + std::fabs(in_box.y) * box.half.y + std::fabs(in_box.z) * box.half.z;
}

// Can two boxes be told to be more than `margin` apart, along one of the six directions of their faces?
bool are_apart(const PartExtent& a, const Pose& pose_a, const PartExtent& b, const Pose& pose_b, double margin) {
  const Vec3d between = transform(pose_b, b.center) - transform(pose_a, a.center);
  if (norm(between) > norm(a.half) + norm(b.half) + margin) return true;
  const Mat3 turn_a = rotation_matrix(pose_a.rotation), turn_b = rotation_matrix(pose_b.rotation);
  for (const Mat3& turn : {turn_a, turn_b})
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec3d axis{turn(0, i), turn(1, i), turn(2, i)};
      if (std::fabs(dot(axis, between)) > along(axis, a, turn_a) + along(axis, b, turn_b) + margin) return true;
    }
  return false;
}

class IslandSearch {
 public:
  IslandSearch(const WorldModel& model, StepScratch::Work& work) : model_(model), w_(work) {}

  void run() {
    w_.candidates.clear();
    for (std::uint32_t i = 0; i < w_.bodies.size(); ++i) w_.bodies[i].island = i;
    for (std::uint32_t i = 0; i < w_.pairs.size(); ++i) {
      if (w_.pairs[i].in_use) w_.contacts[i] = {};
      w_.pairs[i] = {};
    }
    do add_pairs();
    while (spread_travel());
    for (const std::uint32_t i : w_.candidates)
      for (const std::uint32_t body : {model_.pairs()[i].shell_body, model_.pairs()[i].field_body})
        w_.bodies[body].near = true;
    list_islands();
  }

 private:
  bool moves(std::uint32_t body) const { return w_.bodies[body].role != Role::still || w_.bodies[body].bending >= 0; }

  std::uint32_t island_of(std::uint32_t body) const {
    while (w_.bodies[body].island != body) body = w_.bodies[body].island;
    return body;
  }
  std::uint32_t island_of_pair(std::uint32_t i) const {
    const PairModel& pair = model_.pairs()[i];
    return island_of(moves(pair.shell_body) ? pair.shell_body : pair.field_body);
  }

  void add_pairs() {
    for (std::uint32_t i = 0; i < w_.pairs.size(); ++i) {
      if (w_.pairs[i].near || !may_meet(i)) continue;
      w_.pairs[i].near = true;
      w_.candidates.push_back(i);
      const PairModel& pair = model_.pairs()[i];
      if (!moves(pair.shell_body) || !moves(pair.field_body)) continue;
      const std::uint32_t a = island_of(pair.shell_body), b = island_of(pair.field_body);
      w_.bodies[std::max(a, b)].island = std::min(a, b);
    }
  }

  bool may_meet(std::uint32_t i) {
    const PairModel& pair = model_.pairs()[i];
    const std::uint32_t shell = pair.shell_body, field = pair.field_body;
    if (!moves(shell) && !moves(field)) return false;
    const BodyWork &a = w_.bodies[shell], &b = w_.bodies[field];
    const double travel = a.travel + b.travel, margin = travel + a.clearance + b.clearance + a.bent + b.bent;
    if (norm(a.pose.position - b.pose.position) > model_.reach(shell) + model_.reach(field) + margin) return false;
    if (are_apart(model_.extent(shell, pair.shell_piece), piece_pose(model_, w_, shell, pair.shell_piece),
                  model_.extent(field, pair.field_piece), piece_pose(model_, w_, field, pair.field_piece), margin))
      return false;
    PairWork& work = w_.pairs[i];
    const bool in_hand = a.in_hand || b.in_hand;
    const double cell = pair.feature;
    work.longest_move = longest_move(cell, pair.wall, in_hand);
    // What bends gives way, and how fast each of its ends is was looked up.
    if (a.bending >= 0 || b.bending >= 0) work.longest_move = std::max(work.longest_move, 0.5 * cell);
    work.deepest_entry = std::min(work.longest_move, std::max(k_closest_entry, in_hand ? 0 : 0.5 * work.longest_move));
    if (travel <= work.longest_move) return true;  // a closer look would save no substep
    find_gap(model_, i, travel, k_glance, w_);
    return work.free_until < travel;
  }

  static bool gives_way(const BodyWork& body) {
    return body.role == Role::free || (body.role == Role::still && body.bending >= 0);
  }

  // Whoever is hit may become as fast as whoever hit it, up to twice as fast if that is heavier, and so meet others.
  // True if anybody may get farther than was thought.
  bool spread_travel() {
    std::fill(w_.island_push.begin(), w_.island_push.end(), 0.0);
    std::fill(w_.island_mass.begin(), w_.island_mass.end(), 0.0);
    for (std::uint32_t i = 0; i < w_.bodies.size(); ++i) {
      const std::uint32_t first = island_of(i);
      w_.island_push[first] = std::max(w_.island_push[first], w_.bodies[i].push);
      const double mass = gives_way(w_.bodies[i]) ? model_.bodies()[i].mass.mass : k_unmoved;
      w_.island_mass[first] = std::max(w_.island_mass[first], mass);
    }
    bool farther = false;
    for (std::uint32_t i = 0; i < w_.bodies.size(); ++i) {
      BodyWork& body = w_.bodies[i];
      if (!gives_way(body)) continue;
      const std::uint32_t first = island_of(i);
      const double mass = model_.bodies()[i].mass.mass, heaviest = w_.island_mass[first];
      const double hit = w_.island_push[first] * 2 * heaviest / (heaviest + mass);
      if (hit > body.travel) {
        body.travel = hit;
        farther = true;
      }
    }
    return farther;
  }

  void list_islands() {
    w_.order.clear();
    w_.islands.clear();
    for (std::uint32_t i = 0; i < w_.bodies.size(); ++i)
      if (moves(i)) w_.order.push_back(i);
    // By island, and within one by index: no two are equal, so any sort gives this order.
    std::sort(w_.order.begin(), w_.order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const std::uint32_t ia = island_of(a), ib = island_of(b);
      return ia != ib ? ia < ib : a < b;
    });
    std::sort(w_.candidates.begin(), w_.candidates.end(), [&](std::uint32_t a, std::uint32_t b) {
      const std::uint32_t ia = island_of_pair(a), ib = island_of_pair(b);
      return ia != ib ? ia < ib : a < b;
    });
    std::uint32_t pair = 0;
    for (std::uint32_t i = 0; i < w_.order.size(); ++i) {
      const std::uint32_t first = island_of(w_.order[i]);
      if (i == 0 || island_of(w_.order[i - 1]) != first) w_.islands.push_back({i, i, pair, pair});
      Island& island = w_.islands.back();
      island.bodies_end = i + 1;
      while (pair < w_.candidates.size() && island_of_pair(w_.candidates[pair]) == first) ++pair;
      island.pairs_end = pair;
    }
  }

  static constexpr double k_unmoved = 1e9;  // kg: what moves along a path or with a hand gives way to nothing

  const WorldModel& model_;
  StepScratch::Work& w_;
};

}  // namespace

void find_islands(const WorldModel& model, StepScratch::Work& work) noexcept {
  IslandSearch(model, work).run();
}

}  // namespace cotouch

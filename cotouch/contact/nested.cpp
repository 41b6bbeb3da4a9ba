#include <cotouch/contact/nested.h>

#include <cotouch/base/error.h>
#include <cotouch/contact/contact_sum.h>
#include <cotouch/contact/motion_bound.h>

#include <algorithm>
#include <array>
#include <vector>

namespace cotouch {
namespace {

constexpr std::uint32_t k_block = 256;  // points looked up together; their buffers stay in the first-level cache
constexpr std::uint64_t k_skips_per_visit = 4;  // see WorkBudget
constexpr double k_farthest = 1e8;              // cells; beyond, nothing can touch and a float has no fraction left
constexpr double k_ticks_per_cell = 256;        // of the motion clock
constexpr std::uint32_t k_last_tick = 1U << 31;

}  // namespace

struct NestedContact::Work {
  // The nodes of one level above the deepest that are to be visited.
  struct Queue {
    std::vector<std::uint32_t> node;
    std::vector<float> distance;  // a copy brings its point's, the others are looked up
    std::uint32_t size = 0;
  };

  Shell shell;
  Field field;
  ContactSettings settings;
  WorkBudget budget;
  std::uint32_t last = 0;         // deepest level this engine may render
  std::uint32_t rendered = 0;     // deepest level of the last evaluation
  std::uint32_t leaf_expiry = 0;  // expiry[leaf_expiry + point] belongs to a point new on the last level
  double inverse_ramp = 0;
  double reach = 0;  // of the shell, in metres, with room for rounding
  float largest_slack = 0;

  MotionBound motion;
  // Per node, then per new point on the last level: the tick until which its ball is surely free. Whole ticks take half
  // the memory of the clock's own reading.
  std::vector<std::uint32_t> expiry;
  double metres_per_tick = 0;
  float ticks_per_metre = 0;  // rounded down

  Pose shell_pose, field_pose;  // of this evaluation, in the world
  Pose relative;                // the shell's in the field's frame
  CellMap map;
  float margin = 0;       // metres by which rounding may bring two points closer than their balls say
  std::uint32_t now = 0;  // tick of this evaluation

  Queue queue, next;
  std::vector<std::uint32_t> points;  // looked up, all levels one after another
  std::vector<std::uint32_t> slot;    // where in `queue` the point of the same index stands; not for the last level
  std::uint32_t point_count = 0;      // of `points`, completed levels and the one being visited
  std::uint32_t next_points = 0;      // end of `points` for the level being queued
  std::uint64_t next_skipped = 0;
  std::vector<ContactPoint> contacts;
  std::uint32_t contact_count = 0;

  // One block's worth of work: places in the field, values there, room around them, queued nodes that may touch.
  std::array<Field::Place, k_block> place_of;
  std::array<float, k_block> distance, free;
  std::array<std::uint32_t, k_block> open;

  Work(const Shell& shell_in, const Field& field_in, const ContactSettings& settings_in, const WorkBudget& budget_in,
       std::uint32_t deepest_level);

  bool place(const Pose& shell_in_world, const Pose& field_in_world) noexcept;
  void advance_clock() noexcept;
  template <bool coherent>
  void traverse(ContactStats& stats) noexcept;
  template <bool coherent>
  void queue_roots() noexcept;
  template <bool coherent>
  void look_up(std::uint32_t begin, bool is_last) noexcept;
  bool fits(std::uint32_t level, std::uint64_t room) const noexcept;
  template <bool coherent>
  bool queue_children(std::uint32_t level, std::uint64_t room) noexcept;
  void sum(Moving moving, ContactResult& result) const noexcept;
  void forget() noexcept;

  // A slack g measured at the clock's reading M lasts while the clock is below M + g, so surely while its whole ticks
  // are fewer than those of M and those of g together.
  std::uint32_t expiry_of(float slack) const noexcept {
    const float lasting = std::min(std::max(slack, 0.0F), largest_slack);
    return now + static_cast<std::uint32_t>(static_cast<std::int32_t>(lasting * ticks_per_metre));
  }
};

NestedContact::Work::Work(const Shell& shell_in, const Field& field_in, const ContactSettings& settings_in,
                          const WorkBudget& budget_in, std::uint32_t deepest_level)
    : shell(shell_in), field(field_in), settings(settings_in), budget(budget_in) {
  if (shell.data().level_begin.size() < 2 || shell.point_count() == 0)
    throw Error("The part that should touch has no pointshell; prepare it again.");
  if (field.data().brick_index.empty()) throw Error("The part to be touched has no distance field; prepare it again.");
  if (!(settings.stiffness > 0 && std::isfinite(settings.stiffness)))
    throw Error("The contact stiffness must be a positive number of newtons per metre.");
  if (!(settings.scaling_threshold > 0)) throw Error("The scaling threshold must be a positive number of points.");
  if (!(settings.count_ramp >= 0 && std::isfinite(settings.count_ramp)))
    throw Error("The count ramp must be a depth in metres, or 0 to choose one.");

  last = std::min(deepest_level, shell.levels() - 1);
  const double spacing = static_cast<double>(field.spacing());
  inverse_ramp = 1 / (settings.count_ramp > 0 ? settings.count_ramp : spacing * 0.05);
  reach = static_cast<double>(shell.reach());

  Box3f bounds;
  for (const Vec3f& p : shell.data().positions) bounds.add(p);
  const Vec3d center(bounds.center());
  double radius_squared = 0;
  for (const Vec3f& p : shell.data().positions)
    radius_squared = std::max(radius_squared, norm_squared(Vec3d(p) - center));
  const double radius = std::sqrt(radius_squared);
  motion = MotionBound(center, radius);
  metres_per_tick = spacing / k_ticks_per_cell;
  ticks_per_metre = static_cast<float>((1 - 0x1p-20) / metres_per_tick);
  const double farthest_free = 4 * (radius + norm(Vec3d(field.box().size())));
  largest_slack = static_cast<float>(std::min(farthest_free, 0.25 * k_last_tick * metres_per_tick));

  const std::uint32_t all_points = shell.points_to_level(last);
  const std::uint32_t inner_points = last > 0 ? shell.points_to_level(last - 1) : 0;
  leaf_expiry = shell.data().level_begin[last] - inner_points;
  expiry.assign(leaf_expiry + all_points, 0U);
  // One entry more than can be kept: a candidate is written first and kept by moving the end.
  for (Queue* q : {&queue, &next}) {
    q->node.resize(inner_points + 1);
    q->distance.resize(inner_points + 1);
  }
  points.resize(all_points + 1);
  slot.resize(inner_points + 1);
  contacts.resize(shell.point_count() + 1);
}

// Prepares everything that depends on the poses; false where nothing could touch.
bool NestedContact::Work::place(const Pose& shell_in_world, const Pose& field_in_world) noexcept {
  contact_count = 0;
  point_count = 0;
  if (!is_finite(shell_in_world) || !is_finite(field_in_world)) return false;
  shell_pose = {shell_in_world.position, normalized(shell_in_world.rotation)};
  field_pose = {field_in_world.position, normalized(field_in_world.rotation)};
  relative = inverse(field_pose) * shell_pose;
  const double spacing = static_cast<double>(field.spacing());
  const Mat3 m = rotation_matrix(relative.rotation) * (1 / spacing);
  const Vec3d t = (relative.position - Vec3d(field.data().origin)) / spacing;
  const double size = std::max({std::fabs(t.x), std::fabs(t.y), std::fabs(t.z)});
  if (!(size + reach / spacing < k_farthest)) return false;
  const auto f = [](double v) { return static_cast<float>(v); };
  map = {f(m(0, 0)), f(m(0, 1)), f(m(0, 2)), f(m(1, 0)), f(m(1, 1)), f(m(1, 2)),
         f(m(2, 0)), f(m(2, 1)), f(m(2, 2)), f(t.x),     f(t.y),     f(t.z)};
  // A coordinate is a sum of four terms, the first three together at most sqrt(3) reach / h, with about ten roundings
  // of 2^-24 each: the place of one point is off by less than 2^-19 (2 reach / h + |t|) cells, two by twice that.
  margin = f((2 * reach + size * spacing) * 0x1p-18);
  return true;
}

void NestedContact::Work::advance_clock() noexcept {
  double tick = motion.advance(relative) / metres_per_tick;
  if (tick >= k_last_tick) {
    // After kilometres of motion, or thousands of times forget(), the clock is full. Clearing everything is dear, but
    // bounded by the number of nodes.
    std::fill(expiry.begin(), expiry.end(), 0U);
    motion.reset();
    tick = motion.advance(relative);
  }
  now = static_cast<std::uint32_t>(tick);
}

// Queues level 0.
template <bool coherent>
void NestedContact::Work::queue_roots() noexcept {
  const std::uint32_t roots = shell.points_to_level(0);
  const bool is_last = last == 0;
  std::uint32_t n = 0;
  for (std::uint32_t i = 0; i < roots; ++i) {
    points[n] = i;
    if (!is_last) {
      next.node[n] = i;
      slot[n] = n;
    }
    n += !coherent || now >= expiry[i] ? 1U : 0U;
  }
  next.size = is_last ? 0 : n;
  next_points = n;
  next_skipped = roots - n;
}

// Looks up points[begin .. point_count): the level's new points.
template <bool coherent>
void NestedContact::Work::look_up(std::uint32_t begin, bool is_last) noexcept {
  const Vec3f* const positions = shell.data().positions.data();
  for (; begin < point_count; begin += k_block) {
    const std::uint32_t count = std::min(k_block, point_count - begin);
    const std::uint32_t* const point = &points[begin];
    for (std::uint32_t i = 0; i < count; ++i) {
      place_of[i] = field.locate(map(positions[point[i]]));
      Field::fetch(place_of[i]);
    }
    for (std::uint32_t i = 0; i < count; ++i) distance[i] = field.distance_at(place_of[i]);
    ContactPoint* const touching = contacts.data();
    std::uint32_t n = contact_count;
    for (std::uint32_t i = 0; i < count; ++i) {
      touching[n] = {point[i], distance[i]};
      n += distance[i] < 0 ? 1U : 0U;
    }
    contact_count = n;
    if (!is_last) {
      for (std::uint32_t i = 0; i < count; ++i) queue.distance[slot[begin + i]] = distance[i];
    } else if (coherent) {
      for (std::uint32_t i = 0; i < count; ++i) free[i] = field.free_radius(distance[i]) - margin;
      for (std::uint32_t i = 0; i < count; ++i) expiry[leaf_expiry + point[i]] = expiry_of(free[i]);
    }
  }
}

// Would all children of the level's nodes that may touch fit into `room`, with none of them skipped? Only counts, so
// that a level which is too large is found out for a fraction of what queueing and dropping it would cost.
bool NestedContact::Work::fits(std::uint32_t level, std::uint64_t room) const noexcept {
  const ShellNode* const nodes = shell.data().nodes.data();
  const std::uint32_t copies = level + 1 == last ? 1 : 0;  // on the last level they are not visited
  std::uint64_t wanted = 0;
  for (std::uint32_t i = 0; i < queue.size && wanted * k_skips_per_visit < room; ++i) {
    const std::uint32_t node = queue.node[i];
    const bool open_node = !(field.free_radius(queue.distance[i]) - margin - nodes[node].radius > 0);
    wanted += open_node ? nodes[node + 1].first_child - nodes[node].first_child - copies : 0;
  }
  return wanted * k_skips_per_visit < room;
}

// Queues the children of the level's nodes that may touch. Stops, and returns false, once the next level is known to
// need more than `room` (in skipped nodes).
template <bool coherent>
bool NestedContact::Work::queue_children(std::uint32_t level, std::uint64_t room) noexcept {
  const ShellNode* const nodes = shell.data().nodes.data();
  const bool to_last = level + 1 == last;
  // A point new on the next level has as many points before it as there are nodes before its own that are no copies.
  const std::uint32_t* const level_begin = shell.data().level_begin.data();
  const std::uint32_t first_point = shell.points_to_level(level) - level_begin[level + 1] + level_begin[level];
  std::uint32_t n = 0;
  std::uint32_t p = point_count;
  std::uint64_t skipped = 0;
  for (std::uint32_t begin = 0; begin < queue.size; begin += k_block) {
    const std::uint32_t end = std::min(begin + k_block, queue.size);
    std::uint32_t open_count = 0;
    for (std::uint32_t i = begin; i < end; ++i) free[i - begin] = field.free_radius(queue.distance[i]) - margin;
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::uint32_t node = queue.node[i];
      const float slack = free[i - begin] - nodes[node].radius;
      if (coherent) expiry[node] = expiry_of(slack);
      open[open_count] = i;
      open_count += slack > 0 ? 0U : 1U;
    }
    for (std::uint32_t k = 0; k < open_count; ++k) {
      const std::uint32_t node = queue.node[open[k]];
      const std::uint32_t child = nodes[node].first_child;
      const std::uint32_t child_end = nodes[node + 1].first_child;
      std::uint32_t point = first_point + child - node;
      const std::uint32_t before = to_last ? p : n;
      if (to_last) {
        // Copies on the last level have neither a force nor children of their own.
        const std::uint32_t point_end = point + (child_end - child - 1);
        for (; point < point_end; ++point) {
          points[p] = point;
          p += !coherent || now >= expiry[leaf_expiry + point] ? 1U : 0U;
        }
        skipped += child_end - child - 1 - (p - before);
      } else {
        next.node[n] = child;
        next.distance[n] = queue.distance[open[k]];
        n += !coherent || now >= expiry[child] ? 1U : 0U;
        for (std::uint32_t c = child + 1; c < child_end; ++c, ++point) {
          next.node[n] = c;
          points[p] = point;
          slot[p] = n;
          const std::uint32_t keep = !coherent || now >= expiry[c] ? 1U : 0U;
          n += keep;
          p += keep;
        }
        skipped += child_end - child - (n - before);
      }
      if ((to_last ? p - point_count : n) * k_skips_per_visit + skipped >= room) return false;
    }
  }
  next.size = n;
  next_points = p;
  next_skipped = skipped;
  return true;
}

template <bool coherent>
void NestedContact::Work::traverse(ContactStats& stats) noexcept {
  queue_roots<coherent>();
  for (std::uint32_t level = 0;; ++level) {
    const std::uint32_t begin = point_count;
    std::swap(queue, next);
    point_count = next_points;
    stats.level = level;
    stats.visited += level == last ? point_count - begin : queue.size;
    stats.skipped += static_cast<std::uint32_t>(next_skipped);
    look_up<coherent>(begin, level == last);
    if (level == last) break;
    const bool warm = level + 1 <= rendered;
    const std::uint64_t limit = (warm ? budget.warm : budget.cold) * k_skips_per_visit;
    const std::uint64_t used = stats.visited * k_skips_per_visit + stats.skipped;
    if (used >= limit) break;
    if (!warm && !fits(level, limit - used)) break;
    if (!queue_children<coherent>(level, limit - used)) break;
  }
  rendered = stats.level;
}

void NestedContact::Work::sum(Moving moving, ContactResult& result) const noexcept {
  const Vec3f* const positions = shell.data().positions.data();
  const Vec3f* const normals = shell.data().inward_normals.data();
  ContactSum total(inverse_ramp);
  float lowest = 0;
  for (std::uint32_t i = 0; i < contact_count; ++i) {
    const ContactPoint& contact = contacts[i];
    total.add(positions[contact.point], normals[contact.point], contact.distance);
    lowest = std::min(lowest, contact.distance);
  }
  const double scale = total.count() > settings.scaling_threshold ? settings.scaling_threshold / total.count() : 1;
  total.finish(shell_pose, field_pose, moving, settings.stiffness * scale, result);
  result.stats.in_contact = contact_count;
  result.stats.deepest = -lowest;
}

void NestedContact::Work::forget() noexcept {
  // Farther than any slack reaches, so every one has run out; clearing them all would take longer than a cycle.
  motion.restart(2 * static_cast<double>(largest_slack));
  rendered = 0;
}

NestedContact::NestedContact(const Shell& shell, const Field& field, const ContactSettings& settings,
                             const WorkBudget& budget, std::uint32_t deepest_level)
    : work_(std::make_unique<Work>(shell, field, settings, budget, deepest_level)) {
}

NestedContact::~NestedContact() = default;

void NestedContact::evaluate(const Pose& shell, const Pose& field, Moving moving, ContactResult& result) noexcept {
  Work& w = *work_;
  result = {};
  if (!w.place(shell, field)) {
    w.forget();
    return;
  }
  if (w.settings.coherence) {
    w.advance_clock();
    w.traverse<true>(result.stats);
  } else {
    w.traverse<false>(result.stats);
  }
  w.sum(moving, result);
}

void NestedContact::evaluate_exhaustively(const Pose& shell, const Pose& field, Moving moving, std::uint32_t to_level,
                                          ContactResult& result) noexcept {
  Work& w = *work_;
  result = {};
  if (!w.place(shell, field)) return;
  result.stats.level = std::min(to_level, w.shell.levels() - 1);
  const std::span<const Vec3f> positions = w.shell.data().positions;
  const std::uint32_t count = w.shell.points_to_level(result.stats.level);
  for (std::uint32_t i = 0; i < count; ++i) {
    const float distance = w.field.distance_in_cells(w.map(positions[i]));
    w.contacts[w.contact_count] = {i, distance};
    w.contact_count += distance < 0 ? 1U : 0U;
  }
  result.stats.visited = count;
  w.sum(moving, result);
}

std::span<const ContactPoint> NestedContact::contacts() const noexcept {
  return {work_->contacts.data(), work_->contact_count};
}

std::span<const std::uint32_t> NestedContact::visited_points() const noexcept {
  return {work_->points.data(), work_->point_count};
}

void NestedContact::reset() noexcept {
  work_->forget();
}

void NestedContact::set_budget(const WorkBudget& budget) noexcept {
  work_->budget = budget;
}

const WorkBudget& NestedContact::budget() const noexcept {
  return work_->budget;
}

}  // namespace cotouch

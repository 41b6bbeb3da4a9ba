#include <cotouch/contact/nested.h>

#include <cotouch/base/error.h>
#include <cotouch/contact/point_sums.h>
#include <cotouch/contact/traversal.h>
#include <cotouch/elastic/deformation.h>
#include <cotouch/elastic/deformed_field.h>

#include <algorithm>
#include <numeric>

namespace cotouch {
namespace {

constexpr double k_farthest = 1e8;  // cells; beyond, nothing can touch and a float has no fraction left

// Rigid points in a rigid field.
struct RigidSource {
  const Shell* points;
  const Field* field;
  CellMap map;
  float clearance;
  Field::FreeRadius free_radius;
  float margin;  // metres by which rounding may bring two points closer than their balls say

  const Shell& shell() const noexcept { return *points; }
  void look_up(const std::uint32_t* point, std::uint32_t count, float* distance) const noexcept {
    field->distances(map, points->data().positions.data(), point, count, distance);
    if (clearance != 0)
      for (std::uint32_t i = 0; i < count; ++i) distance[i] -= clearance;
  }
  void fetch(std::uint32_t point) const noexcept { __builtin_prefetch(&points->data().positions[point]); }
  float free(float distance) const noexcept { return free_radius(distance) - margin; }
  float radius(const ShellBranch& node) const noexcept { return node.radius; }
};

constexpr auto k_in_turn = [] {
  std::array<std::uint32_t, ContactScratch::k_block> numbers{};
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}();

// Points that bend in a rigid field.
struct BentSource {
  RigidSource rigid;
  Deformation* shape;

  const Shell& shell() const noexcept { return *rigid.points; }
  void look_up(const std::uint32_t* point, std::uint32_t count, float* distance) const noexcept {
    std::array<Vec3f, ContactScratch::k_block> at;
    for (std::uint32_t begin = 0; begin < count; begin += ContactScratch::k_block) {
      const std::uint32_t size = std::min(ContactScratch::k_block, count - begin);
      shape->shell_points(rigid.points->data().positions.data(), point + begin, size, at.data());
      rigid.field->distances(rigid.map, at.data(), k_in_turn.data(), size, distance + begin);
    }
    if (rigid.clearance != 0)
      for (std::uint32_t i = 0; i < count; ++i) distance[i] -= rigid.clearance;
  }
  void fetch(std::uint32_t point) const noexcept { rigid.fetch(point); }
  float free(float distance) const noexcept { return rigid.free(distance); }
  float radius(const ShellBranch& node) const noexcept {
    const auto branch = static_cast<std::uint32_t>(&node - rigid.points->branches());
    return node.radius + shape->shell_growth(branch, rigid.points->data().nodes[branch].point);
  }
};

// Points that bend in a field that bends.
struct BentFieldSource {
  BentSource points;
  const DeformedField* field;
  Mat3 turn;  // the shell's frame in the field's
  Vec3d move;

  const Shell& shell() const noexcept { return points.shell(); }
  void look_up(const std::uint32_t* point, std::uint32_t count, float* distance) const noexcept {
    std::array<Vec3f, ContactScratch::k_block> at;
    for (std::uint32_t begin = 0; begin < count; begin += ContactScratch::k_block) {
      const std::uint32_t size = std::min(ContactScratch::k_block, count - begin);
      points.shape->shell_points(shell().data().positions.data(), point + begin, size, at.data());
      for (std::uint32_t i = 0; i < size; ++i) at[i] = Vec3f(turn * Vec3d(at[i]) + move);
      field->distances(at.data(), size, points.rigid.clearance, distance + begin);
      for (std::uint32_t i = 0; i < size; ++i) distance[begin + i] -= points.rigid.clearance;
    }
  }
  void fetch(std::uint32_t) const noexcept {}
  // No bound, as in the paper: what the proxies know of the stretch, and a tenth for what they do not.
  float free(float distance) const noexcept { return points.rigid.free(distance) * (0.9F * field->least_stretch()); }
  float radius(const ShellBranch& node) const noexcept { return points.radius(node); }
};

void require(bool holds, const char* sentence) {
  if (!holds) throw Error(sentence);
}

}  // namespace

// Everything that depends on the poses.
struct NestedContact::Placement {
  Pose shell, field;  // in the world
  Pose relative;      // the shell's in the field's frame
  Mat3 turn;          // its rotation
  RigidSource source;
  Deformation* shape;                  // of the shell; null if it is rigid
  Deformation* field_shape = nullptr;  // of the field, likewise
  const DeformedField* deformed = nullptr;
};

NestedContact::NestedContact(const Shell& shell, const Field& field, const ContactSettings& settings,
                             std::uint32_t deepest_level)
    : shell_(shell), field_(field), settings_(settings) {
  require(shell.data().level_begin.size() >= 2 && shell.point_count() > 0,
          "The part that should touch has no pointshell; prepare it again.");
  require(!field.data().brick_index.empty(), "The part to be touched has no distance field; prepare it again.");
  require(settings.stiffness > 0 && std::isfinite(settings.stiffness),
          "The contact stiffness must be a positive number of newtons per metre.");
  last_ = std::min(deepest_level, shell.levels() - 1);
  Box3f bounds;
  for (const Vec3f& p : shell.data().positions) bounds.add(p);
  center_ = Vec3d(bounds.center());
  double radius_squared = 0;
  for (const Vec3f& p : shell.data().positions)
    radius_squared = std::max(radius_squared, norm_squared(Vec3d(p) - center_));
  radius_ = std::sqrt(radius_squared);
}

double NestedContact::largest_stiffness() const noexcept {
  return cotouch::largest_stiffness(settings_.stiffness, shell_.points_to_level(last_),
                                    static_cast<double>(field_.data().lipschitz));
}

bool NestedContact::place(const BodyState& shell, const BodyState& field, Placement& p) const noexcept {
  if (!is_finite(shell.pose) || !is_finite(field.pose)) return false;
  p.shell = {shell.pose.position, normalized(shell.pose.rotation)};
  p.field = {field.pose.position, normalized(field.pose.rotation)};
  p.relative = inverse(p.field) * p.shell;
  p.turn = rotation_matrix(p.relative.rotation);
  const double spacing = static_cast<double>(field_.spacing());
  const Mat3 m = p.turn * (1 / spacing);
  const Vec3d t = (p.relative.position - Vec3d(field_.data().origin)) / spacing;
  const double size = std::max({std::fabs(t.x), std::fabs(t.y), std::fabs(t.z)});
  p.shape = shell.deformation;
  p.deformed = shell.deformation != nullptr ? field.deformed_field : nullptr;
  p.field_shape = p.deformed != nullptr ? field.deformation : nullptr;
  const double bent = p.shape != nullptr ? p.shape->largest_move() : 0;
  const double reach = static_cast<double>(shell_.reach()) + bent;
  if (!(size + reach / spacing < k_farthest)) return false;
  const auto f = [](double v) { return static_cast<float>(v); };
  const double wanted = shell.clearance + field.clearance;
  const float clearance = std::clamp(wanted > 0 ? f(wanted) : 0.0F, 0.0F, field_.largest_clearance());
  p.source = {&shell_,
              &field_,
              {f(m(0, 0)), f(m(0, 1)), f(m(0, 2)), f(m(1, 0)), f(m(1, 1)), f(m(1, 2)), f(m(2, 0)), f(m(2, 1)),
               f(m(2, 2)), f(t.x), f(t.y), f(t.z)},
              clearance,
              field_.free_radius_above(clearance),
              // A coordinate is a sum of four terms, the first three together at most sqrt(3) reach / h, with about ten
              // roundings of 2^-24 each: the place of one point is off by less than 2^-19 (2 reach / h + |t|) cells,
              // two by twice that.
              f((2 * reach + size * spacing) * 0x1p-18)};
  return true;
}

void NestedContact::sum(const Placement& p, const ContactScratch& scratch, PairContact& out,
                        ElasticSums* bending) const noexcept {
  const Vec3f* const rest = shell_.data().positions.data();
  PointSums sums(p.turn);
  PointSums::Block block;
  std::array<std::uint32_t, PointSums::k_block> index;
  std::array<Vec3f, PointSums::k_block> at;
  float lowest = 0;
  const std::span<const ContactPoint> touching = scratch.touching();
  for (std::size_t begin = 0; begin < touching.size(); begin += PointSums::k_block) {
    const std::size_t count = std::min<std::size_t>(PointSums::k_block, touching.size() - begin);
    for (std::size_t i = 0; i < count; ++i) index[i] = touching[begin + i].point;
    const auto size = static_cast<std::uint32_t>(count);
    if (p.shape != nullptr)
      p.shape->shell_points(rest, index.data(), size, at.data());
    else
      for (std::size_t i = 0; i < count; ++i) at[i] = rest[index[i]];
    for (std::size_t i = 0; i < count; ++i) {
      const ContactPoint& contact = touching[begin + i];
      const Vec3d position(at[i]);
      block.x[i] = position.x;
      block.y[i] = position.y;
      block.z[i] = position.z;
      block.depth[i] = -static_cast<double>(contact.distance);
      lowest = std::min(lowest, contact.distance);
    }
    if (p.deformed == nullptr)
      field_.gradients(p.source.map, at.data(), k_in_turn.data(), size, block.gx.data(), block.gy.data(),
                       block.gz.data());
    if (p.shape != nullptr) add_bending(p, touching.subspan(begin, count), block, bending);
    sums.add(block, size);
  }
  out.stats.in_contact = scratch.contact_count;
  out.stats.deepest = -lowest;
  // A point of a coarser level stands for those of the finest that are not there, so that a face is as stiff on every
  // level.
  out.weight = static_cast<double>(shell_.points_to_level(last_)) /
               static_cast<double>(shell_.points_to_level(std::min(out.stats.level, last_)));

  // To world axes.
  const double a = out.weight;
  const Mat3 r = rotation_matrix(p.field.rotation), back = r.transposed();
  const PointSums::Totals t = sums.totals();
  const Mat3& m = t.moment;
  const Vec3d torque{m(1, 2) - m(2, 1), m(2, 0) - m(0, 2), m(0, 1) - m(1, 0)};
  const Mat3 mixed = r * t.mixed * back * a;
  out.sums.depth8 = t.depth8 * a;
  out.sums.push = {r * t.push * a, r * torque * a};
  out.sums.spread = {r * t.linear * back * a, mixed, mixed.transposed(), r * t.angular * back * a};
  out.sums.moment = r * m * back * a;
  out.on_shell = contact_force(out.sums, settings_.stiffness);
  if (bending != nullptr) finish_bending(p, scratch, out, *bending);
}

void NestedContact::add_bending(const Placement& p, std::span<const ContactPoint> touching, PointSums::Block& block,
                                ElasticSums* out) const noexcept {
  std::array<double, 6 + 2 * k_most_coordinates> direction;
  const Mat3 to_world = rotation_matrix(p.field.rotation), from_shell = rotation_matrix(p.shell.rotation);
  const Mat3 to_shell = from_shell.transposed();
  double* const coordinates = direction.data() + 6;
  const std::uint32_t own = p.shape->model().size();
  const std::uint32_t all = own + (p.field_shape != nullptr ? p.field_shape->model().size() : 0);
  for (std::size_t i = 0; i < touching.size(); ++i) {
    std::fill(coordinates, coordinates + all, 0.0);
    const Vec3d position{block.x[i], block.y[i], block.z[i]};
    if (p.deformed != nullptr) {
      const Vec3f at(transform(p.relative, position));
      const Vec3d slope = p.deformed->gradient(at, *p.field_shape, coordinates + own);
      block.gx[i] = slope.x;
      block.gy[i] = slope.y;
      block.gz[i] = slope.z;
    }
    if (out == nullptr) continue;
    const Vec3d g = to_world * Vec3d{block.gx[i], block.gy[i], block.gz[i]};
    const Vec3d arm = from_shell * position, turning = cross(arm, g);
    const double rigid[6] = {g.x, g.y, g.z, turning.x, turning.y, turning.z};
    std::copy(rigid, rigid + 6, direction.begin());
    p.shape->add_gradient(p.shape->model().data().shell[touching[i].point], to_shell * g, {}, coordinates);
    const double depth = block.depth[i], square = depth * depth, sixth = square * square * square;
    out->add(direction.data(), sixth, sixth * depth);
  }
}

// Where the contact presses, one of its points stands for all of them: friction asks how fast it slides.
void NestedContact::finish_bending(const Placement& p, const ContactScratch& scratch, const PairContact& contact,
                                   ElasticSums& out) const noexcept {
  out.scale(contact.weight);
  const double push = norm(contact.sums.push.force);
  if (!(push > 0)) return;
  const Mat3 to_shell = rotation_matrix(p.shell.rotation).transposed();
  const Vec3d middle = to_shell * (contact.sums.moment * contact.sums.push.force / (push * push));
  const ContactPoint* nearest = nullptr;
  double least = 0;
  for (const ContactPoint& point : scratch.touching()) {
    const double distance = norm_squared(Vec3d(point_at(p, point.point)) - middle);
    if (nearest != nullptr && !(distance < least)) continue;
    nearest = &point;
    least = distance;
  }
  const Mat3 to_field = rotation_matrix(p.field.rotation).transposed();
  const Vec3f at_field(transform(p.relative, Vec3d(point_at(p, nearest->point))));
  const std::array<Vec3d, 3> axes{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (std::size_t i = 0; i < 3; ++i) {
    double* const row = out.carried.data() + i * out.size();
    p.shape->add_gradient(p.shape->model().data().shell[nearest->point], to_shell * axes[i], {}, row);
    if (p.deformed != nullptr) p.deformed->add_motion(at_field, -(to_field * axes[i]), *p.field_shape, row + out.shell);
  }
}

void NestedContact::evaluate(const BodyState& shell, const BodyState& field, const Detail& detail,
                             ContactScratch& scratch, CoherenceCache* cache, PairContact& out,
                             ElasticSums* bending) const noexcept {
  out = {};
  Placement placement;
  if (shell.deformation == nullptr) bending = nullptr;
  if (bending != nullptr)
    bending->reset(shell.deformation->model().size(),
                   field.deformed_field != nullptr ? field.deformation->model().size() : 0);
  if (!place(shell, field, placement)) {
    scratch.contact_count = scratch.point_count = 0;
    return;
  }
  RigidSource& source = placement.source;
  if (placement.deformed != nullptr) {
    const BentFieldSource bent{
        {source, placement.shape}, placement.deformed, placement.turn, placement.relative.position};
    Traversal<BentFieldSource, false>(bent, detail, last_, scratch, nullptr).run(out.stats);
  } else if (placement.shape != nullptr) {
    const BentSource bent{source, placement.shape};
    Traversal<BentSource, false>(bent, detail, last_, scratch, nullptr).run(out.stats);
  } else if (cache != nullptr && detail.rule != Detail::Rule::by_state && !cache->pauses()) {
    cache->begin(center_, radius_, placement.relative, static_cast<double>(field_.spacing()),
                 static_cast<double>(source.clearance));
    source.margin += cache->skin();
    Traversal<RigidSource, true>(source, detail, last_, scratch, cache).run(out.stats);
  } else {
    Traversal<RigidSource, false>(source, detail, last_, scratch, nullptr).run(out.stats);
  }
  sum(placement, scratch, out, bending);
}

void NestedContact::evaluate_exhaustively(const BodyState& shell, const BodyState& field, std::uint32_t to_level,
                                          ContactScratch& scratch, PairContact& out) const noexcept {
  out = {};
  scratch.contact_count = scratch.point_count = 0;
  Placement placement;
  if (!place(shell, field, placement)) return;
  out.stats.level = std::min(to_level, last_);
  const std::uint32_t count = shell_.points_to_level(out.stats.level);
  for (std::uint32_t i = 0; i < count; ++i) {
    const float distance = distance_at(placement, point_at(placement, i));
    scratch.contacts[scratch.contact_count] = {i, distance};
    scratch.contact_count += distance < 0 ? 1U : 0U;
  }
  out.stats.visited = count;
  sum(placement, scratch, out, nullptr);
}

float NestedContact::distance_at(const Placement& p, const Vec3f& point) const noexcept {
  float distance = 0;
  if (p.deformed != nullptr) {
    const Vec3f at(transform(p.relative, Vec3d(point)));
    p.deformed->distances(&at, 1, p.source.clearance, &distance);
  } else {
    distance = field_.distance_in_cells(p.source.map(point));
  }
  return distance - p.source.clearance;
}

Vec3f NestedContact::point_at(const Placement& p, std::uint32_t point) const noexcept {
  Vec3f at = shell_.data().positions[point];
  if (p.shape != nullptr) p.shape->shell_points(shell_.data().positions.data(), &point, 1, &at);
  return at;
}

void NestedContact::point_forces(const BodyState& shell, const BodyState& field, const ContactScratch& scratch,
                                 const PairContact& contact, std::span<Vec3d> forces) const noexcept {
  Placement p;
  if (!place(shell, field, p)) return;
  std::size_t i = 0;
  for (const ContactPoint& touching : scratch.touching()) {
    const Vec3f at = point_at(p, touching.point);
    const double depth = -static_cast<double>(touching.distance), square = depth * depth;
    const double size = contact.on_shell.scale * contact.weight * square * square * square * depth;
    forces[i++] = rotate(p.field.rotation, slope_at(p, at)) * size;
  }
}

Vec3d NestedContact::slope_at(const Placement& p, const Vec3f& point) const noexcept {
  if (p.deformed != nullptr) {
    std::array<double, k_most_coordinates> unused{};
    return p.deformed->gradient(Vec3f(transform(p.relative, Vec3d(point))), *p.field_shape, unused.data());
  }
  const Vec3f cell = p.source.map(point);
  return field_.gradient_at(field_.locate(cell), cell);
}

double NestedContact::gap(const BodyState& shell, const BodyState& field, double wanted, std::uint32_t most_nodes,
                          ContactScratch& scratch) const noexcept {
  Placement p;
  if (!place(shell, field, p)) return wanted;
  const BentSource bent{p.source, p.shape};
  if (p.deformed != nullptr)
    return gap_of(BentFieldSource{bent, p.deformed, p.turn, p.relative.position}, wanted, most_nodes, scratch);
  if (p.shape != nullptr) return gap_of(bent, wanted, most_nodes, scratch);
  return gap_of(p.source, wanted, most_nodes, scratch);
}

template <class Source>
double NestedContact::gap_of(const Source& source, double wanted, std::uint32_t most_nodes,
                             ContactScratch& scratch) const noexcept {
  const ShellNode* const nodes = shell_.data().nodes.data();
  ContactScratch::Queue &queue = scratch.queue, &next = scratch.next;
  auto least = static_cast<float>(wanted);
  next.size = 0;
  const auto queue_nodes = [&next](std::uint32_t begin, std::uint32_t end) {
    for (; begin < end; ++begin) next.node[next.size++] = begin;
  };
  queue_nodes(0, shell_.points_to_level(0));
  for (std::uint32_t level = 0; next.size > 0 && least > 0; ++level) {
    std::swap(queue, next);
    next.size = 0;
    for (std::uint32_t i = 0; i < queue.size; ++i) scratch.points[i] = nodes[queue.node[i]].point;
    source.look_up(scratch.points.data(), queue.size, queue.distance.data());
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
        queue_nodes(nodes[node].first_child, nodes[node + 1].first_child);
    }
    least = bound;
  }
  return std::clamp(static_cast<double>(least), 0.0, wanted);
}

}  // namespace cotouch

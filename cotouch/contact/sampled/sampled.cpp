#include <cotouch/base/error.h>
#include <cotouch/contact/sampled/sampled.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

constexpr double k_farthest = 1e8;  // cells; beyond, nothing can touch and a float has no fraction left

void require(bool holds, const char* sentence) {
  if (!holds) throw Error(sentence);
}

}  // namespace

SampledContact::SampledContact(const Shell& shell, const Field& field, const ContactSettings& settings,
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

double SampledContact::largest_stiffness() const noexcept {
  return cotouch::largest_stiffness(settings_.stiffness, shell_.points_to_level(last_),
                                    static_cast<double>(field_.data().lipschitz));
}

PairExtent SampledContact::extent() const noexcept {
  const Box3f box = field_.box();
  return {center_, radius_, {Vec3d(box.low), Vec3d(box.high)}, static_cast<double>(field_.spacing())};
}

bool SampledContact::has_data_of(const ContactEngine& other) const noexcept {
  const auto* const one = dynamic_cast<const SampledContact*>(&other);
  return one != nullptr && &one->kind() == &kind() &&
         one->shell_.data().positions.data() == shell_.data().positions.data() &&
         one->field_.data().samples.data() == field_.data().samples.data();
}

ElasticSums* SampledContact::begin(const PairState& state, PairContact& out, ElasticSums* bending) noexcept {
  out = {};
  if (state.shell.deformation == nullptr || bending == nullptr) return nullptr;
  bending->reset(state.shell.deformation->model().size(),
                 state.field.deformed_field != nullptr ? state.field.deformation->model().size() : 0);
  return bending;
}

bool SampledContact::place(const PairState& state, Placement& p) const noexcept {
  const BodyState &shell = state.shell, &field = state.field;
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

void SampledContact::sum(const Placement& p, const SampledWorkspace& workspace, PairContact& out,
                         ElasticSums* bending) const noexcept {
  const Vec3f* const rest = shell_.data().positions.data();
  PointSums sums(p.turn);
  PointSums::Block block;
  std::array<std::uint32_t, PointSums::k_block> index;
  std::array<Vec3f, PointSums::k_block> at;
  float lowest = 0;
  const std::span<const ContactPoint> touching = workspace.touching();
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
  out.stats.in_contact = workspace.contact_count;
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
  if (bending != nullptr) finish_bending(p, workspace, out, *bending);
}

void SampledContact::add_bending(const Placement& p, std::span<const ContactPoint> touching, PointSums::Block& block,
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
void SampledContact::finish_bending(const Placement& p, const SampledWorkspace& workspace, const PairContact& contact,
                                    ElasticSums& out) const noexcept {
  out.scale(contact.weight);
  const double push = norm(contact.sums.push.force);
  if (!(push > 0)) return;
  const Mat3 to_shell = rotation_matrix(p.shell.rotation).transposed();
  const Vec3d middle = to_shell * (contact.sums.moment * contact.sums.push.force / (push * push));
  const ContactPoint* nearest = nullptr;
  double least = 0;
  for (const ContactPoint& point : workspace.touching()) {
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

float SampledContact::distance_at(const Placement& p, const Vec3f& point) const noexcept {
  float distance = 0;
  if (p.deformed != nullptr) {
    const Vec3f at(p.turn * Vec3d(point) + p.relative.position);  // as BentFieldSource has it, to the last bit
    p.deformed->distances(&at, 1, p.source.clearance, &distance);
  } else {
    distance = field_.distance_in_cells(p.source.map(point));
  }
  return distance - p.source.clearance;
}

Vec3f SampledContact::point_at(const Placement& p, std::uint32_t point) const noexcept {
  Vec3f at = shell_.data().positions[point];
  if (p.shape != nullptr) p.shape->shell_points(shell_.data().positions.data(), &point, 1, &at);
  return at;
}

void SampledContact::touching(const PairState& state, const ContactWorkspace& workspace, const PairContact& contact,
                              std::span<TouchingPoint> points) const noexcept {
  Placement p;
  if (!place(state, p)) return;
  std::size_t i = 0;
  for (const ContactPoint& found : static_cast<const SampledWorkspace&>(workspace).touching()) {
    const Vec3f at = point_at(p, found.point);
    const double depth = -static_cast<double>(found.distance), square = depth * depth;
    const double size = contact.on_shell.scale * contact.weight * square * square * square * depth;
    points[i++] = {found.point, transform(p.shell, Vec3d(at)), rotate(p.field.rotation, slope_at(p, at)) * size, depth};
  }
}

Vec3d SampledContact::slope_at(const Placement& p, const Vec3f& point) const noexcept {
  if (p.deformed != nullptr) {
    std::array<double, k_most_coordinates> unused{};
    return p.deformed->gradient(Vec3f(transform(p.relative, Vec3d(point))), *p.field_shape, unused.data());
  }
  const Vec3f cell = p.source.map(point);
  return field_.gradient_at(field_.locate(cell), cell);
}

}  // namespace cotouch

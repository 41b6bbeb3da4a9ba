// Bodies that bend, in a step.
#include <cotouch/world/step_work.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace cotouch {
namespace {

constexpr double k_fastest_bend = 50;   // m/s: nothing bends faster, whatever pushed it
constexpr double k_farthest_bend = 10;  // times the body's reach: beyond, no reduced model means anything

constexpr int k_most_halvings = 10;

// The frame of the point that a hand holds.
Pose held_point(const WorldModel& model, const WorldState& state, const HandRecord& hand, Deformation& shape) noexcept {
  const auto i = static_cast<std::uint32_t>(hand.body);
  const auto point = static_cast<std::uint32_t>(hand.point);
  const Piece& piece = model.bodies()[i].pieces[0];
  const EmbeddedPoint& embedded = shape.model().data().shell[point];
  const Vec3d at = Vec3d(piece.part->shell.data().positions[point]) + shape.displacement_at(embedded);
  return state.bodies()[i].pose * piece.place * Pose{at, shape.turn_at(embedded)};
}

double kinetic_energy(const BendingWork& bending) {
  double sum = 0;
  for (std::size_t j = 0; j < bending.size(); ++j) sum += bending.rate()[j] * bending.rate()[j];
  return sum / 2;
}

// What the body may have after the substep: what it has, and what others do to it on the way.
double allowed_energy(const BendingWork& bending, const double* change, double h) {
  const ElasticData& data = bending.model->data();
  std::array<double, k_most_coordinates> mean, tension;
  for (std::size_t j = 0; j < bending.size(); ++j) mean[j] = bending.rate()[j] + 0.5 * change[j];
  times_packed(bending.tangent, bending.size(), mean.data(), tension.data());
  double work = 0;
  for (std::size_t j = 0; j < bending.size(); ++j) {
    const double own = bending.force[j] + data.mass_damping * mean[j] + (data.stiffness_damping + 0.5 * h) * tension[j];
    work += (change[j] + h * own) * mean[j];
  }
  return kinetic_energy(bending) + bending.energy + work;
}

// The trapezoidal rule keeps the energy of linear bodies. Of others it may add what the tangent left out, and a stiff
// one that was let go would gain more and more: it is slowed down by as much.
void keep_energy(BendingWork& bending, const double* move, double allowed) {
  if (bending.model->data().law == ElasticLaw::warped) return;
  bending.find_force();
  // So far that standing still would not do: not as far.
  double share = 1;
  for (int i = 0; i < k_most_halvings && !(bending.energy <= allowed); ++i) {
    share *= 0.5;
    for (std::size_t j = 0; j < bending.size(); ++j) bending.q[j] -= share * move[j];
    bending.find_force();
  }
  const double kinetic = kinetic_energy(bending), excess = kinetic + bending.energy - allowed;
  if (!(excess > 0)) return;
  const double kept = kinetic > excess ? std::sqrt((kinetic - excess) / kinetic) : 0;
  for (std::size_t j = 0; j < bending.size(); ++j) bending.rate()[j] *= kept;
}

}  // namespace

BendingWork::BendingWork(const Part& part)
    : model(part.elastic.get()),
      shape(*model),
      field(*model, part.field),
      coarse(*model, part.shell),
      force(model->size()),
      tangent(packed_size(model->size())),
      block(tangent.size()),
      known_at(model->size(), std::numeric_limits<double>::quiet_NaN()) {
}

void BendingWork::set_shape() noexcept {
  shape.set(q);
  if (field_is_asked) field.set(shape);
}

void BendingWork::find_force() noexcept {
  if (std::equal(known_at.begin(), known_at.end(), q, [](double a, double b) { return a == b; })) return;
  energy = model->internal({q, size()}, force, tangent);
  std::copy_n(q, size(), known_at.begin());
}

BendingLink::BendingLink(std::size_t most) {
  force.reserve(most);
  for (std::vector<double>* rows : {&mixed_stiffness, &mixed_damping, &mixed_matrix}) rows->reserve(6 * most);
  for (std::vector<double>* rows : {&stiffness, &damping, &matrix}) rows->reserve(most * most);
}

void BendingLink::reset(std::int32_t first, std::int32_t second, std::size_t coordinates) noexcept {
  a = first;
  b = second;
  size = coordinates;
  recovery = 0;
  force.assign(size, 0);
  for (std::vector<double>* rows : {&mixed_stiffness, &mixed_damping, &mixed_matrix}) rows->assign(6 * size, 0);
  for (std::vector<double>* rows : {&stiffness, &damping, &matrix}) rows->assign(size * size, 0);
}

void place_bending(const WorldModel& model, WorldState& state, std::uint32_t i, StepScratch::Work& w) noexcept {
  w.bodies[i].bending = -1;
  if (model.elastic(i) == nullptr) return;
  std::int32_t place = 0;
  for (std::uint32_t k = 0; k < i; ++k) place += model.elastic(k) != nullptr ? 1 : 0;
  w.bodies[i].bending = place;
  BendingWork& bending = w.bending[static_cast<std::size_t>(place)];
  bending.q = state.bending().data() + model.elastic_begin(i);
  bending.set_shape();
}

void begin_bending(const WorldModel& model, std::uint32_t i, StepScratch::Work& w) noexcept {
  BodyWork& body = w.bodies[i];
  if (body.bending < 0) return;
  BendingWork& bending = w.bending[static_cast<std::size_t>(body.bending)];
  bending.find_force();
  const double tick = model.settings().tick;
  body.bent = bending.coarse.farthest(bending.q);
  body.bend_speed = bending.fastest(bending.rate());
  body.travel += (body.bend_speed + bending.fastest(bending.force.data()) * tick) * tick;
}

void list_bending(const Island& island, StepScratch::Work& w) noexcept {
  w.bent.clear();
  w.coordinates = 0;
  for (std::uint32_t k = island.bodies_begin; k < island.bodies_end; ++k) {
    const std::uint32_t i = w.order[k];
    if (w.bodies[i].bending < 0) continue;
    BendingWork& bending = w.bending[static_cast<std::size_t>(w.bodies[i].bending)];
    bending.unknown = w.coordinates;
    bending.find_force();
    w.coordinates += bending.size();
    w.bent.push_back(i);
  }
}

bool found_faster(StepScratch::Work& w) noexcept {
  constexpr double k_much = 1.5;
  bool faster = false;
  for (const std::uint32_t i : w.bent) {
    BodyWork& body = w.bodies[i];
    const BendingWork& bending = w.bending[static_cast<std::size_t>(body.bending)];
    std::array<double, k_most_coordinates> mean;
    for (std::size_t j = 0; j < bending.size(); ++j)
      mean[j] = bending.rate()[j] + 0.5 * w.bend_change[bending.unknown + j];
    body.mean_bend_speed = bending.fastest(mean.data());
    if (!(body.mean_bend_speed > k_much * body.bend_speed)) continue;
    body.bend_speed = body.mean_bend_speed;
    faster = true;
  }
  return faster;
}

// The trapezoidal rule, which neither adds to a vibration nor takes from it.
void move_bending(const WorldModel& model, std::uint32_t i, double h, StepScratch::Work& w) noexcept {
  BodyWork& body = w.bodies[i];
  BendingWork& bending = w.bending[static_cast<std::size_t>(body.bending)];
  const double* const change = w.bend_change.data() + bending.unknown;
  double *const q = bending.q, *const rate = bending.rate();
  bool sound = true;
  for (std::size_t j = 0; j < bending.size(); ++j) sound = sound && std::isfinite(change[j]);
  double moved = 0;
  std::array<double, k_most_coordinates> move;
  const double allowed = sound ? allowed_energy(bending, change, h) : 0;
  if (sound) {
    for (std::size_t j = 0; j < bending.size(); ++j) rate[j] += 0.5 * change[j];  // the mean of the substep
    moved = body.mean_bend_speed * h;
    for (std::size_t j = 0; j < bending.size(); ++j) {
      move[j] = rate[j] * h;
      q[j] += move[j];
      rate[j] += 0.5 * change[j];
    }
  } else {  // whatever happened, it stops here
    std::fill(rate, rate + bending.size(), 0.0);
  }
  if (sound) keep_energy(bending, move.data(), allowed);
  const double bent = bending.coarse.farthest(q), most = k_farthest_bend * model.reach(i);
  if (bent > most)
    for (std::size_t j = 0; j < bending.size(); ++j) {
      q[j] *= most / bent;
      rate[j] = 0;
    }
  bending.set_shape();
  const double speed = bending.fastest(rate);
  if (speed > k_fastest_bend)
    for (std::size_t j = 0; j < bending.size(); ++j) rate[j] *= k_fastest_bend / speed;
  body.moved += moved;
  body.bend_speed = std::min(speed, k_fastest_bend);
}

Vec3d gravity_on(const WorldModel& model, std::uint32_t i, const Pose& pose) noexcept {
  const Quat turn = (pose * model.bodies()[i].pieces[0].place).rotation;
  return rotate(turn.conjugate(), model.settings().gravity);
}

double weight_of(const ElasticModel& elastic, const Vec3d& gravity, std::size_t j) noexcept {
  const std::span<const double> weight = elastic.data().weight;
  const std::size_t n = elastic.size();
  return weight[j] * gravity.x + weight[n + j] * gravity.y + weight[2 * n + j] * gravity.z;
}

std::uint32_t nearest_point(const WorldModel& model, std::uint32_t i, const Pose& piece, const Vec3d& place,
                            Deformation& shape) noexcept {
  const Shell& shell = model.bodies()[i].pieces[0].part->shell;
  const Vec3d wanted = transform(inverse(piece), place);
  std::uint32_t begin = 0, end = shell.points_to_level(0), best = 0;
  for (std::uint32_t level = 0;; ++level) {
    double least = 0;
    std::uint32_t nearest = begin;
    for (std::uint32_t node = begin; node < end; ++node) {
      const std::uint32_t point = shell.data().nodes[node].point;
      Vec3f at;
      shape.shell_points(shell.data().positions.data(), &point, 1, &at);
      const double distance = norm_squared(Vec3d(at) - wanted);
      if (node != begin && !(distance < least)) continue;
      nearest = node;
      least = distance;
      best = point;
    }
    if (level + 1 == shell.levels()) return best;
    begin = shell.data().nodes[nearest].first_child;
    end = shell.data().nodes[nearest + 1].first_child;
  }
}

Pose held_frame(const WorldModel& model, const WorldState& state, const HandRecord& hand,
                StepScratch::Work& w) noexcept {
  return held_part(model, state, hand, w) * hand.grip;
}

Pose held_part(const WorldModel& model, const WorldState& state, const HandRecord& hand,
               StepScratch::Work& w) noexcept {
  const auto i = static_cast<std::uint32_t>(hand.body);
  if (hand.point < 0) return state.bodies()[i].pose;
  return held_point(model, state, hand, w.bending[static_cast<std::size_t>(w.bodies[i].bending)].shape);
}

Pose held_pose(const WorldModel& model, const WorldState& state, const HandRecord& hand) {
  const auto i = static_cast<std::uint32_t>(hand.body);
  const ElasticModel* const elastic = model.elastic(i);
  // A state may come from a stranger.
  if (elastic == nullptr || hand.point < 0 || !(hand.point < static_cast<double>(elastic->data().shell.size())))
    return state.bodies()[i].pose * hand.grip;
  Deformation shape(*elastic);
  shape.set(state.bending().data() + model.elastic_begin(i));
  return held_point(model, state, hand, shape) * hand.grip;
}

void bend_by_contact(const ElasticSums& sums, const ContactSums& rigid, double scale, double total_depth8,
                     BendingLink& link) noexcept {
  const std::size_t n = link.size;
  // As contact_force has it for rigid motions.
  const double spread = 7 * scale, along = 6 * scale / total_depth8;
  const Vec3d &f = rigid.push.force, &t = rigid.push.torque;
  const double wrench[6] = {f.x, f.y, f.z, t.x, t.y, t.z};
  for (std::size_t j = 0; j < n; ++j) link.force[j] = sums.push[j] * scale;
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < n; ++j)
      link.mixed_stiffness[i * n + j] = sums.mixed[i * n + j] * spread - wrench[i] * sums.push[j] * along;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      link.stiffness[i * n + j] = link.stiffness[j * n + i] =
          sums.spread[i * n + j] * spread - sums.push[i] * sums.push[j] * along;
}

void bend_by_friction(const ElasticSums& sums, const Mat3& sliding, const Vec3d& arm, BendingLink& link) noexcept {
  const std::size_t n = link.size;
  for (std::size_t j = 0; j < n; ++j) {
    const Vec3d braked = sliding * Vec3d{sums.carried[j], sums.carried[n + j], sums.carried[2 * n + j]};
    const Vec3d torque = cross(arm, braked);
    const double column[6] = {braked.x, braked.y, braked.z, torque.x, torque.y, torque.z};
    for (std::size_t i = 0; i < 6; ++i) link.mixed_damping[i * n + j] += column[i];
    for (std::size_t i = 0; i < n; ++i)
      link.damping[i * n + j] +=
          sums.carried[i] * braked.x + sums.carried[n + i] * braked.y + sums.carried[2 * n + i] * braked.z;
  }
}

Vec3d carried_velocity(const ElasticSums& sums, const StepScratch::Work& w, const BendingLink& link) noexcept {
  Vec3d velocity;
  std::size_t j = 0;
  for (const std::int32_t index : {link.a, link.b}) {
    if (index < 0) continue;
    const BendingWork& bending = w.bending[static_cast<std::size_t>(index)];
    for (std::size_t k = 0; k < bending.size(); ++k, ++j)
      velocity +=
          Vec3d{sums.carried[j], sums.carried[link.size + j], sums.carried[2 * link.size + j]} * bending.rate()[k];
  }
  return velocity;
}

}  // namespace cotouch

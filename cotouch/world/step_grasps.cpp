// What hands do to bodies that they hold with their mass, or at a point.
#include <cotouch/world/step_work.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace cotouch {
namespace {

// The part of a body's velocity that the hand has, too. The hand does not feel the damper, so that may only brake: one
// that drew the body after the hand would give it energy that nobody put in.
Vec3d in_pace(const Vec3d& body, const Vec3d& hand) {
  const double square = norm_squared(body);
  return square > 0 ? body * std::clamp(dot(body, hand) / square, 0.0, 1.0) : Vec3d{};
}

// How a grip on a point moves and turns with the coordinates of its body: six rows, world axes.
using GripRows = std::array<std::array<double, k_most_coordinates>, 6>;

GripRows grip_rows(const WorldModel& model, const HandRecord& hand, std::uint32_t i, const Vec3d& grip,
                   StepScratch::Work& w) {
  const Piece& piece = model.bodies()[i].pieces[0];
  BendingWork& bending = w.bending[static_cast<std::size_t>(w.bodies[i].bending)];
  const auto point = static_cast<std::uint32_t>(hand.point);
  const EmbeddedPoint& embedded = bending.model->data().shell[point];
  const Pose part = w.bodies[i].pose * piece.place;
  const Vec3d at =
      transform(part, Vec3d(piece.part->shell.data().positions[point]) + bending.shape.displacement_at(embedded));
  const Mat3 to_part = rotation_matrix(part.rotation).transposed();
  GripRows rows{};
  for (std::size_t k = 0; k < 6; ++k) {
    Vec3d force, torque;
    (k < 3 ? force : torque)[k % 3] = 1;
    torque += cross(grip - at, force);
    bending.shape.add_gradient(embedded, to_part * force, to_part * torque, rows[k].data());
  }
  return rows;
}

Vec6 times(const GripRows& rows, const double* rate, std::size_t size) {
  double sum[6] = {};
  for (std::size_t k = 0; k < 6; ++k)
    for (std::size_t j = 0; j < size; ++j) sum[k] += rows[k][j] * rate[j];
  return {{sum[0], sum[1], sum[2]}, {sum[3], sum[4], sum[5]}};
}

// What 1 N, and 1 N m, at the grip make of it in 1 s, without friction or stiffness: the mean of the three directions.
struct Mobility {
  double linear = 0, angular = 0;  // 1/kg, 1/(kg m^2)
};
Mobility mobility_of(const GripRows& rows, std::size_t size) {
  Mobility sum;
  for (std::size_t k = 0; k < 6; ++k)
    for (std::size_t j = 0; j < size; ++j) (k < 3 ? sum.linear : sum.angular) += rows[k][j] * rows[k][j] / 3;
  return sum;
}

// A link's spring and damper, which are the same in all directions, for the coordinates.
void bend_by_grip(const GripRows& rows, const Link& link, BendingLink& bend) {
  const std::size_t n = bend.size;
  const double wrench[6] = {link.wrench.force.x,  link.wrench.force.y,  link.wrench.force.z,
                            link.wrench.torque.x, link.wrench.torque.y, link.wrench.torque.z};
  for (std::size_t k = 0; k < 6; ++k) {
    const double stiffness = link.stiffness(k, k), damping = link.damping(k, k);
    for (std::size_t j = 0; j < n; ++j) {
      const double e = rows[k][j];
      bend.force[j] += wrench[k] * e;
      bend.mixed_stiffness[k * n + j] = stiffness * e;
      bend.mixed_damping[k * n + j] = damping * e;
      for (std::size_t i = 0; i < n; ++i) {
        bend.stiffness[i * n + j] += stiffness * e * rows[k][i];
        bend.damping[i * n + j] += damping * e * rows[k][i];
      }
    }
  }
}

void add_grasp(const WorldModel& model, const WorldState& state, std::size_t index, StepScratch::Work& w) {
  const HandRecord& hand = state.hands()[index];
  const CouplingSettings& coupling = w.couplings[index];
  const auto i = static_cast<std::uint32_t>(hand.body);
  const BodyWork& body = w.bodies[i];
  const bool at_a_point = hand.point >= 0;
  if (body.unknown < 0 && !at_a_point) return;
  const Pose grip = held_frame(model, state, hand, w);
  const CouplingResult pull = couple(coupling, hand.pose, grip);
  Link& link = w.links[w.link_count++];
  link = {};
  link.a = static_cast<std::int32_t>(i);
  link.at = grip.position;
  link.may_pull = true;
  // Secant stiffness, symmetric: the first is the spring's, the second leaves out how a large turn skews it.
  const double linear = -pull.solve_gradient.force_linear(0, 0);
  const double angle =
      norm(pull.wrench.torque) > 0 ? norm(rotation_vector(hand.pose.rotation * grip.rotation.conjugate())) : 0;
  const double angular = angle > 0 ? norm(pull.wrench.torque) / angle : coupling.angular_stiffness;
  link.stiffness = {Mat3::identity() * linear, {}, {}, Mat3::identity() * angular};
  const MassProperties& mass = model.bodies()[i].mass;
  double moved_mass = mass.mass, inertia = (mass.inertia(0, 0) + mass.inertia(1, 1) + mass.inertia(2, 2)) / 3;
  Vec6 velocity = velocity_at(body.velocity, body.center, link.at);
  GripRows rows;
  BendingWork* const bending = at_a_point ? &w.bending[static_cast<std::size_t>(body.bending)] : nullptr;
  if (bending != nullptr) {
    rows = grip_rows(model, hand, i, grip.position, w);
    Mobility mobility = mobility_of(rows, bending->size());
    if (body.unknown >= 0) mobility = {mobility.linear + 1 / moved_mass, mobility.angular + 1 / inertia};
    moved_mass = mobility.linear > 0 ? 1 / mobility.linear : 0;
    inertia = mobility.angular > 0 ? 1 / mobility.angular : 0;
    const Vec6 bent = times(rows, bending->rate(), bending->size());
    velocity = {velocity.linear + bent.linear, velocity.angular + bent.angular};
  }
  const double c = 2 * coupling.damping * std::sqrt(linear * moved_mass);
  const double ca = 2 * coupling.damping * std::sqrt(angular * inertia);
  link.damping = {Mat3::identity() * c, {}, {}, Mat3::identity() * ca};
  // The solve damps the motion against the world; as much of it as keeps pace with the hand is taken out here.
  link.wrench = {pull.wrench.force + in_pace(velocity.linear, hand.velocity.linear) * c,
                 pull.wrench.torque + in_pace(velocity.angular, hand.velocity.angular) * ca};
  if (bending == nullptr) return;
  link.bending = static_cast<std::int32_t>(w.bending_link_count);
  BendingLink& bend = w.bending_links[w.bending_link_count++];
  bend.reset(body.bending, -1, bending->size());
  bend_by_grip(rows, link, bend);
}

}  // namespace

void add_grasps(const WorldModel& model, const WorldState& state, const Island& island, StepScratch::Work& w) noexcept {
  const std::span<const std::uint32_t> bodies =
      std::span(w.order).subspan(island.bodies_begin, island.bodies_end - island.bodies_begin);
  for (std::size_t i = 0; i < state.hands().size(); ++i) {
    const HandRecord& hand = state.hands()[i];
    if (hand.present == 0 || hand.body < 0) continue;
    const auto body = static_cast<std::uint32_t>(hand.body);
    if (std::find(bodies.begin(), bodies.end(), body) != bodies.end()) add_grasp(model, state, i, w);
  }
}

}  // namespace cotouch

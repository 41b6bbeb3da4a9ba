// How the bodies of a world move: along a path, in a hand, or freely.
#include <cotouch/world/step_work.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace cotouch {
namespace {

using Role = BodyWork::Role;

// Of bodies held quasi-statically.
constexpr double k_balance_period = 1e-3;  // seconds between two moves towards balance, at most
constexpr double k_most_balances = 8;      // moves in that time, at most,
constexpr double k_later_points = 1024;    // and points that those after the first may look up,
constexpr double k_free_points = 8192;     // or as many if nothing touches, so that little is felt of it
constexpr double k_balance_share = 0.5;    // of the way (the paper's quasi-static damping)

constexpr double k_fastest = 100;  // m/s: nothing is faster, whatever pushed it

Mat3 rotated(const Mat3& m, const Quat& q) {
  const Mat3 r = rotation_matrix(q);
  return r * m * r.transposed();
}

Vec3d solve3(const Mat3& m, const Vec3d& b) {
  const Vec3d r0{m(0, 0), m(0, 1), m(0, 2)}, r1{m(1, 0), m(1, 1), m(1, 2)}, r2{m(2, 0), m(2, 1), m(2, 2)};
  const Vec3d c0 = cross(r1, r2), c1 = cross(r2, r0), c2 = cross(r0, r1);
  const double det = dot(r0, c0);
  return det != 0 ? (c0 * b.x + c1 * b.y + c2 * b.z) / det : Vec3d{};
}

// The spin after `h` seconds without torque and the mean on the way, both in the body's axes: implicit midpoint,
// I (w1 - w0) / h + m x I m = 0 with m = (w0 + w1) / 2, by Newton's method.
struct FreeTurn {
  Vec3d mean, end;
};
FreeTurn turn_freely(const Mat3& inertia, const Vec3d& spin, double h) {
  Vec3d end = spin;
  for (int i = 0; i < 4; ++i) {
    const Vec3d mean = (spin + end) * 0.5, momentum = inertia * mean;
    const Vec3d error = inertia * (end - spin) * (1 / h) + cross(mean, momentum);
    const Mat3 slope = inertia * (1 / h) + (Mat3::cross_matrix(mean) * inertia - Mat3::cross_matrix(momentum)) * 0.5;
    end -= solve3(slope, error);
  }
  return {(spin + end) * 0.5, end};
}

// So fast that it would pass through a wall even with the most substeps: not in this world.
void limit_speed(const WorldModel& model, WorldState& state, std::uint32_t i) {
  const double tick = model.settings().tick;
  BodyRecord& record = state.bodies()[i];
  const double cell = model.finest_cell(i);
  const double fastest =
      std::isfinite(cell) ? std::min(k_fastest, k_most_substeps * shortest_move(cell) / tick) : k_fastest;
  const double speed = norm(record.velocity) + norm(record.spin) * model.reach(i);
  if (!(speed > fastest)) return;
  record.velocity *= fastest / speed;
  record.spin *= fastest / speed;
}

// How far a body in the hand is from where the hand would have it.
double way_to_hands(const WorldModel& model, const WorldState& state, std::uint32_t i) {
  double way = 0;
  const Pose& pose = state.bodies()[i].pose;
  for (const HandRecord& hand : state.hands()) {
    if (!is_held_by(hand, i)) continue;
    const Pose grip = pose * hand.grip;
    const double turn = norm(rotation_vector(hand.pose.rotation * grip.rotation.conjugate()));
    way = std::max(way, norm(hand.pose.position - grip.position) + turn * model.reach(i));
  }
  return way;
}

// Metres that a body held quasi-statically moves at most between two looks at what is near.
double held_step(const WorldModel& model, std::uint32_t i) {
  const double cell = model.finest_cell(i);
  return std::max(cell / 3, std::min({cell / 2, 0.1 * model.thinnest_wall(i), k_closest_entry}));
}

// Metres that no point of the body moves more than between two poses.
double distance_moved(const Pose& from, const Pose& to, double reach) {
  return norm(to.position - from.position) + norm(rotation_vector(to.rotation * from.rotation.conjugate())) * reach;
}

}  // namespace

bool is_held_by(const HandRecord& hand, std::uint32_t body) noexcept {
  return hand.present != 0 && hand.body == static_cast<double>(body);
}

void place_body(const WorldModel& model, const WorldState& state, std::uint32_t i, StepScratch::Work& w) noexcept {
  BodyWork& body = w.bodies[i];
  const BodyRecord& record = state.bodies()[i];
  body.pose = record.pose;
  body.center = transform(record.pose, model.bodies()[i].mass.center);
  if (body.role == Role::free) body.inertia = rotated(model.bodies()[i].mass.inertia, record.pose.rotation);
  if (body.role == Role::held) {
    body.hurries = body.last_move > 0.5 * held_step(model, i);
    body.points = 0;
  }
}

void begin_body(const WorldModel& model, WorldState& state, std::uint32_t i, StepScratch::Work& w) noexcept {
  BodyWork& body = w.bodies[i];
  const BodyRecord& record = state.bodies()[i];
  const BodyModel& b = model.bodies()[i];
  const double tick = model.settings().tick, reach = model.reach(i);
  const std::int32_t bending = body.bending;
  body = {};
  body.bending = bending;
  body.clearance = record.clearance;
  // A state may come from a stranger: what the model has no path or mass for stays where it is.
  if (record.motion == static_cast<double>(Motion::path) && b.path) body.role = Role::path;
  const std::span<const HandRecord> hands = std::as_const(state).hands();
  body.in_hand = std::any_of(hands.begin(), hands.end(), [&](const HandRecord& h) { return is_held_by(h, i); });
  if (record.motion == static_cast<double>(Motion::free) && b.mass.mass > 0) {
    const bool follows = b.holding == Holding::quasi_static && !model.is_held_at_a_point(i);
    body.role = body.in_hand && follows ? Role::held : Role::free;
  }
  if (body.role == Role::free) limit_speed(model, state, i);
  body.last_move = (norm(record.velocity) + norm(record.spin) * reach) * k_balance_period;
  place_body(model, state, i, w);
  body.velocity = {record.velocity, record.spin};
  if (body.role == Role::free) {
    // Hands pull no farther than to themselves, and no harder than they may.
    const double way = way_to_hands(model, state, i), strongest = model.settings().coupling.max_force / b.mass.mass;
    body.pull = norm(model.settings().gravity) + std::min(strongest, way / (tick * tick));
    body.travel = (norm(record.velocity) + norm(record.spin) * reach) * tick + body.pull * tick * tick;
  }
  if (body.role == Role::path) {
    const double next = (state.head().ticks + 1) * tick;
    body.travel = distance_moved(record.pose, b.path->at(std::fmod(next, std::max(b.path->duration(), tick))), reach);
    body.speed = body.travel / tick;
  }
  if (body.role == Role::held) body.travel = way_to_hands(model, state, i);
  begin_bending(model, i, w);
  body.push = body.travel;
  if (body.role == Role::held)  // near something it goes in small moves, and few of them
    body.push = std::min(body.travel, k_most_balances * tick / k_balance_period * held_step(model, i));
}

double balance_period(const BodyWork& body, bool beside_what_bends) noexcept {
  const double look = std::max(body.points, 1U);
  double affordable = body.hurries ? 1 + std::floor((body.supported ? k_later_points : k_free_points) / look) : 2;
  if (beside_what_bends) affordable = 1;
  return k_balance_period / std::clamp(std::ceil(body.moves_wanted), 1.0, std::min(affordable, k_most_balances));
}

void follow_path(const WorldModel& model, WorldState& state, std::uint32_t i, double from, double to,
                 StepScratch::Work& w) noexcept {
  const double tick = model.settings().tick;
  const HandPath& path = *model.bodies()[i].path;
  const double duration = std::max(path.duration(), tick);
  const Pose next = path.at(std::fmod(to, duration));
  BodyWork& body = w.bodies[i];
  BodyRecord& record = state.bodies()[i];
  const Vec3d turn = rotation_vector(next.rotation * record.pose.rotation.conjugate());
  const Vec3d center = transform(next, model.bodies()[i].mass.center);
  // Where the path begins anew the body jumps; nothing is thrown by that.
  const bool jumps = std::floor(from / duration) != std::floor(to / duration);
  const double rate = jumps ? 0 : 1 / (to - from);
  record.velocity = (center - body.center) * rate;
  record.spin = turn * rate;
  body.velocity = {record.velocity, record.spin};
  body.next = next;
}

void balance(const WorldModel& model, const WorldState& state, std::uint32_t i, StepScratch::Work& w) noexcept {
  BodyWork& body = w.bodies[i];
  Wrench net = body.force.wrench;
  Mat6 matrix = body.force.stiffness;
  for (std::size_t k = 0; k < state.hands().size(); ++k) {
    const HandRecord& hand = state.hands()[k];
    if (!is_held_by(hand, i)) continue;
    const Pose grip = body.pose * hand.grip;
    const CouplingResult pull = couple(w.couplings[k], hand.pose, grip);
    const Vec3d arm = grip.position - body.pose.position;
    net = net + Wrench{pull.wrench.force, pull.wrench.torque + cross(arm, pull.wrench.force)};
    matrix = matrix + moved_stiffness(pull.solve_gradient * -1.0, arm);
  }
  Vec6 motion;
  if (!solve(matrix, {net.force, net.torque}, motion)) motion = {};
  const double length = (norm(motion.linear) + norm(motion.angular) * model.reach(i)) * k_balance_share;
  const double far = k_fastest * k_balance_period;
  const double most = body.near ? std::max(held_step(model, i), std::min(body.room, far)) : far;
  body.moves_wanted = body.waits ? 0 : length / most;
  const double taken = body.waits ? 0 : k_balance_share / std::max(1.0, body.moves_wanted);
  body.next = moved(body.pose, {motion.linear * taken, motion.angular * taken});
  if (!is_finite(body.next)) body.next = body.pose;
}

void set_held_velocity(const WorldModel& model, WorldState& state, std::uint32_t i, double h,
                       StepScratch::Work& w) noexcept {
  BodyWork& body = w.bodies[i];
  BodyRecord& record = state.bodies()[i];
  record.velocity = (transform(body.next, model.bodies()[i].mass.center) - body.center) / h;
  record.spin = rotation_vector(body.next.rotation * body.pose.rotation.conjugate()) / h;
  body.velocity = {record.velocity, record.spin};
}

void move_body(const WorldModel& model, WorldState& state, std::uint32_t i, double h, StepScratch::Work& w) noexcept {
  BodyWork& body = w.bodies[i];
  BodyRecord& record = state.bodies()[i];
  if (body.role == Role::still) return;
  if (body.role != Role::free) {
    body.last_move = distance_moved(record.pose, body.next, model.reach(i));
    body.moved += body.last_move;
    record.pose = body.next;
    return;
  }
  const MassProperties& mass = model.bodies()[i].mass;
  const Quat& q = record.pose.rotation;
  const FreeTurn turn = turn_freely(mass.inertia, rotate(q.conjugate(), body.velocity.angular), h);
  const Quat next = normalized(q * quat_from_rotation_vector(turn.mean * h));
  const Vec3d center = body.center + body.velocity.linear * h;
  const Pose pose{center - rotate(next, mass.center), next};
  const Vec3d spin = rotate(next, turn.end);
  if (!is_finite(pose) || !is_finite(spin) || !is_finite(body.velocity.linear)) {  // whatever happened, it stops here
    record.velocity = record.spin = {};
    return;
  }
  body.moved += distance_moved(record.pose, pose, model.reach(i));
  record.pose = pose;
  record.velocity = body.velocity.linear;
  record.spin = spin;
  limit_speed(model, state, i);
}

}  // namespace cotouch

#include <cotouch/world/step.h>

#include <cotouch/world/step_work.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

using Role = BodyWork::Role;

constexpr double k_hand_smoothing = 0.02;  // seconds over which a hand's velocity is smoothed
constexpr double k_balance_period = 1e-3;  // seconds between two moves towards balance of a body in the hand
constexpr double k_balance_share = 0.5;    // of the way (the paper's quasi-static damping)
constexpr double k_held_step = 1.0 / 3;    // cells, the largest move of a held body near something
constexpr double k_free_step = 0.5;        // cells, of a free one
constexpr std::uint32_t k_most_substeps = 128;
constexpr double k_fastest = 100;  // m/s: nothing is faster, whatever pushed it

struct Step {
  const WorldModel& model;
  WorldState& state;
  StepScratch::Work& w;
  double tick;

  void take_inputs(std::span<const HandInput> inputs) noexcept;
  void take_pose(HandRecord& hand, const Pose& pose) noexcept;
  void set_roles() noexcept;
  void place_body(std::uint32_t i) noexcept;
  void limit_speed(std::uint32_t i) noexcept;
  std::uint32_t count_substeps() noexcept;
  void follow_path(std::uint32_t i, double from, double to) noexcept;
  void balance(std::uint32_t i, double h) noexcept;
  void add_grasps() noexcept;
  void move(std::uint32_t i, double h) noexcept;
  void feel() noexcept;
  void judge_task() noexcept;
};

bool is_held_by(const HandRecord& hand, std::uint32_t body) {
  return hand.present != 0 && hand.body == static_cast<double>(body);
}

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

void Step::take_pose(HandRecord& hand, const Pose& pose) noexcept {
  if (!is_finite(pose) || !is_rotation(pose.rotation)) {
    state.head().bad_inputs += 1;
    return;
  }
  const Pose next{pose.position, normalized(pose.rotation)};
  if (hand.present == 0) {
    hand.pose = next;
    hand.velocity = {};
    return;
  }
  const double share = std::min(1.0, tick / k_hand_smoothing);
  const Vec3d linear = (next.position - hand.pose.position) / tick;
  const Vec3d angular = rotation_vector(next.rotation * hand.pose.rotation.conjugate()) / tick;
  hand.velocity.linear += (linear - hand.velocity.linear) * share;
  hand.velocity.angular += (angular - hand.velocity.angular) * share;
  hand.pose = next;
}

void Step::take_inputs(std::span<const HandInput> inputs) noexcept {
  const std::span<HandRecord> hands = state.hands();
  for (std::size_t i = 0; i < hands.size(); ++i) {
    HandRecord& hand = hands[i];
    if (i >= inputs.size() || !inputs[i].present) {
      hand = {};
      continue;
    }
    const HandInput& input = inputs[i];
    take_pose(hand, input.pose);
    hand.present = 1;
    hand.buttons = static_cast<double>(input.buttons);
    if (input.action == HandInput::Action::release) hand.body = -1;
    if (input.action == HandInput::Action::grasp) {
      const auto body = model.index_of(input.body);
      const bool can = body && state.bodies()[*body].motion == static_cast<double>(Motion::free);
      hand.body = can ? static_cast<double>(*body) : -1;
      if (can) hand.grip = inverse(state.bodies()[*body].pose) * hand.pose;
    }
    if (hand.body >= 0 &&
        state.bodies()[static_cast<std::size_t>(hand.body)].motion != static_cast<double>(Motion::free))
      hand.body = -1;
  }
}

void Step::place_body(std::uint32_t i) noexcept {
  BodyWork& body = w.bodies[i];
  const BodyRecord& record = state.bodies()[i];
  body.pose = record.pose;
  body.center = transform(record.pose, model.bodies()[i].mass.center);
  if (body.role == Role::free) body.inertia = rotated(model.bodies()[i].mass.inertia, record.pose.rotation);
}

// So fast that it would pass through a wall even with the most substeps: not in this world.
void Step::limit_speed(std::uint32_t i) noexcept {
  BodyRecord& record = state.bodies()[i];
  const double cell = model.finest_cell(i);
  const double fastest =
      std::isfinite(cell) ? std::min(k_fastest, k_most_substeps * k_free_step * cell / tick) : k_fastest;
  const double speed = norm(record.velocity) + norm(record.spin) * model.reach(i);
  if (!(speed > fastest)) return;
  record.velocity *= fastest / speed;
  record.spin *= fastest / speed;
}

void Step::set_roles() noexcept {
  const std::span<const HandRecord> hands = state.hands();
  for (std::uint32_t i = 0; i < w.bodies.size(); ++i) {
    BodyWork& body = w.bodies[i];
    const BodyRecord& record = state.bodies()[i];
    const BodyModel& b = model.bodies()[i];
    body = {};
    body.clearance = record.clearance;
    if (record.motion == static_cast<double>(Motion::path)) body.role = Role::path;
    if (record.motion == static_cast<double>(Motion::free)) {
      const bool held = std::any_of(hands.begin(), hands.end(), [&](const HandRecord& h) { return is_held_by(h, i); });
      body.role = held && b.holding == Holding::quasi_static ? Role::held : Role::free;
    }
    if (body.role == Role::free) limit_speed(i);
    place_body(i);
    body.velocity = {record.velocity, record.spin};
    // How far it may get within the tick.
    if (body.role == Role::free)
      body.travel = (norm(record.velocity) + norm(record.spin) * model.reach(i)) * tick +
                    norm(model.settings().gravity) * tick * tick;
    if (body.role == Role::path) {
      const double now = state.head().ticks * tick;
      const Pose next = b.path->at(std::fmod(now + tick, std::max(b.path->duration(), tick)));
      body.travel = norm(next.position - record.pose.position) +
                    norm(rotation_vector(next.rotation * record.pose.rotation.conjugate())) * model.reach(i);
    }
    if (body.role == Role::held)
      for (const HandRecord& hand : hands) {
        if (!is_held_by(hand, i)) continue;
        const Pose grip = record.pose * hand.grip;
        const double turn = norm(rotation_vector(hand.pose.rotation * grip.rotation.conjugate()));
        body.travel = std::max(body.travel, norm(hand.pose.position - grip.position) + turn * model.reach(i));
      }
  }
}

std::uint32_t Step::count_substeps() noexcept {
  for (const std::uint32_t i : w.candidates) {
    w.bodies[model.pairs()[i].shell_body].near = true;
    w.bodies[model.pairs()[i].field_body].near = true;
  }
  double count = 1;
  for (std::uint32_t i = 0; i < w.bodies.size(); ++i) {
    const BodyWork& body = w.bodies[i];
    if (body.role == Role::held) {
      count = std::max(count, tick / k_balance_period);
      if (body.near)
        count = std::max(count, std::min(8 * tick / k_balance_period,
                                         k_balance_share * body.travel / (k_held_step * model.finest_cell(i))));
    } else if (body.near) {
      // What lies on something does not fall; else a world at rest would be cut into substeps for nothing.
      const bool rests = body.role == Role::free && body.stats.in_contact > 0;
      const double falling = rests ? norm(model.settings().gravity) * tick * tick : 0;
      count = std::max(count, (body.travel - falling) / (k_free_step * model.finest_cell(i)));
    }
  }
  return static_cast<std::uint32_t>(std::clamp(std::ceil(count - 1e-9), 1.0, static_cast<double>(k_most_substeps)));
}

void Step::follow_path(std::uint32_t i, double from, double to) noexcept {
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

// Towards the pose where the contacts, as they are linearised here, and the grasps balance.
void Step::balance(std::uint32_t i, double h) noexcept {
  BodyWork& body = w.bodies[i];
  Wrench net = body.force.wrench;
  Mat6 matrix = body.force.stiffness;
  for (const HandRecord& hand : state.hands()) {
    if (!is_held_by(hand, i)) continue;
    const Pose grip = body.pose * hand.grip;
    const CouplingResult pull = couple(model.settings().coupling, hand.pose, grip);
    const Vec3d arm = grip.position - body.pose.position;
    net = net + Wrench{pull.wrench.force, pull.wrench.torque + cross(arm, pull.wrench.force)};
    matrix = matrix + moved_stiffness(pull.solve_gradient * -1.0, arm);
  }
  Vec6 motion;
  if (!solve(matrix, {net.force, net.torque}, motion)) motion = {};
  const double length = (norm(motion.linear) + norm(motion.angular) * model.reach(i)) * k_balance_share;
  const double most = body.near ? k_held_step * model.finest_cell(i) : k_fastest * h;
  const double taken = k_balance_share * (length > most ? most / length : 1.0);
  body.next = moved(body.pose, {motion.linear * taken, motion.angular * taken});
  if (!is_finite(body.next)) body.next = body.pose;
  BodyRecord& record = state.bodies()[i];
  record.velocity = (transform(body.next, model.bodies()[i].mass.center) - body.center) / h;
  record.spin = rotation_vector(body.next.rotation * body.pose.rotation.conjugate()) / h;
  body.velocity = {record.velocity, record.spin};
}

// Hands that hold bodies with their mass.
void Step::add_grasps() noexcept {
  const CouplingSettings& coupling = model.settings().coupling;
  for (const HandRecord& hand : state.hands()) {
    if (hand.present == 0 || hand.body < 0) continue;
    const auto i = static_cast<std::size_t>(hand.body);
    const BodyWork& body = w.bodies[i];
    if (body.role != Role::free) continue;
    const Pose grip = body.pose * hand.grip;
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
    const double inertia = (mass.inertia(0, 0) + mass.inertia(1, 1) + mass.inertia(2, 2)) / 3;
    const double c = 2 * coupling.damping * std::sqrt(linear * mass.mass);
    const double ca = 2 * coupling.damping * std::sqrt(angular * inertia);
    link.damping = {Mat3::identity() * c, {}, {}, Mat3::identity() * ca};
    // The solve damps the motion against the world; the hand's own motion is taken out of it here.
    link.wrench = {pull.wrench.force + hand.velocity.linear * c, pull.wrench.torque + hand.velocity.angular * ca};
  }
}

void Step::move(std::uint32_t i, double h) noexcept {
  BodyWork& body = w.bodies[i];
  BodyRecord& record = state.bodies()[i];
  if (body.role == Role::still) return;
  if (body.role != Role::free) {
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
  record.pose = pose;
  record.velocity = body.velocity.linear;
  record.spin = spin;
  limit_speed(i);
}

void Step::feel() noexcept {
  for (HandRecord& hand : state.hands()) {
    hand.felt = {};
    if (hand.present == 0 || hand.body < 0) continue;
    const Pose grip = state.bodies()[static_cast<std::size_t>(hand.body)].pose * hand.grip;
    hand.felt = -couple(model.settings().coupling, hand.pose, grip).wrench;
  }
}

void Step::judge_task() noexcept {
  TaskRecord& record = state.head().task;
  if (!model.task() || record.done != 0) return;
  const std::uint32_t i = *model.index_of(model.task()->body);
  BodyRecord& body = state.bodies()[i];
  for (const HandRecord& hand : state.hands())
    if (is_held_by(hand, i)) record.started = 1;
  if (record.started == 0) return;
  record.seconds += tick;
  if (!within_tolerance(*model.task(), task_error(*model.task(), body.pose))) return;
  record.done = 1;
  body.pose = model.task()->target;
  body.velocity = body.spin = {};
  body.motion = static_cast<double>(Motion::fixed);
  for (HandRecord& hand : state.hands())
    if (is_held_by(hand, i)) hand.body = -1;
}

}  // namespace

StepScratch::StepScratch(const WorldModel& model, bool coherence) : work_(std::make_unique<Work>()) {
  Work& w = *work_;
  w.contact.reserve(model.largest_shell());
  const std::size_t bodies = model.bodies().size(), pairs = model.pairs().size();
  if (coherence)
    for (const PairModel& pair : model.pairs()) w.caches.emplace_back(2 * model.engine(pair).shell().point_count());
  w.pairs.resize(pairs);
  w.candidates.reserve(pairs);
  w.bodies.resize(bodies);
  w.links.resize(pairs + model.settings().hands);
  w.unknowns.reserve(bodies);
  for (std::vector<Vec6>* v : {&w.change, &w.residual, &w.direction, &w.product, &w.preconditioned}) v->resize(bodies);
  w.diagonal.resize(bodies);
  w.blocks.resize(bodies);
}

StepScratch::StepScratch(StepScratch&&) noexcept = default;
StepScratch& StepScratch::operator=(StepScratch&&) noexcept = default;
StepScratch::~StepScratch() = default;

void StepScratch::clear_caches() noexcept {
  for (CoherenceCache& cache : work_->caches) cache.clear();
}

const PairContact& StepScratch::contact(std::size_t pair) const noexcept {
  return work_->pairs[pair];
}

const ContactStats& StepScratch::body_stats(std::size_t body) const noexcept {
  return work_->bodies[body].stats;
}

ContactStats StepScratch::stats() const noexcept {
  ContactStats sum;
  bool first = true;
  for (const std::uint32_t i : work_->candidates) {
    const ContactStats& one = work_->pairs[i].stats;
    sum.visited += one.visited;
    sum.skipped += one.skipped;
    sum.in_contact += one.in_contact;
    sum.deepest = std::max(sum.deepest, one.deepest);
    sum.level = first ? one.level : std::min(sum.level, one.level);
    first = false;
  }
  return sum;
}

std::uint32_t StepScratch::substeps() const noexcept {
  return work_->substeps;
}

void step(const WorldModel& model, WorldState& state, std::span<const HandInput> inputs, StepScratch& scratch,
          const StepDetail& detail) noexcept {
  Step s{model, state, scratch.work(), model.settings().tick};
  StepScratch::Work& w = s.w;
  s.take_inputs(inputs);
  s.set_roles();
  find_candidates(model, state, w);
  evaluate_contacts(model, state, detail, true, w);
  w.substeps = s.count_substeps();
  const double h = s.tick / w.substeps;
  const auto bodies = static_cast<std::uint32_t>(w.bodies.size());
  for (std::uint32_t k = 0; k < w.substeps; ++k) {
    if (k > 0) {
      for (std::uint32_t i = 0; i < bodies; ++i) s.place_body(i);
      evaluate_contacts(model, state, detail, false, w);
    }
    w.unknowns.clear();
    for (std::uint32_t i = 0; i < bodies; ++i) {
      BodyWork& body = w.bodies[i];
      body.unknown = -1;
      if (body.role == Role::path) {
        const double now = state.head().ticks * s.tick + k * h;
        s.follow_path(i, now, now + h);
      } else if (body.role == Role::held) {
        s.balance(i, h);
      } else if (body.role == Role::free) {
        body.velocity = {state.bodies()[i].velocity, state.bodies()[i].spin};
        body.unknown = static_cast<std::int32_t>(w.unknowns.size());
        w.unknowns.push_back(i);
      }
    }
    s.add_grasps();
    solve_velocities(model, h, w);
    for (std::uint32_t i = 0; i < bodies; ++i) s.move(i, h);
  }
  s.judge_task();
  s.feel();
  state.head().ticks += 1;
}

WorldEnergy energy(const WorldModel& model, const WorldState& state) noexcept {
  WorldEnergy sum;
  for (std::size_t i = 0; i < model.bodies().size(); ++i) {
    const BodyRecord& record = state.bodies()[i];
    if (record.motion != static_cast<double>(Motion::free)) continue;
    const MassProperties& mass = model.bodies()[i].mass;
    const Vec3d spin = rotate(record.pose.rotation.conjugate(), record.spin);
    sum.kinetic += 0.5 * (mass.mass * norm_squared(record.velocity) + dot(spin, mass.inertia * spin));
    sum.potential -= mass.mass * dot(model.settings().gravity, transform(record.pose, mass.center));
  }
  return sum;
}

Vec3d momentum(const WorldModel& model, const WorldState& state) noexcept {
  Vec3d sum;
  for (std::size_t i = 0; i < model.bodies().size(); ++i) {
    const BodyRecord& record = state.bodies()[i];
    if (record.motion == static_cast<double>(Motion::free)) sum += record.velocity * model.bodies()[i].mass.mass;
  }
  return sum;
}

}  // namespace cotouch

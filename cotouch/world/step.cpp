#include <cotouch/world/step.h>

#include <cotouch/base/invariant.h>
#include <cotouch/world/step_work.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace cotouch {
namespace {

using Role = BodyWork::Role;

constexpr double k_hand_smoothing = 0.02;  // seconds over which a hand's velocity is smoothed

struct Step {
  const WorldModel& model;
  WorldState& state;
  StepScratch::Work& w;
  const StepDetail& detail;
  double tick;

  void take_inputs(std::span<const HandInput> inputs) noexcept;
  void take_pose(HandRecord& hand, const Pose& pose) noexcept;
  bool can_be_held(std::uint32_t body) const noexcept;
  bool keeps_hold(const HandRecord& hand) const noexcept;
  void take_hold(HandRecord& hand) noexcept;
  Deformation& shape_of(std::uint32_t body) noexcept;
  void find_velocities(const Island& island, double left, double h) noexcept;
  void advance(const Island& island) noexcept;
  double next_substep(const Island& island, double left) noexcept;
  void set_speeds(const Island& island) noexcept;
  void set_couplings() noexcept;
  void feel() noexcept;
  void judge_task() noexcept;
  void add_up_stats() noexcept;

  std::span<const std::uint32_t> bodies(const Island& island) const {
    return std::span(w.order).subspan(island.bodies_begin, island.bodies_end - island.bodies_begin);
  }
  std::span<const std::uint32_t> pairs(const Island& island) const {
    return std::span(w.candidates).subspan(island.pairs_begin, island.pairs_end - island.pairs_begin);
  }
};

// Adds up; the level is the coarsest that was rendered.
void add_stats(ContactStats& sum, const ContactStats& one) {
  if (one.visited == 0) return;  // not looked at
  sum.level = sum.visited == 0 ? one.level : std::min(sum.level, one.level);
  sum.visited += one.visited;
  sum.in_contact += one.in_contact;
  sum.deepest = std::max(sum.deepest, one.deepest);
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

bool Step::can_be_held(std::uint32_t body) const noexcept {
  return state.bodies()[body].motion == static_cast<double>(Motion::free) || model.is_held_at_a_point(body);
}

// A state may come from a stranger: a hold on a point that is not there is none.
bool Step::keeps_hold(const HandRecord& hand) const noexcept {
  const auto i = static_cast<std::uint32_t>(hand.body);
  if (!can_be_held(i) || model.is_held_at_a_point(i) != (hand.point >= 0)) return false;
  return hand.point < 0 || hand.point < static_cast<double>(model.elastic(i)->data().shell.size());
}

void Step::take_hold(HandRecord& hand) noexcept {
  const auto i = static_cast<std::uint32_t>(hand.body);
  hand.point = -1;
  if (model.is_held_at_a_point(i)) {
    const Pose piece = state.bodies()[i].pose * model.bodies()[i].pieces[0].place;
    hand.point = nearest_point(model, i, piece, hand.pose.position, shape_of(i));
  }
  hand.grip = inverse(held_part(model, state, hand, w)) * hand.pose;
}

Deformation& Step::shape_of(std::uint32_t body) noexcept {
  return w.bending[static_cast<std::size_t>(w.bodies[body].bending)].shape;
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
      hand.body = body && can_be_held(*body) ? static_cast<double>(*body) : -1;
      if (hand.body >= 0) take_hold(hand);
    }
    if (hand.body >= 0 && !keeps_hold(hand)) hand.body = -1;
  }
}

// How fast each body's fastest point is, and how much faster it may get if nothing more touches it.
void Step::set_speeds(const Island& island) noexcept {
  for (const std::uint32_t i : bodies(island)) w.bodies[i].supported = false;
  for (const std::uint32_t i : pairs(island)) {
    if (!w.pairs[i].touching) continue;
    w.bodies[model.pairs()[i].shell_body].supported = true;
    w.bodies[model.pairs()[i].field_body].supported = true;
  }
  for (const std::uint32_t i : bodies(island)) {
    BodyWork& body = w.bodies[i];
    if (body.role == Role::still || body.role == Role::held) body.speed = body.bend_speed;
    if (body.role != Role::free) continue;
    const BodyRecord& record = state.bodies()[i];
    body.speed = norm(record.velocity) + norm(record.spin) * model.reach(i) + body.bend_speed;
    // What lies on something does not fall; else a world at rest would be cut into substeps for nothing.
    body.gain = body.supported ? 0 : body.pull;
  }
}

// Seconds. As long as nothing that touches moves by more than it may, nor gets deeper than it may into what it meets.
double Step::next_substep(const Island& island, double left) noexcept {
  set_speeds(island);
  double h = left;
  const auto bends = [&](std::uint32_t i) { return w.bodies[i].bending >= 0; };
  const bool beside_what_bends = std::any_of(bodies(island).begin(), bodies(island).end(), bends);
  for (const std::uint32_t i : bodies(island))
    if (w.bodies[i].role == Role::held) h = std::min(h, balance_period(w.bodies[i], beside_what_bends));
  for (const bool touching : {true, false})  // those first: they are known, and may spare the others a closer look
    for (const std::uint32_t i : pairs(island)) {
      const PairModel& pair = model.pairs()[i];
      PairWork& work = w.pairs[i];
      if (work.touching != touching) continue;
      const BodyWork &a = w.bodies[pair.shell_body], &b = w.bodies[pair.field_body];
      const double speed = a.speed + b.speed, gain = a.gain + b.gain;
      const auto way = [&](double seconds) { return (speed + gain * seconds) * seconds; };
      const auto room = [&] {
        return touching ? work.longest_move : work.deepest_entry + std::max(0.0, work.free_until - a.moved - b.moved);
      };
      if (way(h) <= room()) continue;
      if (!touching && work.gap_known_at != a.moved + b.moved) find_gap(model, i, way(left), k_close_look, w);
      h = std::min(h, 2 * room() / (speed + std::sqrt(speed * speed + 4 * gain * room())));
    }
  const double count = std::max(1.0, std::ceil(left / std::max(h, tick / k_most_substeps) - 1e-9));
  w.looks_left = static_cast<std::uint64_t>(count) - 1;
  return left / count;
}

// Everything's velocity after `h` seconds.
void Step::find_velocities(const Island& island, double left, double h) noexcept {
  w.unknowns.clear();
  for (const std::uint32_t i : bodies(island)) {
    BodyWork& body = w.bodies[i];
    if (body.role == Role::path) {
      const double now = state.head().ticks * tick + (tick - left);
      follow_path(model, state, i, now, now + h, w);
    } else if (body.role == Role::held) {
      set_held_velocity(model, state, i, h, w);
    } else if (body.role == Role::free) {
      body.velocity = {state.bodies()[i].velocity, state.bodies()[i].spin};
      body.unknown = static_cast<std::int32_t>(w.unknowns.size());
      w.unknowns.push_back(i);
    }
  }
  list_bending(island, w);
  add_grasps(model, state, island, w);
  solve_velocities(model, h, w);
}

// An island through the tick.
void Step::advance(const Island& island) noexcept {
  double left = tick;
  std::uint32_t count = 0;
  for (; left > 0; ++count) {
    if (count > 0)
      for (const std::uint32_t i : bodies(island)) place_body(model, state, i, w);
    evaluate_contacts(model, state, detail, island, count == 0, w);
    sum_contacts(model, island, w);
    for (const std::uint32_t i : bodies(island))
      if (w.bodies[i].role == Role::held) balance(model, state, i, w);
    double h = next_substep(island, left);
    find_velocities(island, left, h);
    // What was bent and slips off goes from rest to metres a second: not as far as that before the next look.
    if (found_faster(w)) {
      const double shorter = next_substep(island, left);
      if (shorter < h) {
        h = shorter;
        sum_contacts(model, island, w);  // the links as they were: a solve drops those that pull
        find_velocities(island, left, h);
        found_faster(w);
      }
    }
    for (const std::uint32_t i : bodies(island)) move_body(model, state, i, h, w);
    for (const std::uint32_t i : w.bent) move_bending(model, i, h, w);
    left = h < left ? left - h : 0;
  }
  for (const std::uint32_t i : bodies(island)) w.bodies[i].unknown = -1;
  w.substeps = std::max(w.substeps, count);
}

// A share that is none is taken for zero: no force is safe.
void Step::set_couplings() noexcept {
  for (std::size_t i = 0; i < w.couplings.size(); ++i) {
    w.couplings[i] = model.settings().coupling;
    if (i >= detail.stiffness.size()) continue;
    const double share = detail.stiffness[i] >= 0 ? std::min(detail.stiffness[i], 1.0) : 0.0;
    w.couplings[i].linear_stiffness *= share;
    w.couplings[i].angular_stiffness *= share;
  }
}

void Step::feel() noexcept {
  for (std::size_t i = 0; i < state.hands().size(); ++i) {
    HandRecord& hand = state.hands()[i];
    hand.felt = {};
    if (hand.present == 0 || hand.body < 0) continue;
    hand.felt = -couple(w.couplings[i], hand.pose, held_frame(model, state, hand, w)).wrench;
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

void Step::add_up_stats() noexcept {
  for (const std::uint32_t i : w.candidates)
    for (const std::uint32_t body : {model.pairs()[i].shell_body, model.pairs()[i].field_body})
      add_stats(w.bodies[body].stats, w.contacts[i].stats);
}

}  // namespace

StepScratch::StepScratch(const WorldModel& model, bool coherence) : work_(std::make_unique<Work>()) {
  Work& w = *work_;
  w.workspaces = model.make_workspaces();
  w.pieces_of_pair.reserve(MissingPieces::k_most);
  const std::size_t bodies = model.bodies().size(), pairs = model.pairs().size();
  if (coherence)
    for (const PairModel& pair : model.pairs()) w.caches.push_back(model.engine(pair).make_cache());
  w.couplings.resize(model.settings().hands);
  w.pairs.resize(pairs);
  w.contacts.resize(pairs);
  w.candidates.reserve(pairs);
  w.order.reserve(bodies);
  w.islands.reserve(bodies);
  w.island_push.resize(bodies);
  w.island_mass.resize(bodies);
  w.bodies.resize(bodies);
  w.links.resize(pairs + model.settings().hands);
  std::size_t coordinates = 0;
  std::uint32_t largest = 0;
  for (std::uint32_t i = 0; i < bodies; ++i)
    if (const ElasticModel* elastic = model.elastic(i)) {
      w.bending.emplace_back(*model.bodies()[i].pieces[0].part);
      for (const PairModel& pair : model.pairs()) w.bending.back().field_is_asked |= pair.field_body == i;
      coordinates += elastic->size();
      largest = std::max(largest, elastic->size());
    }
  w.bent.reserve(w.bending.size());
  w.bending_contacts.resize(pairs);
  for (std::size_t i = 0; i < pairs; ++i) {
    const auto size = [&](std::uint32_t body) {
      return model.elastic(body) != nullptr ? model.elastic(body)->size() : 0;
    };
    const std::uint32_t shell = size(model.pairs()[i].shell_body), field = size(model.pairs()[i].field_body);
    if (shell + field == 0) continue;
    w.bending_contacts[i].reset(shell, field);
    w.bending_links.emplace_back(shell + field);
  }
  if (!w.bending.empty())
    for (std::uint32_t i = 0; i < model.settings().hands; ++i) w.bending_links.emplace_back(largest);
  for (std::vector<double>* v :
       {&w.bend_change, &w.bend_residual, &w.bend_direction, &w.bend_product, &w.bend_preconditioned})
    v->resize(coordinates);
  w.unknowns.reserve(bodies);
  for (std::vector<Vec6>* v : {&w.change, &w.residual, &w.direction, &w.product, &w.preconditioned}) v->resize(bodies);
  w.diagonal.resize(bodies);
  w.blocks.resize(bodies);
}

StepScratch::StepScratch(StepScratch&&) noexcept = default;
StepScratch& StepScratch::operator=(StepScratch&&) noexcept = default;
StepScratch::~StepScratch() = default;

void StepScratch::clear_caches() noexcept {
  for (const std::unique_ptr<ContactCache>& cache : work_->caches)
    if (cache) cache->clear();
}

const PairContact& StepScratch::contact(std::size_t pair) const noexcept {
  return work_->contacts[pair];
}

const MissingPieces& StepScratch::missing() const noexcept {
  return work_->missing;
}

const ContactStats& StepScratch::body_stats(std::size_t body) const noexcept {
  return work_->bodies[body].stats;
}

ContactStats StepScratch::stats() const noexcept {
  ContactStats sum;
  for (const std::uint32_t i : work_->candidates) add_stats(sum, work_->contacts[i].stats);
  return sum;
}

std::uint32_t StepScratch::substeps() const noexcept {
  return work_->substeps;
}

std::uint64_t StepScratch::nodes() const noexcept {
  std::uint64_t sum = 0;
  for (const std::uint32_t i : work_->candidates) sum += work_->pairs[i].first_look + work_->pairs[i].later_looks;
  return sum;
}

void step(const WorldModel& model, WorldState& state, std::span<const HandInput> inputs, StepScratch& scratch,
          const StepDetail& detail) noexcept {
  Step s{model, state, scratch.work(), detail, model.settings().tick};
  StepScratch::Work& w = s.w;
  const bool fits = w.bodies.size() == model.bodies().size() && w.pairs.size() == model.pairs().size() &&
                    w.couplings.size() == model.settings().hands && state.fits(model);
  if (!invariant(fits, k_layout_invariant)) return;
  w.missing.count = w.pairs_looked_at = 0;
  for (std::uint32_t i = 0; i < w.bodies.size(); ++i) place_bending(model, state, i, w);
  s.set_couplings();
  s.take_inputs(inputs);
  for (std::uint32_t i = 0; i < w.bodies.size(); ++i) begin_body(model, state, i, w);
  find_islands(model, w);
  w.substeps = 0;
  for (const Island& island : w.islands) s.advance(island);
  s.add_up_stats();
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
  for (std::uint32_t i = 0; i < model.bodies().size(); ++i) {
    const ElasticModel* const elastic = model.elastic(i);
    if (elastic == nullptr) continue;
    const double* const q = state.bending().data() + model.elastic_begin(i);
    const Vec3d gravity = gravity_on(model, i, state.bodies()[i].pose);
    std::array<double, k_most_coordinates> force;
    std::array<double, packed_size(k_most_coordinates)> tangent;
    sum.potential += elastic->internal({q, elastic->size()}, force, tangent);
    for (std::size_t j = 0; j < elastic->size(); ++j) {
      const double rate = q[elastic->size() + j];
      sum.kinetic += 0.5 * rate * rate;
      sum.potential -= weight_of(*elastic, gravity, j) * q[j];
    }
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

#include <cotouch/experiment/participants.h>

#include <cotouch/base/trig.h>
#include <cotouch/shapes/docking.h>
#include <cotouch/world/model.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

double minimum_jerk(double s) {
  s = std::clamp(s, 0.0, 1.0);
  return s * s * s * (10 + s * (6 * s - 15));
}

Vec3d shortened(const Vec3d& v, double longest) {
  const double length = norm(v);
  return length > longest ? v * (longest / length) : v;
}

Vec3d turn_between(const Quat& from, const Quat& to) {
  return rotation_vector(to * from.conjugate());
}

// One implicit step of m a = force + k gap + b (rate - v) for the velocity; the gap shrinks as the hand moves.
Vec3d next_velocity(double mass, double stiffness, double damping, const Vec3d& velocity, const Vec3d& force,
                    const Vec3d& gap, const Vec3d& rate, double dt) {
  return (velocity * mass + (force + gap * stiffness + rate * damping) * dt) /
         (mass + damping * dt + stiffness * dt * dt);
}

}  // namespace

PersonSettings PersonSettings::expert() {
  PersonSettings out;
  out.hesitation = 0.7;
  out.opinion = 0.004;
  out.opinion_angle = 0.02;
  out.scatter = 0.04;
  out.regrasp_every = 50;
  return out;
}

PersonTask docking_task(const WorldModel& model, double side) {
  PersonTask out;
  out.body = model.task()->body;
  out.body_index = *model.index_of(out.body);
  const Pose docked = model.task()->target;
  Pose before = docked;
  before.position.x += 0.145;
  // The flange fits between its rails with a millimetre to spare; they are wider at the front.
  out.waypoints = {{undocked_pose(), {0, 0, 1}, 0.03, 0.015, 0.15},
                   {before, {0, 0, -1}, 0.006, 0.005, 0.06},
                   {docked, {-1, 0, 0}, 0.004, 0.005, 0.06}};
  out.grip = {0, side * 0.05, 0.02};
  return out;
}

Pose person_start(double side) {
  return {{0.25, 0.135 * side, 0.12}, {}};
}

SimulatedPerson::SimulatedPerson(const PersonSettings& settings, PersonTask task, std::uint32_t hand, const Pose& start,
                                 std::uint64_t seed)
    : settings_(settings),
      task_(std::move(task)),
      hand_(hand),
      random_(seed),
      from_(start),
      to_(start),
      wish_(start),
      pose_(start) {
  task_.grip += random_.direction() * 0.008;  // nobody takes hold at exactly the same point
}

// Twelve uniform numbers add up to a normal one, nearly.
double SimulatedPerson::normal() {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random_.uniform();
  return sum;
}

HandInput SimulatedPerson::act(double now, const WorldState& view) {
  const double dt = last_ < 0 ? 0 : std::min(now - last_, 0.05);
  if (last_ < 0) pause(now, 1.5);
  last_ = now;
  look(now, view);

  HandInput input;
  input.present = true;
  if (now >= think_until_ && now >= begin_ + duration_) decide(now, seen(now), input);

  if (dt > 0) {
    const HandRecord& own = view.hands()[hand_];
    follow(dt, planned(now), own.present != 0 ? own.felt : Wrench{});
  }
  input.pose = trembling(dt);
  return quantised(input);
}

void SimulatedPerson::look(double now, const WorldState& view) {
  Seen& seen = memory_[looks_++ % k_memory];
  seen = {now, view.bodies()[task_.body_index].pose, false, view.head().task.done != 0};
  for (std::size_t i = 0; i < view.hands().size(); ++i)
    if (i != hand_ && view.hands()[i].body == static_cast<double>(task_.body_index)) seen.held_by_other = true;
  // One feels at once that the hand is empty. The view shows one's own grasp a tick later.
  if (holding_ && now > grasped_at_ + settings_.reaction && view.hands()[hand_].body < 0) holding_ = false;
}

// What was to be seen a reaction time ago.
const SimulatedPerson::Seen& SimulatedPerson::seen(double now) const {
  std::size_t back = 1;
  while (back < std::min(looks_, k_memory) && memory_[(looks_ - back) % k_memory].time > now - settings_.reaction)
    ++back;
  return memory_[(looks_ - back) % k_memory];
}

// From half to twice the mean.
void SimulatedPerson::pause(double now, double mean) {
  const double most = 1.5 * random_.uniform() * random_.uniform();
  const double share = 0.5 + most + 0.25 * random_.uniform();
  think_until_ = now + (settings_.reaction + mean * share) / settings_.pace;
}

void SimulatedPerson::decide(double now, const Seen& view, HandInput& input) {
  if (view.done) {
    phase_ = Phase::done;
    return;
  }
  const Pose grip{transform(view.body, task_.grip), view.body.rotation};
  switch (phase_) {
    case Phase::wait:
    case Phase::aside: phase_ = Phase::reach; [[fallthrough]];
    case Phase::reach:
      if (norm(grip.position - pose_.position) > 0.01) {
        plan(now, grip);
        pause(begin_ + duration_, 0.1);
        break;
      }
      input.action = HandInput::Action::grasp;
      input.body = task_.body;
      holding_ = true;
      grasped_at_ = now;
      regrasp_at_ = now + settings_.regrasp_every * (0.4 + 1.2 * random_.uniform());
      // What is planned starts from where the hand is.
      from_ = to_ = wish_;
      phase_ = Phase::together;
      pause(now, 0.5);
      break;
    case Phase::together:
      if (!holding_)
        phase_ = Phase::reach;
      else if (view.held_by_other) {
        phase_ = Phase::lead;
        next_waypoint(waypoint_, now);
        pause(now, settings_.hesitation);
      }
      break;
    case Phase::lead:
      if (holding_)
        lead(now, view, input);
      else
        phase_ = Phase::reach;
      break;
    case Phase::done: break;
  }
}

void SimulatedPerson::next_waypoint(std::size_t waypoint, double now) {
  waypoint_ = waypoint;
  opinion_ = Vec3d{normal(), normal(), normal()} * settings_.opinion;
  opinion_turn_ = Vec3d{normal(), normal(), normal()} * settings_.opinion_angle;
  best_ = last_distance_ = 1e9;
  best_at_ = now;
}

void SimulatedPerson::lead(double now, const Seen& view, HandInput& input) {
  const bool last = waypoint_ + 1 == task_.waypoints.size();
  const Waypoint& goal = task_.waypoints[waypoint_];
  const double distance = norm(goal.pose.position - view.body.position);
  const double angle = norm(turn_between(view.body.rotation, goal.pose.rotation));
  if (!last && distance < goal.arrival && angle < goal.arrival_angle) {
    next_waypoint(waypoint_ + 1, now);
    pause(now, settings_.hesitation);
    return;
  }
  if (distance < best_ - 0.003) {
    best_ = distance;
    best_at_ = now;
  } else if (waypoint_ > 0 && (now > best_at_ + settings_.patience / settings_.pace || angle > settings_.awry)) {
    next_waypoint(waypoint_ - 1, now);
    pause(now, settings_.hesitation);
    return;
  }
  if (now > regrasp_at_ && view.held_by_other && !last) {
    input.action = HandInput::Action::release;
    holding_ = false;
    phase_ = Phase::aside;
    plan(now, {pose_.position + random_.direction() * 0.01, pose_.rotation});
    pause(begin_ + duration_, 0.1);
    return;
  }

  // Before a closed door one tries a little to the side.
  if (last && distance > last_distance_ - 0.002) {
    opinion_ = Vec3d{normal(), normal(), normal()} * settings_.search;
    opinion_turn_ = Vec3d{normal(), normal(), normal()} * settings_.search_angle;
  }
  last_distance_ = distance;

  // First onto the way that leads there, then along it.
  const Vec3d error = goal.pose.position + opinion_ - view.body.position;
  const Quat aimed = normalized(quat_from_rotation_vector(opinion_turn_) * goal.pose.rotation);
  const Vec3d turn_error = turn_between(view.body.rotation, aimed);
  const Vec3d ahead = goal.way * dot(error, goal.way), aside = error - ahead;
  const bool on_the_way = norm(aside) < goal.aside && norm(turn_error) < 2 * goal.arrival_angle;
  Vec3d step = shortened(aside * settings_.share, settings_.longest_step);
  if (on_the_way) step += shortened(ahead * settings_.share, settings_.longest_step);
  const Vec3d turn = shortened(turn_error * settings_.share, settings_.largest_turn);
  opinion_ *= settings_.persuasion;
  opinion_turn_ *= settings_.persuasion;

  // The hand goes along as if it were part of the body, from where it wants to be now. One who does not get on does not
  // push harder and harder.
  const double give = settings_.strongest_push / settings_.arm.stiffness;
  const double give_angle = settings_.strongest_twist / settings_.arm.angular_stiffness;
  const Vec3d lag = shortened((wish_.position - pose_.position) * settings_.tension, give);
  const Vec3d twist = shortened(turn_between(pose_.rotation, wish_.rotation) * settings_.tension, give_angle);
  step *= 1 - std::clamp(dot(lag, normalized(step)) / give, 0.0, 1.0);
  const Quat rotation = quat_from_rotation_vector(turn);
  const Vec3d arm = pose_.position + lag - view.body.position;
  const Quat held = normalized(quat_from_rotation_vector(twist) * pose_.rotation);
  plan(now, {view.body.position + step + rotate(rotation, arm), normalized(rotation * held)});
  pause(begin_ + duration_, settings_.hesitation);
}

void SimulatedPerson::plan(double now, const Pose& goal) {
  from_ = wish_;
  to_ = goal;
  const double length = norm(goal.position - from_.position);
  const double turn = norm(turn_between(from_.rotation, goal.rotation));
  to_.position += Vec3d{normal(), normal(), normal()} * (settings_.scatter * length);
  to_.rotation = normalized(
      quat_from_rotation_vector(Vec3d{normal(), normal(), normal()} * (settings_.scatter * turn)) * to_.rotation);
  // A turn of a radian is as far as ten centimetres.
  const double far = std::max(length, 0.1 * turn);
  const double bits = std::log2(std::max(2 * far / settings_.aim, 1.0));
  duration_ = (settings_.fitts_offset + settings_.fitts_slope * std::max(bits, 1.0)) * 1.5 / settings_.pace;
  begin_ = now;
}

Pose SimulatedPerson::planned(double now) const {
  const double s = duration_ > 0 ? minimum_jerk((now - begin_) / duration_) : 1;
  return {from_.position + (to_.position - from_.position) * s,
          normalized(quat_from_rotation_vector(turn_between(from_.rotation, to_.rotation) * s) * from_.rotation)};
}

void SimulatedPerson::follow(double dt, const Pose& wish, const Wrench& felt) {
  const ArmImpedance& arm = settings_.arm;
  Vec6 rate{(wish.position - wish_.position) / dt, turn_between(wish_.rotation, wish.rotation) / dt};
  // A random walk that is pulled back, driven by how fast the plan moves.
  const double fade = std::min(dt / settings_.wander_time, 1.0);
  const double size = settings_.wander * norm(rate.linear) * settings_.wander_time;
  wander_ = wander_ * (1 - fade) + Vec3d{normal(), normal(), normal()} * (size * std::sqrt(2 * fade));
  const Vec3d gap = wish.position + wander_ - pose_.position;
  velocity_.linear =
      next_velocity(arm.mass, arm.stiffness, arm.damping, velocity_.linear, felt.force, gap, rate.linear, dt);
  velocity_.angular = next_velocity(arm.inertia, arm.angular_stiffness, arm.angular_damping, velocity_.angular,
                                    felt.torque, turn_between(pose_.rotation, wish.rotation), rate.angular, dt);
  pose_ = moved(pose_, {velocity_.linear * dt, velocity_.angular * dt});
  wish_ = wish;
}

// Noise through a resonance at the tremor's frequency, as wide as its band:
//   y_t = 2 r cos(w) y_(t-1) - r^2 y_(t-2) + e_t,   var y = var e (1 + r^2) / ((1 - r^2) (1 + r^4 - 2 r^2 cos 2w)).
Pose SimulatedPerson::trembling(double dt) {
  if (dt <= 0) return pose_;
  const double w = 2 * k_pi * settings_.tremor_frequency * dt;
  const double r = std::max(1 - k_pi * settings_.tremor_bandwidth * dt, 0.0), r2 = r * r;
  const double gain = std::sqrt((1 - r2) * (1 + r2 * r2 - 2 * r2 * sin_cos(2 * w).cos) / (1 + r2));
  const auto next = [&](std::array<Vec3d, 2>& y, double size) {
    const Vec3d e{normal(), normal(), normal()};
    const Vec3d now = y[0] * (2 * r * sin_cos(w).cos) - y[1] * r2 + e * (size * gain);
    y = {now, y[0]};
    return now;
  };
  const Vec3d shift = next(tremor_, settings_.tremor / std::sqrt(3.0));
  const Vec3d turn = next(tremor_turn_, settings_.tremor_angle / std::sqrt(3.0));
  return moved(pose_, {shift, turn});
}

}  // namespace cotouch

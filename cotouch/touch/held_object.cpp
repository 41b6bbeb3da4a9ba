#include <cotouch/touch/held_object.h>

#include <algorithm>

namespace cotouch {
namespace {

bool is_finite(const Mat6& m) {
  double sum = 0;  // any NaN or infinity makes x * 0 a NaN, and a NaN stays
  for (const Mat3* block : {&m.force_linear, &m.force_angular, &m.torque_linear, &m.torque_angular})
    for (const double entry : block->m) sum += entry * 0.0;
  return sum == 0;
}

bool is_finite(const ContactResult& contact) {
  return is_finite(contact.wrench.force) && is_finite(contact.wrench.torque) && is_finite(contact.gradient);
}

double share_within(double length, double limit) {
  return length > limit ? limit / length : 1.0;
}

}  // namespace

HeldObject::HeldObject(ContactEngine& engine, const HeldObjectSettings& settings, const Pose& start,
                       const Pose& other) noexcept
    : engine_(&engine), settings_(settings), pose_(start), hand_(start), other_(other) {
}

void HeldObject::place(const Pose& pose) noexcept {
  pose_ = pose;
  hand_ = pose;
  engine_->reset();
}

void HeldObject::take_hand(const Pose& hand) noexcept {
  if (cotouch::is_finite(hand) && is_rotation(hand.rotation))
    hand_ = hand;
  else
    ++faults_.bad_hand;
}

Vec6 HeldObject::equilibrium_motion(const CouplingResult& coupling) noexcept {
  const Wrench net = coupling.wrench + contact_.wrench;
  const Vec6 load{-net.force, -net.torque};
  Vec6 motion;
  if (solve(coupling.solve_gradient + contact_.gradient, load, motion)) return motion;
  // Doubling the coupling in the matrix alone moves it off the singular point; the step is shorter than it could be
  // but leads to the same equilibrium.
  ++faults_.singular;
  if (solve(coupling.solve_gradient * 2.0 + contact_.gradient, load, motion)) return motion;
  return {};
}

Wrench HeldObject::step(const Pose& hand) noexcept {
  take_hand(hand);
  const Pose wanted{hand_.position, normalized(hand_.rotation)};

  const bool shell_moves = settings_.moving == Moving::shell;
  engine_->evaluate(shell_moves ? pose_ : other_, shell_moves ? other_ : pose_, settings_.moving, contact_);
  if (!is_finite(contact_)) {
    ++faults_.bad_contact;
    contact_.wrench = {};
    contact_.gradient = {};
  }

  Vec6 motion = equilibrium_motion(couple(settings_.coupling, wanted, pose_));
  const double share =
      (1 - settings_.damping) *
      std::min(share_within(norm(motion.linear) * (1 - settings_.damping), settings_.max_linear_step),
               share_within(norm(motion.angular) * (1 - settings_.damping), settings_.max_angular_step));
  motion = {motion.linear * share, motion.angular * share};
  const Pose next = moved(pose_, motion);
  if (cotouch::is_finite(next)) pose_ = next;

  return -couple(settings_.coupling, wanted, pose_).wrench;
}

}  // namespace cotouch

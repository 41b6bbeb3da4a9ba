// The object in the hand: where it is, what touches it, and what the hand feels (paper 001, V).
//
// One cycle: contact at the object's present pose, coupling to the hand's new pose, then the motion (dx, dw) for which
// the linearised net wrench vanishes (Equations 5 and 6), of which only the share 1 - damping is taken (quasi-static
// damping), cut to a largest step so that contact stays shallow. The hand feels the coupling at the new pose.
//
// In free space the distance to a resting hand shrinks by the factor `damping` each cycle. Against contacts of
// stiffness K the hand feels at most 1 / (1/K + 1/k_VC), never more than the coupling's k_VC.
//
// Reference points: the contact's and the coupling's torque on the object are about the object's position; the torque
// felt is about the hand's position (see coupling.h for why no lever arm appears between them).
#pragma once

#include <cotouch/contact/engine.h>
#include <cotouch/touch/coupling.h>

namespace cotouch {

struct HeldObjectSettings {
  CouplingSettings coupling;
  double damping = 0.5;            // alpha of the paper, in [0, 1)
  double max_linear_step = 1e-3;   // metres per cycle: 1 m/s at 1 kHz
  double max_angular_step = 0.02;  // radians per cycle: 20 rad/s at 1 kHz
  Moving moving = Moving::field;   // which of the engine's two bodies is in the hand
};

// What went wrong so far. None of it stops the loop.
struct HeldObjectFaults {
  std::uint64_t bad_hand = 0;     // hand poses that were not poses: the last good one was used instead
  std::uint64_t bad_contact = 0;  // contact answers that were not finite: taken as no contact
  std::uint64_t singular = 0;     // cycles whose equations had no single solution: solved with a stiffer coupling
};

class HeldObject {
 public:
  // The engine must outlive this. `other` is the pose of the body that is not held.
  HeldObject(ContactEngine& engine, const HeldObjectSettings& settings, const Pose& start,
             const Pose& other = {}) noexcept;

  // One cycle. Returns the wrench on the hand. No allocation, no lock, bounded by the engine's bound.
  Wrench step(const Pose& hand) noexcept;

  // Puts the object somewhere else without a motion in between.
  void place(const Pose& pose) noexcept;
  void set_other(const Pose& other) noexcept { other_ = other; }
  void set_coupling(const CouplingSettings& coupling) noexcept { settings_.coupling = coupling; }
  // Goes on, from where the object is, against other contacts or with other settings.
  void change(ContactEngine& engine, const HeldObjectSettings& settings) noexcept {
    engine_ = &engine;
    settings_ = settings;
  }

  const HeldObjectSettings& settings() const noexcept { return settings_; }
  const Pose& pose() const noexcept { return pose_; }
  const Pose& hand() const noexcept { return hand_; }  // the last good one, as it was given
  const Pose& other() const noexcept { return other_; }
  const ContactResult& contact() const noexcept { return contact_; }  // at the pose before the last step
  const HeldObjectFaults& faults() const noexcept { return faults_; }

 private:
  void take_hand(const Pose& hand) noexcept;
  Vec6 equilibrium_motion(const CouplingResult& coupling) noexcept;

  ContactEngine* engine_;
  HeldObjectSettings settings_;
  Pose pose_, hand_, other_;
  ContactResult contact_;
  HeldObjectFaults faults_;
};

}  // namespace cotouch

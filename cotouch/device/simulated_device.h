// A haptic device and the arm that holds it, simulated in closed loop with what the program commands.
//
// The handle moves with the arm's mass. For translation (rotation likewise, isotropic inertia):
//   (m + m_arm) a = F + k_arm (x_path - x) + b_arm (v_path - v) - b v - c v/|v|
// F is the commanded force: held from sample to sample, in effect `delay` after the sample it was computed from.
// What the program reads is the position at multiples of the period, each late by up to `jitter` (as a loop with fixed
// deadlines wakes up late, drawn by a seed), rounded to the encoder's resolution.
//
// Between samples the equations are integrated by the implicit midpoint rule in `substeps` equal steps, friction
// included (it holds the handle wherever it can). The rule's discrete energy balance is exact: with u the velocity in
// the middle of a step h, the kinetic energy changes by exactly h u . (sum of forces). The energies below are such sums
// and carry only rounding, however coarse the steps.
//
// Defaults: a Phantom-class desktop arm. Apparent mass at the tip 75 g, back-drive friction 0.04 N (taken as the
// Coulomb friction), resolution 0.03 mm and peak force 8.5 N are the maker's figures for the Premium 1.5; orientation
// resolution 0.008 degrees is that of its 6-DoF gimbal. Gimbal inertia, damping and friction are the same figures at a
// lever of about 3 cm. The delay of 0.2 ms from encoder to motor is our assumption.
//
// Viscous damping is not published by the maker, and 1 N s/m is an assumption, too. Diolaiti, Niemeyer, Barbagli &
// Salisbury 2006 identify mass, viscous and Coulomb damping of common devices and find many that run stably beyond the
// passivity limit of their viscous damping; Tahmasebi et al. 2005 identify a Premium 1.5 joint by joint, Gil et al.
// 2010 a Phantom 1.0 with two vibration modes. Only their abstracts were at hand, so that no figure here is theirs.
// Instead `k_dry_device` bounds the matter from the other side: no viscous damping at all, so that the maker's friction
// is all that it dissipates with. A real arm lies between the two. Vibration modes of the structure are not modelled.
//
// The maker rates 1.4 N for ever; that the motors are warm after about a minute of it is our assumption (their windings
// take ten seconds, their housings ten minutes), and torque is taken in the same proportion. A hand that moves it at 5
// m/s or 100 rad/s would break it.
#pragma once

#include <cotouch/base/channel.h>
#include <cotouch/base/random.h>
#include <cotouch/device/device.h>
#include <cotouch/world/hand_path.h>

#include <array>

namespace cotouch {

struct DeviceDynamics {
  double mass = 0.075;                 // kg
  double damping = 1.0;                // N s/m
  double friction = 0.04;              // N
  double inertia = 2e-5;               // kg m^2
  double angular_damping = 1e-3;       // N m s/rad
  double angular_friction = 1e-3;      // N m
  double resolution = 3e-5;            // m; zero measures exactly
  double angular_resolution = 1.4e-4;  // rad
  double delay = 2e-4;                 // s, up to 8 periods, rounded to whole substeps
  double period = 1e-3;                // s
  double jitter = 0;                   // s, at most a period
  int substeps = 50;
  MotorLimits motors{8.5, 1.4, 0.35, 0.058, 60};

  // From a sample to the middle of what is commanded for it, at worst. A held spring K gives K late() v^2 (Colgate).
  double late() const noexcept { return (period + jitter) / 2 + delay; }  // s

  // The largest stiffness this device renders passively in any hand (Colgate & Schenkel 1997: b > K T / 2 for a
  // held spring; a delay adds to the half period).
  double passive_stiffness() const noexcept { return damping / late(); }                  // N/m
  double passive_angular_stiffness() const noexcept { return angular_damping / late(); }  // N m/rad

  // The same with Coulomb friction c, as long as the handle is nowhere faster than this (m/s): it takes c v, so that
  // b v^2 + c v >= K late() v^2. At rest there is no such limit, but one from the encoder (Abbott & Okamura 2005): half
  // a step of it is felt as K step / 2, which friction holds up to K = 2 c / step.
  double dry_stiffness(double speed) const noexcept { return (damping + friction / speed) / late(); }  // N/m
  double encoder_stiffness() const noexcept { return 2 * friction / resolution; }                      // N/m

  DeviceLimits limits() const noexcept;
};

// The same arm with friction only.
inline constexpr DeviceDynamics k_dry_device{.damping = 0, .angular_damping = 0};

// A hand around the handle: mass that moves with it, spring and damper to where the hand wants to be.
struct ArmImpedance {
  double mass = 0.15;             // kg
  double stiffness = 400;         // N/m
  double damping = 4;             // N s/m
  double inertia = 2e-4;          // kg m^2
  double angular_stiffness = 2;   // N m/rad
  double angular_damping = 0.01;  // N m s/rad
};

// Joules since the start, when everything was at rest.
struct DeviceEnergy {
  double from_hand = 0;         // work the arm did on the device's handle; below zero means energy was created
  double from_environment = 0;  // work the commanded wrench did on the handle
  double dissipated = 0;        // by the device's own damping and friction
  double kinetic = 0;           // of the device alone
};

class SimulatedDevice final : public Device {
 public:
  // Starts at rest at the path's beginning and takes hold of the body with this id (0: of none). The script ends with
  // the path. Throws Error on impossible settings. Other limits than its own are for finding out where those lie.
  SimulatedDevice(const DeviceDynamics& device, const ArmImpedance& arm, HandPath path, std::uint32_t body,
                  const std::optional<DeviceLimits>& limits = std::nullopt);

  std::string name() const override { return "simulated device"; }
  // Lets one period pass (except the first time) and samples the handle.
  bool read(DeviceReading& reading) noexcept override;

  // The true motion, which the program does not see. For the reading thread.
  const Pose& pose() const noexcept { return pose_; }
  const Vec6& velocity() const noexcept { return velocity_; }
  const DeviceEnergy& energy() const noexcept { return energy_; }

  DeviceLimits limits() const noexcept override { return limits_; }
  void write(const LimitedWrench& wrench) noexcept override { command(wrench.get()); }
  // The same for a plug-in, whose wrench went through the limits on the other side of its interface.
  void command(const Wrench& wrench) noexcept {
    if (!disabled_.load(std::memory_order_acquire)) commanded_.write(wrench);
  }
  void disable() noexcept override { disabled_.store(true, std::memory_order_release); }
  bool enable() noexcept override {
    disabled_.store(false, std::memory_order_release);
    return true;
  }

 private:
  static constexpr std::size_t k_history = 16;  // a power of two above the longest delay in periods
  void pass_period() noexcept;
  double seconds(std::uint64_t steps) const noexcept;
  void pass_substep(const Wrench& commanded, const Vec6& pull, const Vec6& target_velocity) noexcept;
  Pose sampled() const noexcept;

  DeviceDynamics device_;
  ArmImpedance arm_;
  HandPath path_;
  std::uint32_t body_;
  DeviceLimits limits_;
  std::atomic<bool> disabled_{false};
  double step_;
  std::uint64_t delay_steps_;
  LatestValue<Wrench> commanded_;
  // Commands by the cycle they were written in, and when that one's sample was taken, in substeps.
  std::array<Wrench, k_history> history_{};
  std::array<std::uint64_t, k_history> sampled_at_{};
  Random lateness_{1};
  std::uint64_t cycle_ = 0;      // samples taken
  std::uint64_t now_ = 0;        // substeps since the first
  std::uint64_t in_effect_ = 0;  // commands that have come into effect
  Pose start_, pose_;
  Vec6 velocity_;
  DeviceEnergy energy_;
};

}  // namespace cotouch

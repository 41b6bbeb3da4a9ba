// A haptic device and the arm that holds it, simulated in closed loop with what the program commands.
//
// The handle moves with the arm's mass. For translation (rotation likewise, isotropic inertia):
//   (m + m_arm) a = F + k_arm (x_path - x) + b_arm (v_path - v) - b v - c v/|v|
// F is the commanded force: held from sample to sample, in effect `delay` after the sample it was computed from.
// What the program reads is the position at multiples of the period, rounded to the encoder's resolution.
//
// Between samples the equations are integrated by the implicit midpoint rule in `substeps` equal steps, friction
// included (it holds the handle wherever it can). The rule's discrete energy balance is exact: with u the velocity in
// the middle of a step h, the kinetic energy changes by exactly h u . (sum of forces). The energies below are such sums
// and carry only rounding, however coarse the steps.
//
// Defaults: a Phantom-class desktop arm. Apparent mass at the tip 75 g, back-drive friction 0.04 N, resolution 0.03 mm
// and peak force 8.5 N are the maker's figures for the Premium 1.5; orientation resolution 0.008 degrees is that of its
// 6-DoF gimbal. Viscous damping is not published; 1 N s/m is our stated assumption, together with a delay of 0.2 ms
// from encoder to motor. It lies on the safe side: the 3.5 N/mm the maker rates as renderable needs 1.75 N s/m even
// without delay. Gimbal inertia, damping and friction are the same figures at a lever of about 3 cm. The maker rates
// 1.4 N for ever; that the motors are warm after about a minute of it is our assumption (their windings take ten
// seconds, their housings ten minutes), and torque is taken in the same proportion. A hand that moves it at 5 m/s or
// 100 rad/s would break it.
#pragma once

#include <cotouch/base/channel.h>
#include <cotouch/touch/device.h>
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
  int substeps = 50;
  MotorLimits motors{8.5, 1.4, 0.35, 0.058, 60};

  // The largest stiffness this device renders passively, whoever holds it (Colgate & Schenkel 1997: b > K T / 2 for a
  // held spring; a delay adds to the half period).
  double passive_stiffness() const noexcept { return damping / (period / 2 + delay); }                  // N/m
  double passive_angular_stiffness() const noexcept { return angular_damping / (period / 2 + delay); }  // N m/rad

  DeviceLimits limits() const noexcept;
};

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
  void write(const LimitedWrench& wrench) noexcept override {
    if (!disabled_.load(std::memory_order_acquire)) commanded_.write(wrench.get());
  }
  void disable() noexcept override { disabled_.store(true, std::memory_order_release); }
  bool enable() noexcept override {
    disabled_.store(false, std::memory_order_release);
    return true;
  }

 private:
  static constexpr std::size_t k_history = 16;  // a power of two above the longest delay in periods
  void pass_period() noexcept;
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
  std::array<Wrench, k_history> history_{};  // by the cycle they were written in
  std::uint64_t cycle_ = 0;                  // samples taken
  Pose start_, pose_;
  Vec6 velocity_;
  DeviceEnergy energy_;
};

}  // namespace cotouch

// A haptic device as the loop sees it: what a driver implements.
//
// A driver is trusted with its motors and with nothing else. It says what the device can bear (DeviceLimits), and those
// are ceilings: what a scene, a page or a program asks for can only be less. It gets forces from the one ForceLimiter
// that owns the device, as a LimitedWrench, which nobody else can make, so neither a caller nor another driver reaches
// the motors past the limits.
#pragma once

#include <cotouch/world/input.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace cotouch {

// Whether a device can push: its own switches, its driver and the loop's watchdog can all take its force away.
enum class Motors : std::uint8_t {
  on,
  restarted,  // on, but off for a time since the cycle before: the force fades in anew
  off,
  fading,  // the device cannot be trusted or is not guarded: the force fades to zero within k_fade_out_seconds
};

enum class DeviceState : std::uint8_t {
  ready,
  lost,       // it does not answer, or its script has ended
  faulty,     // it answers, but with what cannot be true (reading_check.h); its force fades to zero
  disabled,   // its power was cut because its driver hung; no force until it is enabled on purpose
  unguarded,  // the process that would silence it after a crash does not answer; its force fades to zero
  halted,     // what must always hold in the loop did not (TouchFrame::broken); no force until another loop
};

struct DeviceReading {
  Pose pose;  // of the handle, metres
  std::uint32_t buttons = 0;
  Motors motors = Motors::on;
  HandInput::Action action = HandInput::Action::none;  // what the hand does in this cycle
  std::uint32_t body = 0;                              // id of the body it grasps
  // Counts what the driver has sampled, or is its clock: any change will do. If it stands still the driver does, even
  // though a pose still comes. None: the driver cannot tell.
  std::optional<std::uint64_t> clock = {};
};

// What the motors can bear. Winding and housing warm up with the square of the force.
struct MotorLimits {
  double peak_force = 0;         // N, while they are cool
  double continuous_force = 0;   // N, for ever
  double peak_torque = 0;        // N m
  double continuous_torque = 0;  // N m
  double heating_seconds = 0;    // the time constant of warming up; 0: what is not continuous is never given

  friend bool operator==(const MotorLimits&, const MotorLimits&) = default;
};

struct DeviceLimits {
  static constexpr double k_none = std::numeric_limits<double>::infinity();

  MotorLimits motors;
  // The stiffest spring it renders passively when served at 1 kHz, and the delay from sample to force: Colgate's
  // b / (T/2 + delay), from which follows what it bears at other rates.
  double stiffness = 0;          // N/m
  double angular_stiffness = 0;  // N m/rad
  double delay = 0;              // s
  // No hand moves the handle faster; a reading that says so is wrong.
  double speed = 0;       // m/s
  double turn_speed = 0;  // rad/s

  // Whether it pushes at all: what has no motors may be as stiff as it likes.
  bool has_motors() const noexcept { return stiffness < k_none; }
};

// Where the handle can be moved: so far in every direction from the origin, in the device's own metres, x to the right,
// y away from the person, z up.
struct Workspace {
  double reach = 0.1;  // metres
};

// Of a hand that has no motors (a page's, a script's, a recorded one): the forces of a Phantom Premium 1.5 are shown as
// if it had that one's, nothing warms up and nothing can begin to shake.
inline constexpr DeviceLimits k_without_motors{{8.5, 8.5, 0.35, 0.35, 60}, DeviceLimits::k_none,
                                               DeviceLimits::k_none,       0,
                                               DeviceLimits::k_none,       DeviceLimits::k_none};

// How another process takes the force away after this one has died (crash_guard.h): it writes these bytes there.
struct SilenceCall {
  std::string path;  // a device node, a named pipe, or the socket (datagrams) of a driver's service
  std::vector<std::byte> message;
};

// A wrench that went through the limits.
class LimitedWrench {
 public:
  LimitedWrench(const LimitedWrench&) = delete;
  LimitedWrench& operator=(const LimitedWrench&) = delete;
  const Wrench& get() const noexcept { return wrench_; }
  // Less of it, for a handle that is turned or geared down. Shares are from 0 to 1; what is beyond counts as the nearer
  // of the two, and what is no number as 0.
  LimitedWrench less(double force_share, double torque_share) const noexcept {
    const auto share = [](double wanted) { return wanted >= 0 ? (wanted < 1 ? wanted : 1) : 0; };
    return LimitedWrench({wrench_.force * share(force_share), wrench_.torque * share(torque_share)});
  }

 private:
  friend class ForceLimiter;
  explicit LimitedWrench(const Wrench& wrench) noexcept : wrench_(wrench) {}
  Wrench wrench_;
};

class Device {
 public:
  Device() = default;
  // If a driver hung when the loop ended (TouchLoop::stop), it is still inside: such a device must not be destroyed.
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  virtual std::string name() const = 0;
  // Asked once, when the limiter is made.
  virtual DeviceLimits limits() const noexcept = 0;
  // Asked before a scene is entered.
  virtual Workspace workspace() const noexcept { return {}; }
  // None: the device goes to zero by itself within 50 ms when nobody writes to it any more, or has no motors. Build
  // such a heartbeat in if device or firmware can have one: nothing else helps if the whole machine stops, the guard
  // with it.
  virtual std::optional<SilenceCall> silence_call() const { return std::nullopt; }

  // Called from the touch thread at 1 kHz: no allocation, no lock, no exception.
  // Returns false when the device is lost or its script has ended.
  virtual bool read(DeviceReading& reading) noexcept = 0;
  // Wrench on the hand, torque about the handle's position. Calls come one at a time, as a rule from the touch thread.
  // If that thread stalls outside of this device's driver, a zero comes from another one, which may still be inside
  // when read() is called again. To return is to promise that the wrench is on its way: nobody can check it.
  virtual void write(const LimitedWrench& wrench) noexcept = 0;

  // Cuts the motors' power. From any thread, at any time, also while read() or write() of this device hangs in others:
  // must not wait for anything, nor for a lock that those hold. From then on, until enable(), no write() has an effect,
  // not even one that is under way.
  virtual void disable() noexcept = 0;
  // Gives the power back, with no force, whatever was written before; false if it cannot. Nothing else of the driver is
  // under way then.
  virtual bool enable() noexcept = 0;

 private:
  friend class ForceLimiter;
  std::atomic<bool> has_limiter_{false}, disabled_{false};
  double force_heat_ = 0, torque_heat_ = 0;  // between two limiters: motors stay warm when a scene is opened
};

}  // namespace cotouch

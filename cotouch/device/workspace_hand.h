// A device with a workspace of its own as a hand in a scene: it maps the handle into the scene and the force back, and
// makes of its buttons what the person asks for.
//
// Scale. With s the metres in the scene for a metre at the handle (fitted to the scene: its half diagonal over the
// device's reach, from 1 to k_largest_scale; larger scenes are crossed with the clutch),
//   x_scene = a + s (x_handle - o),   R_scene = R_handle R_o^T R_a.
// A handle that moves by dx and turns by dtheta moves the hand in the scene by s dx and dtheta. With a force g F and a
// torque l T for F and T in the scene, the device is given the work g F dx + l T dtheta, which is l times the work that
// the scene does, F s dx + T dtheta, if
//   g = l s.
// So whatever the scene cannot give, the handle cannot get: its energy is the scene's times a constant l. l is 1 for
// s <= 1, and 1/s beyond, where nothing is then felt stronger than it is in the scene: g = min(s, 1), l = min(1/s, 1).
// (Two devices with different l share a world as two people do who have unequal levers: neither can draw energy out of
// it alone, and all of them together only if one person's hands hold two of them.)
//
// Limits. The handle feels a stiffness K of the scene as g s K, and an angular one as l K. What the device states in
// its own units is therefore stated to the loop in those of the scene: stiffness / (g s), angular stiffness / l, forces
// / g, torques / l, speed s. The loop's softening, limits, heat and checks then hold for the handle as they are, and
// what is recorded is the scene's. A limited wrench is only made less on its way to the device (LimitedWrench::less).
//
// Buttons. The first takes hold of what is at the tip while it is down. While the second is down, the clutch, the hand
// stands still in the scene and the handle moves freely; then the scene goes on from where both are. There is no force
// while nothing is held, the first button is up or the clutch is down, and it fades in again: a force that stayed while
// only the handle moves would be work from nowhere.
#pragma once

#include <cotouch/base/channel.h>
#include <cotouch/device/hand_device.h>

#include <atomic>
#include <memory>

namespace cotouch {

inline constexpr std::uint32_t k_grasp_button = 1U << 0U, k_clutch_button = 1U << 1U;

class WorkspaceHand final : public HandDevice {
 public:
  static constexpr double k_largest_scale = 4;

  explicit WorkspaceHand(std::unique_ptr<Device> device);

  std::string name() const override { return device_->name(); }
  void fit(const SceneExtent& scene) noexcept override;
  // The same with a scale of one's own. While no loop runs.
  void fit(const SceneExtent& scene, double scale) noexcept;
  double scale() const noexcept { return scale_.load(std::memory_order_relaxed); }
  double force_share() const noexcept { return force_share(scale()); }    // g
  double torque_share() const noexcept { return torque_share(scale()); }  // l

  void hold(std::uint32_t body, const Vec3d& point) noexcept override;
  void release() noexcept override;
  bool has_taken_hold() const noexcept override { return taken_.load(std::memory_order_acquire) == order_.grip; }
  HandRequest request() noexcept override;
  bool is_there() const noexcept override { return there_.load(std::memory_order_acquire); }
  bool has_motors() const noexcept override { return device_->limits().has_motors(); }

  // In the scene's units.
  DeviceLimits limits() const noexcept override;
  Workspace workspace() const noexcept override { return device_->workspace(); }
  std::optional<SilenceCall> silence_call() const override { return device_->silence_call(); }
  bool read(DeviceReading& reading) noexcept override;
  void write(const LimitedWrench& wrench) noexcept override {
    device_->write(wrench.less(force_share(), torque_share()));
  }
  void disable() noexcept override { device_->disable(); }
  bool enable() noexcept override { return device_->enable(); }

 private:
  struct Order {
    bool held = false;
    std::uint32_t grip = 0;  // counts hold()
    std::uint32_t body = 0;
  };
  // What the touch thread has seen of the buttons.
  struct Asked {
    std::uint32_t presses = 0;
    bool down = false;
    Vec3d at;  // the tip at the newest press
  };
  static double force_share(double scale) noexcept { return scale < 1 ? scale : 1; }
  static double torque_share(double scale) noexcept { return scale > 1 ? 1 / scale : 1; }
  Pose mapped(const Pose& handle) const noexcept;
  void follow_clutch(const Pose& handle, bool down) noexcept;
  void notice_button(bool down) noexcept;

  std::unique_ptr<Device> device_;
  std::atomic<double> scale_{1};  // a loop that is made ready asks for limits while another scene is fitted
  // The session's thread's.
  Order order_;
  std::uint32_t answered_ = 0;  // presses
  // Between the two.
  LatestValue<Order> orders_;
  LatestValue<Asked> buttons_;
  std::atomic<std::uint32_t> taken_{0};
  std::atomic<bool> there_{true};
  // The touch thread's.
  Pose origin_, anchor_;  // of the handle, and where that is in the scene
  Pose tip_;              // in the scene
  Asked asked_;
  bool clutched_ = false, held_ = false;
  std::uint32_t grip_ = 0;
};

}  // namespace cotouch

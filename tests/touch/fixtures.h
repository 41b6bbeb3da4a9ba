// Stand-ins with closed-form answers: a plane to touch, a hand that holds a pose, a device that remembers.
#pragma once

#include <cotouch/contact/engine.h>
#include <cotouch/touch/device.h>
#include <cotouch/touch/held_object.h>

#include <atomic>
#include <functional>
#include <vector>

namespace cotouch::testing {

// The held body is a few points fixed to it, the other one is solid below z = 0: each point at depth d is pushed up
// with `stiffness` * d. Its gradient is exact, so every equilibrium can be written down.
class HalfspaceContact final : public ContactEngine {
 public:
  HalfspaceContact(double stiffness, std::vector<Vec3d> points = {Vec3d{}})
      : stiffness_(stiffness), points_(std::move(points)) {}

  void evaluate(const Pose& shell, const Pose&, Moving, ContactResult& result) noexcept override {
    result = {};
    for (const Vec3d& point : points_) {
      const Vec3d arm = rotate(shell.rotation, point);
      const double depth = -(shell.position.z + arm.z);
      if (depth <= 0) continue;
      const Vec3d up{0, 0, 1};
      const Vec3d force = up * (stiffness_ * depth);
      // A small motion (dx, dw) moves the point by dx + dw x arm and turns the arm, so with n = up:
      // dF = -k n n.(dx + dw x arm) and dT = arm x dF + (dw x arm) x F.
      const Mat3 df_dx = Mat3::outer(up, up) * -stiffness_;
      const Mat3 dx_dw = Mat3::cross_matrix(arm) * -1.0;
      const Mat3 arm_cross = Mat3::cross_matrix(arm);
      result.wrench = result.wrench + Wrench{force, cross(arm, force)};
      result.gradient = result.gradient + Mat6{df_dx, df_dx * dx_dw, arm_cross * df_dx,
                                               arm_cross * df_dx * dx_dw + Mat3::cross_matrix(force) * arm_cross};
      result.stats.in_contact += 1;
      result.stats.deepest = std::max(result.stats.deepest, static_cast<float>(depth));
    }
  }
  std::span<const ContactPoint> contacts() const noexcept override { return {}; }
  void reset() noexcept override {}

 private:
  double stiffness_;
  std::vector<Vec3d> points_;
};

// Answers whatever it was given.
class FixedContact final : public ContactEngine {
 public:
  ContactResult answer;
  void evaluate(const Pose&, const Pose&, Moving, ContactResult& result) noexcept override { result = answer; }
  std::span<const ContactPoint> contacts() const noexcept override { return {}; }
  void reset() noexcept override {}
};

inline HeldObjectSettings shell_in_hand() {
  HeldObjectSettings settings;
  settings.moving = Moving::shell;
  return settings;
}

// Reports what `on_read` says and keeps the last wrench written.
class ProbeDevice final : public Device {
 public:
  std::function<bool(DeviceReading&)> on_read = [](DeviceReading&) { return true; };
  std::function<void(const Wrench&)> on_write = [](const Wrench&) {};
  std::atomic<double> force{1e9};  // |F| last written; the start value shows that something was written at all
  std::atomic<std::uint64_t> writes{0};

  std::string name() const override { return "probe"; }
  bool read(DeviceReading& reading) noexcept override { return on_read(reading); }

 protected:
  void write(const Wrench& wrench) noexcept override {
    on_write(wrench);
    force.store(norm(wrench.force));
    writes.fetch_add(1);
  }
};

}  // namespace cotouch::testing

// Small worlds with closed-form answers: a peg of one point and a plate to press it on, a device that remembers.
#pragma once

#include <cotouch/device/device.h>
#include <cotouch/field/build.h>
#include <cotouch/touch/loop.h>
#include <cotouch/touch/touch_world.h>

#include "contact/support.h"
#include "support/eventually.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

namespace cotouch::testing {

constexpr std::uint32_t k_plate = 1, k_peg = 2;  // ids of the bodies
constexpr double k_cell = 0.2 / 48;              // of the plate's field

// A plate whose upper side is z = 0, 0.2 m to each side. It brings the field.
inline const std::shared_ptr<const Part>& plate_part() {
  static const std::shared_ptr<const Part> part = [] {
    auto made = std::make_shared<Part>();
    made->name = "plate";
    Box3d box;
    box.add({-0.1, -0.1, -0.04});
    box.add({0.1, 0.1, 0});
    made->field = build_field(
        [](const Vec3d& p) {
          return contact_test::box_distance(p - Vec3d{0, 0, -0.02}, {0.1, 0.1, 0.02});
        },
        box, {.resolution = 48});
    made->shell = contact_test::link_naively({{{0, 0, -0.02}, {0, 0, 1}}}, 1);
    return made;
  }();
  return part;
}

// A body of a few points; nothing ever touches its field, a ball of 1 mm around them.
inline std::shared_ptr<const Part> points_part(const std::vector<Vec3d>& points) {
  auto made = std::make_shared<Part>();
  made->name = "points";
  Box3d box;
  box.add({-0.001, -0.001, -0.001});
  box.add({0.001, 0.001, 0.001});
  made->field = build_field([](const Vec3d& p) { return norm(p) - 0.001; }, box, {.resolution = 8});
  std::vector<contact_test::OrientedPoint> oriented;
  for (const Vec3d& p : points) oriented.push_back({p, {0, 0, 1}});
  made->shell = contact_test::link_naively(oriented, points.size() > 4 ? 4 : 1);
  return made;
}

inline const std::vector<Vec3d> k_tip{{0, 0, 0}, {0, 0, 0.02}};  // one that touches and one above it

// A peg over the plate. `stiffness` is that of its one point.
inline std::shared_ptr<const WorldModel> peg_model(double stiffness = 1e5, const std::vector<Vec3d>& points = k_tip,
                                                   const CouplingSettings& coupling = {}, double tick = 1e-3,
                                                   const Pose& start = {{0, 0, 0.005}, {}}, std::uint32_t hands = 4) {
  BodyModel plate;
  plate.id = k_plate;
  plate.name = "plate";
  plate.pieces = {{plate_part(), {}}};
  BodyModel peg;
  peg.id = k_peg;
  peg.name = "peg";
  peg.motion = Motion::free;
  peg.pieces = {{points_part(points), {}}};
  peg.start = start;
  peg.mass.mass = 0.1;
  peg.mass.inertia = Mat3::identity() * 1e-4;
  WorldSettings settings;
  settings.tick = tick;
  settings.contact.stiffness = stiffness;
  settings.coupling = coupling;
  settings.hands = hands;
  return std::make_shared<const WorldModel>(std::vector<BodyModel>{plate, peg}, settings);
}

// Reports what `on_read` says and keeps the last wrench written. Takes hold of the body in its first cycle.
class ProbeDevice final : public Device {
 public:
  explicit ProbeDevice(std::uint32_t body = 0) : body_(body) {}
  std::function<bool(DeviceReading&)> on_read = [](DeviceReading&) { return true; };
  std::function<void(const Wrench&)> on_write = [](const Wrench&) {};
  std::atomic<double> force{1e9};  // |F| last written; the start value shows that something was written at all
  std::atomic<std::uint64_t> writes{0};
  std::atomic<int> disables{0};
  DeviceLimits bears = k_without_motors;

  std::string name() const override { return "probe"; }
  bool read(DeviceReading& reading) noexcept override {
    const bool present = on_read(reading);
    if (body_ != 0 && present && !holds_) {
      reading.action = HandInput::Action::grasp;
      reading.body = body_;
    }
    holds_ = present;
    return present;
  }

  DeviceLimits limits() const noexcept override { return bears; }
  void write(const LimitedWrench& limited) noexcept override {
    const Wrench& wrench = limited.get();
    on_write(wrench);
    if (power_.load()) force.store(norm(wrench.force));
    writes.fetch_add(1);
  }
  void disable() noexcept override {
    power_.store(false);
    force.store(0);
    disables.fetch_add(1);
  }
  bool enable() noexcept override {
    power_.store(true);
    holds_ = false;
    return true;
  }

 private:
  std::uint32_t body_;
  bool holds_ = false;
  std::atomic<bool> power_{true};
};

// A world that does something else besides, for instance hang.
class HookedWorld final : public LocalWorld {
 public:
  using LocalWorld::LocalWorld;
  std::function<void()> on_cycle = [] {};
  void cycle(std::span<const HandInput> devices) noexcept override {
    on_cycle();
    LocalWorld::cycle(devices);
  }
};

// A place where a thread hangs for as long as a test wants. End it before any assertion that may fail.
class Stall {
 public:
  void wait() {
    while (on_.load()) {
      inside_.store(true);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  // Whoever comes from now on waits.
  void arm() {
    inside_.store(false);
    on_.store(true);
  }
  bool begin() {
    arm();
    return reached();
  }
  bool reached() const {
    return eventually([this] { return inside(); });
  }
  bool inside() const { return inside_.load(); }
  void end() { on_.store(false); }
  ~Stall() { end(); }

 private:
  std::atomic<bool> on_{false}, inside_{false};
};

inline constexpr double k_height = 0.005;  // of the peg over the plate at the start

// For tests that are not about stalls: on a very busy machine every short gap would let the force fade in anew.
inline TouchLoopSettings patient() {
  TouchLoopSettings settings;
  settings.stall_seconds = 10;
  return settings;
}

// A hand that takes a peg and presses it 4 mm into a stiff plate.
struct Pressed {
  HookedWorld world{peg_model()};
  ProbeDevice device{k_peg};
  std::atomic<bool> present{true};
  std::atomic<int> reads{0};  // since it is there
  Pressed() {
    device.on_read = [this](DeviceReading& reading) {
      reads = present.load() ? reads + 1 : 0;
      reading.pose = {{0, 0, reads == 1 ? k_height : -4e-3}, {}};
      return present.load();
    };
  }
};

// Pulls at the same peg from the side.
struct Pulled {
  ProbeDevice device{k_peg};
  std::atomic<int> reads{0};
  Pulled() {
    device.on_read = [this](DeviceReading& reading) {
      reading.pose = {{reads++ == 0 ? 0 : 0.004, 0, k_height}, {}};
      return true;
    };
  }
};

// Whether it pushes by now, and the loop has been asked for that if its device is disabled: while a touch thread
// stands, a busy machine may stop another thread in a driver for so long that the watchdog disables that device, too,
// and rightly.
template <class Hand>
bool pushes(TouchLoop& loop, std::size_t device, Hand& hand, double force = 1) {
  if (loop.device_state(device) == DeviceState::disabled) hand.reads = 0;  // it takes hold anew
  return loop.enable(device) && hand.device.force.load() > force;
}

}  // namespace cotouch::testing

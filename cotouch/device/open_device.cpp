#include <cotouch/device/open_device.h>

#include <cotouch/device/scripted_device.h>
#include <cotouch/device/workspace_hand.h>

#include <utility>
#include <vector>

namespace cotouch {
namespace {

constexpr std::uint64_t k_round = 20'000, k_begin = 1'000, k_end = 19'000;  // cycles: the button is down between

class ScriptedPerson final : public Device {
 public:
  explicit ScriptedPerson(HandPath path) : device_(std::move(path), 0) {}

  std::string name() const override { return k_scripted; }
  DeviceLimits limits() const noexcept override { return device_.limits(); }
  bool read(DeviceReading& reading) noexcept override {
    if (!device_.read(reading)) return false;
    const std::uint64_t now = cycle_++ % k_round;
    reading.buttons = now >= k_begin && now < k_end ? k_grasp_button : 0;
    return true;
  }
  void write(const LimitedWrench& wrench) noexcept override { device_.write(wrench); }
  void disable() noexcept override { device_.disable(); }
  bool enable() noexcept override { return device_.enable(); }

 private:
  ScriptedDevice device_;
  std::uint64_t cycle_ = 0;
};

// For more than an hour: rest in the middle, then out and back along each axis.
HandPath swinging() {
  constexpr double k_out = 0.06, k_speed = 0.08;  // m, m/s
  const std::vector<Vec3d> ways{{k_out, 0, 0}, {0, k_out, 0}, {0, 0, k_out}, {0, 0, -k_out}, {-k_out, 0, 0}};
  std::vector<Pose> keys(10, Pose{});  // two seconds
  for (int round = 0; round < 600; ++round)
    for (const Vec3d& way : ways) {
      keys.push_back({way, {}});
      keys.push_back({});
    }
  return HandPath(std::move(keys), k_speed);
}

}  // namespace

std::unique_ptr<Device> open_scripted() {
  return std::make_unique<ScriptedPerson>(swinging());
}

std::unique_ptr<HandDevice> make_hand(std::unique_ptr<Device> device) {
  return std::make_unique<WorkspaceHand>(std::move(device));
}

}  // namespace cotouch

#include <cotouch/experiment/siege_drivers.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/touch/loop.h>
#include <cotouch/world/scene.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <utility>

namespace cotouch {
namespace {

using std::chrono::milliseconds;

constexpr double k_least_slow = 0.020, k_most_slow = 0.026;  // seconds; the watchdog waits for 20 ms
constexpr double k_slow_step = 0.00037;                      // another phase of the watchdog's looks in every pair
constexpr auto k_bound = milliseconds(500);                  // after which no device may push any more
constexpr auto k_pushing_patience = std::chrono::seconds(5);
constexpr double k_pull = 0.02;     // metres to each side: more than the coupling's largest force needs,
constexpr double k_full_force = 7;  // which is 8 N
constexpr std::uint32_t k_pulled = 1;

// What the two drivers know of each other.
struct Failure {
  std::atomic<double> slow{0};  // seconds that the first is slow once
  std::atomic<bool> hangs{false}, inside{false}, over{false};
};

class FailingDevice final : public Device {
 public:
  FailingDevice(Failure& failure, bool first) : failure_(failure), first_(first) {}

  std::string name() const override { return first_ ? "slow device" : "hanging device"; }
  DeviceLimits limits() const noexcept override { return k_without_motors; }
  // Takes the body where it is, then pulls it to its own side.
  bool read(DeviceReading& reading) noexcept override {
    fail();
    if (!std::exchange(holds_, true)) {
      reading.action = HandInput::Action::grasp;
      reading.body = k_pulled;
    } else {
      reading.pose.position.x = first_ ? -k_pull : k_pull;
    }
    return true;
  }
  void write(const LimitedWrench& wrench) noexcept override {
    if (power_.load()) force_.store(norm(wrench.get().force));
  }
  void disable() noexcept override {
    power_.store(false);
    force_.store(0);
  }
  bool enable() noexcept override { return false; }

  double force() const { return force_.load(); }

 private:
  void fail() noexcept {
    if (first_) {
      const double slow = failure_.slow.exchange(0);
      if (slow == 0) return;
      failure_.hangs.store(true);
      std::this_thread::sleep_for(std::chrono::duration<double>(slow));
    } else if (failure_.hangs.load()) {
      failure_.inside.store(true);
      while (!failure_.over.load()) std::this_thread::sleep_for(milliseconds(1));
    }
  }

  Failure& failure_;
  bool first_, holds_ = false;
  std::atomic<bool> power_{true};
  std::atomic<double> force_{0};
};

template <class Condition>
bool comes_true(std::chrono::nanoseconds patience, const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

// A ball that floats.
std::shared_ptr<const WorldModel> ball_to_pull(const ExperimentOptions& options) {
  Scene scene;
  SceneBody& body = scene.bodies.emplace_back();
  body.id = k_pulled;
  body.name = "ball";
  body.motion = Motion::free;
  ScenePart& part = body.parts.emplace_back();
  part.name = "ball";
  part.mesh = std::make_shared<const TriangleMesh>(make_sphere(0.02, 2));
  part.settings.field.resolution = 16;
  part.settings.shell.points = 64;
  prepare(scene, *options.progress);
  return make_model(scene, {1e-3, 2, {}});
}

}  // namespace

HungDrivers& HungDrivers::operator+=(const HungDrivers& other) {
  pairs += other.pairs;
  left_on += other.left_on;
  force_left = std::max(force_left, other.force_left);
  return *this;
}

DriverPairs::DriverPairs(const ExperimentOptions& options) : model_(ball_to_pull(options)) {
}

void DriverPairs::attack(double seconds) {
  count_ = {};
  thread_ = std::jthread([this, time = AttackTime::from_now(seconds, kind().least)] {
    while (time.goes_on(count_.pairs)) fail_once();
  });
}

HungDrivers DriverPairs::result() {
  thread_ = {};
  return count_;
}

void DriverPairs::fail_once() {
  Failure failure;
  FailingDevice slow(failure, true), hanging(failure, false);
  LocalWorld world(model_);
  TouchLoopSettings settings;
  settings.queued_samples = 0;
  TouchLoop loop({&slow, &hanging}, world, settings);
  loop.start();
  const auto both_push = [&] { return slow.force() > k_full_force && hanging.force() > k_full_force; };
  if (comes_true(k_pushing_patience, both_push)) {
    slow_ = std::fmod(slow_ + k_slow_step, k_most_slow - k_least_slow);
    failure.slow.store(k_least_slow + slow_);
    if (comes_true(k_pushing_patience, [&] { return failure.inside.load(); })) {
      ++count_.pairs;
      const auto force = [&] { return std::max(slow.force(), hanging.force()); };
      if (!comes_true(k_bound, [&] { return force() == 0; })) {
        ++count_.left_on;
        count_.force_left = std::max(count_.force_left, force());
      }
    }
  }
  failure.over.store(true);  // else the loop would leave its thread behind
  loop.stop();
}

}  // namespace cotouch

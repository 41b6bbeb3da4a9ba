#include <cotouch/device/plugin_device.h>

#include <cotouch/base/error.h>
#include <cotouch/base/realtime.h>
#include <cotouch/device/patience.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

namespace cotouch {
namespace {

constexpr auto k_closing_patience = std::chrono::milliseconds(2000),
               k_enabling_patience = std::chrono::milliseconds(500);

// A plug-in's number, as a sentence would say it.
std::string spoken(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

void check_between(const char* what, double value, double low, double high, const char* unit) {
  if (std::isfinite(value) && value >= low && value <= high) return;
  constexpr double k_as_good_as_nothing = 1e-6;
  const std::string from = low > k_as_good_as_nothing ? "From " + spoken(low) + unit + " up to "
                           : low > 0                  ? std::string("More than nothing and at most ")
                                                      : std::string("At most ");
  throw Error(std::string("It says what cannot be: ") + what + " of " + spoken(value) + unit + ". " + from +
              spoken(high) + unit + " can be true.");
}

SilenceCall checked_silence(const CotouchDeviceSilence& said) {
  const std::size_t length = strnlen(said.path, sizeof said.path);
  if (length == sizeof said.path || said.path[0] != '/' || said.bytes == 0 || said.bytes > sizeof said.message)
    throw Error("It does not say where a process that guards it could take its force away. It is damaged.");
  const auto* message = reinterpret_cast<const std::byte*>(said.message);
  return {{said.path, length}, {message, message + said.bytes}};
}

void close_with_patience(std::shared_ptr<const CotouchDevicePlugin> plugin, void* device) {
  with_patience(k_closing_patience, [plugin = std::move(plugin), device] {
    try {
      plugin->close(device);
    } catch (...) {  // there is nothing left to be done for it
    }
    return true;
  });
}

}  // namespace

DeviceLimits checked_limits(const CotouchDeviceDescription& said) {
  if ((said.flags & COTOUCH_DEVICE_WITHOUT_MOTORS) != 0) return k_without_motors;
  constexpr double k_something = 1e-9;
  const bool turns = said.peak_torque != 0;
  check_between("a peak force", said.peak_force, k_something, 1000, " N");
  check_between("a continuous force", said.continuous_force, 0, said.peak_force, " N");
  check_between("a peak torque", said.peak_torque, 0, 100, " N m");
  check_between("a continuous torque", said.continuous_torque, 0, said.peak_torque, " N m");
  check_between("a time to warm up", said.heating_seconds, 0, 1e5, " s");
  check_between("a stiffness", said.stiffness, k_something, 1e6, " N/m");
  check_between("an angular stiffness", said.angular_stiffness, turns ? k_something : 0, 1e5, " N m/rad");
  check_between("a delay", said.delay, 0, 0.1, " s");
  check_between("a speed", said.speed, k_something, 100, " m/s");
  check_between("a turning speed", said.turn_speed, turns ? k_something : 0, 1000, " rad/s");
  return {{said.peak_force, said.continuous_force, said.peak_torque, said.continuous_torque, said.heating_seconds},
          said.stiffness,
          turns ? said.angular_stiffness : DeviceLimits::k_none,  // it renders none, so none can shake it
          said.delay,
          said.speed,
          said.turn_speed};
}

Workspace checked_workspace(const CotouchDeviceDescription& said) {
  if (said.reach == 0) return {};
  check_between("a reach", said.reach, 1e-3, 10, " m");
  return {said.reach};
}

// The thread that calls the plug-in's disable().
class PluginDevice::PowerCut {
 public:
  PowerCut(std::shared_ptr<const CotouchDevicePlugin> plugin, void* device)
      : plugin_(std::move(plugin)), device_(device) {}
  static std::shared_ptr<PowerCut> start(std::shared_ptr<const CotouchDevicePlugin> plugin, void* device) {
    auto cut = std::make_shared<PowerCut>(std::move(plugin), device);
    std::thread([cut] { cut->run(); }).detach();
    return cut;
  }

  // From any thread; does not wait.
  void ask() noexcept {
    asked_.fetch_add(k_one_cut);
    asked_.notify_one();
  }
  // False if the plug-in is still inside. Waits a little for it, but only once for the same call.
  bool is_done() noexcept {
    for (int tries = 0; tries < k_tries_until_done; ++tries) {
      const std::uint32_t asked = asked_.load() & ~k_end;
      if (done_.load() == asked) return true;
      if (hung_in_.load() == asked) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    hung_in_.store(asked_.load() & ~k_end);
    return false;
  }
  void end() noexcept {
    asked_.fetch_or(k_end);
    asked_.notify_one();
  }

 private:
  static constexpr std::uint32_t k_end = 1, k_one_cut = 2;
  static constexpr int k_tries_until_done = 100;

  void run() noexcept {
    static_cast<void>(request_priority(k_watchdog_priority));  // without it, as soon as there is a processor
    for (std::uint32_t asked = asked_.load();; asked = asked_.load()) {
      if ((asked & ~k_end) != done_.load()) {
        try {
          plugin_->disable(device_);
        } catch (...) {
        }
        done_.store(asked & ~k_end);
      } else if ((asked & k_end) != 0) {
        return;
      } else {
        asked_.wait(asked);
      }
    }
  }

  std::shared_ptr<const CotouchDevicePlugin> plugin_;
  void* device_;
  std::atomic<std::uint32_t> asked_{0}, done_{0};
  std::atomic<std::uint32_t> hung_in_{0};  // the newest call that was waited for in vain; 0: none
};

// A call of the plug-in's enable(), which its thread may never leave.
struct PluginDevice::Enabling {
  enum class Stage : std::uint8_t { none, waited_for, given_up };
  std::atomic<Stage> stage{Stage::none};
};

PluginDevice::PluginDevice(std::shared_ptr<const CotouchDevicePlugin> plugin, void* device,
                           const std::string& listed_name)
    : plugin_(std::move(plugin)), device_(device), enabling_(std::make_shared<Enabling>()) {
  try {
    PluginStruct<CotouchDeviceDescription> description;
    if (plugin_->describe(device_, description.get()) != 1)
      throw Error("It does not say what the device can bear. Switch it off and on.", ErrorCode::io);
    if (!description.is_sound()) throw Error("It says what cannot be: a description of a size that none has.");
    limits_ = checked_limits(*description.get());
    workspace_ = checked_workspace(*description.get());
    name_ = plugin_text({description->name, sizeof description->name});
    if (name_.empty()) name_ = listed_name;
    PluginStruct<CotouchDeviceSilence> silence;
    if (plugin_->silence != nullptr && plugin_->silence(device_, silence.get()) == 1)
      silence_ = checked_silence(*silence.get());
    power_cut_ = PowerCut::start(plugin_, device_);
  } catch (...) {
    close_with_patience(plugin_, device_);
    throw;
  }
}

PluginDevice::~PluginDevice() {
  const bool is_free = power_cut_->is_done() && enabling_->stage.load() == Enabling::Stage::none;
  power_cut_->end();
  if (is_free) close_with_patience(plugin_, device_);  // otherwise somebody is still inside
}

bool PluginDevice::read(DeviceReading& reading) noexcept {
  if (broken_.load(std::memory_order_acquire)) return false;
  reading_.clear();
  std::int32_t there = 0;
  try {
    there = plugin_->read(device_, reading_.get());
  } catch (...) {
    give_up();
  }
  if (there != 1) return false;
  const CotouchDeviceReading& said = *reading_.get();
  reading = {};
  constexpr double k_no_number = std::numeric_limits<double>::quiet_NaN();  // what makes it faulty
  if (reading_.is_sound())
    reading.pose = {{said.position[0], said.position[1], said.position[2]},
                    {said.rotation[0], said.rotation[1], said.rotation[2], said.rotation[3]}};
  else
    reading.pose.position = {k_no_number, k_no_number, k_no_number};
  if ((said.flags & COTOUCH_READING_HAS_CLOCK) != 0) reading.clock = said.clock;
  reading.buttons = said.buttons;
  reading.motors = said.motors == COTOUCH_MOTORS_ON          ? Motors::on
                   : said.motors == COTOUCH_MOTORS_RESTARTED ? Motors::restarted
                                                             : Motors::off;
  return true;
}

void PluginDevice::write(const LimitedWrench& wrench) noexcept {
  if (disabled_.load(std::memory_order_acquire)) return;
  const Wrench& given = wrench.get();
  wrench_->size = sizeof(CotouchDeviceWrench);
  wrench_->force[0] = given.force.x;
  wrench_->force[1] = given.force.y;
  wrench_->force[2] = given.force.z;
  wrench_->torque[0] = given.torque.x;
  wrench_->torque[1] = given.torque.y;
  wrench_->torque[2] = given.torque.z;
  try {
    plugin_->write(device_, wrench_.get());
  } catch (...) {
    give_up();
  }
}

// Exceptions may not leave a plug-in. What it was about to do when it threw is not known.
void PluginDevice::give_up() noexcept {
  broken_.store(true, std::memory_order_release);
  disable();
}

void PluginDevice::disable() noexcept {
  disabled_.store(true, std::memory_order_release);
  power_cut_->ask();
}

bool PluginDevice::enable() noexcept {
  using Stage = Enabling::Stage;
  if (!power_cut_->is_done() || enabling_->stage.load() != Stage::none) return false;
  enabling_->stage.store(Stage::waited_for);
  std::optional<bool> has_power;
  try {
    has_power = with_patience(k_enabling_patience, [plugin = plugin_, device = device_, enabling = enabling_] {
      bool works = false;
      try {
        works = plugin->enable(device) == 1;
      } catch (...) {
      }
      Stage before = Stage::waited_for;
      if (enabling->stage.compare_exchange_strong(before, Stage::none)) return works;
      try {  // too late: it is taken to be without power
        plugin->disable(device);
      } catch (...) {
      }
      enabling->stage.store(Stage::none);
      return false;
    });
  } catch (...) {  // no thread could be started
    enabling_->stage.store(Stage::none);
    return false;
  }
  if (!has_power) {
    Stage before = Stage::waited_for;
    enabling_->stage.compare_exchange_strong(before, Stage::given_up);
    disable();
    return false;
  }
  if (*has_power) disabled_.store(false, std::memory_order_release);
  return *has_power;
}

}  // namespace cotouch

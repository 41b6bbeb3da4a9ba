// An open device of a plug-in.
//
// The loop's watchdog counts on disable() to come back at once, and a plug-in may break its promise to. So a thread of
// the device's own, as urgent as the watchdog, makes the plug-in's call. Whatever becomes of that, no wrench is handed
// to the plug-in any more. enable() has a thread of its own as well: the session waits for it, and it may hang.
#pragma once

#include <cotouch/device/plugin.h>
#include <cotouch/device/plugin_struct.h>

namespace cotouch {

class PluginDevice final : public Device {
 public:
  // Takes over what the plug-in opened and asks it what it is. Throws Error, and closes it, if it says what cannot be,
  // does not answer or does not come back.
  PluginDevice(std::shared_ptr<const CotouchDevicePlugin> plugin, void* device, const std::string& listed_name);
  ~PluginDevice() override;

  std::string name() const override { return name_; }
  DeviceLimits limits() const noexcept override { return limits_; }
  Workspace workspace() const noexcept override { return workspace_; }
  std::optional<SilenceCall> silence_call() const override { return silence_; }
  bool read(DeviceReading& reading) noexcept override;
  void write(const LimitedWrench& wrench) noexcept override;
  void disable() noexcept override;
  bool enable() noexcept override;

 private:
  class PowerCut;
  struct Enabling;
  void give_up() noexcept;

  std::shared_ptr<const CotouchDevicePlugin> plugin_;
  void* device_;
  std::string name_;
  DeviceLimits limits_;
  Workspace workspace_;
  std::optional<SilenceCall> silence_;
  // Neither is touched by two threads at once: the limiter sees to it for writing, the loop for reading.
  PluginStruct<CotouchDeviceReading> reading_;
  PluginStruct<CotouchDeviceWrench> wrench_;
  std::atomic<bool> disabled_{false}, broken_{false};
  // Shared with their threads, which may hang in the plug-in.
  std::shared_ptr<PowerCut> power_cut_;
  std::shared_ptr<Enabling> enabling_;
};

// What a plug-in's description says, checked. Throws Error naming what cannot be.
DeviceLimits checked_limits(const CotouchDeviceDescription& description);
Workspace checked_workspace(const CotouchDeviceDescription& description);

}  // namespace cotouch

// Devices from shared libraries: plug-ins that speak the C interface of plugin_abi.h.
//
// What is loaded here runs in this process, so see first in another one whether it can be loaded at all
// (plugin_probe.h; DeviceCatalog does). Functions that may take long are called with patience, and what a plug-in says
// is checked before it is used. A library is never unloaded: vendors' libraries leave threads behind, and a driver that
// hangs is still inside.
#pragma once

#include <cotouch/device/device.h>
#include <cotouch/device/plugin_abi.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

inline constexpr std::uint32_t k_most_plugin_devices = 32;

enum class Presence : std::uint8_t { connected, absent, in_use, broken };

// A device as its plug-in lists it, checked.
struct PluginDeviceInfo {
  std::string name, serial, sentence;
  Presence presence = Presence::connected;
};

class DevicePlugin {
 public:
  // Throws Error with a sentence that says why the file is no plug-in that can be used.
  static DevicePlugin load(const std::filesystem::path& file);

  const std::string& name() const noexcept { return name_; }
  const std::string& version() const noexcept { return version_; }
  // Throw Error if the plug-in says what cannot be, or does not come back.
  std::vector<PluginDeviceInfo> list() const;
  // `device` as list() gave it. Throws Error with the plug-in's sentence if it cannot be opened, and with the code
  // `busy` if it is in use.
  std::unique_ptr<Device> open(const PluginDeviceInfo& device, const std::string& settings = {}) const;

 private:
  DevicePlugin() = default;
  std::shared_ptr<const CotouchDevicePlugin> table_;  // a copy, with null where the plug-in's own ends
  std::string name_, version_;
};

// Letters, digits, '-', '_' and '.', up to 63.
bool is_device_name(std::string_view name) noexcept;
// From an array of a plug-in: up to its zero byte, without control characters or what is no UTF-8.
std::string plugin_text(std::string_view array);

}  // namespace cotouch

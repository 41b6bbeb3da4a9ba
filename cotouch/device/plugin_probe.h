// Whether plug-ins can be used, found out where it cannot hurt: each is loaded by a process of its own,
// cotouch-probe-device, which opens what it lists, asks what that is, and closes it again. One that crashes or hangs
// meanwhile ends that process.
#pragma once

#include <cotouch/device/plugin.h>

#include <optional>
#include <span>

namespace cotouch {

struct ProbedDevice {
  PluginDeviceInfo info;               // with what came of opening it
  std::string title;                   // as it describes itself
  std::optional<DeviceLimits> limits;  // if it could be opened
  bool needs_guard = false;            // it would keep pushing if its program died
};

struct ProbedPlugin {
  std::filesystem::path file;
  std::string name, version;
  std::string refusal;  // why it cannot be used; empty if it can
  std::vector<ProbedDevice> devices;
};

// All at the same time; returns after a few seconds at most. `program` empty: the one that is found. Throws Error if
// there is none.
std::vector<ProbedPlugin> probe_plugins(std::span<const std::filesystem::path> files,
                                        const std::filesystem::path& program = {});

// The other side: what the process does. Writes to the descriptor, line by line, what probe_plugins reads.
void probe_here(const std::filesystem::path& file, int out) noexcept;

}  // namespace cotouch

#include <cotouch/app/device_argument.h>

#include <cotouch/base/error.h>
#include <cotouch/device/catalog.h>
#include <cotouch/device/open_device.h>
#include <cotouch/device/spacemouse.h>

#include <algorithm>
#include <exception>
#include <future>
#include <optional>
#include <thread>
#include <utility>

namespace cotouch {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& wanted) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name.substr(0, name.find(':')) == wanted; });
}

// All that plug-ins have, but for those of these names.
std::vector<MissingDevice> others(const DeviceCatalog& catalog, const std::vector<std::string>& names) {
  std::vector<MissingDevice> all;
  for (const DeviceListing& device : catalog.devices()) {
    if (contains(names, device.name)) continue;
    all.push_back({device.name, device.is_connected() ? "It is connected. Start cotouch with --device " + device.name +
                                                            " to let it take part."
                                                      : reason_of(device)});
  }
  for (const ProbedPlugin& plugin : catalog.plugins())
    if (!plugin.refusal.empty()) all.push_back({plugin.file.filename().string(), plugin.refusal});
  return all;
}

// Looking takes a moment, and seconds if a plug-in hangs, so nobody waits for it. Its thread is left behind if the
// program ends meanwhile; the processes that it looks with end with it.
std::shared_future<std::vector<MissingDevice>> look_for_others() {
  const auto found = std::make_shared<std::promise<std::vector<MissingDevice>>>();
  std::shared_future<std::vector<MissingDevice>> later = found->get_future().share();
  std::thread([found, folders = DeviceCatalog::usual_folders()] {
    std::vector<MissingDevice> all;
    try {
      all = others(DeviceCatalog(folders), {});
    } catch (const std::exception&) {  // they cannot be looked for, and no one was asked for
    }
    found->set_value(std::move(all));
  }).detach();
  return later;
}

}  // namespace

void refuse_settings_of_own(const std::string& wanted) {
  for (const std::string own : {k_scripted, SpaceMouse::k_name})
    if (wanted.starts_with(own + ":"))
      throw Error("The device '" + own + "' takes no settings; leave out what stands behind its name.",
                  ErrorCode::invalid_argument);
}

OpenedDevices open_devices(const std::vector<std::string>& names) {
  if (names.size() > k_most_devices)
    throw Error("At most " + std::to_string(k_most_devices) + " devices take part at one program.",
                ErrorCode::invalid_argument);
  OpenedDevices opened;
  std::optional<DeviceCatalog> catalog;
  for (const std::string& name : names) {
    refuse_settings_of_own(name);
    if (name == SpaceMouse::k_name) continue;
    if (name != k_scripted && !catalog) catalog.emplace();
    opened.devices.push_back(make_hand(name == k_scripted ? open_scripted() : catalog->open(name)));
  }
  if (catalog)
    opened.missing.known = others(*catalog, names);
  else
    opened.missing.later = look_for_others();

  std::unique_ptr<SpaceMouse> mouse = SpaceMouse::open(opened.no_spacemouse);
  if (mouse != nullptr && opened.devices.size() < k_most_devices)
    opened.devices.push_back(std::make_unique<SteeredDevice>(std::move(mouse)));
  else if (mouse != nullptr)
    opened.missing.known.push_back({"SpaceMouse",
                                    "It is connected. As many devices as can take part were named; leave one "
                                    "of them out to let it take part."});
  else if (contains(names, SpaceMouse::k_name))
    throw Error(opened.no_spacemouse, ErrorCode::not_found);
  else if (SpaceMouse::is_expected())
    opened.missing.known.push_back({"SpaceMouse", opened.no_spacemouse});
  return opened;
}

}  // namespace cotouch

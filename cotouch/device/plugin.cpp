#include <cotouch/device/plugin.h>

#include <cotouch/base/error.h>
#include <cotouch/device/patience.h>
#include <cotouch/device/plugin_device.h>

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

namespace cotouch {
namespace {

using namespace std::chrono_literals;

constexpr auto k_loading_patience = 3000ms, k_listing_patience = 3000ms, k_opening_patience = 4000ms;
constexpr std::size_t k_name_room = 64;

// dlopen's own sentence names files and libraries; the usual causes in plain words.
std::string why_not_loaded(const std::filesystem::path& file, const std::string& said) {
  constexpr std::string_view k_missing = ": cannot open shared object file";
  const std::size_t missing = said.find(k_missing);
  if (missing != std::string::npos && !said.starts_with(file.string()))
    return "It needs the library " + said.substr(0, missing) +
           ", which is not installed. Install the device's software.";
  for (const char* other : {"invalid ELF header", "file too short", "wrong ELF class", "cannot open shared object"})
    if (said.find(other) != std::string::npos) return "It is no library for this machine (" + said + ").";
  if (said.find("undefined symbol") != std::string::npos)
    return "It does not fit the libraries that are installed (" + said + ").";
  return "It cannot be loaded: " + said + ".";
}

using EntryPoint = const CotouchDevicePlugin* (*)(std::uint32_t);

EntryPoint load_entry_point(const std::filesystem::path& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* said = dlerror();
    throw Error(why_not_loaded(file, said != nullptr ? said : "no reason is given"), ErrorCode::unsupported);
  }
  void* symbol = dlsym(library, "cotouch_device_plugin");
  if (symbol == nullptr)
    throw Error("It is no plug-in for devices: it has no function cotouch_device_plugin.", ErrorCode::unsupported);
  EntryPoint entry = nullptr;
  std::memcpy(&entry, &symbol, sizeof entry);
  return entry;
}

CotouchDevicePlugin ask_for_table(EntryPoint entry) {
  const CotouchDevicePlugin* theirs = entry(COTOUCH_DEVICE_ABI);
  if (theirs == nullptr)
    throw Error("It is made for another version of cotouch. Install the one for this version.", ErrorCode::unsupported);
  std::uint32_t size = 0;
  std::memcpy(&size, theirs, sizeof size);
  if (size < 2 * sizeof(std::uint32_t) || size > COTOUCH_DEVICE_ROOM)
    throw Error("It gives a table of " + std::to_string(size) + " bytes, which cannot be. It is damaged.");
  const CotouchDevicePlugin table = known_part(theirs);
  if (table.abi != COTOUCH_DEVICE_ABI)
    throw Error("It speaks version " + std::to_string(table.abi) +
                    " of the interface for devices, and this cotouch version " + std::to_string(COTOUCH_DEVICE_ABI) +
                    ". Install the one for this version.",
                ErrorCode::unsupported);
  if (table.list == nullptr || table.open == nullptr || table.close == nullptr || table.describe == nullptr ||
      table.read == nullptr || table.write == nullptr || table.disable == nullptr || table.enable == nullptr)
    throw Error("It lacks functions that a device needs. It is damaged.");
  return table;
}

// For a plug-in's text outside of a struct; a few bytes, or it is none.
std::string short_text(const char* text) {
  return text == nullptr ? std::string() : plugin_text({text, strnlen(text, k_name_room - 1)});
}

template <std::size_t Size>
std::string text_of(const char (&array)[Size]) {
  return plugin_text({array, Size});
}

Presence presence_of(std::uint32_t state) {
  switch (state) {
    case COTOUCH_DEVICE_CONNECTED: return Presence::connected;
    case COTOUCH_DEVICE_ABSENT: return Presence::absent;
    case COTOUCH_DEVICE_IN_USE: return Presence::in_use;
    default: return Presence::broken;
  }
}

std::vector<PluginDeviceInfo> ask_for_list(const CotouchDevicePlugin& table) {
  std::vector<PluginDeviceInfo> devices;
  for (std::uint32_t index = 0; index < k_most_plugin_devices; ++index) {
    PluginStruct<CotouchDeviceInfo> info;
    if (table.list(index, info.get()) != 1) break;
    PluginDeviceInfo device{text_of(info->name), text_of(info->serial), text_of(info->sentence),
                            presence_of(info->state)};
    if (!info.is_sound() || !is_device_name(device.name))
      throw Error("It lists a device without a name that can be typed. It is damaged.");
    devices.push_back(std::move(device));
  }
  return devices;
}

std::unique_ptr<Device> open_and_describe(const std::shared_ptr<const CotouchDevicePlugin>& table,
                                          const PluginDeviceInfo& info, const std::string& settings) {
  PluginStruct<CotouchDeviceOpening> opening;
  opening->name = info.name.c_str();
  opening->serial = info.serial.c_str();
  opening->settings = settings.c_str();
  PluginStruct<CotouchDeviceAnswer> answer;
  void* device = table->open(opening.get(), answer.get());
  if (device != nullptr) return std::make_unique<PluginDevice>(table, device, info.name);
  const std::string sentence = text_of(answer->sentence);
  const Presence presence = presence_of(answer->state);
  if (presence == Presence::in_use)
    throw Error(sentence.empty() ? "It is in use by another program." : sentence, ErrorCode::busy);
  if (presence == Presence::absent)
    throw Error(sentence.empty() ? "It is not connected." : sentence, ErrorCode::not_found);
  throw Error(sentence.empty() ? "It cannot be opened, and its plug-in does not say why." : sentence, ErrorCode::io);
}

// Exceptions may not leave a plug-in, but one written in C++ may forget that.
template <class Work>
auto asked(const char* doing, std::chrono::milliseconds patience, const Work& work) {
  const auto guarded = [doing, work] {
    try {
      return work();
    } catch (const Error&) {
      throw;
    } catch (...) {
      throw Error(std::string("It throws while it is ") + doing + ". It is damaged.");
    }
  };
  auto result = with_patience(patience, guarded);
  if (!result) throw Error(std::string("It does not come back while it is ") + doing + ".", ErrorCode::io);
  return std::move(*result);
}

}  // namespace

bool is_device_name(std::string_view name) noexcept {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return !name.empty() && name.size() < k_name_room && std::all_of(name.begin(), name.end(), fits);
}

std::string plugin_text(std::string_view array) {
  const std::string_view text = array.substr(0, array.find('\0'));
  std::string clean;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xc2 && first < 0xe0 ? 2
                               : first >= 0xe0 && first < 0xf0 ? 3
                               : first >= 0xf0 && first < 0xf5 ? 4
                                                               : 0;
    bool whole = length > 0 && i + length <= text.size();
    for (std::size_t k = 1; whole && k < length; ++k) whole = (static_cast<unsigned char>(text[i + k]) & 0xc0U) == 0x80;
    // Control characters, those of U+0080 to U+009F among them, would reach a terminal.
    const bool controls =
        first < 0x20 || first == 0x7f || (whole && first == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0);
    clean += whole && !controls ? std::string(text.substr(i, length)) : "?";
    i += whole ? length : 1;
  }
  return clean;
}

DevicePlugin DevicePlugin::load(const std::filesystem::path& file) {
  struct Loaded {
    CotouchDevicePlugin table;
    std::string name, version;
  };
  const Loaded loaded = asked("loaded", k_loading_patience, [file] {
    const CotouchDevicePlugin table = ask_for_table(load_entry_point(file));
    return Loaded{table, short_text(table.name), short_text(table.version)};
  });
  if (!is_device_name(loaded.name)) throw Error("It has no name that can be typed. It is damaged.");
  DevicePlugin plugin;
  plugin.table_ = std::make_shared<const CotouchDevicePlugin>(loaded.table);
  plugin.name_ = loaded.name;
  plugin.version_ = loaded.version;
  return plugin;
}

std::vector<PluginDeviceInfo> DevicePlugin::list() const {
  return asked("listing its devices", k_listing_patience, [table = table_] { return ask_for_list(*table); });
}

std::unique_ptr<Device> DevicePlugin::open(const PluginDeviceInfo& device, const std::string& settings) const {
  return asked("opened", k_opening_patience,
               [table = table_, device, settings] { return open_and_describe(table, device, settings); });
}

}  // namespace cotouch

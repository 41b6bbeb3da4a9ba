// Structs that grow: how one is handed to a plug-in that may be older or newer than this program (plugin_abi.h).
#pragma once

#include <cotouch/device/plugin_abi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace cotouch {

// A struct in zeroed room for those that come after it.
template <class Struct>
class PluginStruct {
  static_assert(std::is_trivially_copyable_v<Struct> && sizeof(Struct) <= COTOUCH_DEVICE_ROOM);

 public:
  PluginStruct() noexcept { clear(); }
  // For the next call. What a newer plug-in wrote beyond is nobody's, and stays.
  void clear() noexcept {
    std::memset(room_.data(), 0, sizeof(Struct));
    get()->size = sizeof(Struct);
  }
  Struct* get() noexcept { return reinterpret_cast<Struct*>(room_.data()); }
  Struct* operator->() noexcept { return get(); }
  // Whether the plug-in has left a size that can be true.
  bool is_sound() noexcept { return get()->size >= sizeof(std::uint32_t) && get()->size <= COTOUCH_DEVICE_ROOM; }

 private:
  alignas(std::max_align_t) std::array<std::byte, COTOUCH_DEVICE_ROOM> room_{};
};

// What a plug-in keeps itself: as much as both know, zero beyond.
template <class Struct>
Struct known_part(const Struct* theirs) noexcept {
  Struct known{};
  std::uint32_t size = 0;
  std::memcpy(&size, theirs, sizeof size);
  std::memcpy(static_cast<void*>(&known), theirs, std::min<std::size_t>(size, sizeof(Struct)));
  return known;
}

}  // namespace cotouch

// Which devices there are: what plug-ins were found, in which folders, and what became of them.
//
// Looked for are files NAME.so, in this order:
//   the folders that the environment's COTOUCH_DEVICES names, separated by ':';
//   the user's: $XDG_DATA_HOME/cotouch/devices, else ~/.local/share/cotouch/devices;
//   the installation's: lib/cotouch/devices beside the folder of the running program.
// Of files of the same name the first is used. What is loaded runs as this program, so it is refused if others could
// change it: the file and every folder above it must belong to root or to the user who runs the program, and nobody
// else may write to them. Where links lead counts, and that is what is loaded.
#pragma once

#include <cotouch/device/plugin_probe.h>

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

struct FolderListing {
  std::filesystem::path folder;
  bool exists = false;
  std::string refusal;  // why nothing is taken from it; empty if something is
};

// A device that was found. It can be opened if it is connected.
struct DeviceListing {
  std::string name;      // to open it by
  std::string plugin;    // of which plug-in
  std::size_t file = 0;  // index in plugins()
  ProbedDevice found;

  bool is_connected() const noexcept { return found.info.presence == Presence::connected; }
};

class DeviceCatalog {
 public:
  static std::vector<std::filesystem::path> usual_folders();

  // Looks into all folders and at all plug-ins, each in a process of its own; takes a moment, and some seconds if one
  // does not come back. Throws Error if the program that does it is missing.
  explicit DeviceCatalog(std::vector<std::filesystem::path> folders = usual_folders());

  const std::vector<FolderListing>& folders() const noexcept { return folders_; }
  const std::vector<ProbedPlugin>& plugins() const noexcept { return plugins_; }
  const std::vector<DeviceListing>& devices() const noexcept { return devices_; }

  // Opens "NAME" or "NAME:SETTINGS". Throws Error with the names that there are, or why this one is refused.
  std::unique_ptr<Device> open(std::string_view wanted) const;

 private:
  std::vector<FolderListing> folders_;
  std::vector<ProbedPlugin> plugins_;
  std::vector<DeviceListing> devices_;
};

// Who could change a file or folder besides root and the user of these numbers, from what stat() says of it. The group
// may be the user's own: many systems give every user one that has no other members. A folder above the one that is
// searched may have a sticky bit, as /tmp has: there, only owners can replace what is.
enum class Stranger : std::uint8_t { none, owner, group, everyone };
Stranger stranger_with_access(const struct stat& about, uid_t user, gid_t group, bool is_above) noexcept;

// Why nothing may be loaded from there; empty if it may.
std::string refusal_of_folder(const std::filesystem::path& folder);
// Why a device that is not connected cannot be used.
std::string reason_of(const DeviceListing& device);
// What a state is called: "connected", "absent", "in use", "refused".
const char* presence_name(Presence presence) noexcept;

}  // namespace cotouch

#include <cotouch/device/catalog.h>

#include <cotouch/base/error.h>

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <system_error>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_plugins = 64;
constexpr const char* k_devices = "cotouch/devices";
constexpr const char* k_not_connected = "It is switched off or not plugged in. ";

// By their number if the system has no name for them.
std::string name_of_user(uid_t id) {
  std::array<char, 4096> memory{};
  passwd entry{}, *found = nullptr;
  const bool is_known = getpwuid_r(id, &entry, memory.data(), memory.size(), &found) == 0 && found != nullptr;
  return is_known ? "'" + std::string(entry.pw_name) + "'" : "number " + std::to_string(id);
}
std::string name_of_group(gid_t id) {
  std::array<char, 4096> memory{};
  group entry{}, *found = nullptr;
  const bool is_known = getgrgid_r(id, &entry, memory.data(), memory.size(), &found) == 0 && found != nullptr;
  return is_known ? "'" + std::string(entry.gr_name) + "'" : "number " + std::to_string(id);
}

// Who may exchange the program that runs needs no plug-in for that, as with a build that root tries in somebody's
// folder.
void trust_who_may_change_the_program(struct stat& about) {
  struct stat program {};
  if (stat("/proc/self/exe", &program) != 0) return;
  if (about.st_uid == program.st_uid) about.st_uid = geteuid();
  if (about.st_gid == program.st_gid && (program.st_mode & S_IWGRP) != 0) about.st_gid = getegid();
}

// Why this one file or folder cannot be trusted; empty if it can. `real` has no links in it.
std::string refusal_of_one(const fs::path& real, bool is_above) {
  struct stat about {};
  if (stat(real.c_str(), &about) != 0)
    return "It is not known who may write to " + real.string() + " (" + std::strerror(errno) + ").";
  trust_who_may_change_the_program(about);
  const auto cure = [&](const char* change) {
    return ", and what is there would run as you. Take that right away: chmod " + std::string(change) + " " +
           real.string();
  };
  switch (stranger_with_access(about, geteuid(), getegid(), is_above)) {
    case Stranger::owner:
      return real.string() + " belongs to the user " + name_of_user(about.st_uid) +
             ", who could exchange what would run as you. Copy the plug-in to a folder of your own, or have it "
             "installed by the administrator.";
    case Stranger::group:
      return "Every user of the group " + name_of_group(about.st_gid) + " may write to " + real.string() + cure("g-w");
    case Stranger::everyone: return "Every user of this machine may write to " + real.string() + cure("o-w");
    case Stranger::none: break;
  }
  return {};
}

// In the order of their names, so that a listing is the same every time.
std::vector<fs::path> libraries_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().extension() == ".so" && fs::is_regular_file(entry->path(), ignored))
      found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Of a file and the folders above it; without links in its path.
std::string refusal_of_file(const fs::path& real) {
  const std::string refusal = refusal_of_one(real, false);
  return refusal.empty() ? refusal_of_folder(real.parent_path()) : refusal;
}

ProbedPlugin refused(const fs::path& file, std::string why) {
  ProbedPlugin plugin;
  plugin.file = file;
  plugin.refusal = std::move(why);
  return plugin;
}

// Two devices of one name can be told apart by their serial numbers, or at least by their order.
void name_apart(std::vector<DeviceListing>& devices) {
  std::map<std::string, std::size_t> count;
  for (const DeviceListing& device : devices) ++count[device.name];
  std::set<std::string> taken;
  for (DeviceListing& device : devices) {
    const std::string plain = device.name, &serial = device.found.info.serial;
    if (count[plain] > 1 && is_device_name(serial)) device.name = plain + "@" + serial;
    for (std::size_t number = 1; taken.contains(device.name) || (device.name == plain && count[plain] > 1); ++number)
      device.name = plain + "#" + std::to_string(number);
    taken.insert(device.name);
  }
}

std::string names_of(const std::vector<DeviceListing>& devices) {
  std::string names;
  for (const DeviceListing& device : devices)
    if (device.is_connected()) names += (names.empty() ? "'" : ", '") + device.name + "'";
  return names;
}

}  // namespace

std::string reason_of(const DeviceListing& device) {
  const PluginDeviceInfo& info = device.found.info;
  if (info.presence == Presence::in_use && info.sentence.empty()) return "It is in use by another program.";
  return (info.presence == Presence::absent ? k_not_connected : "") + info.sentence;
}

const char* presence_name(Presence presence) noexcept {
  switch (presence) {
    case Presence::connected: return "connected";
    case Presence::absent: return "absent";
    case Presence::in_use: return "in use";
    case Presence::broken: break;
  }
  return "refused";
}

Stranger stranger_with_access(const struct stat& about, uid_t user, gid_t group, bool is_above) noexcept {
  if (about.st_uid != 0 && about.st_uid != user) return Stranger::owner;
  if (is_above && (about.st_mode & S_ISVTX) != 0) return Stranger::none;
  if ((about.st_mode & S_IWOTH) != 0) return Stranger::everyone;
  const bool is_foreign_group = about.st_gid != 0 && about.st_gid != group;
  return (about.st_mode & S_IWGRP) != 0 && is_foreign_group ? Stranger::group : Stranger::none;
}

std::string refusal_of_folder(const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error) return "It cannot be entered (" + error.message() + ").";
  bool is_above = false;
  for (fs::path at = real;; at = at.parent_path(), is_above = true) {
    if (std::string refusal = refusal_of_one(at, is_above); !refusal.empty()) return refusal;
    if (at == at.root_path()) return {};
  }
}

std::vector<fs::path> DeviceCatalog::usual_folders() {
  std::vector<fs::path> folders;
  // secure_getenv: who starts a privileged program does not choose what it loads.
  const char* named = secure_getenv("COTOUCH_DEVICES");
  for (std::string_view rest = named != nullptr ? named : ""; !rest.empty();) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    if (!folder.empty()) folders.emplace_back(fs::absolute(folder));
  }
  const char* data = secure_getenv("XDG_DATA_HOME");
  const char* home = secure_getenv("HOME");
  if (data != nullptr && *data == '/')
    folders.push_back(fs::path(data) / k_devices);
  else if (home != nullptr && *home == '/')
    folders.push_back(fs::path(home) / ".local/share" / k_devices);
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back(program.parent_path().parent_path() / "lib" / k_devices);
  return folders;
}

DeviceCatalog::DeviceCatalog(std::vector<fs::path> folders) {
  std::vector<fs::path> files;
  std::map<fs::path, fs::path> first_of_name;
  for (fs::path& folder : folders) {
    FolderListing& listing = folders_.emplace_back();
    listing.folder = std::move(folder);
    std::error_code error;
    listing.exists = fs::exists(listing.folder, error);
    if (!listing.exists) continue;
    if (!fs::is_directory(listing.folder, error)) {
      listing.refusal = "It is no folder; name the one that it is in.";
      continue;
    }
    listing.refusal = refusal_of_folder(listing.folder);
    if (!listing.refusal.empty()) continue;
    for (const fs::path& file : libraries_in(listing.folder)) {
      const auto [first, is_new] = first_of_name.try_emplace(file.filename(), file);
      const fs::path real = fs::canonical(file, error);
      if (!is_new)
        plugins_.push_back(refused(file, "It stands behind " + first->second.string() + ", which has the same name."));
      else if (error)
        plugins_.push_back(refused(file, "It cannot be opened (" + error.message() + ")."));
      else if (const std::string why = refusal_of_file(real); !why.empty())
        plugins_.push_back(refused(file, why));
      else if (files.size() == k_most_plugins)
        plugins_.push_back(refused(file, "There are more plug-ins than can be used at the same time."));
      else
        files.push_back(real);  // what was checked, even if a link on the way leads elsewhere by now
    }
  }
  std::vector<ProbedPlugin> probed = probe_plugins(files);
  plugins_.insert(plugins_.begin(), std::make_move_iterator(probed.begin()), std::make_move_iterator(probed.end()));
  for (std::size_t i = 0; i < plugins_.size(); ++i)
    for (const ProbedDevice& device : plugins_[i].devices)
      devices_.push_back({device.info.name, plugins_[i].name, i, device});
  name_apart(devices_);
}

std::unique_ptr<Device> DeviceCatalog::open(std::string_view wanted) const {
  const std::string name(wanted.substr(0, wanted.find(':')));
  const std::string settings(wanted.substr(std::min(wanted.size(), name.size() + 1)));
  const auto device =
      std::find_if(devices_.begin(), devices_.end(), [&](const DeviceListing& one) { return one.name == name; });
  if (device == devices_.end()) {
    const std::string names = names_of(devices_);
    std::string refusals;
    for (const ProbedPlugin& plugin : plugins_)
      if (!plugin.refusal.empty() && refusals.size() < 500)
        refusals += " Refused is " + plugin.file.filename().string() + ": " + plugin.refusal;
    for (const FolderListing& folder : folders_)
      if (!folder.refusal.empty())
        refusals += " Refused is the folder " + folder.folder.string() + ": " + folder.refusal;
    throw Error("There is no device '" + plugin_text(name) + "'" +
                    (names.empty() ? ", and no other; 'cotouch devices' says where they are looked for."
                                   : "; there is " + names + ".") +
                    refusals,
                ErrorCode::not_found);
  }
  const std::string what = "The device '" + name + "' cannot be opened. ";
  const PluginDeviceInfo& info = device->found.info;
  if (!device->is_connected())
    throw Error(what + reason_of(*device), info.presence == Presence::in_use   ? ErrorCode::busy
                                           : info.presence == Presence::absent ? ErrorCode::not_found
                                                                               : ErrorCode::refused);
  try {
    return DevicePlugin::load(plugins_[device->file].file).open(info, settings);
  } catch (const Error& error) {
    throw Error(what + error.what(), error.code());
  }
}

}  // namespace cotouch

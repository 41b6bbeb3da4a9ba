// A copy of the plug-in that misbehaves as its file's name says (plugins/hostile), with what it did and was given.
#pragma once

#include <cotouch/base/error.h>
#include <cotouch/device/catalog.h>
#include <plugins/hostile/record.h>

#include "support/temporary_folder.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace cotouch::testing_plugins {

// lib/cotouch of the build.
inline std::filesystem::path plugin_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib/cotouch";
}

class HostilePlugin {
 public:
  explicit HostilePlugin(std::string kind)
      : kind_(std::move(kind)), record_(hostile::map_record((folder_ / "record").c_str())) {
    // No link: to the loader that would be the same library as another kind's.
    std::filesystem::copy_file(plugin_folder() / "hostile/cotouch-hostile.so", file());
  }
  ~HostilePlugin() { record_->let_go.store(1); }
  HostilePlugin(const HostilePlugin&) = delete;
  HostilePlugin& operator=(const HostilePlugin&) = delete;

  std::filesystem::path file() const { return folder_ / ("hostile-" + kind_ + ".so"); }
  const std::filesystem::path& folder() const { return folder_.path(); }
  hostile::Record& record() { return *record_; }
  std::string settings() const { return "record=" + (folder_ / "record").string(); }
  // In this process, whatever a probe would say.
  std::unique_ptr<Device> open(const std::string& more = {}) const {
    const DevicePlugin plugin = DevicePlugin::load(file());
    return plugin.open(plugin.list().at(0), settings() + more);
  }
  ProbedPlugin probe() const {
    const std::filesystem::path files[] = {file()};
    return probe_plugins(files).at(0);
  }

 private:
  TemporaryFolder folder_;
  std::string kind_;
  hostile::Record* record_;
};

// What an Error says; empty if none was thrown.
template <class Work>
std::string complaint(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace cotouch::testing_plugins

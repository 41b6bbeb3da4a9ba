// Plug-ins that misbehave (plugins/hostile), let loose one after another, each in a process of its own.
#pragma once

#include <cotouch/base/progress.h>

#include <filesystem>
#include <string>
#include <vector>

namespace cotouch {

struct HostileKind {
  const char* name;
  // refused: before it is served; faulty, lost, disabled: a DeviceState; again: lost, back and lost again; guard: it
  // kills its process, and another takes the force away; limits: it is served within them; motors: it is served without
  // force
  enum class Stopped { refused, faulty, lost, disabled, again, guard, limits, motors } by;
  const char* refusal = "";  // words of the sentence with which it is refused
};
const std::vector<HostileKind>& hostile_kinds();

struct HostileOutcome {
  HostileKind kind;
  bool served = false;       // by a loop; if not, it was refused before
  bool stopped = false;      // by what should, and there was a force to be taken away if it was served
  double largest_force = 0;  // N, that it was ever given
  double force_left = 0;     // N, once it was stopped and before anything else took it away
  std::string what;          // happened, for people
};

// Throws Error if the plug-in is not where a build or an installation has it. To be called while no other threads run.
std::vector<HostileOutcome> let_hostile_devices_loose(Progress& progress);

// lib/cotouch beside the folder of the running program.
std::filesystem::path plugin_library_folder();

}  // namespace cotouch

// Where programs of ours are that this one starts.
#pragma once

#include <filesystem>
#include <string>

namespace cotouch {

// What the environment's `variable` names; beside the running program; in a folder of PATH. Empty if it is nowhere. In
// a build, links to them lie beside the programs (plugins/CMakeLists.txt).
std::filesystem::path find_own_program(const std::string& name, const char* variable);

// `cotouch-guard`, for TouchLoopSettings::guard: COTOUCH_GUARD names another.
std::filesystem::path find_guard();

}  // namespace cotouch

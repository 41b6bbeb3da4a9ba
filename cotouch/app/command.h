// What each subcommand of `cotouch` takes and does. main.cpp turns the command line into these; each command throws
// Error for what the user can mend (exit code 2) and Cancelled on Ctrl-C (exit code 130).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace cotouch {

std::string version();

struct ExperimentCommand {
  std::string name;
  bool quick = false;
  std::uint64_t seed = 1;
  std::filesystem::path json;          // empty: none
  std::filesystem::path folder = ".";  // where figures go
};
void run_experiment(const ExperimentCommand& command);

}  // namespace cotouch

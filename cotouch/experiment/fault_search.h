// Sessions in which everything goes wrong, in simulated time: machines crash, sleep, leave and come back, networks
// lose, reorder, repeat and alter packets or bring them many seconds late, fall apart and heal. A run is named by its
// seed and is the same every time.
#pragma once

#include <cotouch/session/simulated_session.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace cotouch {

struct FaultRun {
  double minutes = 0;           // simulated
  std::uint64_t faults = 0;     // crashes, partitions and so on
  std::uint64_t confirmed = 0;  // objective states, of all machines together
  std::uint64_t mismatches = 0;
  std::uint64_t overruled = 0;  // states that were called agreed, and others were elsewhere or later
  std::uint64_t stuck = 0;      // times at which calm did not bring all machines together again
  std::uint64_t history = 0;    // a hash of all that was agreed on
  std::string first_trouble;    // words; empty if there was none
};

struct FaultSettings {
  std::uint64_t seed = 1;
  int rounds = 3;             // each a minute of trouble and one of calm
  bool several_hands = true;  // of one machine, now and then; else each has one
  // For tests of the search itself: the world of this machine is wrong (SimulationSettings).
  std::optional<std::size_t> broken = {};
};

// Three balls that two to five people play with; light enough for thousands of minutes.
std::shared_ptr<const WorldModel> fault_world();

// Trouble followed by calm, after which all machines must be in one session that goes on. Ends with the first trouble.
FaultRun run_faults(const std::shared_ptr<const WorldModel>& world, const FaultSettings& settings);

}  // namespace cotouch

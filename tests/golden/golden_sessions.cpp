// Prints hashes of all that the machines of simulated sessions agreed on: crashes, partitions and bad networks, the
// messages, the rollbacks and the worlds must be the same bits in every build, or two kinds of machines could not share
// a session. With a file of expected lines as argument, compares and fails on any difference.
//
// After a change that is meant to alter results, the file is made anew: golden_sessions > tests/golden/sessions.txt
#include <cotouch/base/hash.h>
#include <cotouch/experiment/fault_search.h>

#include <cstdio>
#include <fstream>
#include <string>

int main(int argc, char** argv) {
  using namespace cotouch;
  std::ifstream expected;
  if (argc > 1) expected.open(argv[1]);
  bool equal = true;
  const auto world = fault_world();
  struct Run {
    std::uint64_t seed;
    bool several_hands;  // each machine has one, or now and then several
  };
  for (const auto& [seed, several] : {Run{2, false}, {3, false}, {4, false}, {6, false}, {4, true}, {6, true}}) {
    const FaultRun run = run_faults(world, {.seed = seed, .rounds = 1, .several_hands = several});
    const std::string line = "seed " + std::to_string(seed) + (several ? " several hands " : " ") + hex(run.history) +
                             " " + std::to_string(run.confirmed) + " states, " + std::to_string(run.mismatches) +
                             " mismatches, " + std::to_string(run.stuck) + " stuck";
    std::printf("%s\n", line.c_str());
    if (argc <= 1) continue;
    std::string other;
    std::getline(expected, other);
    if (line == other) continue;
    std::printf("expected: %s\n", other.c_str());
    equal = false;
  }
  return equal ? 0 : 1;
}

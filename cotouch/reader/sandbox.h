// Gives up everything that reading a file does not need, for good.
//
// Allowed afterwards: to compute, to have memory, and to use the descriptors that are open. Opening files, other
// processes and the network are out of reach, so that a file which takes over its reader has gained next to nothing.
// Limits on memory, processor time, files and processes hold as well, on one processor and with the lowest priority.
#pragma once

#include <cstdint>
#include <string>

namespace cotouch {

struct SandboxLimits {
  // Address space beyond what is mapped now. Who started this process may raise the first of them up to the second, as
  // it hands over more to read; this process itself may not.
  std::uint64_t memory_bytes = 0, most_memory_bytes = 0;
  std::uint64_t seconds = 0;  // of processor time
};

// Limits and priority; before anything is read.
void limit_this_process(const SandboxLimits& limits);

// The system calls that are left: a list of what is allowed, everything else ends the process or is refused. Returns
// why it could not be done, as the rest of a sentence, on kernels without seccomp; empty if it was.
std::string restrict_system_calls();

}  // namespace cotouch

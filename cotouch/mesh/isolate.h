// Runs a parser we did not write where its bugs cannot hurt: in a child process.
//
// Mesh files come from anywhere and third-party parsers have crashed on damaged ones for as long as they exist. In a
// child, a wild pointer, an endless loop or an archive that unpacks to terabytes ends that child and becomes an Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace cotouch {

struct IsolationLimits {
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  // address space beyond what the child is born with
  std::uint64_t seconds = 600;  // of work; a child that sleeps instead is ended after four times as long
  std::uint64_t result_bytes = std::uint64_t{8} << 30;
  bool may_open_files = true;  // for reading; it may never write one
};

// Calls `work` in a child process and returns the bytes it returned there. An Error thrown by `work` arrives here with
// its message and code; other exceptions and any other end of the child become an Error, the rest of a sentence that
// begins with the file's name. An interrupted child (Ctrl-C) throws Cancelled. The child sees memory as it is now; what
// it changes is lost.
std::vector<std::byte> run_isolated(const std::function<std::vector<std::byte>()>& work, const IsolationLimits& limits);

}  // namespace cotouch

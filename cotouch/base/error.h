// The one exception type for preparing, loading and connecting. The message is a sentence for the user: what happened,
// to which file or peer, and what to do. The code is for programs, such as bindings to other languages, which must not
// read sentences. The touch path never throws.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace cotouch {

// The numbers are part of the interface: codes may be added, never renumbered.
enum class ErrorCode : std::uint8_t {
  other = 0,             // none of those below
  invalid_argument = 1,  // a setting or name that makes no sense
  not_found = 2,         // no such file, scene or recording
  damaged_file = 3,      // cut off, altered, or not what its name says
  unsupported = 4,       // sound, but not for this version, machine or build
  too_large = 5,         // beyond what is allowed or what memory holds
  io = 6,                // the operating system could not read, write or connect
  refused = 7,           // possible, but not allowed
  busy = 8,              // try again later
  cancelled = 9,         // the user asked for it
  exists = 10,           // there is one of that name, which nobody said to replace
};

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& sentence, ErrorCode code = ErrorCode::other)
      : std::runtime_error(sentence), code_(code) {}

  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

// The user asked long work to stop (Ctrl-C). Not a failure, and nothing is left half-written.
class Cancelled : public Error {
 public:
  Cancelled() : Error("Stopped on request; nothing was written.", ErrorCode::cancelled) {}
};

}  // namespace cotouch

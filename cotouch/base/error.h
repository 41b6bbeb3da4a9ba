// The one exception type for preparing, loading and connecting. The message is a sentence for the user: what happened,
// to which file or peer, and what to do. The touch path never throws.
#pragma once

#include <stdexcept>
#include <string>

namespace cotouch {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The user asked long work to stop (Ctrl-C). Not a failure, and nothing is left half-written.
class Cancelled : public Error {
 public:
  Cancelled() : Error("Stopped on request; nothing was written.") {}
};

}  // namespace cotouch

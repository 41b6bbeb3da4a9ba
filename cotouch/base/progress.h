// How long work reports where it is and learns that it should stop.
#pragma once

#include <string_view>

namespace cotouch {

class Progress {
 public:
  virtual ~Progress() = default;
  // `stage` names the step in a user's words; `fraction` runs from 0 to 1 within it.
  // Called from one thread at a time, possibly not the one that started the work.
  // Throws Cancelled when the work should end.
  virtual void update(std::string_view stage, double fraction) = 0;
};

// For callers that do not care.
class NoProgress final : public Progress {
 public:
  void update(std::string_view, double) override {}
};

}  // namespace cotouch

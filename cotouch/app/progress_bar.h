// A progress bar with the time left, and Ctrl-C turned into Cancelled.
#pragma once

#include <cotouch/base/cancel.h>
#include <cotouch/base/progress.h>

#include <cstdint>
#include <string>

namespace cotouch {

// Draws on standard error: one line that renews itself on a terminal, one line per stage elsewhere.
class ProgressBar final : public Progress {
 public:
  // `quiet` draws nothing; Ctrl-C still works.
  explicit ProgressBar(bool quiet = false);
  ~ProgressBar() override;
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(std::string_view stage, double fraction) override;
  // Wipes the line, for other output to follow.
  void clear();

 private:
  void draw(double fraction, std::int64_t now_ns);

  CancelScope scope_;  // work below this thread's ends sooner than at the next step
  bool quiet_, terminal_;
  bool drawn_ = false;
  std::string stage_, shown_;  // as it was given, and without control characters
  std::int64_t stage_start_ns_ = 0;
  std::int64_t last_draw_ns_ = 0;
};

// From the first call on, SIGINT and SIGTERM only set a flag; a second one ends the process the hard way. SIGHUP sets
// it too, unless it is ignored (nohup), and does not count as a second one: a terminal that closes may send several.
void catch_interrupts();
// Likewise once nobody reads the output any more (SIGPIPE), for commands that have something to leave in order.
void catch_closed_output();
bool interrupted() noexcept;

}  // namespace cotouch

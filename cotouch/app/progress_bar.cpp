#include <cotouch/app/progress_bar.h>
#include <cotouch/base/error.h>
#include <cotouch/base/realtime.h>
#include <cotouch/session/names.h>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>

namespace cotouch {
namespace {

volatile std::sig_atomic_t interrupt_count = 0;

void on_interrupt(int signal) {
  interrupt_count = interrupt_count + 1;
  // The work looks at the flag only between its steps; whoever insists gets out at once. Nothing half-written can stay
  // under a final name, because files are renamed into place.
  if (interrupt_count > 1) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

void on_hang_up(int /*signal*/) {
  if (interrupt_count == 0) interrupt_count = 1;
}

std::string duration(double seconds) {
  const long whole = std::lround(seconds);
  return whole < 60 ? fmt::format("{} s", whole) : fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  if (std::signal(SIGHUP, on_hang_up) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

// A handler rather than SIG_IGN, which a browser that is started from here would inherit.
void catch_closed_output() {
  std::signal(SIGPIPE, on_hang_up);
}

bool interrupted() noexcept {
  return interrupt_count > 0;
}

ProgressBar::ProgressBar(bool quiet) : scope_(interrupted), quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {
  catch_interrupts();
}

ProgressBar::~ProgressBar() {
  clear();
}

void ProgressBar::clear() {
  if (drawn_ && terminal_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void ProgressBar::update(std::string_view stage, double fraction) {
  if (interrupted()) throw Cancelled();
  if (quiet_) return;
  const std::int64_t now = monotonic_ns();
  if (stage != stage_) {
    stage_ = stage;
    shown_ = printable(stage);
    stage_start_ns_ = now;
    last_draw_ns_ = 0;
    if (!terminal_) std::fprintf(stderr, "%s\n", shown_.c_str());
  }
  // Ten times a second is enough for the eye and costs the work nothing.
  if (terminal_ && now - last_draw_ns_ > 100'000'000) draw(std::clamp(fraction, 0.0, 1.0), now);
}

void ProgressBar::draw(double fraction, std::int64_t now_ns) {
  constexpr int k_width = 28;
  const int filled = static_cast<int>(fraction * k_width);
  const double elapsed = static_cast<double>(now_ns - stage_start_ns_) * 1e-9;
  // The first moments say too little to foretell the end.
  const std::string left =
      fraction > 0.02 && elapsed > 0.5 ? duration(elapsed * (1 - fraction) / fraction) + " left" : std::string();
  const std::string line = fmt::format("\r\033[K{:<34} [{:=<{}}{: <{}}] {:3.0f} %  {}", shown_, "", filled, "",
                                       k_width - filled, fraction * 100, left);
  std::fputs(line.c_str(), stderr);  // fmt would throw if the terminal is gone
  std::fflush(stderr);
  drawn_ = true;
  last_draw_ns_ = now_ns;
}

}  // namespace cotouch

// Devices whose drivers fail in pairs: in one cycle the first is slow, by just as long as the watchdog waits, and the
// second then hangs. In a touch loop of their own, because a session's drivers are not so many.
#pragma once

#include <cotouch/experiment/experiment.h>
#include <cotouch/experiment/siege_attack.h>
#include <cotouch/world/model.h>

#include <memory>
#include <thread>

namespace cotouch {

struct HungDrivers {
  std::uint64_t pairs = 0;    // that failed while they pushed
  std::uint64_t left_on = 0;  // of these: one that still pushed half a second later
  double force_left = 0;      // N, the most of them

  HungDrivers& operator+=(const HungDrivers& other);
};

class DriverPairs {
 public:
  explicit DriverPairs(const ExperimentOptions& options);

  static AttackKind kind() { return {"hung-drivers", "the watchdog", "pairs", 1}; }
  void attack(double seconds);
  // Waits for the end.
  HungDrivers result();

 private:
  void fail_once();

  std::shared_ptr<const WorldModel> model_;
  HungDrivers count_;  // the thread's while it runs
  double slow_ = 0;    // seconds that the next pair's first is slow
  std::jthread thread_;
};

}  // namespace cotouch

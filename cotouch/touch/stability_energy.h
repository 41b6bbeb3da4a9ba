// The energy accounts of stability.h, apart from the loop that feeds them.
#pragma once

#include <cotouch/device/simulated_device.h>

#include <algorithm>

namespace cotouch {

// The largest rise of a level since an instant from which the account may start.
class Rise {
 public:
  // Returns whether this is the largest rise so far.
  bool add(double level) {
    unseen_ = std::max(unseen_, base_ - level);
    if (level - base_ <= largest_) return false;
    largest_ = level - base_;
    return true;
  }
  // Returns whether the account starts anew.
  bool may_start_at(double level) {
    if (level >= base_) return false;
    base_ = level;
    return true;
  }
  double largest() const { return largest_; }
  double unseen() const { return unseen_; }

 private:
  double base_ = 0, largest_ = 0, unseen_ = 0;  // everything starts at rest and empty
};

class EnergyAccount {
 public:
  // After every cycle: the device's sums; what is stored in the coupling and in bodies that move; and the most that
  // contacts can store, 0 if nothing touches, infinite if that is not known. Joules.
  void add(const DeviceEnergy& device, double stored, double contacts_at_most) {
    const double environment = device.from_environment + stored, whole = environment - device.dissipated;
    whole_.add(whole);
    touching_.add(whole);
    if (environment_.add(environment)) absorbed_ = device.dissipated - absorbed_before_;
    touching_.may_start_at(whole + contacts_at_most);
    if (contacts_at_most > 0) return;
    whole_.may_start_at(whole);
    if (environment_.may_start_at(environment)) absorbed_before_ = device.dissipated;
  }

  // Joules; StabilityOutcome says what they mean.
  double created() const { return whole_.largest(); }
  double unseen() const { return whole_.unseen(); }
  double touching() const { return touching_.largest(); }
  double environment() const { return environment_.largest(); }
  double absorbed() const { return absorbed_; }  // by the device over the interval of environment()

 private:
  Rise whole_, touching_, environment_;
  double absorbed_before_ = 0, absorbed_ = 0;  // by the device until environment_ started, and since
};

}  // namespace cotouch

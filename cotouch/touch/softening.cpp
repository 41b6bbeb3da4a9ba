#include <cotouch/touch/softening.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr double k_used = 0.9;            // of what theory allows
constexpr double k_half_period = 0.5e-3;  // s, of the rate that ceilings of stiffness are stated for

double share_of(double ceiling, double stiffness, double lateness) {
  if (!(stiffness > 0)) return 1;
  return std::min(1.0, k_used * ceiling / stiffness * lateness);
}

}  // namespace

double bearable_share(const DeviceLimits& device, const CouplingSettings& coupling, double held) noexcept {
  const double lateness = (k_half_period + device.delay) / (std::max(held, 0.0) / 2 + device.delay);
  const double share = std::min(share_of(device.stiffness, coupling.linear_stiffness, lateness),
                                share_of(device.angular_stiffness, coupling.angular_stiffness, lateness));
  return share >= 0 ? share : 0;
}

double Softening::next(const DeviceLimits& device, const CouplingSettings& coupling, double held,
                       double passed) noexcept {
  const double bearable = bearable_share(device, coupling, held);
  share_ = bearable < share_ ? bearable : std::min(bearable, share_ + passed / k_stiffening_seconds);
  return share_;
}

}  // namespace cotouch

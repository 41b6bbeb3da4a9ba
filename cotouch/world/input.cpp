#include <cotouch/world/input.h>

#include <cmath>

namespace cotouch {
namespace {

double rounded(double value) {
  return std::floor(value * 0x1p20 + 0.5) * 0x1p-20;
}

}  // namespace

HandInput quantised(const HandInput& input) noexcept {
  HandInput out = input;
  const Vec3d& p = input.pose.position;
  const Quat& q = input.pose.rotation;
  out.pose.position = {rounded(p.x), rounded(p.y), rounded(p.z)};
  out.pose.rotation = {rounded(q.w), rounded(q.x), rounded(q.y), rounded(q.z)};
  return out;
}

}  // namespace cotouch

#include <cotouch/contact/coherence.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace cotouch {
namespace {

constexpr std::uint32_t k_unknown = std::numeric_limits<std::uint32_t>::max();

}  // namespace

CoherenceCache::CoherenceCache(std::uint32_t entries)
    : table_(std::bit_ceil(std::clamp(entries, 1U, 1U << 16)), 0),
      mask_(static_cast<std::uint32_t>(table_.size()) - 1) {
  moved_.fill(k_unknown);
}

void CoherenceCache::clear() noexcept {
  std::fill(table_.begin(), table_.end(), 0U);
  moved_.fill(k_unknown);
  started_ = false;
  refused_ = ~0U;
}

// The motion of the centre plus the chord 2 sin(angle / 2) times the radius, rounded up. The last term covers rounding
// in the products, which is relative to the numbers' size, not the motion's.
std::uint32_t CoherenceCache::ticks_between(const Anchor& a, const Anchor& b) const noexcept {
  const Quat turn = b.rotation * a.rotation.conjugate();
  const double chord = 2 * norm(Vec3d{turn.x, turn.y, turn.z});
  const double size = std::fabs(b.center.x) + std::fabs(b.center.y) + std::fabs(b.center.z) + radius_;
  const double metres = (norm(b.center - a.center) + chord * radius_) * (1 + 0x1p-16) + size * 0x1p-46;
  const double ticks = metres * (k_ticks_per_cell / spacing_);
  return ticks < 1e9 ? static_cast<std::uint32_t>(ticks) + 1 : k_unknown;
}

void CoherenceCache::drop_anchor(const Anchor& here) noexcept {
  if (++epoch_ == 0) std::fill(table_.begin(), table_.end(), 0U);  // once in 65,536 anchors: old epochs come up again
  anchors_[epoch_ % k_anchors] = here;
  moved_[epoch_ % k_anchors] = ticks_between(here, here);
}

void CoherenceCache::begin(const Vec3d& center, double radius, const Pose& relative, double spacing,
                           double clearance) noexcept {
  if (started_ && !(center == center_ && radius == radius_ && spacing == spacing_ && clearance == clearance_)) clear();
  now_ = {transform(relative, center), relative.rotation};
  if (!started_) {
    started_ = true;
    center_ = center;
    radius_ = radius;
    spacing_ = spacing;
    clearance_ = clearance;
    ticks_per_metre_ = static_cast<float>((1 - 0x1p-20) * k_ticks_per_cell / spacing);
    drop_anchor(now_);
    return;
  }
  for (std::uint32_t i = 0; i < k_anchors; ++i)
    if (moved_[i] != k_unknown) moved_[i] = ticks_between(anchors_[i], now_);
  if (moved_[epoch_ % k_anchors] > k_ticks_per_cell / 2) drop_anchor(now_);
}

void CoherenceCache::refuse(std::uint32_t level) noexcept {
  refused_ = level;
  refused_at_ = now_;
}

bool CoherenceCache::is_refused(std::uint32_t level) const noexcept {
  return refused_ == level && ticks_between(refused_at_, now_) < k_ticks_per_cell / 4;
}

}  // namespace cotouch

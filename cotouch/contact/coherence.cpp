#include <cotouch/contact/coherence.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace cotouch {
namespace {

constexpr std::int32_t k_unknown = std::numeric_limits<std::int32_t>::max();

}  // namespace

CoherenceCache::CoherenceCache(std::uint32_t entries)
    : table_(std::bit_ceil(std::clamp(entries, 1U, 1U << 15)), 0), near_(k_near_per_entry * table_.size()) {
  known_.mask_ = static_cast<std::uint32_t>(table_.size()) - 1;
  known_.moved_.fill(k_unknown);
}

void CoherenceCache::clear() noexcept {
  std::fill(table_.begin(), table_.end(), 0U);
  known_.moved_.fill(k_unknown);
  started_ = false;
  refused_ = near_level_ = k_no_level;
  pause_ = 0;
}

// The motion of the centre plus the chord 2 sin(angle / 2) times the radius, rounded up. The last term covers rounding
// in the products, which is relative to the numbers' size, not the motion's.
std::int32_t CoherenceCache::ticks_between(const Anchor& a, const Anchor& b) const noexcept {
  const Quat turn = b.rotation * a.rotation.conjugate();
  const double chord = 2 * norm(Vec3d{turn.x, turn.y, turn.z});
  const double size = std::fabs(b.center.x) + std::fabs(b.center.y) + std::fabs(b.center.z) + radius_;
  const double metres = (norm(b.center - a.center) + chord * radius_) * (1 + 0x1p-16) + size * 0x1p-46;
  const double ticks = metres * (k_ticks_per_cell / spacing_);
  return ticks < 1e9 ? static_cast<std::int32_t>(ticks) + 1 : k_unknown;
}

void CoherenceCache::drop_anchor(const Anchor& here) noexcept {
  const std::uint16_t epoch = ++known_.epoch_;
  if (epoch == 0) std::fill(table_.begin(), table_.end(), 0U);  // once in 65,536 anchors: old epochs come up again
  anchors_[epoch % k_anchors] = here;
  known_.moved_[epoch % k_anchors] = ticks_between(here, here);
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
    known_.ticks_per_metre_ = static_cast<float>((1 - 0x1p-20) * k_ticks_per_cell / spacing);
    // Rounded up, so that a slack beyond it is a slack of more than k_skin_ticks.
    skin_ = static_cast<float>((1 + 0x1p-16) * (k_skin_ticks + 1) / k_ticks_per_cell * spacing);
    drop_anchor(now_);
    return;
  }
  for (std::uint32_t i = 0; i < k_anchors; ++i)
    if (known_.moved_[i] != k_unknown) known_.moved_[i] = ticks_between(anchors_[i], now_);
  if (known_.moved_[known_.epoch_ % k_anchors] > k_ticks_per_cell / 2) drop_anchor(now_);
}

bool CoherenceCache::knows_near(std::uint32_t level) const noexcept {
  return near_level_ == level && ticks_between(near_at_, now_) <= k_skin_ticks;
}

void CoherenceCache::begin_near() noexcept {
  near_count_ = 0;
  near_level_ = k_no_level;
}

void CoherenceCache::add_near(std::span<const std::uint32_t> points, const float* free) noexcept {
  if (near_count_ + points.size() >= near_.size()) {
    near_count_ = static_cast<std::uint32_t>(near_.size());  // and stays there
    return;
  }
  std::uint32_t* const near = near_.data();
  std::uint32_t count = near_count_;
  for (std::size_t i = 0; i < points.size(); ++i) {
    near[count] = points[i];
    count += free[i] > 0 ? 0U : 1U;
  }
  near_count_ = count;
}

void CoherenceCache::end_near(std::uint32_t level) noexcept {
  if (near_count_ == near_.size()) {
    pause_ = k_pause;
    return;
  }
  near_level_ = level;
  near_at_ = now_;
}

void CoherenceCache::refuse(std::uint32_t level) noexcept {
  refused_ = level;
  refused_at_ = now_;
}

bool CoherenceCache::is_refused(std::uint32_t level) const noexcept {
  return refused_ == level && ticks_between(refused_at_, now_) < k_ticks_per_cell / 4;
}

}  // namespace cotouch

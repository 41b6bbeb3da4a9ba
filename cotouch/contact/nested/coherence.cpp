#include <cotouch/contact/nested/coherence.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace cotouch {
namespace {

constexpr double k_skin_cells = 0.25;
constexpr std::uint32_t k_pause = 15;
constexpr float k_nothing_free = std::numeric_limits<float>::max();

// The least number of `room` that is not negative, or `least`. As integers without a sign, negative floats are larger
// than all others, which keep their order; and the smallest of integers is found many at a time.
float least_of_free(float least, std::span<const float> room) noexcept {
  auto bits = std::bit_cast<std::uint32_t>(least);
  for (const float r : room) bits = std::min(bits, std::bit_cast<std::uint32_t>(r));
  return std::bit_cast<float>(bits);
}

}  // namespace

// A full list is one that was too short.
CoherenceCache::CoherenceCache(std::uint32_t points) : near_(std::min(points, k_most_points) + 1) {
}

void CoherenceCache::clear() noexcept {
  started_ = false;
  refused_ = near_level_ = k_no_level;
  pause_ = 0;
}

// The motion of the centre plus the chord 2 sin(angle / 2) times the radius, rounded up. The last term covers rounding
// in the products, which is relative to the numbers' size, not the motion's.
double CoherenceCache::most_moved(const Place& a, const Place& b) const noexcept {
  const Quat turn = b.rotation * a.rotation.conjugate();
  const double chord = 2 * norm(Vec3d{turn.x, turn.y, turn.z});
  const double size = std::fabs(b.center.x) + std::fabs(b.center.y) + std::fabs(b.center.z) + radius_;
  return (norm(b.center - a.center) + chord * radius_) * (1 + 0x1p-16) + size * 0x1p-46;
}

void CoherenceCache::begin(const Vec3d& center, double radius, const Pose& relative, double spacing,
                           double clearance) noexcept {
  if (started_ && !(center == center_ && radius == radius_ && spacing == spacing_ && clearance == clearance_)) clear();
  now_ = {transform(relative, center), relative.rotation};
  started_ = true;
  center_ = center;
  radius_ = radius;
  spacing_ = spacing;
  clearance_ = clearance;
  // A little more than it is counted for, because rooms are rounded.
  skin_ = static_cast<float>((k_skin_cells + 0x1p-8) * spacing);
}

bool CoherenceCache::knows_near(std::uint32_t level) const noexcept {
  const double room = k_skin_cells * spacing_ + (1 - 0x1p-16) * static_cast<double>(least_room_);
  return near_level_ == level && most_moved(near_at_, now_) <= room;
}

void CoherenceCache::begin_near() noexcept {
  near_count_ = 0;
  near_level_ = k_no_level;
  least_room_ = k_nothing_free;
}

void CoherenceCache::add_points(std::span<const std::uint32_t> points, const float* room) noexcept {
  if (near_count_ + points.size() >= near_.size()) {
    near_count_ = static_cast<std::uint32_t>(near_.size());  // and stays there
    return;
  }
  std::uint32_t* const near = near_.data();
  std::uint32_t count = near_count_;
  for (std::size_t i = 0; i < points.size(); ++i) {
    near[count] = points[i];
    count += room[i] > 0 ? 0U : 1U;
  }
  near_count_ = count;
  least_room_ = least_of_free(least_room_, {room, points.size()});
}

void CoherenceCache::add_nodes(std::span<const float> room) noexcept {
  least_room_ = least_of_free(least_room_, room);
}

void CoherenceCache::end_near(std::uint32_t level) noexcept {
  if (near_count_ == near_.size()) {
    pause_ = k_pause;
    return;
  }
  // Where nothing was free, all are listed, and the list would hold for ever: but not be short once the bodies part.
  if (least_room_ == k_nothing_free) least_room_ = 0;
  near_level_ = level;
  near_at_ = now_;
}

void CoherenceCache::refuse(std::uint32_t level) noexcept {
  refused_ = level;
  refused_at_ = now_;
}

bool CoherenceCache::is_refused(std::uint32_t level) const noexcept {
  return refused_ == level && most_moved(refused_at_, now_) < 0.25 * spacing_;
}

}  // namespace cotouch

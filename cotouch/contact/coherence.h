// Temporal coherence as a cache: which parts of a shell are surely free, remembered from earlier evaluations.
//
// The paper (001, III) predicts the earliest cycle of contact from a largest velocity that the scene is assumed never
// to exceed. Here the motion is measured instead. A ball around a node that was free by a slack when the bodies stood
// in some relative pose stays free while nothing on the shell has moved farther than that from there. The poses are
// compared with a few anchors, the newest of which follows the motion half a cell at a time, so a hand that trembles in
// one place uses nothing up, however long it trembles.
//
// Nothing depends on what is in here but the number of nodes visited: entries only ever skip what surely does not
// touch. A cache may be fresh, shared by nobody, cleared at any time, or absent.
#pragma once

#include <cotouch/base/pose.h>

#include <array>
#include <cstdint>
#include <vector>

namespace cotouch {

class CoherenceCache {
 public:
  // Memory is taken here and never again: 8 bytes for each of up to 65,536 entries.
  explicit CoherenceCache(std::uint32_t entries = 1U << 16);

  void clear() noexcept;
  std::size_t memory_bytes() const noexcept { return sizeof *this + table_.capacity() * sizeof table_[0]; }

  // For an evaluation. Every point that matters lies within `radius` of `center` in the shell's frame; `relative` is
  // the shell's pose in the field's frame; a tick is a 256th of `spacing`. Anything but the relative pose that differs
  // from last time clears the cache.
  void begin(const Vec3d& center, double radius, const Pose& relative, double spacing, double clearance) noexcept;

  // Is what was stored under `key` still surely free?
  bool is_free(std::uint32_t key) const noexcept {
    const std::uint64_t entry = table_[key & mask_];
    const auto age = static_cast<std::uint16_t>(epoch_ - static_cast<std::uint16_t>(entry >> k_slack_bits));
    return entry >> (k_slack_bits + 16) == key && age < k_anchors &&
           (entry & k_largest_slack) > moved_[static_cast<std::uint16_t>(entry >> k_slack_bits) % k_anchors];
  }
  // Free by `slack` metres now; zero or less stores nothing of use.
  void put(std::uint32_t key, float slack) noexcept {
    const float ticks = slack * ticks_per_metre_;
    const auto whole = static_cast<std::int64_t>(ticks < k_largest_ticks ? (ticks > 0 ? ticks : 0) : k_largest_ticks);
    const std::int64_t lasting = whole - static_cast<std::int64_t>(moved_[epoch_ % k_anchors]);
    if (key >= k_keys) return;
    table_[key & mask_] = std::uint64_t{key} << (k_slack_bits + 16) | std::uint64_t{epoch_} << k_slack_bits |
                          static_cast<std::uint64_t>(lasting > 0 ? lasting : 0);
  }

  // A level that was too large for its budget need not be counted again until something has moved by a quarter of a
  // cell.
  void refuse(std::uint32_t level) noexcept;
  bool is_refused(std::uint32_t level) const noexcept;

 private:
  static constexpr int k_slack_bits = 20;
  static constexpr std::uint64_t k_largest_slack = (1U << k_slack_bits) - 1;
  static constexpr float k_largest_ticks = static_cast<float>((1U << k_slack_bits) - 1);
  static constexpr std::uint32_t k_keys = 1U << (64 - k_slack_bits - 16);
  static constexpr std::uint32_t k_anchors = 16;
  static constexpr std::uint32_t k_ticks_per_cell = 256;

  struct Anchor {
    Vec3d center;
    Quat rotation;
  };
  std::uint32_t ticks_between(const Anchor& a, const Anchor& b) const noexcept;
  void drop_anchor(const Anchor& here) noexcept;

  std::vector<std::uint64_t> table_;  // key (28 bits), epoch (16 bits), slack in ticks (20 bits)
  std::uint32_t mask_;
  std::uint16_t epoch_ = 0;  // of the newest anchor
  std::array<Anchor, k_anchors> anchors_{};
  std::array<std::uint32_t, k_anchors> moved_;  // ticks from each anchor to now, rounded up
  bool started_ = false;
  Vec3d center_;
  double radius_ = 0, spacing_ = 0, clearance_ = 0;
  float ticks_per_metre_ = 0;  // rounded down
  Anchor now_, refused_at_;
  std::uint32_t refused_ = ~0U;
};

}  // namespace cotouch

// Temporal coherence as a cache: which parts of a shell are surely free, remembered from earlier evaluations.
//
// The paper (001, III) predicts the earliest cycle of contact from a largest velocity that the scene is assumed never
// to exceed. Here the motion is measured instead. A ball around a node that was free by a slack when the bodies stood
// in some relative pose stays free while nothing on the shell has moved farther than that from there. The poses are
// compared with a few anchors, the newest of which follows the motion half a cell at a time, so a hand that trembles in
// one place uses nothing up, however long it trembles.
//
// Most of the time a body in contact hardly moves from one evaluation to the next. Whatever was found free has been
// found so with `skin` to spare; the points that were not are listed, and while nothing has moved farther than the skin
// from there, no other point can touch and the tree need not be walked at all.
//
// Nothing depends on what is in here but the number of nodes visited: entries only ever skip what surely does not
// touch. A cache may be fresh, shared by nobody, cleared at any time, or absent.
#pragma once

#include <cotouch/base/pose.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace cotouch {

class CoherenceCache {
  static constexpr int k_slack_bits = 20;
  static constexpr std::uint64_t k_largest_slack = (1U << k_slack_bits) - 1;
  static constexpr float k_largest_ticks = static_cast<float>((1U << k_slack_bits) - 1);
  static constexpr std::uint32_t k_keys = 1U << (64 - k_slack_bits - 16);
  static constexpr std::uint32_t k_anchors = 16;
  static constexpr std::int32_t k_ticks_per_cell = 256;
  static constexpr std::int32_t k_skin_ticks = k_ticks_per_cell / 4;
  static constexpr std::uint32_t k_no_level = ~0U;
  static constexpr std::uint32_t k_near_per_entry = 5;
  static constexpr std::uint32_t k_pause = 15;

 public:
  // Memory is taken here and never again: 28 bytes for each of up to 32,768 entries, less than a megabyte.
  explicit CoherenceCache(std::uint32_t entries = 1U << 15);

  void clear() noexcept;
  std::size_t memory_bytes() const noexcept {
    return sizeof *this + table_.capacity() * sizeof table_[0] + near_.capacity() * sizeof near_[0];
  }

  // For an evaluation. Every point that matters lies within `radius` of `center` in the shell's frame; `relative` is
  // the shell's pose in the field's frame; a tick is a 256th of `spacing`. Anything but the relative pose that differs
  // from last time clears the cache.
  void begin(const Vec3d& center, double radius, const Pose& relative, double spacing, double clearance) noexcept;

  // What is known during one evaluation. Loops over many keys take a copy, which the compiler can keep at hand.
  class Entries {
   public:
    // Is what was stored under `key` still surely free?
    bool is_free(std::uint32_t key) const noexcept {
      // One comparison in the end: what comes out is hard to foresee, so that a branch would cost more than all of it.
      const std::uint64_t entry = table_[key & mask_];
      const std::uint64_t of_another = entry >> (k_slack_bits + 16) ^ key;
      return (of_another | used_up(entry)) == 0;
    }
    // Free by `slack` metres now. What lasts longer is not given up for it: if there is more to remember than room for
    // it, each replacing the other would leave nothing.
    void put(std::uint32_t key, float slack) noexcept {
      const float ticks = slack * ticks_per_metre_;
      const float capped = ticks < k_largest_ticks ? ticks : k_largest_ticks;
      const std::int64_t lasting = static_cast<std::int64_t>(capped > 0 ? capped : 0) - moved_[epoch_ % k_anchors];
      std::uint64_t& entry = table_[key & mask_];
      const int is_better = int{lasting > left(entry)} | int{used_up(entry) != 0};
      const std::uint64_t made = std::uint64_t{key} << (k_slack_bits + 16) | std::uint64_t{epoch_} << k_slack_bits |
                                 static_cast<std::uint64_t>(lasting);
      const int is_kept = int{lasting > 0} & is_better & int{key < k_keys};
      entry = is_kept != 0 ? made : entry;
    }

   private:
    friend class CoherenceCache;
    std::uint16_t epoch_of(std::uint64_t entry) const noexcept {
      return static_cast<std::uint16_t>(entry >> k_slack_bits);
    }
    // How many ticks of motion an entry still bears.
    std::int64_t left(std::uint64_t entry) const noexcept {
      return static_cast<std::int64_t>(entry & k_largest_slack) - moved_[epoch_of(entry) % k_anchors];
    }
    // Not zero if it bears none, or if it is too old to tell.
    std::uint64_t used_up(std::uint64_t entry) const noexcept {
      const std::uint64_t too_old = static_cast<std::uint16_t>(epoch_ - epoch_of(entry)) / k_anchors;
      return too_old | static_cast<std::uint64_t>(left(entry) - 1) >> 63;
    }

    std::uint64_t* table_ = nullptr;  // key (28 bits), epoch (16 bits), slack in ticks (20 bits)
    std::uint32_t mask_ = 0;
    std::uint16_t epoch_ = 0;                      // of the newest anchor
    std::array<std::int32_t, k_anchors> moved_{};  // ticks from each anchor to now, rounded up
    float ticks_per_metre_ = 0;                    // rounded down
  };
  Entries entries() noexcept {
    Entries entries = known_;
    entries.table_ = table_.data();
    return entries;
  }

  // Metres: what is put in or kept off the list must be free by so much more than nothing.
  float skin() const noexcept { return skin_; }
  // The points of levels 0..level that may touch, in increasing order; none if it is not known which.
  bool knows_near(std::uint32_t level) const noexcept;
  std::span<const std::uint32_t> near() const noexcept { return {near_.data(), near_count_}; }
  // To list them again: all that are looked up in an evaluation are shown, with the room around each. If they are too
  // many, nothing is known, and for some time it is better to walk without a cache.
  void begin_near() noexcept;
  void add_near(std::span<const std::uint32_t> points, const float* free) noexcept;
  void end_near(std::uint32_t level) noexcept;
  bool pauses() noexcept { return pause_ > 0 && pause_-- > 0; }  // asked once an evaluation

  // A level that was too large for its budget need not be counted again until something has moved by a quarter of a
  // cell.
  void refuse(std::uint32_t level) noexcept;
  bool is_refused(std::uint32_t level) const noexcept;

 private:
  struct Anchor {
    Vec3d center;
    Quat rotation;
  };
  std::int32_t ticks_between(const Anchor& a, const Anchor& b) const noexcept;
  void drop_anchor(const Anchor& here) noexcept;

  std::vector<std::uint64_t> table_;
  Entries known_;  // all but its table
  std::array<Anchor, k_anchors> anchors_{};
  bool started_ = false;
  Vec3d center_;
  double radius_ = 0, spacing_ = 0, clearance_ = 0;
  float skin_ = 0;
  Anchor now_, refused_at_, near_at_;
  std::uint32_t refused_ = k_no_level, near_level_ = k_no_level;
  std::vector<std::uint32_t> near_;
  std::uint32_t near_count_ = 0, pause_ = 0;
};

}  // namespace cotouch

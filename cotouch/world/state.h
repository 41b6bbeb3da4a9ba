// Everything about a world that changes, in one flat block of doubles: a snapshot is a copy, a comparison or a hash is
// a loop, and the bytes mean the same on every machine (all little-endian).
#pragma once

#include <cotouch/base/pose.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cotouch {

class WorldModel;

// How the report begins if a state is not laid out as its model says (base/invariant.h). It is not stepped.
inline constexpr const char* k_layout_invariant = "The state of the world is not laid out as its model says";

// Only doubles, so that there is no padding; whole numbers and choices are stored as such.
struct BodyRecord {
  Pose pose;
  Vec3d velocity;        // of the centre of mass, m/s
  Vec3d spin;            // rad/s, world axes
  double clearance = 0;  // metres
  double motion = 0;     // a Motion; a docked body is fixed
};
static_assert(sizeof(BodyRecord) == 15 * sizeof(double));

struct HandRecord {
  double present = 0;
  Pose pose;         // the last that was a pose
  Vec6 velocity;     // smoothed
  double body = -1;  // index of the body it grasps; -1: none
  Pose grip;         // of the hand in that body's frame when it grasped
  Wrench felt;       // on the hand about its position
  double buttons = 0;
  double point =
      -1;  // of the body's shell that it holds, if the body is held at a point; the grip is in that one's frame
};
static_assert(sizeof(HandRecord) == 30 * sizeof(double));

struct PairRecord {
  double level = 0;  // rendered last
};

struct TaskRecord {
  double done = 0;
  double seconds = 0;  // since the task's body was first grasped, until it was done
  double started = 0;
};

struct WorldHead {
  double ticks = 0;
  double bad_inputs = 0;  // hand poses that were not poses: the last good one was used instead
  TaskRecord task;
};

class WorldState {
 public:
  WorldState() = default;
  // At the start: bodies at their start poses, nobody there.
  explicit WorldState(const WorldModel& model);

  WorldHead& head() noexcept { return *reinterpret_cast<WorldHead*>(block_.data()); }
  const WorldHead& head() const noexcept { return *reinterpret_cast<const WorldHead*>(block_.data()); }
  std::span<BodyRecord> bodies() noexcept { return {at<BodyRecord>(bodies_begin()), bodies_}; }
  std::span<const BodyRecord> bodies() const noexcept { return {at<BodyRecord>(bodies_begin()), bodies_}; }
  std::span<HandRecord> hands() noexcept { return {at<HandRecord>(hands_begin()), hands_}; }
  std::span<const HandRecord> hands() const noexcept { return {at<HandRecord>(hands_begin()), hands_}; }
  std::span<PairRecord> pairs() noexcept { return {at<PairRecord>(pairs_begin()), pairs_}; }
  std::span<const PairRecord> pairs() const noexcept { return {at<PairRecord>(pairs_begin()), pairs_}; }

  // How elastic bodies are bent, one after another: the coordinates of each and then their rates (WorldModel::elastic).
  std::span<double> bending() noexcept { return {at<double>(bending_begin()), bending_}; }
  std::span<const double> bending() const noexcept { return {at<double>(bending_begin()), bending_}; }

  std::span<const std::byte> bytes() const noexcept { return std::as_bytes(std::span(block_)); }
  // Is it laid out as a state of this world is, and does every hand hold a body that there is, or none? What reads it
  // goes by the model's counts. Takes no longer than there are hands.
  bool fits(const WorldModel& model) const noexcept;

  // Takes over the bytes of a state of the same world. False, nothing changed, if they are of another size or hold what
  // is not a state: numbers that are not finite or absurdly large, rotations that are none, indices of nothing.
  bool restore(std::span<const std::byte> bytes) noexcept;
  std::uint64_t hash() const noexcept;

  friend bool operator==(const WorldState& a, const WorldState& b) noexcept;

 private:
  template <class T>
  T* at(std::size_t offset) noexcept {
    return reinterpret_cast<T*>(block_.data() + offset);
  }
  template <class T>
  const T* at(std::size_t offset) const noexcept {
    return reinterpret_cast<const T*>(block_.data() + offset);
  }
  std::size_t bodies_begin() const noexcept { return sizeof(WorldHead) / sizeof(double); }
  std::size_t hands_begin() const noexcept { return bodies_begin() + bodies_ * (sizeof(BodyRecord) / sizeof(double)); }
  std::size_t pairs_begin() const noexcept { return hands_begin() + hands_ * (sizeof(HandRecord) / sizeof(double)); }

  std::size_t bending_begin() const noexcept { return pairs_begin() + pairs_ * (sizeof(PairRecord) / sizeof(double)); }

  std::vector<double> block_;
  std::size_t bodies_ = 0, hands_ = 0, pairs_ = 0, bending_ = 0;
};

}  // namespace cotouch

// How recordings are laid out as bytes (recording.h), for those who write and read them. Nobody else includes this.
#pragma once

#include <cotouch/touch/recording.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <type_traits>

namespace cotouch::recording_format {

static_assert(std::endian::native == std::endian::little, "recordings are written in the machine's byte order");

inline constexpr char k_magic[8] = {'C', 'O', 'T', 'O', 'U', 'C', 'H', 'R'};
inline constexpr std::uint32_t k_version = 7, k_version_of_whole_data = 6, k_version_in_one = 5, k_version_of_loops = 4;
inline constexpr std::uint32_t k_levels_recorded = 1, k_limited = 2;  // flags
inline constexpr std::uint32_t k_no_hand = 0xffffffff;
inline constexpr std::uint64_t k_last_tick = 1ULL << 53U;  // what a double, and so JSON, can tell from the next one

// Older programs read version 6. Version 7 has what they do not know and what the head's writer cannot rule out: data
// that was missing, and hands that somebody leads besides their own, which happens in shared sessions alone.
inline std::uint32_t version_of(const Recording& recording) noexcept {
  return recording.limited && !recording.may_lack_data ? k_version_of_whole_data : k_version;
}

enum class Block : std::uint32_t { samples = 1, events = 2, end = 3 };
inline constexpr std::size_t k_block_head = 3 * 4, k_block_bytes = k_block_head + 8;  // with its hash
inline constexpr std::size_t k_largest_block = 1U << 26U;                             // bytes

// Writing and reading go through the same `visit` functions below, so the two cannot disagree about the order.
class Writer {
 public:
  template <class T>
  using Visited = const T;
  static constexpr bool k_reads = false;

  std::vector<std::byte> bytes;
  template <class T>
  void operator()(const T& value) {
    raw(std::as_bytes(std::span(&value, 1)));
  }
  void raw(std::span<const std::byte> more) { bytes.insert(bytes.end(), more.begin(), more.end()); }
};

class Reader {
 public:
  template <class T>
  using Visited = T;
  static constexpr bool k_reads = true;

  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
  bool ok = true;  // false once more was asked for than there is, or a number was out of its range
  template <class T>
  void operator()(T& value) {
    if (rest_.size() < sizeof(T)) {
      ok = false;
      return;
    }
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_ = rest_.subspan(sizeof(T));
    if constexpr (std::is_floating_point_v<T>) ok = ok && std::isfinite(value);
  }
  std::span<const std::byte> raw(std::size_t count) {
    if (rest_.size() < count) {
      ok = false;
      return {};
    }
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  std::size_t left() const { return rest_.size(); }
  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_;
};

template <class Io, class T>
using Visited = typename Io::template Visited<T>;

template <class Io>
void visit(Io& io, Visited<Io, Vec3d>& v) {
  io(v.x), io(v.y), io(v.z);
}
template <class Io>
void visit(Io& io, Visited<Io, Pose>& pose) {
  visit(io, pose.position);
  io(pose.rotation.w), io(pose.rotation.x), io(pose.rotation.y), io(pose.rotation.z);
}
template <class Io>
void visit(Io& io, Visited<Io, Wrench>& wrench) {
  visit(io, wrench.force), visit(io, wrench.torque);
}
template <class Io>
void visit(Io& io, Visited<Io, LimitSettings>& limits) {
  io(limits.max_force), io(limits.max_torque), io(limits.force_rate), io(limits.torque_rate);
  io(limits.ramp_seconds), io(limits.period);
}
template <class Io>
void visit(Io& io, Visited<Io, LimiterState>& state, std::uint32_t version) {
  visit(io, state.last);
  io(state.ramp);
  if (version > k_version_in_one) io(state.force_heat), io(state.torque_heat);
}
template <class Io>
void visit(Io& io, Visited<Io, MotorLimits>& motors) {
  io(motors.peak_force), io(motors.continuous_force), io(motors.peak_torque), io(motors.continuous_torque);
  io(motors.heating_seconds);
}
// A choice travels as a u32; one that is not known becomes the last.
template <class Io, class Choice>
void visit_choice(Io& io, Choice& choice, std::remove_const_t<Choice> last) {
  auto number = static_cast<std::uint32_t>(choice);
  io(number);
  if constexpr (Io::k_reads) choice = static_cast<Choice>(std::min(number, static_cast<std::uint32_t>(last)));
}
template <class Io>
void visit(Io& io, Visited<Io, HandSample>& hand, std::uint32_t version) {
  std::uint32_t present = hand.input.present ? 1 : 0;
  io(present);
  if constexpr (Io::k_reads) {
    io.ok = io.ok && present <= 1;
    hand.input.present = present == 1;
  }
  if (present == 0) return;
  visit_choice(io, hand.input.action, HandInput::Action::release);
  io(hand.input.body), io(hand.input.buttons);
  visit_choice(io, hand.motors, version > k_version_in_one ? Motors::fading : Motors::off);
  visit(io, hand.input.pose);
  visit(io, hand.felt);
  if (version > k_version_in_one) io(hand.stiffness);
}
// In the same word as how many hands there are.
inline constexpr std::uint32_t k_is_late = 1U << 16U, k_has_missing = 1U << 17U;

// Those that a version has.
inline constexpr std::uint32_t flags_of_samples(std::uint32_t version) noexcept {
  if (version <= k_version_in_one) return 0;
  return version <= k_version_of_whole_data ? k_is_late : k_is_late | k_has_missing;
}

template <class Io>
void visit_missing(Io& io, Visited<Io, RecordedSample>& sample, std::uint32_t pairs) {
  auto count = static_cast<std::uint32_t>(sample.missing.size());
  io(count);
  if constexpr (Io::k_reads) {
    io.ok = io.ok && count > 0 && count <= MissingPieces::k_most;
    sample.missing.resize(io.ok ? count : 0);
  }
  for (auto& piece : sample.missing) {
    io(piece.pair), io(piece.piece);
    if constexpr (Io::k_reads) io.ok = io.ok && piece.pair < pairs;
  }
}

template <class Io>
void visit(Io& io, Visited<Io, RecordedSample>& sample, std::uint32_t hands, std::uint32_t pairs,
           std::uint32_t version) {
  io(sample.time), io(sample.state_hash);
  io(sample.in_contact), io(sample.visited), io(sample.deepest), io(sample.cycle_ns);
  auto there = static_cast<std::uint32_t>(std::min<std::size_t>(sample.hands.size(), hands));
  if constexpr (!Io::k_reads) {
    while (there > 0 && !sample.hands[there - 1].input.present) --there;
  }
  std::uint32_t word = (sample.late != 0 ? k_is_late : 0U) | (sample.missing.empty() ? 0U : k_has_missing);
  word = there | (word & flags_of_samples(version));
  io(word);
  const std::uint32_t flags = word & flags_of_samples(version);
  if ((flags & k_is_late) != 0) io(sample.late);
  if ((flags & k_has_missing) != 0) visit_missing(io, sample, pairs);
  if constexpr (Io::k_reads) {
    there = word - flags;
    io.ok = io.ok && there <= hands;
    sample.hands.resize(io.ok ? there : 0);
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(there, sample.hands.size()); ++i)
    visit(io, sample.hands[i], version);
  for (std::size_t i = 0; i < pairs; ++i) io(sample.levels[i]);
}
inline constexpr std::size_t k_smallest_sample = 8 + 8 + 4 * 4 + 4;

template <class Io>
void visit(Io& io, Visited<Io, RecordedEvent>& event, std::uint32_t hands, std::uint32_t version) {
  std::uint32_t hand = event.hand.value_or(k_no_hand), kind = static_cast<std::uint32_t>(event.kind),
                length = static_cast<std::uint32_t>(event.text.size());
  io(event.tick), io(hand), io(kind), io(length);
  if constexpr (Io::k_reads) {
    const auto last = version > k_version_of_whole_data ? RecordedEvent::Kind::leads : RecordedEvent::Kind::reset;
    io.ok = io.ok && event.tick <= k_last_tick && (hand == k_no_hand || hand < hands) && length <= k_event_text &&
            kind <= static_cast<std::uint32_t>(last);
    const auto text = io.raw(io.ok ? length : 0);
    if (!io.ok) return;
    if (hand != k_no_hand) event.hand = hand;
    event.kind = static_cast<RecordedEvent::Kind>(kind);
    event.text.assign(reinterpret_cast<const char*>(text.data()), text.size());
  } else {
    io.raw(std::as_bytes(std::span(event.text)));
  }
}
inline constexpr std::size_t k_smallest_event = 8 + 3 * 4;

// The head of a file of version_of(recording), with its hash.
void write_head(Writer& out, const Recording& recording);
// A block around what was written of it; `chain` is the hash of what is before it, and becomes that of this block.
void write_block(Writer& out, Block kind, std::uint32_t count, std::span<const std::byte> content,
                 std::uint64_t& chain);
// The block that says that nothing is missing.
void write_end(Writer& out, std::uint64_t samples, std::uint64_t events, std::uint64_t& chain);

}  // namespace cotouch::recording_format

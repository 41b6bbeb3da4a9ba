// Recordings as bytes; recording.h says which.
#include <cotouch/touch/recording.h>

#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/hash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace cotouch {
namespace {

static_assert(std::endian::native == std::endian::little, "recordings are written in the machine's byte order");

constexpr char k_magic[8] = {'C', 'O', 'T', 'O', 'U', 'C', 'H', 'R'};
constexpr std::uint32_t k_version = 5, k_version_of_loops = 4;
constexpr std::uint32_t k_levels_recorded = 1, k_limited = 2;  // flags
constexpr std::uint32_t k_no_hand = 0xffffffff;
constexpr std::uint64_t k_last_tick = 1ULL << 53U;  // what a double, and so JSON, can tell from the next one

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
void visit(Io& io, Visited<Io, LimiterState>& state) {
  visit(io, state.last);
  io(state.ramp);
}
// A choice travels as a u32; one that is not known becomes the last.
template <class Io, class Choice>
void visit_choice(Io& io, Choice& choice, std::remove_const_t<Choice> last) {
  auto number = static_cast<std::uint32_t>(choice);
  io(number);
  if constexpr (Io::k_reads) choice = static_cast<Choice>(std::min(number, static_cast<std::uint32_t>(last)));
}
template <class Io>
void visit(Io& io, Visited<Io, HandSample>& hand) {
  std::uint32_t present = hand.input.present ? 1 : 0;
  io(present);
  if constexpr (Io::k_reads) {
    io.ok = io.ok && present <= 1;
    hand.input.present = present == 1;
  }
  if (present == 0) return;
  visit_choice(io, hand.input.action, HandInput::Action::release);
  io(hand.input.body), io(hand.input.buttons);
  visit_choice(io, hand.motors, Motors::off);
  visit(io, hand.input.pose);
  visit(io, hand.felt);
}
template <class Io>
void visit(Io& io, Visited<Io, RecordedSample>& sample, std::uint32_t hands, std::uint32_t pairs) {
  io(sample.time), io(sample.state_hash);
  io(sample.in_contact), io(sample.visited), io(sample.deepest), io(sample.cycle_ns);
  auto there = static_cast<std::uint32_t>(std::min<std::size_t>(sample.hands.size(), hands));
  if constexpr (!Io::k_reads) {
    while (there > 0 && !sample.hands[there - 1].input.present) --there;
  }
  io(there);
  if constexpr (Io::k_reads) {
    io.ok = io.ok && there <= hands;
    sample.hands.resize(io.ok ? there : 0);
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(there, sample.hands.size()); ++i) visit(io, sample.hands[i]);
  for (std::size_t i = 0; i < pairs; ++i) io(sample.levels[i]);
}
constexpr std::size_t k_smallest_sample = 8 + 8 + 4 * 4 + 4;

template <class Io>
void visit(Io& io, Visited<Io, RecordedEvent>& event, std::uint32_t hands) {
  std::uint32_t hand = event.hand.value_or(k_no_hand), kind = static_cast<std::uint32_t>(event.kind),
                length = static_cast<std::uint32_t>(event.text.size());
  io(event.tick), io(hand), io(kind), io(length);
  if constexpr (Io::k_reads) {
    io.ok = io.ok && event.tick <= k_last_tick && (hand == k_no_hand || hand < hands) && length <= k_event_text &&
            kind <= static_cast<std::uint32_t>(RecordedEvent::Kind::marked);
    const auto text = io.raw(io.ok ? length : 0);
    if (!io.ok) return;
    if (hand != k_no_hand) event.hand = hand;
    event.kind = static_cast<RecordedEvent::Kind>(kind);
    event.text.assign(reinterpret_cast<const char*>(text.data()), text.size());
  } else {
    io.raw(std::as_bytes(std::span(event.text)));
  }
}
constexpr std::size_t k_smallest_event = 8 + 3 * 4;

// A sample of version 4 has a place for every hand, there or not, and fills levels up to a multiple of eight bytes.
std::size_t padded(std::size_t bytes) {
  return (bytes + 7) / 8 * 8;
}
void read_sample_of_loops(Reader& io, RecordedSample& sample, std::uint32_t hands, std::uint32_t pairs) {
  io(sample.time);
  sample.hands.resize(hands);
  for (HandSample& hand : sample.hands) {
    std::uint32_t present = 0, zero = 0;
    io(present);
    visit_choice(io, hand.input.action, HandInput::Action::release);
    io(hand.input.body), io(hand.input.buttons);
    visit(io, hand.input.pose);
    visit(io, hand.felt);
    visit_choice(io, hand.motors, Motors::off);
    io(zero);
    hand.input.present = present != 0;
    if (present == 0) hand = {};
  }
  while (!sample.hands.empty() && !sample.hands.back().input.present) sample.hands.pop_back();
  std::uint8_t zero = 0;
  for (std::size_t i = 0; i < padded(pairs); ++i) io(i < pairs ? sample.levels[i] : zero);
  io(sample.state_hash), io(sample.in_contact), io(sample.visited), io(sample.deepest), io(sample.cycle_ns);
}
std::size_t sample_bytes_of_loops(std::uint32_t hands, std::uint32_t pairs) {
  return 8 + std::size_t{hands} * (6 * 4 + 13 * 8) + padded(pairs) + 8 + 16;
}

[[noreturn]] void refuse(const std::string& name, const char* why) {
  throw Error("The recording " + name + " cannot be played: " + why + " Record it again or use an intact copy.",
              ErrorCode::damaged_file);
}

}  // namespace

void write_recording(const Recording& recording, const std::filesystem::path& file) {
  const Recording& r = recording;
  Writer head, body;
  const std::uint32_t flags = (r.levels_recorded ? k_levels_recorded : 0U) | (r.limited ? k_limited : 0U);
  head.raw(std::as_bytes(std::span(k_magic)));
  head(k_version), head(flags), head(r.hands), head(r.pairs);
  head(static_cast<std::uint32_t>(r.scene.size())), head(static_cast<std::uint32_t>(r.events.size()));
  head(std::uint64_t{r.state.size()}), head(std::uint64_t{r.samples.size()}), head(r.model_hash);
  visit(head, r.limits);
  if (r.limited)
    for (const LimiterState& limiter : r.limiters) visit(head, limiter);
  head.raw(std::as_bytes(std::span(r.scene)));
  head.raw(r.state);
  for (const RecordedSample& sample : r.samples) visit(body, sample, r.hands, r.pairs);
  for (const RecordedEvent& event : r.events) visit(body, event, r.hands);
  Hasher hasher;
  hasher.add_bytes(head.bytes);
  hasher.add_bytes(body.bytes);
  const std::uint64_t digest = hasher.digest();
  const std::span<const std::byte> pieces[] = {head.bytes, body.bytes, std::as_bytes(std::span(&digest, 1))};
  write_file(file, pieces);
}

Recording parse_recording(std::span<const std::byte> bytes, const std::string& name) {
  Reader in(bytes);
  const auto magic = in.raw(sizeof k_magic);
  if (!in.ok || std::memcmp(magic.data(), k_magic, sizeof k_magic) != 0) refuse(name, "it is not a recording.");
  Recording r;
  std::uint32_t version = 0, flags = k_levels_recorded | k_limited, scene_bytes = 0, events = 0;
  std::uint64_t state_bytes = 0, samples = 0;
  in(version);
  if (in.ok && version != k_version && version != k_version_of_loops)
    refuse(name, "it was made by another version of cotouch; this one reads versions 4 and 5.");
  const bool of_loops = version == k_version_of_loops;
  if (!of_loops) in(flags);
  in(r.hands), in(r.pairs), in(scene_bytes);
  if (!of_loops) in(events);
  in(state_bytes), in(samples), in(r.model_hash);
  if (!in.ok || flags > (k_levels_recorded | k_limited) || r.hands > (of_loops ? k_loop_hands : k_recorded_hands) ||
      r.pairs > k_recorded_pairs || scene_bytes > k_recorded_scene || events > k_recorded_events ||
      state_bytes > in.left())
    refuse(name, "its beginning is damaged.");
  r.levels_recorded = (flags & k_levels_recorded) != 0;
  r.limited = (flags & k_limited) != 0;
  visit(in, r.limits);
  if (r.limited) r.limiters.resize(r.hands);
  for (LimiterState& limiter : r.limiters) visit(in, limiter);
  const auto scene = in.raw(scene_bytes);
  const auto state = in.raw(state_bytes);
  if (!in.ok || !is_loop_period(r.limits.period)) refuse(name, "its beginning is damaged.");
  const std::size_t each = of_loops ? sample_bytes_of_loops(r.hands, r.pairs) : k_smallest_sample + r.pairs;
  if (in.left() < sizeof(std::uint64_t) + events * k_smallest_event ||
      samples > (in.left() - sizeof(std::uint64_t) - events * k_smallest_event) / each)
    refuse(name, "it is cut off.");
  std::uint64_t digest;
  std::memcpy(&digest, bytes.data() + bytes.size() - sizeof digest, sizeof digest);
  if (hash_bytes(bytes.first(bytes.size() - sizeof digest)) != digest) refuse(name, "it is damaged.");
  r.scene.assign(reinterpret_cast<const char*>(scene.data()), scene.size());
  r.state.assign(state.begin(), state.end());
  r.samples.resize(samples);
  for (RecordedSample& sample : r.samples) {
    if (of_loops)
      read_sample_of_loops(in, sample, r.hands, r.pairs);
    else
      visit(in, sample, r.hands, r.pairs);
    if (!in.ok) break;
  }
  r.events.resize(events);
  for (RecordedEvent& event : r.events) {
    if (!in.ok) break;
    visit(in, event, r.hands);
  }
  if (!in.ok) refuse(name, "it holds what is not a number, or what no recording has.");
  if (in.left() != sizeof digest) refuse(name, "it has something behind its end.");
  return r;
}

Recording read_recording(const std::filesystem::path& file) {
  const MappedFile mapped = map_file(file);
  return parse_recording(mapped.bytes, file.string());
}

}  // namespace cotouch

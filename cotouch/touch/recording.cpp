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
constexpr std::uint32_t k_version = 4;
constexpr std::size_t k_longest_scene = 64U << 10;

// Writing and reading go through the same `visit` functions below, so the two cannot disagree about the order.
class Writer {
 public:
  std::vector<std::byte> bytes;
  template <class T>
  void operator()(T& value) {
    raw(std::as_bytes(std::span(&value, 1)));
  }
  void raw(std::span<const std::byte> more) { bytes.insert(bytes.end(), more.begin(), more.end()); }
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
  bool ok = true;  // false once more was asked for than there is, or a number was not finite
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

template <class Io>
void visit(Io& io, Vec3d& v) {
  io(v.x), io(v.y), io(v.z);
}
template <class Io>
void visit(Io& io, Pose& pose) {
  visit(io, pose.position);
  io(pose.rotation.w), io(pose.rotation.x), io(pose.rotation.y), io(pose.rotation.z);
}
template <class Io>
void visit(Io& io, LimitSettings& limits) {
  io(limits.max_force), io(limits.max_torque), io(limits.force_rate), io(limits.torque_rate);
  io(limits.ramp_seconds), io(limits.period);
}
template <class Io>
void visit(Io& io, LimiterState& state) {
  visit(io, state.last.force), visit(io, state.last.torque);
  io(state.ramp);
}
// A choice travels as a u32; one that is not known becomes the last.
template <class Io, class Choice>
void visit_choice(Io& io, Choice& choice, Choice last) {
  auto number = static_cast<std::uint32_t>(choice);
  io(number);
  choice = static_cast<Choice>(std::min(number, static_cast<std::uint32_t>(last)));
}
template <class Io>
void visit(Io& io, HandSample& hand) {
  std::uint32_t present = hand.input.present ? 1 : 0, zero = 0;
  io(present);
  hand.input.present = present != 0;
  visit_choice(io, hand.input.action, HandInput::Action::release);
  io(hand.input.body), io(hand.input.buttons);
  visit(io, hand.input.pose);
  visit(io, hand.felt.force), visit(io, hand.felt.torque);
  visit_choice(io, hand.motors, Motors::off);
  io(zero);
}
std::size_t padded(std::size_t bytes) {
  return (bytes + 7) / 8 * 8;
}
template <class Io>
void visit(Io& io, TouchSample& sample, std::uint32_t hands, std::uint32_t pairs) {
  io(sample.time);
  for (std::uint32_t i = 0; i < hands; ++i) visit(io, sample.hands[i]);
  std::uint8_t zero = 0;
  for (std::size_t i = 0; i < padded(pairs); ++i) io(i < pairs ? sample.levels[i] : zero);
  io(sample.state_hash), io(sample.in_contact), io(sample.visited), io(sample.deepest), io(sample.cycle_ns);
}
std::size_t sample_bytes(std::uint32_t hands, std::uint32_t pairs) {
  return 8 + std::size_t{hands} * (6 * 4 + 13 * 8) + padded(pairs) + 8 + 16;
}

[[noreturn]] void refuse(const std::string& name, const char* why) {
  throw Error("The recording " + name + " cannot be played: " + why + " Record it again or use an intact copy.",
              ErrorCode::damaged_file);
}

// Bit for bit, but for when the cycles were, how long they took, and how many nodes temporal coherence spared.
bool felt_alike(const TouchSample& a, const TouchSample& b, std::uint32_t hands) {
  for (std::uint32_t i = 0; i < hands; ++i)
    if (!(a.hands[i].felt == b.hands[i].felt && a.hands[i].motors == b.hands[i].motors)) return false;
  return a.state_hash == b.state_hash && a.in_contact == b.in_contact && a.deepest == b.deepest;
}

}  // namespace

Recording begin_recording(const WorldModel& model, const WorldMark& mark, const LimitSettings& limits,
                          std::size_t hands, std::string scene) {
  Recording recording;
  recording.scene = std::move(scene);
  if (recording.scene.size() > k_longest_scene) throw Error("The scene's description is too long to be recorded.");
  recording.model_hash = model.hash();
  recording.limits = limits;
  recording.hands = static_cast<std::uint32_t>(std::min(hands, k_loop_hands));
  recording.pairs = static_cast<std::uint32_t>(std::min(model.pairs().size(), k_recorded_pairs));
  recording.limiters.assign(mark.mark.limiters.begin(), mark.mark.limiters.begin() + recording.hands);
  recording.state.assign(mark.world.bytes().begin(), mark.world.bytes().end());
  return recording;
}

void collect_samples(TouchLoop& loop, Recording& recording, std::uint64_t first) {
  const double period = recording.limits.period;
  TouchSample sample;
  while (loop.next_sample(sample)) {
    const auto cycle = static_cast<std::uint64_t>(std::llround(sample.time / period));
    if (cycle < first) continue;
    sample.time = static_cast<double>(cycle - first) * period;
    recording.samples.push_back(sample);
  }
}

void write_recording(const Recording& recording, const std::filesystem::path& file) {
  Recording r = recording;  // `visit` takes what it may change
  Writer head, body;
  std::uint32_t version = k_version;
  auto scene_bytes = static_cast<std::uint32_t>(r.scene.size());
  std::uint64_t state_bytes = r.state.size(), samples = r.samples.size();
  head.raw(std::as_bytes(std::span(k_magic)));
  head(version), head(r.hands), head(r.pairs), head(scene_bytes), head(state_bytes), head(samples), head(r.model_hash);
  visit(head, r.limits);
  for (LimiterState& limiter : r.limiters) visit(head, limiter);
  head.raw(std::as_bytes(std::span(r.scene)));
  head.raw(r.state);
  body.bytes.reserve(r.samples.size() * sample_bytes(r.hands, r.pairs));
  for (TouchSample& sample : r.samples) visit(body, sample, r.hands, r.pairs);
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
  std::uint32_t version = 0, scene_bytes = 0;
  std::uint64_t state_bytes = 0, samples = 0;
  in(version);
  if (in.ok && version != k_version)
    refuse(name, "it was made by another version of cotouch; this one reads version 4.");
  in(r.hands), in(r.pairs), in(scene_bytes), in(state_bytes), in(samples), in(r.model_hash);
  if (!in.ok || r.hands > k_loop_hands || r.pairs > k_recorded_pairs || scene_bytes > k_longest_scene ||
      state_bytes > in.left())
    refuse(name, "its beginning is damaged.");
  visit(in, r.limits);
  r.limiters.resize(r.hands);
  for (LimiterState& limiter : r.limiters) visit(in, limiter);
  const auto scene = in.raw(scene_bytes);
  const auto state = in.raw(state_bytes);
  if (!in.ok || !is_loop_period(r.limits.period)) refuse(name, "its beginning is damaged.");
  const std::size_t each = sample_bytes(r.hands, r.pairs);
  if (in.left() < sizeof(std::uint64_t) || (in.left() - sizeof(std::uint64_t)) % each != 0 ||
      (in.left() - sizeof(std::uint64_t)) / each != samples)
    refuse(name, "it is cut off or has something behind its end.");
  std::uint64_t digest;
  std::memcpy(&digest, bytes.data() + bytes.size() - sizeof digest, sizeof digest);
  if (hash_bytes(bytes.first(bytes.size() - sizeof digest)) != digest) refuse(name, "it is damaged.");
  r.scene.assign(reinterpret_cast<const char*>(scene.data()), scene.size());
  r.state.assign(state.begin(), state.end());
  r.samples.resize(samples);
  for (TouchSample& sample : r.samples) visit(in, sample, r.hands, r.pairs);
  if (!in.ok) refuse(name, "it holds what is not a number.");
  return r;
}

Recording read_recording(const std::filesystem::path& file) {
  const MappedFile mapped = map_file(file);
  return parse_recording(mapped.bytes, file.string());
}

namespace {

// Of more pairs than a record has room for, levels follow from the state.
bool has_levels(const WorldModel& model) {
  return model.pairs().size() <= k_recorded_pairs;
}

}  // namespace

Replay::Replay(const Recording& recording, const std::shared_ptr<const WorldModel>& model)
    : recording_(recording),
      world_(model, {has_levels(*model) ? Detail::Rule::exactly : Detail::Rule::by_state, {}, {}}) {
  if (world_.model().hash() != recording.model_hash)
    throw Error("The recording was made in another world: a part, a place or a setting differs.", ErrorCode::refused);
  if (!world_.state().restore(recording.state))
    throw Error("The recording's world is damaged. Record it again or use an intact copy.", ErrorCode::damaged_file);
  for (const LimiterState& state : recording.limiters) {
    limiters_.push_back(std::make_unique<ForceLimiter>(silent_, recording.limits));
    limiters_.back()->resume(state);
  }
}

bool Replay::next() noexcept {
  if (done_ >= recording_.samples.size()) return false;
  const TouchSample& was = recording_.samples[done_];
  felt_ = was;
  std::array<HandInput, k_loop_hands> inputs;
  for (std::size_t i = 0; i < limiters_.size(); ++i) inputs[i] = was.hands[i].input;
  if (has_levels(world_.model())) world_.set_levels(was.levels);
  world_.cycle(std::span(inputs).first(limiters_.size()));
  for (std::size_t i = 0; i < limiters_.size(); ++i) {
    HandSample& hand = felt_.hands[i];
    if (was.hands[i].motors != Motors::on) limiters_[i]->release();
    hand.felt = {};
    if (was.hands[i].motors == Motors::off) continue;
    const ForceLimiter::Written written = limiters_[i]->write(world_.state().hands()[i].felt);
    hand.felt = written.wrench;
    hand.motors = written.motors;
  }
  const ContactStats stats = world_.scratch().stats();
  felt_.in_contact = stats.in_contact;
  felt_.deepest = stats.deepest;
  felt_.visited = stats.visited;
  felt_.state_hash = world_.state().hash();
  if (same_ == done_ && felt_alike(felt_, was, recording_.hands)) ++same_;
  ++done_;
  return true;
}

RecordedDevice::RecordedDevice(const Recording& recording, std::size_t hand) {
  if (hand >= recording.hands) throw Error("The recording has no such hand.", ErrorCode::invalid_argument);
  for (const TouchSample& sample : recording.samples) samples_.push_back(sample.hands[hand]);
}

bool RecordedDevice::read(DeviceReading& reading) noexcept {
  if (next_ >= samples_.size()) return false;
  const HandSample& sample = samples_[next_++];
  if (!sample.input.present) return false;
  reading = {sample.input.pose, sample.input.buttons, sample.motors, sample.input.action, sample.input.body};
  return true;
}

}  // namespace cotouch

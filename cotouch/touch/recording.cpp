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
constexpr std::uint32_t k_version = 3;
constexpr std::uint32_t k_sample_bytes = (1 + 7 + 7 + 6) * 8 + 7 * 4;
constexpr std::uint32_t k_longest_name = 255;

// Writing and reading go through the same `visit` functions below, so the two cannot disagree about the order.
class Writer {
 public:
  std::vector<std::byte> bytes;
  template <class T>
  void operator()(T& value) {
    const auto raw = std::as_bytes(std::span(&value, 1));
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  }
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
void visit(Io& io, HeldObjectSettings& object) {
  CouplingSettings& coupling = object.coupling;
  io(coupling.linear_stiffness), io(coupling.angular_stiffness), io(coupling.max_force), io(coupling.max_torque);
  io(object.damping), io(object.max_linear_step), io(object.max_angular_step);
  std::uint32_t moving = object.moving == Moving::shell ? 0 : 1;
  io(moving);
  object.moving = moving == 0 ? Moving::shell : Moving::field;
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
template <class Io>
void visit(Io& io, TouchSample& sample) {
  io(sample.time);
  visit(io, sample.hand), visit(io, sample.object);
  visit(io, sample.felt.force), visit(io, sample.felt.torque);
  io(sample.in_contact), io(sample.level), io(sample.deepest), io(sample.buttons);
  io(sample.visited), io(sample.cycle_ns);
  auto motors = static_cast<std::uint32_t>(sample.motors);
  io(motors);
  sample.motors = static_cast<Motors>(std::min(motors, static_cast<std::uint32_t>(Motors::off)));
}

[[noreturn]] void refuse(const std::string& name, const char* why) {
  throw Error("The recording " + name + " cannot be played: " + why + " Record it again or use an intact copy.",
              ErrorCode::damaged_file);
}

}  // namespace

Recording begin_recording(const HeldObject& object, const LimitSettings& limits, std::string scene) {
  Recording recording{object.settings(), limits, object.pose(), object.other(), {}, std::move(scene), {}};
  if (recording.scene.size() > k_longest_name) recording.scene.resize(k_longest_name);
  return recording;
}

Recording begin_recording(const TouchChange& change, const TouchMark& mark, const Pose& other, std::string scene) {
  Recording recording{change.object, change.limits, mark.object, other, mark.limiter, std::move(scene), {}};
  if (recording.scene.size() > k_longest_name) recording.scene.resize(k_longest_name);
  return recording;
}

void collect_samples(TouchLoop& loop, Recording& recording, std::uint64_t first) {
  const double period = recording.limits.period;
  TouchSample sample;
  while (loop.next_sample(sample)) {
    const auto cycle = static_cast<std::uint64_t>(std::llround(sample.time / period));
    if (cycle < first) continue;
    // The product that the loop would have formed had it begun here, so that a replay finds the same bits.
    sample.time = static_cast<double>(cycle - first) * period;
    recording.samples.push_back(sample);
  }
}

void write_recording(const Recording& recording, const std::filesystem::path& file) {
  Recording copy = recording;
  Writer io;
  io.bytes.reserve(1024 + copy.samples.size() * k_sample_bytes);
  for (const char letter : k_magic) io(letter);
  std::uint64_t count = copy.samples.size();
  io(k_version), io(k_sample_bytes), io(count);
  visit(io, copy.object);
  visit(io, copy.limits);
  visit(io, copy.start), visit(io, copy.other);
  visit(io, copy.limiter);
  auto name_length = static_cast<std::uint32_t>(std::min<std::size_t>(copy.scene.size(), k_longest_name));
  io(name_length);
  for (std::uint32_t i = 0; i < name_length; ++i) io(copy.scene[i]);
  for (TouchSample& sample : copy.samples) visit(io, sample);
  std::uint64_t check = hash_bytes(io.bytes);
  io(check);

  const std::span<const std::byte> whole[] = {io.bytes};
  write_file(file, whole);
}

Recording parse_recording(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.size() < sizeof(k_magic) || std::memcmp(bytes.data(), k_magic, sizeof(k_magic)) != 0)
    refuse(name, "it is not a cotouch recording.");
  Reader io(bytes.subspan(sizeof(k_magic)));
  std::uint32_t version = 0, sample_bytes = 0, name_length = 0;
  std::uint64_t count = 0;
  io(version);
  if (io.ok && version != k_version) refuse(name, "another version of cotouch wrote it.");
  io(sample_bytes), io(count);

  Recording recording;
  visit(io, recording.object);
  visit(io, recording.limits);
  visit(io, recording.start), visit(io, recording.other);
  visit(io, recording.limiter);
  io(name_length);
  if (!io.ok || sample_bytes != k_sample_bytes || name_length > k_longest_name || name_length > io.left())
    refuse(name, "its head is damaged.");
  recording.scene.resize(name_length);
  for (char& letter : recording.scene) io(letter);
  // Checked before anything is allocated, so a number in the file cannot ask for more memory than the file is long.
  if (io.left() < sizeof(std::uint64_t) || (io.left() - sizeof(std::uint64_t)) % k_sample_bytes != 0 ||
      (io.left() - sizeof(std::uint64_t)) / k_sample_bytes != count)
    refuse(name, "it is cut off or has something appended.");
  std::uint64_t check = 0;
  std::memcpy(&check, bytes.data() + bytes.size() - sizeof(check), sizeof(check));
  if (check != hash_bytes(bytes.first(bytes.size() - sizeof(check)))) refuse(name, "its checksum is wrong.");

  recording.samples.resize(count);
  for (TouchSample& sample : recording.samples) {
    visit(io, sample);
    if (!io.ok || !is_rotation(sample.hand.rotation) || !is_rotation(sample.object.rotation))
      refuse(name, "it holds something that is not a pose or a force.");
  }
  const HeldObjectSettings& object = recording.object;
  if (!is_rotation(recording.start.rotation) || !is_rotation(recording.other.rotation) || !(object.damping >= 0) ||
      !(object.damping < 1) || !(object.max_linear_step > 0) || !(object.max_angular_step > 0) ||
      !is_loop_period(recording.limits.period))
    refuse(name, "its settings make no sense.");
  return recording;
}

Recording read_recording(const std::filesystem::path& file) {
  const MappedFile mapped = map_file(file);
  return parse_recording(mapped.bytes, file.string());
}

bool RecordedDevice::read(DeviceReading& reading) noexcept {
  if (next_ == samples_.size()) return false;
  const TouchSample& sample = samples_[next_];
  reading = {sample.hand, sample.buttons, sample.motors};
  ++next_;
  return true;
}

}  // namespace cotouch

// Recordings as bytes; recording.h says which.
#include <cotouch/touch/recording.h>

#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/hash.h>
#include <cotouch/base/read_file.h>

#include <cotouch/touch/recording_format.h>

#include <algorithm>
#include <cstring>

namespace cotouch {

using namespace recording_format;

namespace {

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

// What every version has after its own beginning.
// What no device has is refused: a replay computes with it.
bool are_plausible(const Recording& r) {
  constexpr double k_most = 1e6;  // N, N m, times as warm as it may be
  const auto plausible = [](double value) { return value >= 0 && value <= k_most; };
  const auto in_reach = [](const Vec3d& v) {
    return std::max({std::fabs(v.x), std::fabs(v.y), std::fabs(v.z)}) <= k_most;
  };
  return plausible(r.limits.max_force) && plausible(r.limits.max_torque) &&
         std::all_of(r.limiters.begin(), r.limiters.end(),
                     [&](const LimiterState& state) {
                       return in_reach(state.last.force) && in_reach(state.last.torque) && plausible(state.ramp) &&
                              plausible(state.force_heat) && plausible(state.torque_heat);
                     }) &&
         std::all_of(r.motors.begin(), r.motors.end(), [&](const MotorLimits& m) {
           return plausible(m.peak_force) && plausible(m.continuous_force) && plausible(m.peak_torque) &&
                  plausible(m.continuous_torque) && plausible(m.heating_seconds);
         });
}

void read_limits(Reader& in, Recording& r, std::uint32_t flags, std::uint32_t scene_bytes, std::uint64_t state_bytes,
                 std::uint32_t version, const std::string& name) {
  r.levels_recorded = (flags & k_levels_recorded) != 0;
  r.limited = (flags & k_limited) != 0;
  visit(in, r.limits);
  if (r.limited) {
    r.limiters.resize(r.hands);
    // Before version 6 nothing was known of the devices but what they were asked for.
    const LimitSettings& l = r.limits;
    r.motors.resize(r.hands, {l.max_force, l.max_force, l.max_torque, l.max_torque, 1});
  }
  for (std::size_t i = 0; i < r.limiters.size(); ++i) {
    visit(in, r.limiters[i], version);
    if (version > k_version_in_one) visit(in, r.motors[i]);
  }
  const auto scene = in.raw(scene_bytes);
  const auto state = in.raw(state_bytes);
  if (!in.ok || !is_loop_period(r.limits.period) || !are_plausible(r)) refuse(name, "its beginning is damaged.");
  r.scene.assign(reinterpret_cast<const char*>(scene.data()), scene.size());
  r.state.assign(state.begin(), state.end());
}

constexpr const char* k_senseless = "it holds what is not a number, or what no recording has.";

// Versions 4 and 5: all in one, with a hash behind it.
Recording parse_in_one(std::span<const std::byte> bytes, Reader in, std::uint32_t version, const std::string& name) {
  Recording r;
  const bool of_loops = version == k_version_of_loops;
  std::uint32_t flags = k_levels_recorded | k_limited, scene_bytes = 0, events = 0;
  std::uint64_t state_bytes = 0, samples = 0;
  if (!of_loops) in(flags);
  in(r.hands), in(r.pairs), in(scene_bytes);
  if (!of_loops) in(events);
  in(state_bytes), in(samples), in(r.model_hash);
  if (!in.ok || flags > (k_levels_recorded | k_limited) || r.hands > (of_loops ? k_loop_hands : k_recorded_hands) ||
      r.pairs > k_recorded_pairs || scene_bytes > k_recorded_scene || events > k_recorded_events ||
      state_bytes > in.left())
    refuse(name, "its beginning is damaged.");
  read_limits(in, r, flags, scene_bytes, state_bytes, version, name);
  const std::size_t each = of_loops ? sample_bytes_of_loops(r.hands, r.pairs) : k_smallest_sample + r.pairs;
  if (in.left() < sizeof(std::uint64_t) + events * k_smallest_event ||
      samples > (in.left() - sizeof(std::uint64_t) - events * k_smallest_event) / each)
    refuse(name, "it is cut off.");
  std::uint64_t digest;
  std::memcpy(&digest, bytes.data() + bytes.size() - sizeof digest, sizeof digest);
  if (hash_bytes(bytes.first(bytes.size() - sizeof digest)) != digest) refuse(name, "it is damaged.");
  r.samples.resize(samples);
  for (RecordedSample& sample : r.samples) {
    if (of_loops)
      read_sample_of_loops(in, sample, r.hands, r.pairs);
    else
      visit(in, sample, r.hands, r.pairs, version);
    if (!in.ok) break;
  }
  r.events.resize(events);
  for (RecordedEvent& event : r.events) {
    if (!in.ok) break;
    visit(in, event, r.hands, version);
  }
  if (!in.ok) refuse(name, k_senseless);
  if (in.left() != sizeof digest) refuse(name, "it has something behind its end.");
  return r;
}

std::uint64_t chained(std::uint64_t before, std::span<const std::byte> block) {
  Hasher hasher;
  hasher.add(before);
  hasher.add_bytes(block);
  return hasher.digest();
}

// The next block of the file with `count` things in it; nothing if the file breaks off here.
struct FoundBlock {
  Block kind;
  std::uint32_t count;
  std::span<const std::byte> content;
};
std::optional<FoundBlock> next_block(Reader& in, std::uint64_t& chain) {
  const std::span<const std::byte> rest = in.rest();
  std::uint32_t kind = 0, count = 0, length = 0;
  in(kind), in(count), in(length);
  if (!in.ok || length > k_largest_block) return std::nullopt;
  const std::span<const std::byte> content = in.raw(length);
  std::uint64_t digest = 0;
  in(digest);
  if (!in.ok) return std::nullopt;
  chain = chained(chain, rest.first(k_block_head + length));
  if (digest != chain) return std::nullopt;
  return FoundBlock{static_cast<Block>(kind), count, content};
}

Recording parse_blocks(std::span<const std::byte> bytes, Reader in, std::uint32_t version, const std::string& name) {
  Recording r;
  std::uint32_t flags = 0, scene_bytes = 0;
  std::uint64_t state_bytes = 0, digest = 0;
  in(flags), in(r.hands), in(r.pairs), in(scene_bytes), in(state_bytes), in(r.model_hash);
  if (!in.ok || flags > (k_levels_recorded | k_limited) || r.hands > k_recorded_hands || r.pairs > k_recorded_pairs ||
      scene_bytes > k_recorded_scene || state_bytes > in.left())
    refuse(name, "its beginning is damaged.");
  read_limits(in, r, flags, scene_bytes, state_bytes, version, name);
  r.may_lack_data = r.limited && version > k_version_of_whole_data;
  const std::size_t head = bytes.size() - in.left();
  in(digest);
  if (!in.ok || digest != hash_bytes(bytes.first(head))) refuse(name, "its beginning is damaged.");
  r.finished = false;
  while (!r.finished) {
    r.unread = in.left();
    const std::optional<FoundBlock> block = next_block(in, digest);
    if (!block) return r;
    Reader content(block->content);
    switch (block->kind) {
      case Block::samples:
        if (block->count > block->content.size() / (k_smallest_sample + r.pairs)) refuse(name, k_senseless);
        for (std::uint32_t i = 0; content.ok && i < block->count; ++i)
          visit(content, r.samples.emplace_back(), r.hands, r.pairs, version);
        break;
      case Block::events:
        if (block->count > k_recorded_events - r.events.size() ||
            block->count > block->content.size() / k_smallest_event)
          refuse(name, k_senseless);
        for (std::uint32_t i = 0; content.ok && i < block->count; ++i)
          visit(content, r.events.emplace_back(), r.hands, version);
        break;
      case Block::end: {
        std::uint64_t samples = 0, events = 0;
        content(samples), content(events);
        if (samples != r.samples.size() || events != r.events.size()) refuse(name, k_senseless);
        r.finished = true;
        break;
      }
      default: refuse(name, k_senseless);
    }
    if (!content.ok || content.left() != 0) refuse(name, k_senseless);
  }
  if (in.left() != 0) refuse(name, "it has something behind its end.");
  r.unread = 0;
  return r;
}

}  // namespace

namespace recording_format {

void write_head(Writer& head, const Recording& r) {
  const std::uint32_t version = version_of(r);
  const std::uint32_t flags = (r.levels_recorded ? k_levels_recorded : 0U) | (r.limited ? k_limited : 0U);
  head.raw(std::as_bytes(std::span(k_magic)));
  head(version), head(flags), head(r.hands), head(r.pairs);
  head(static_cast<std::uint32_t>(r.scene.size()));
  head(std::uint64_t{r.state.size()}), head(r.model_hash);
  visit(head, r.limits);
  if (r.limited)
    for (std::size_t i = 0; i < r.limiters.size(); ++i)
      visit(head, r.limiters[i], version), visit(head, r.motors.at(i));
  head.raw(std::as_bytes(std::span(r.scene)));
  head.raw(r.state);
  head(hash_bytes(head.bytes));
}

void write_block(Writer& out, Block kind, std::uint32_t count, std::span<const std::byte> content,
                 std::uint64_t& chain) {
  const std::size_t begin = out.bytes.size();
  out(static_cast<std::uint32_t>(kind)), out(count), out(static_cast<std::uint32_t>(content.size()));
  out.raw(content);
  chain = chained(chain, std::span(out.bytes).subspan(begin));
  out(chain);
}

void write_end(Writer& out, std::uint64_t samples, std::uint64_t events, std::uint64_t& chain) {
  Writer content;
  content(samples), content(events);
  write_block(out, Block::end, 0, content.bytes, chain);
}

}  // namespace recording_format

void write_recording(const Recording& recording, const std::filesystem::path& file) {
  const Recording& r = recording;
  const std::uint32_t version = version_of(r);
  Writer out;
  write_head(out, r);
  std::uint64_t chain;
  std::memcpy(&chain, out.bytes.data() + out.bytes.size() - sizeof chain, sizeof chain);
  constexpr std::size_t k_together = 500;
  for (std::size_t i = 0; i < r.samples.size(); i += k_together) {
    Writer content;
    const std::size_t end = std::min(i + k_together, r.samples.size());
    for (std::size_t j = i; j < end; ++j) visit(content, r.samples[j], r.hands, r.pairs, version);
    write_block(out, Block::samples, static_cast<std::uint32_t>(end - i), content.bytes, chain);
  }
  if (!r.events.empty()) {
    Writer content;
    for (const RecordedEvent& event : r.events) visit(content, event, r.hands, version);
    write_block(out, Block::events, static_cast<std::uint32_t>(r.events.size()), content.bytes, chain);
  }
  if (r.finished) write_end(out, r.samples.size(), r.events.size(), chain);
  const std::span<const std::byte> pieces[] = {out.bytes};
  write_file(file, pieces);
}

Recording parse_recording(std::span<const std::byte> bytes, const std::string& name) {
  Reader in(bytes);
  const auto magic = in.raw(sizeof k_magic);
  if (!in.ok || std::memcmp(magic.data(), k_magic, sizeof k_magic) != 0) refuse(name, "it is not a recording.");
  std::uint32_t version = 0;
  in(version);
  if (in.ok && (version < k_version_of_loops || version > k_version))
    refuse(name, "it was made by another version of cotouch; this one reads versions 4 to 7.");
  if (version > k_version_in_one) return parse_blocks(bytes, in, version, name);
  return parse_in_one(bytes, in, version, name);
}

Recording read_recording(const std::filesystem::path& file) {
  const FileCopy copy = read_file(file);
  return parse_recording(copy.bytes, file.string());
}

}  // namespace cotouch

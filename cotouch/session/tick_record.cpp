#include <cotouch/session/tick_record.h>

#include <cotouch/base/error.h>
#include <cotouch/net/bytes.h>

#include <array>
#include <bit>
#include <cmath>

namespace cotouch {
namespace {

constexpr std::uint8_t k_present = 1, k_has_body = 8, k_has_buttons = 16, k_in_units = 32, k_in_doubles = 64;
constexpr int k_action_shift = 1;
constexpr double k_unit = 0x1p-20;
constexpr double k_most_units = 0x1p52;  // of which a double still holds every one

std::array<double, 7> numbers_of(const Pose& pose) {
  const Vec3d& p = pose.position;
  const Quat& q = pose.rotation;
  return {p.x, p.y, p.z, q.w, q.x, q.y, q.z};
}

Pose pose_of(const std::array<double, 7>& n) {
  return {{n[0], n[1], n[2]}, {n[3], n[4], n[5], n[6]}};
}

// The same bits, so that 0 and -0 are told apart.
bool same(const std::array<double, 7>& a, const std::array<double, 7>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i])) return false;
  return true;
}

bool is_in_units(const std::array<double, 7>& numbers) {
  for (const double number : numbers) {
    const double units = number / k_unit;
    if (!(std::abs(units) <= k_most_units) || units != std::floor(units)) return false;
    if (units == 0 && std::signbit(number)) return false;
  }
  return true;
}

std::uint8_t flags_of(const HandInput& input) {
  const std::array<double, 7> numbers = numbers_of(input.pose);
  unsigned flags = static_cast<unsigned>(input.action) << k_action_shift;
  if (input.present) flags |= k_present;
  if (input.body != 0) flags |= k_has_body;
  if (input.buttons != 0) flags |= k_has_buttons;
  if (!same(numbers, numbers_of({}))) flags |= is_in_units(numbers) ? k_in_units : k_in_doubles;
  return static_cast<std::uint8_t>(flags);
}

void write_hand(ByteWriter& out, const HandInput& input, std::uint8_t flags) {
  out.number(flags);
  if (flags & k_has_body) out.varint(input.body);
  if (flags & k_has_buttons) out.varint(input.buttons);
  for (const double number : numbers_of(input.pose)) {
    if (flags & k_in_units) out.signed_varint(static_cast<std::int64_t>(number / k_unit));
    if (flags & k_in_doubles) out.number(number);
  }
}

// Only what write_hand would have written: what means nothing, or could be said in fewer bytes, is refused.
HandInput read_hand(ByteReader& in) {
  const auto flags = in.number<std::uint8_t>();
  HandInput input;
  input.present = (flags & k_present) != 0;
  const unsigned action = (flags >> k_action_shift) & 3U;
  if (action > static_cast<unsigned>(HandInput::Action::release)) in.fail();
  input.action = static_cast<HandInput::Action>(action);
  constexpr std::uint64_t k_most = 0xffffffff;
  if (flags & k_has_body) input.body = static_cast<std::uint32_t>(in.varint(k_most));
  if (flags & k_has_buttons) input.buttons = static_cast<std::uint32_t>(in.varint(k_most));
  if (flags & (k_in_units | k_in_doubles)) {
    std::array<double, 7> numbers{};
    for (double& number : numbers)
      number = flags & k_in_units ? static_cast<double>(in.signed_varint()) * k_unit : in.number<double>();
    input.pose = pose_of(numbers);
  }
  if (in.ok() && (flags == 0 || flags_of(input) != flags)) in.fail();
  return input;
}

}  // namespace

std::vector<std::byte> encode_tick(std::span<const HandInput> inputs) {
  if (inputs.size() > k_tick_hands) throw Error("A tick has at most sixteen hands.", ErrorCode::invalid_argument);
  std::array<std::uint8_t, k_tick_hands> flags{};
  std::uint64_t used = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    flags[i] = flags_of(inputs[i]);
    if (flags[i] != 0) used |= std::uint64_t{1} << i;
  }
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  out.varint(inputs.size());
  out.varint(used);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (flags[i] != 0) write_hand(out, inputs[i], flags[i]);
  return bytes;
}

bool decode_tick(std::span<const std::byte> bytes, std::vector<HandInput>& inputs) {
  ByteReader in(bytes);
  inputs.assign(in.varint(k_tick_hands), {});
  const std::uint64_t used = in.varint((std::uint64_t{1} << inputs.size()) - 1);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if ((used >> i & 1U) != 0) inputs[i] = read_hand(in);
  if (!in.at_end()) inputs.clear();
  return in.at_end();
}

}  // namespace cotouch

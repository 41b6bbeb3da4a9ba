#include <cotouch/serve/wire.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace cotouch {
namespace {

constexpr std::uint8_t k_version = 1;
constexpr std::uint8_t k_type_state = 1, k_type_near = 2, k_type_hand_input = 16;
constexpr std::size_t k_prefix_bytes = 16;
constexpr std::size_t k_offset_left_out = 60;

template <class T>
void put(std::string& out, T value) {
  static_assert(std::is_arithmetic_v<T>);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  if constexpr (std::endian::native == std::endian::big) std::reverse(bytes, bytes + sizeof(T));
  out.append(bytes, sizeof(T));
}

template <class T>
T get(std::string_view in, std::size_t offset) noexcept {
  char bytes[sizeof(T)];
  std::memcpy(bytes, in.data() + offset, sizeof(T));
  if constexpr (std::endian::native == std::endian::big) std::reverse(bytes, bytes + sizeof(T));
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

void put(std::string& out, const Vec3d& v) {
  put(out, static_cast<float>(v.x));
  put(out, static_cast<float>(v.y));
  put(out, static_cast<float>(v.z));
}

void put(std::string& out, const Quat& q) {
  put(out, static_cast<float>(q.w));
  put(out, static_cast<float>(q.x));
  put(out, static_cast<float>(q.y));
  put(out, static_cast<float>(q.z));
}

void put_prefix(std::string& out, std::uint8_t type, std::size_t length, std::uint32_t sequence,
                std::uint32_t generation) {
  out += "CT";
  put(out, k_version);
  put(out, type);
  put(out, static_cast<std::uint32_t>(length));
  put(out, sequence);
  put(out, generation);
}

void put_hand(std::string& out, const HandState& hand) {
  put(out, hand.index);
  put(out, static_cast<std::uint8_t>(hand.holder));
  put(out, static_cast<std::uint8_t>((hand.force_limited ? 1 : 0) | (hand.detail_limited ? 2 : 0)));
  put(out, hand.level);
  put(out, hand.part);
  put(out, hand.hand.position);
  put(out, hand.hand.rotation);
  put(out, hand.object.position);
  put(out, hand.object.rotation);
  put(out, hand.felt.force);
  put(out, hand.felt.torque);
  put(out, hand.visited);
  put(out, hand.in_contact);
  put(out, hand.deepest);
  put(out, hand.input_sequence);
}

void put_points(std::string& out, std::span<const MarkedPoint> points) {
  for (const MarkedPoint& p : points) {
    put(out, p.position.x);
    put(out, p.position.y);
    put(out, p.position.z);
    put(out, p.mark);
  }
}

}  // namespace

EncodedState encode_state(const StateFrame& frame, bool with_traversed) {
  const std::size_t contacts = std::min(frame.contacts.size(), k_max_contacts_sent);
  const std::size_t traversed = with_traversed ? std::min(frame.traversed.size(), k_max_traversed_sent) : 0;
  const std::size_t head_bytes = k_state_head_bytes + k_state_hand_bytes * frame.hands.size();
  const bool cut_contacts = contacts < frame.contacts.size();
  const bool cut_traversed = with_traversed && traversed < frame.traversed.size();
  const std::uint32_t flags = (frame.running ? 1U : 0U) | (frame.recording ? 2U : 0U) | (frame.replay ? 4U : 0U) |
                              (cut_contacts ? 16U : 0U) | (cut_traversed ? 32U : 0U);

  EncodedState out;
  out.head.reserve(head_bytes);
  put_prefix(out.head, k_type_state, head_bytes + 16 * (contacts + traversed), frame.sequence, frame.generation);
  put(out.head, frame.time);
  put(out.head, flags);
  put(out.head, static_cast<std::uint8_t>(frame.hands.size()));
  put(out.head, std::uint8_t{0});  // bodies that move by themselves: there are none yet
  put(out.head, frame.viewers);
  put(out.head, frame.cycle_median_us);
  put(out.head, frame.cycle_longest_us);
  put(out.head, frame.cycles);
  put(out.head, frame.missed);
  put(out.head, frame.clearance);
  put(out.head, static_cast<std::uint32_t>(contacts));
  put(out.head, static_cast<std::uint32_t>(traversed));
  put(out.head, std::uint32_t{0});
  for (const HandState& hand : frame.hands) put_hand(out.head, hand);

  std::string points;
  points.reserve(16 * (contacts + traversed));
  put_points(points, std::span(frame.contacts).first(contacts));
  if (with_traversed) put_points(points, std::span(frame.traversed).first(traversed));
  out.points = std::make_shared<const std::string>(std::move(points));
  return out;
}

void set_frames_left_out(std::string& head, std::uint32_t count) {
  std::string bytes;
  put(bytes, count);
  head.replace(k_offset_left_out, bytes.size(), bytes);
}

void set_holder(std::string& head, std::size_t hand, Holder holder) {
  head[k_state_head_bytes + k_state_hand_bytes * hand + 1] = static_cast<char>(holder);
}

std::string encode_near(std::uint32_t sequence, std::uint32_t generation, std::uint32_t part, float range,
                        std::span<const std::uint8_t> nearness) {
  std::string out;
  out.reserve(32 + nearness.size());
  put_prefix(out, k_type_near, 32 + nearness.size(), sequence, generation);
  put(out, part);
  put(out, static_cast<std::uint32_t>(nearness.size()));
  put(out, range);
  put(out, std::uint32_t{0});
  out.append(reinterpret_cast<const char*>(nearness.data()), nearness.size());
  return out;
}

std::string encode_mesh(const TriangleMesh& mesh, std::uint32_t generation) {
  std::string out;
  out.reserve(16 + 12 * (mesh.vertices.size() + mesh.triangles.size()));
  out += "CTM1";
  put(out, static_cast<std::uint32_t>(mesh.vertices.size()));
  put(out, static_cast<std::uint32_t>(mesh.triangles.size()));
  put(out, generation);
  for (const Vec3d& v : mesh.vertices) put(out, v);
  for (const Triangle& t : mesh.triangles)
    for (const std::uint32_t corner : t) put(out, corner);
  return out;
}

DecodedInput decode_input(std::string_view bytes) noexcept {
  const auto broken = [](std::string_view rule) { return DecodedInput{rule, false, {}}; };
  if (bytes.size() != k_hand_input_bytes) return broken("a binary message has exactly 48 bytes");
  if (bytes.substr(0, 2) != "CT" || get<std::uint8_t>(bytes, 2) != k_version)
    return broken("a binary message starts with CT and version 1");
  if (get<std::uint32_t>(bytes, 4) != bytes.size()) return broken("a binary message tells its own length");
  DecodedInput decoded;
  if (get<std::uint8_t>(bytes, 3) != k_type_hand_input) return decoded;

  decoded.known = true;
  HandInput& input = decoded.input;
  input.sequence = get<std::uint32_t>(bytes, 8);
  input.generation = get<std::uint32_t>(bytes, 12);
  input.hand = get<std::uint8_t>(bytes, k_prefix_bytes);
  input.buttons = get<std::uint8_t>(bytes, 17);
  double numbers[7];
  for (std::size_t i = 0; i < 7; ++i) {
    numbers[i] = static_cast<double>(get<float>(bytes, 20 + 4 * i));
    if (!std::isfinite(numbers[i])) return broken("a hand's pose is made of finite numbers");
  }
  input.pose.position = {numbers[0], numbers[1], numbers[2]};
  const Quat q{numbers[3], numbers[4], numbers[5], numbers[6]};
  const double length = std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  if (!(std::abs(length - 1) <= 0.01)) return broken("a hand's rotation has length one");
  input.pose.rotation = normalized(q);
  return decoded;
}

}  // namespace cotouch

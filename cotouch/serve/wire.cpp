#include <cotouch/serve/wire.h>

#include <cotouch/serve/wire_layout.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace cotouch {
namespace {

// The words of the frames and the numbers of the layout are the same.
template <class Word, class Layout>
constexpr bool agree(Word word, Layout layout) {
  return static_cast<int>(word) == static_cast<int>(layout);
}
static_assert(agree(Motion::fixed, wire::BodyMotion::fixed) && agree(Motion::path, wire::BodyMotion::path) &&
              agree(Motion::free, wire::BodyMotion::free));
static_assert(agree(TaskView::State::none, wire::TaskState::none) &&
              agree(TaskView::State::waiting, wire::TaskState::waiting) &&
              agree(TaskView::State::running, wire::TaskState::running) &&
              agree(TaskView::State::done, wire::TaskState::done));

template <class Number = std::uint32_t>
Number flag(bool set, std::uint32_t bit) {
  return static_cast<Number>(set ? bit : 0U);
}

wire::MessageHead head_of(wire::MessageType type, std::size_t length, std::uint32_t sequence,
                          std::uint32_t generation) {
  return {wire::k_version, static_cast<std::uint8_t>(type), static_cast<std::uint32_t>(length), sequence, generation};
}

// A section's bytes; all entries we know are multiples of four long, so that nothing needs to be padded.
template <class Entry>
std::size_t section_bytes(std::size_t count) {
  static_assert(Entry::k_bytes % 4 == 0);
  return count == 0 ? 0 : wire::SectionHead::k_bytes + count * Entry::k_bytes;
}

template <class Entry, class Items, class Convert>
void put_section(std::string& out, wire::SectionType type, const Items& items, const Convert& entry_of) {
  if (items.empty()) return;
  wire::put(out, wire::SectionHead{static_cast<std::uint16_t>(type), static_cast<std::uint16_t>(Entry::k_bytes),
                                   static_cast<std::uint32_t>(items.size())});
  for (const auto& item : items) wire::put(out, entry_of(item));
}

wire::HolderKind holder_of(const HandView& hand) {
  if (hand.holder == ParticipantId::nobody) return wire::HolderKind::nobody;
  switch (hand.holder_kind) {
    case ParticipantKind::page:
    case ParticipantKind::peer: return wire::HolderKind::page;  // of another server
    case ParticipantKind::device: return wire::HolderKind::device;
    case ParticipantKind::program: return wire::HolderKind::script;
  }
  return wire::HolderKind::nobody;
}

wire::HandEntry entry_of_hand(const HandView& hand) {
  wire::HandEntry entry;
  entry.hand = static_cast<std::uint32_t>(hand.id);
  entry.participant = static_cast<std::uint32_t>(hand.holder);
  entry.holder = static_cast<std::uint8_t>(holder_of(hand));
  entry.flags = static_cast<std::uint8_t>(flag(hand.force_limited, wire::k_hand_flag_force_limited) |
                                          flag(hand.detail_limited, wire::k_hand_flag_detail_limited));
  entry.level = static_cast<std::uint8_t>(std::min(hand.level, 255U));
  entry.body = hand.body;
  entry.pose = hand.pose;
  entry.grip = hand.grip;
  entry.force = hand.felt.force;
  entry.torque = hand.felt.torque;
  entry.visited = hand.visited;
  entry.in_contact = hand.in_contact;
  entry.deepest = hand.deepest;
  entry.input = hand.input_sequence;
  return entry;
}

wire::BodyEntry entry_of_body(const BodyView& body) {
  wire::BodyEntry entry;
  entry.body = body.id;
  entry.motion = static_cast<std::uint8_t>(body.motion);
  entry.flags = static_cast<std::uint8_t>(flag(body.held, wire::k_body_flag_held) |
                                          flag(body.touching, wire::k_body_flag_touching) |
                                          flag(body.resting, wire::k_body_flag_resting));
  entry.pose = body.pose;
  entry.speed = body.speed;
  return entry;
}

wire::TaskEntry entry_of_task(const TaskView& task) {
  wire::TaskEntry entry;
  entry.state = static_cast<std::uint8_t>(task.state);
  entry.body = task.body;
  entry.position_error = task.position_error;
  entry.angle_error = task.angle_error;
  entry.position_tolerance = task.position_tolerance;
  entry.angle_tolerance = task.angle_tolerance;
  entry.seconds = task.seconds;
  entry.target = task.target;
  return entry;
}

Vec3d position_of(const MarkedPoint& point) {
  return {static_cast<double>(point.position.x), static_cast<double>(point.position.y),
          static_cast<double>(point.position.z)};
}

}  // namespace

EncodedState encode_state(const SessionView& view, const FrameStamp& stamp, bool with_traversed) {
  const std::vector<MarkedPoint>& all_contacts = view.contact.contacts;
  const std::vector<MarkedPoint>& all_traversed = view.contact.traversed;
  const auto contacts = std::span(all_contacts).first(std::min(all_contacts.size(), k_max_contacts_sent));
  const auto traversed =
      std::span(all_traversed).first(with_traversed ? std::min(all_traversed.size(), k_max_traversed_sent) : 0);
  const std::span<const TaskView> task(view.task ? &*view.task : nullptr, view.task ? 1 : 0);
  std::vector<float> coordinates;
  for (const BendingView& bent : view.bending)
    coordinates.insert(coordinates.end(), bent.coordinates.begin(), bent.coordinates.end());
  const std::size_t length = state_bytes(view.hands.size(), view.bodies.size(), contacts.size()) +
                             (view.task ? task_bytes() : 0) + section_bytes<wire::TraversedEntry>(traversed.size()) +
                             bending_bytes(view.bending.size(), coordinates.size());
  wire::ClockEntry clock;
  clock.time = view.time;
  clock.flags = flag(view.running, wire::k_clock_flag_running) | flag(view.recording, wire::k_clock_flag_recording) |
                flag(stamp.replay, wire::k_clock_flag_replay) |
                flag(contacts.size() < all_contacts.size(), wire::k_clock_flag_more_contacts) |
                flag(with_traversed && traversed.size() < all_traversed.size(), wire::k_clock_flag_more_traversed);
  clock.viewers = stamp.viewers;
  clock.cycle_median = view.cycle_median_us;
  clock.cycle_longest = view.cycle_longest_us;
  clock.cycles = static_cast<std::uint32_t>(view.cycles);
  clock.missed = static_cast<std::uint32_t>(view.missed);
  clock.stalls = static_cast<std::uint32_t>(view.stalls);
  clock.clearance = view.contact.clearance;
  clock.visited = view.visited;
  clock.in_contact = view.in_contact;

  EncodedState out;
  wire::put(out.head, head_of(wire::MessageType::state, length, stamp.sequence, view.generation));
  // First, so that what differs between viewers has a fixed place.
  put_section<wire::ClockEntry>(out.head, wire::SectionType::clock, std::span(&clock, 1),
                                [](const wire::ClockEntry& entry) { return entry; });

  std::string rest;
  rest.reserve(length - out.head.size());
  put_section<wire::HandEntry>(rest, wire::SectionType::hands, view.hands, entry_of_hand);
  put_section<wire::BodyEntry>(rest, wire::SectionType::bodies, view.bodies, entry_of_body);
  put_section<wire::TaskEntry>(rest, wire::SectionType::task, task, entry_of_task);
  put_section<wire::ContactEntry>(rest, wire::SectionType::contacts, contacts, [](const MarkedPoint& point) {
    return wire::ContactEntry{position_of(point), point.mark};
  });
  put_section<wire::TraversedEntry>(rest, wire::SectionType::traversed, traversed, [](const MarkedPoint& point) {
    return wire::TraversedEntry{position_of(point), point.mark};
  });
  put_section<wire::BendingEntry>(rest, wire::SectionType::bending, view.bending, [](const BendingView& bent) {
    return wire::BendingEntry{bent.body, static_cast<std::uint32_t>(bent.coordinates.size())};
  });
  put_section<wire::CoordinateEntry>(rest, wire::SectionType::coordinates, coordinates,
                                     [](float value) { return wire::CoordinateEntry{value}; });
  out.rest = std::make_shared<const std::string>(std::move(rest));
  return out;
}

std::size_t state_bytes(std::size_t hands, std::size_t bodies, std::size_t contacts) {
  return wire::MessageHead::k_bytes + section_bytes<wire::ClockEntry>(1) + section_bytes<wire::HandEntry>(hands) +
         section_bytes<wire::BodyEntry>(bodies) + section_bytes<wire::ContactEntry>(contacts);
}

std::size_t task_bytes() {
  return section_bytes<wire::TaskEntry>(1);
}

std::size_t bending_bytes(std::size_t bodies, std::size_t coordinates) {
  return section_bytes<wire::BendingEntry>(bodies) + section_bytes<wire::CoordinateEntry>(coordinates);
}

void set_frames_left_out(std::string& head, std::uint32_t count) {
  std::string bytes;
  wire::put(bytes, count);
  head.replace(wire::MessageHead::k_bytes + wire::SectionHead::k_bytes + wire::ClockEntry::k_left_out_at, bytes.size(),
               bytes);
}

std::string encode_near(std::uint32_t sequence, std::uint32_t generation, std::uint32_t part, float range,
                        std::span<const std::uint8_t> nearness) {
  const std::size_t length = wire::MessageHead::k_bytes + wire::NearHead::k_bytes + nearness.size();
  std::string out;
  out.reserve(length);
  wire::put(out, head_of(wire::MessageType::near, length, sequence, generation));
  wire::put(out, wire::NearHead{part, static_cast<std::uint32_t>(nearness.size()), range});
  out.append(reinterpret_cast<const char*>(nearness.data()), nearness.size());
  return out;
}

std::string encode_mesh(const TriangleMesh& mesh, std::uint32_t generation) {
  std::string out;
  out.reserve(wire::MeshHead::k_bytes + 12 * (mesh.vertices.size() + mesh.triangles.size()));
  wire::put(out, wire::MeshHead{static_cast<std::uint32_t>(mesh.vertices.size()),
                                static_cast<std::uint32_t>(mesh.triangles.size()), generation});
  for (const Vec3d& v : mesh.vertices) wire::put(out, v);
  for (const Triangle& t : mesh.triangles)
    for (const std::uint32_t corner : t) wire::put(out, corner);
  return out;
}

std::string encode_recording_head(std::uint32_t frames, double seconds) {
  std::string out;
  wire::put(out, wire::RecordingHead{frames, seconds});
  return out;
}

DecodedInput decode_input(std::string_view bytes) noexcept {
  const auto broken = [](std::string_view rule) { return DecodedInput{rule, false, {}}; };
  if (bytes.size() > wire::k_max_page_message_bytes) return broken("a binary message has at most 4096 bytes");
  if (bytes.size() < wire::MessageHead::k_bytes) return broken("a binary message has a head of 16 bytes");
  wire::MessageHead head;
  wire::get(bytes, 0, head);
  if (!bytes.starts_with(wire::MessageHead::k_magic) || head.version != wire::k_version)
    return broken("a binary message starts with CT and version 2");
  if (head.length != bytes.size()) return broken("a binary message tells its own length");
  DecodedInput decoded;
  if (head.type != static_cast<std::uint8_t>(wire::MessageType::hand_input)) return decoded;

  // A later version may have put more behind what is read here.
  if (bytes.size() < wire::MessageHead::k_bytes + wire::HandInput::k_bytes)
    return broken("a hand input has at least 52 bytes");
  wire::HandInput sent;
  wire::get(bytes, wire::MessageHead::k_bytes, sent);
  const Quat& q = sent.pose.rotation;
  if (!is_finite(sent.pose)) return broken("a hand's pose is made of finite numbers");
  const double length = std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  if (!(std::abs(length - 1) <= 0.01)) return broken("a hand's rotation has length one");
  decoded.known = true;
  decoded.input = {
      head.sequence, head.generation, HandId{sent.hand}, sent.buttons, {sent.pose.position, normalized(q)}};
  return decoded;
}

}  // namespace cotouch

#include <cotouch/serve/recording_store.h>
#include <cotouch/serve/touch_session.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <span>

namespace cotouch {
namespace {

constexpr double k_frame_rate = 60;
constexpr std::size_t k_frame_contacts = 64;
constexpr std::size_t k_most_bytes = 64U << 20;
constexpr double k_most_frames = 9000;  // each is looked at, which may take a millisecond
constexpr std::size_t k_summary_points = 600;

void put_number(std::string& out, double value) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

void put_numbers(std::string& out, std::initializer_list<double> values) {
  for (const double value : values) {
    out += ',';
    put_number(out, value);
  }
}

StateFrame frame_of(const TouchSample& sample, std::uint32_t part) {
  StateFrame frame;
  frame.time = sample.time;
  frame.running = true;
  frame.replay = true;
  HandState hand;
  hand.holder = Holder::script;
  hand.level = static_cast<std::uint8_t>(std::min(sample.level, 255U));
  hand.part = part;
  hand.hand = sample.hand;
  hand.object = sample.object;
  hand.felt = sample.felt;
  hand.in_contact = sample.in_contact;
  hand.deepest = sample.deepest;
  hand.visited = sample.visited;
  frame.hands.push_back(hand);
  return frame;
}

// A frame stands for all cycles until the next one, as it does while it is live.
void measure_cycles(std::span<const TouchSample> samples, StateFrame& frame) {
  std::vector<std::uint32_t> times;
  for (const TouchSample& sample : samples) times.push_back(sample.cycle_ns);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  frame.cycle_median_us = static_cast<float>(*middle) * 1e-3F;
  frame.cycle_longest_us = static_cast<float>(*std::max_element(times.begin(), times.end())) * 1e-3F;
}

}  // namespace

std::string to_csv(const std::vector<TouchSample>& samples) {
  std::string out =
      "time_s,hand_x_m,hand_y_m,hand_z_m,hand_qw,hand_qx,hand_qy,hand_qz,object_x_m,object_y_m,object_z_m,object_qw,"
      "object_qx,object_qy,object_qz,force_x_n,force_y_n,force_z_n,torque_x_nm,torque_y_nm,torque_z_nm,in_contact,"
      "level,deepest_m,buttons,visited_nodes,cycle_us,motors\n";
  for (const TouchSample& s : samples) {
    put_number(out, s.time);
    for (const Pose* pose : {&s.hand, &s.object})
      put_numbers(out, {pose->position.x, pose->position.y, pose->position.z, pose->rotation.w, pose->rotation.x,
                        pose->rotation.y, pose->rotation.z});
    for (const Vec3d* v : {&s.felt.force, &s.felt.torque}) put_numbers(out, {v->x, v->y, v->z});
    put_numbers(out, {static_cast<double>(s.in_contact), static_cast<double>(s.level), static_cast<double>(s.deepest),
                      static_cast<double>(s.buttons), static_cast<double>(s.visited),
                      static_cast<double>(s.cycle_ns) * 1e-3, static_cast<double>(s.motors)});
    out += '\n';
  }
  return out;
}

RecordingSummary summarise(const Recording& recording, const std::shared_ptr<const LoadedScene>& scene) {
  RecordingSummary summary;
  summary.scene = parse_recorded_scene(recording.scene).name;
  summary.peak_force = peak_force(recording);
  std::unique_ptr<Sight> sight;
  if (scene) sight = std::make_unique<Sight>(scene);
  const std::size_t stride = recording.samples.size() / k_summary_points + 1;
  for (std::size_t i = 0; i < recording.samples.size(); i += stride) {
    const TouchSample& sample = recording.samples[i];
    // The strongest moment of each stretch, so that a short peak is not lost.
    double force = 0, torque = 0;
    for (std::size_t j = i; j < std::min(i + stride, recording.samples.size()); ++j) {
      force = std::max(force, norm(recording.samples[j].felt.force));
      torque = std::max(torque, norm(recording.samples[j].felt.torque));
    }
    summary.time.push_back(sample.time);
    summary.force.push_back(force);
    summary.torque.push_back(torque);
    summary.path.push_back(sample.object.position);
    if (sight) summary.clearance.push_back(static_cast<double>(sight->clearance(sample.object)));
  }
  return summary;
}

std::string encode_recording(const Recording& recording, const std::shared_ptr<const LoadedScene>& scene) {
  std::unique_ptr<Sight> sight;
  std::uint32_t part = 2;
  if (scene && scene->moving_part() != nullptr) {
    sight = std::make_unique<Sight>(scene);
    part = scene->moving_part()->id;
  }
  const std::size_t count = recording.samples.size();
  const double period = recording.limits.period;
  const double frame_bytes = static_cast<double>(k_state_head_bytes + k_state_hand_bytes + 16 * k_frame_contacts);
  const double stride_for_rate = 1 / (k_frame_rate * period);
  const double stride_for_size = static_cast<double>(count) * frame_bytes / static_cast<double>(k_most_bytes - 16);
  const double stride = std::max({1.0, stride_for_rate, stride_for_size, static_cast<double>(count) / k_most_frames});

  std::string frames;
  std::uint32_t made = 0;
  for (double at = 0; at < static_cast<double>(count); at += stride) {
    const auto first = static_cast<std::size_t>(at);
    const std::size_t next = std::min(count, static_cast<std::size_t>(at + stride));
    const TouchSample& sample = recording.samples[first];
    StateFrame frame = frame_of(sample, part);
    frame.sequence = made;
    frame.cycles = static_cast<std::uint32_t>(first + 1);
    measure_cycles(std::span(recording.samples).subspan(first, std::max(next, first + 1) - first), frame);
    if (sight) {
      sight->look(sample.object, false, frame);
      if (frame.contacts.size() > k_frame_contacts) {
        std::nth_element(frame.contacts.begin(), frame.contacts.begin() + k_frame_contacts, frame.contacts.end(),
                         [](const MarkedPoint& a, const MarkedPoint& b) { return a.mark > b.mark; });
        frame.contacts.resize(k_frame_contacts);
      }
    }
    const EncodedState encoded = encode_state(frame, false);
    frames += encoded.head;
    frames += *encoded.points;
    ++made;
  }
  const double duration = static_cast<double>(count) * period;
  std::string head = "CTR1";
  char bytes[12];
  std::memcpy(bytes, &made, 4);
  std::memcpy(bytes + 4, &duration, 8);
  head.append(bytes, sizeof bytes);
  return head + frames;
}

}  // namespace cotouch

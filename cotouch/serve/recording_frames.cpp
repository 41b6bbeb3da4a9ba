#include <cotouch/serve/recording_frames.h>

#include <cotouch/serve/wire.h>
#include <cotouch/session/running_world.h>
#include <cotouch/session/sight.h>
#include <cotouch/session/world_view.h>

#include <algorithm>
#include <span>
#include <vector>

namespace cotouch {
namespace {

constexpr double k_frame_rate = 60;
constexpr std::size_t k_frame_contacts = 64;
constexpr std::size_t k_most_bytes = 64U << 20;
constexpr double k_most_frames = 9000;  // each is looked at, which may take a millisecond

// A frame stands for all cycles until the next one, as it does while it is live.
void measure_cycles(std::span<const RecordedSample> samples, SessionView& view) {
  std::vector<std::uint32_t> times;
  for (const RecordedSample& sample : samples) times.push_back(sample.cycle_ns);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  view.cycle_median_us = static_cast<float>(*middle) * 1e-3F;
  view.cycle_longest_us = static_cast<float>(*std::max_element(times.begin(), times.end())) * 1e-3F;
}

SessionView view_of(const Replay& replay, double max_force, Sight& sight) {
  const RecordedSample& sample = replay.sample();
  const WorldModel& model = replay.world().model();
  const WorldState& state = replay.state();
  std::vector<ContactStats> touched(model.bodies().size());
  copy_body_contacts(replay.world().scratch(), touched);
  SessionView view;
  view.time = sample.time;
  view.running = true;
  view.visited = sample.visited;
  view.in_contact = sample.in_contact;
  for (std::size_t i = 0; i < state.hands().size(); ++i)
    if (state.hands()[i].present != 0)
      view.hands.push_back(hand_view(model, state, touched, i, sample.hand(i).felt, max_force));
  view.bodies = body_views(model, state, touched);
  view.bending = bending_views(model, state);
  view.task = task_view(model, state);
  view.contact = sight.look(state, false);
  std::vector<MarkedPoint>& contacts = view.contact.contacts;
  if (contacts.size() > k_frame_contacts) {
    std::nth_element(contacts.begin(), contacts.begin() + k_frame_contacts, contacts.end(),
                     [](const MarkedPoint& a, const MarkedPoint& b) { return a.mark > b.mark; });
    contacts.resize(k_frame_contacts);
  }
  return view;
}

// How many cycles a frame stands for.
double stride_of(const Recording& recording, const WorldModel& model) {
  const auto count = static_cast<double>(recording.samples.size());
  const auto frame_bytes =
      static_cast<double>(state_bytes(recording.hands, model.bodies().size(), k_frame_contacts) + task_bytes() +
                          bending_bytes(model.bodies().size(), model.bending_size() / 2));
  const double for_rate = 1 / (k_frame_rate * recording.limits.period);
  const double for_size = count * frame_bytes / static_cast<double>(k_most_bytes - 16);
  return std::max({1.0, for_rate, for_size, count / k_most_frames});
}

}  // namespace

std::string encode_recording(const Recording& recording, const std::shared_ptr<const ShownScene>& scene) {
  const std::shared_ptr<const WorldModel> model = recorded_model(recording, scene->scene);
  Replay replay(recording, model);
  Sight sight(scene, model);
  const std::size_t count = recording.samples.size();
  const double stride = stride_of(recording, *model);

  const double seconds = static_cast<double>(count) * recording.limits.period;
  std::string frames = encode_recording_head(0, seconds);  // in its place; how many there are is known at the end
  std::uint32_t made = 0;
  double due = 0;  // the cycle that the next frame shows
  for (std::size_t cycle = 0; cycle < count && replay.next(); ++cycle) {
    if (static_cast<double>(cycle + 1) <= due) continue;
    SessionView view = view_of(replay, recording.limits.max_force, sight);
    due += stride;
    const std::size_t next = std::clamp(static_cast<std::size_t>(due), cycle + 1, count);
    view.cycles = cycle + 1;
    measure_cycles(std::span(recording.samples).subspan(cycle, next - cycle), view);
    const EncodedState encoded = encode_state(view, {made, 0, true}, false);
    frames += encoded.head;
    frames += *encoded.rest;
    ++made;
  }
  const std::string head = encode_recording_head(made, seconds);
  frames.replace(0, head.size(), head);
  return frames;
}

}  // namespace cotouch

// What a session shows: made at frame rate on its own thread.
#include <cotouch/session/session_ask.h>
#include <cotouch/session/world_view.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr double k_near_rate = 15;                          // times a second, at most
constexpr auto k_near_time = std::chrono::milliseconds(8);  // in one view
constexpr auto k_near_repeat = std::chrono::seconds(2);     // for those who joined since

}  // namespace

ViewDemand Session::demand() const {
  ViewDemand all;
  for (const SessionListener* listener : listeners_) {
    const ViewDemand one = listener->wanted();
    all.views = all.views || one.views;
    all.traversed = all.traversed || one.traversed;
    all.near = all.near || one.near;
  }
  return all;
}

SessionView Session::make_view(const WorldFrame& frame, bool traversed) {
  SessionView view;
  const TouchFrame& touch = frame.touch;
  view.generation = generation_;
  view.time = std::chrono::duration<double>(Clock::now() - opened_).count();
  view.running = world_ != nullptr && world_->loop().running();
  view.recording = recording_.has_value();
  view.cycles = earlier_cycles_ + touch.cycle;
  view.missed = earlier_missed_ + touch.missed;
  view.stalls = earlier_stalls_ + touch.stalls;
  if (!world_) return view;
  measure_cycles(view);
  view.visited = touch.contact.visited;
  view.in_contact = touch.contact.in_contact;
  view.hands = hand_views(frame);
  view.bodies = body_views(world_->model(), frame.world, world_->contacts());
  view.bending = bending_views(world_->model(), frame.world);
  view.task = task_view(world_->model(), frame.world);
  view.contact = sight_->look(frame.world, traversed);
  return view;
}

void Session::measure_cycles(SessionView& view) {
  const CycleHistogram& times = world_->loop().cycle_times();
  std::array<std::uint32_t, CycleHistogram::k_buckets> fresh;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const std::uint64_t now = times.in_bucket(i);
    fresh[i] = static_cast<std::uint32_t>(now - seen_cycles_[i]);
    seen_cycles_[i] = now;
    count += fresh[i];
  }
  std::uint64_t below = 0;
  bool found = false;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    if (fresh[i] == 0) continue;
    below += fresh[i];
    const float us = (static_cast<float>(i) + 0.5F) * static_cast<float>(CycleHistogram::k_bucket_ns) * 1e-3F;
    if (!found && below * 2 >= count) {
      median_us_ = us;
      found = true;
    }
    // The last bucket has no upper end; the longest cycle ever is the best that is known.
    longest_us_ = i + 1 < fresh.size() ? us : static_cast<float>(times.longest() * 1e6);
  }
  // Two views close together may see no cycle in between; that is no reason to say that cycles take no time.
  view.cycle_median_us = median_us_;
  view.cycle_longest_us = longest_us_;
}

// Round after round over all parts, as many at a time as leave the session free to answer.
void Session::make_nearness(const WorldState& state) {
  const Clock::time_point now = Clock::now();
  if (near_left_ == 0) {
    const double waited = std::chrono::duration<double>(now - last_near_at_).count();
    std::vector<std::pair<Pose, bool>> seen;
    for (std::size_t i = 0; i < state.bodies().size(); ++i)
      seen.emplace_back(state.bodies()[i].pose, sight_->is_news(state, i));
    const bool bends =
        !std::equal(state.bending().begin(), state.bending().end(), last_bending_.begin(), last_bending_.end());
    const bool same = seen == last_near_ && !bends;
    if (waited < 1 / k_near_rate || (same && now - last_near_at_ < k_near_repeat)) return;
    last_near_at_ = now;
    last_bending_.assign(state.bending().begin(), state.bending().end());
    last_near_ = std::move(seen);
    near_left_ = scene_->parts.size();
  }
  std::vector<std::uint8_t> values;
  while (near_left_ > 0 && Clock::now() - now < k_near_time) {
    const ShownPart& part = scene_->parts[--near_left_];
    if (sight_->nearness(state, part, values))
      tell([&](SessionListener& listener) { listener.nearness(generation_, part.id, sight_->range(), values); });
  }
}

}  // namespace cotouch

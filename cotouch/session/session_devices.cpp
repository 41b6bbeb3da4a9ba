#include <cotouch/session/session_devices.h>

#include <cotouch/base/error.h>
#include <cotouch/session/names.h>

#include <algorithm>
#include <utility>

namespace cotouch {
namespace {

using State = DeviceView::State;

constexpr auto k_a_moment = std::chrono::seconds(1);  // in which a loop has a cycle, on a busy machine too

std::string sentence_for(State state) {
  switch (state) {
    case State::lost: return "It does not answer. It goes on as soon as it does.";
    case State::faulty: return "It reads what cannot be true, so its force was taken away until that is over.";
    case State::disabled: return "Its driver did not answer in time, so its power was cut; switch it on again.";
    case State::unguarded: return "The program that would stop it after a crash does not answer, so it has no force.";
    case State::halted: return "It has no force until a scene is opened anew.";
    case State::hangs: return "Its driver hangs. Switch the device off and on, and start cotouch again.";
    case State::idle:
    case State::ready:
    case State::off:
    case State::refused: return {};
  }
  return {};
}

// Somebody is still inside of its driver. It stays known here, so that it does not look like a leak.
void leave_for_good(std::unique_ptr<HandDevice> device) {
  static std::mutex mutex;
  static auto& left = *new std::vector<std::unique_ptr<HandDevice>>;
  const std::scoped_lock lock(mutex);
  left.push_back(std::move(device));
}

}  // namespace

SessionDevices::SessionDevices(std::vector<std::unique_ptr<HandDevice>> plugged, MissingDevices missing)
    : missing_(std::move(missing)) {
  if (plugged.size() > k_most_devices)
    throw Error("At most " + std::to_string(k_most_devices) + " devices take part at one program.",
                ErrorCode::invalid_argument);
  for (std::size_t i = 0; i + plugged.size() < k_session_hands; ++i) owned_.push_back(std::make_unique<PageDevice>());
  for (std::unique_ptr<HandDevice>& device : plugged) {
    Plugged one;
    one.number = static_cast<std::uint32_t>(plugged_.size() + 1);
    const std::string name = clean_label(device->name());
    const auto is_taken = [&](const std::string& wanted) {
      return std::any_of(plugged_.begin(), plugged_.end(), [&](const Plugged& p) { return p.name == wanted; });
    };
    one.name = name;
    for (int i = 2; is_taken(one.name); ++i) one.name = name + " " + std::to_string(i);
    one.hand = owned_.size();
    one.device = device.get();
    plugged_.push_back(std::move(one));
    owned_.push_back(std::move(device));
  }
  for (const auto& device : owned_) hands_.push_back(device.get());
}

SessionDevices::~SessionDevices() {
  for (std::size_t i = 0; i < owned_.size(); ++i)
    if (owned_[i].get() != hands_[i]) leave_for_good(std::move(owned_[i]));
}

HandDevices SessionDevices::hands() const {
  const std::scoped_lock lock(mutex_);
  return hands_;
}

PageDevice* SessionDevices::page(std::size_t hand) const {
  const bool is_page = hand + plugged_.size() < k_session_hands;
  return is_page ? static_cast<PageDevice*>(owned_[hand].get()) : nullptr;
}

SessionDevices::Plugged* SessionDevices::find(std::uint32_t number) {
  return number >= 1 && number <= plugged_.size() ? &plugged_[number - 1] : nullptr;
}

HandRequest SessionDevices::request_of(Plugged& plugged) {
  if (plugged.pause > 0) --plugged.pause;
  return hands_[plugged.hand] == plugged.device ? plugged.device->request() : HandRequest{};
}

// As the loop knows it: there are no frames while a driver hangs.
State SessionDevices::state_of(const Plugged& plugged, const TouchLoop* loop) const {
  if (hands_[plugged.hand] != plugged.device) return State::hangs;
  if (plugged.device->is_switched_off()) return State::off;
  if (loop == nullptr) return plugged.device->is_there() ? State::idle : State::lost;
  switch (loop->device_state(plugged.hand)) {
    case DeviceState::ready: return State::ready;
    // Some are nowhere while they hold nothing.
    case DeviceState::lost: return plugged.device->is_there() ? State::ready : State::lost;
    case DeviceState::faulty: return State::faulty;
    case DeviceState::disabled:
      if (!plugged.device->has_motors()) return State::ready;
      // The loop's next cycle says that it has its power again.
      return Clock::now() - plugged.switched_on < k_a_moment ? State::off : State::disabled;
    case DeviceState::unguarded: return State::unguarded;
    case DeviceState::halted: return State::halted;
  }
  return State::lost;
}

std::string SessionDevices::news(Plugged& plugged, State now) const {
  const State before = std::exchange(plugged.told, now);
  if (before == now) return {};
  const std::string sentence = sentence_for(now);
  return sentence.empty() ? sentence : "Device " + plugged.name + ": " + sentence;
}

std::vector<DeviceView> SessionDevices::views(const TouchFrame* frame, const TouchLoop* loop) {
  const Clock::time_point now = Clock::now();
  const double passed = std::chrono::duration<double>(now - counted_at_).count();
  if (frame == nullptr || frame->cycle < counted_cycles_) {
    counted_cycles_ = frame != nullptr ? frame->cycle : 0;
    counted_at_ = now;
    rate_ = 0;
  } else if (passed >= 0.25) {
    rate_ = counted_at_ == Clock::time_point() ? 0 : static_cast<double>(frame->cycle - counted_cycles_) / passed;
    counted_cycles_ = frame->cycle;
    counted_at_ = now;
  }
  std::vector<DeviceView> all;
  for (const Plugged& plugged : plugged_) {
    DeviceView view;
    view.device = plugged.number;
    view.name = plugged.name;
    view.participant = plugged.who;
    view.motors = plugged.device->has_motors();
    view.state = state_of(plugged, loop);
    view.reason = sentence_for(view.state);
    const bool served = view.state == State::ready || view.state == State::faulty || view.state == State::unguarded;
    if (served && frame != nullptr) {
      view.force = norm(frame->sample.hands[plugged.hand].felt.force);
      view.rate = rate_;
    }
    all.push_back(std::move(view));
  }
  const auto add = [&all](const std::vector<MissingDevice>& those) {
    for (const MissingDevice& missing : those) {
      DeviceView view;
      view.name = clean_label(missing.name);
      view.state = State::refused;
      view.reason = missing.reason;
      all.push_back(std::move(view));
    }
  };
  add(missing_.known);
  const auto& later = missing_.later;
  if (later.valid() && later.wait_for(std::chrono::seconds(0)) == std::future_status::ready) add(later.get());
  return all;
}

std::string SessionDevices::switch_device(Plugged& plugged, bool on, RunningWorld* world) {
  if (hands_[plugged.hand] != plugged.device) return sentence_for(State::hangs);
  plugged.device->set_switched_off(!on);
  const std::string refusal =
      "The device " + plugged.name + " cannot be switched on: its driver hangs or refuses. Try again in a moment.";
  if (world == nullptr) {  // no loop, so it is nobody's
    ForceLimiter limiter(*plugged.device, {});
    if (on) return limiter.enable() ? std::string() : refusal;
    limiter.disable();
    return {};
  }
  if (!on) {
    world->loop().disable(plugged.hand);
    return {};
  }
  plugged.switched_on = Clock::now();
  return world->loop().enable(plugged.hand) ? std::string() : refusal;
}

void SessionDevices::leave_behind(const TouchLoop& loop) {
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < hands_.size(); ++i) {
    if (!loop.hangs(i) || owned_[i].get() != hands_[i]) continue;
    hands_[i] = spare_.emplace_back(std::make_unique<PageDevice>()).get();
  }
}

}  // namespace cotouch

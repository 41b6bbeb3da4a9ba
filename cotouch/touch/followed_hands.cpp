// Which device leads which hand of a world that is followed.
#include <cotouch/touch/followed_world.h>

#include <algorithm>

namespace cotouch {
namespace {

// States in which the slower world may still have a hand as it was left here.
constexpr std::uint64_t k_until_forgotten = 25;
// Members of a session begin their search at different hands: two rarely want the same one.
constexpr std::size_t k_apart = 3;

}  // namespace

void FollowedWorld::lead_hands(std::span<const HandInput> devices) noexcept {
  const std::size_t count = std::min(devices.size(), led_by_.size());
  const std::uint32_t usable = usable_.load(std::memory_order_relaxed) | 1U << self_;
  for (std::size_t i = 0; i < led_by_.size(); ++i)
    if (led_by_[i] != k_none && (i >= count || !devices[i].present)) cease_to_lead(i);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t hand = led_by_[i];
    if (hand == k_none || (usable >> hand & 1U) != 0) continue;
    if (const std::uint8_t other = free_hand(usable); other != k_none)
      go_on_with(i, other);
    else
      cease_to_lead(i);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!devices[i].present || led_by_[i] != k_none) continue;
    std::uint8_t hand = free_hand(usable);
    if (hand == k_none && devices[i].action == HandInput::Action::grasp) hand = hand_of_idler(devices);
    if (hand != k_none) begin_to_lead(i, hand);
  }
  for (std::size_t i = 0; i < count; ++i)
    if (led_by_[i] != k_none) own_[led_by_[i]].input = devices[i];
  has_room_.store(free_hand(usable) != k_none || hand_of_idler(devices) != k_none, std::memory_order_relaxed);
}

// The own number first.
std::uint8_t FollowedWorld::free_hand(std::uint32_t usable) const noexcept {
  const std::size_t hands = own_.size();
  if (!leads(self_)) return static_cast<std::uint8_t>(self_);
  for (std::size_t i = 0; i < hands; ++i) {
    const std::size_t hand = (2 * hands - 1 - k_apart * self_ % hands - i) % hands;
    if ((usable >> hand & 1U) != 0 && !leads(hand)) return static_cast<std::uint8_t>(hand);
  }
  return k_none;
}

// That of a device that holds nothing or lets go now, and does not take hold either.
std::uint8_t FollowedWorld::hand_of_idler(std::span<const HandInput> devices) const noexcept {
  for (std::size_t i = 0; i < std::min(devices.size(), led_by_.size()); ++i) {
    const std::uint8_t hand = led_by_[i];
    const HandInput::Action action = devices[i].action;
    const bool idle = action == HandInput::Action::release ||
                      (action == HandInput::Action::none && hand != k_none && state_.hands()[hand].body < 0);
    if (hand != k_none && idle) return hand;
  }
  return k_none;
}

void FollowedWorld::begin_to_lead(std::size_t device, std::uint8_t hand) noexcept {
  for (std::size_t i = 0; i < led_by_.size(); ++i)
    if (led_by_[i] == hand) led_by_[i].store(k_none, std::memory_order_release);
  if (!leads(hand)) state_.hands()[hand] = {};
  others_[hand] = {};
  own_[hand].led = true;
  own_[hand].disowned = 0;
  led_by_[device].store(hand, std::memory_order_release);
}

void FollowedWorld::cease_to_lead(std::size_t device) noexcept {
  const std::uint8_t hand = led_by_[device].exchange(k_none, std::memory_order_acq_rel);
  stiffness_[hand] = 1;
  own_[hand] = {};
  own_[hand].ours_until = seen_ + k_until_forgotten;
  state_.hands()[hand] = {};
  others_[hand] = {};
}

// It is told as a new grasp of the other hand.
void FollowedWorld::go_on_with(std::size_t device, std::uint8_t hand) noexcept {
  const HandRecord record = state_.hands()[led_by_[device]];
  const double stiffness = stiffness_[led_by_[device]];
  cease_to_lead(device);
  begin_to_lead(device, hand);
  state_.hands()[hand] = record;
  stiffness_[hand] = stiffness;
  own_[hand].goes_on = record.body >= 0;
  told_[hand].grasps += record.body >= 0 ? 1 : 0;
}

}  // namespace cotouch

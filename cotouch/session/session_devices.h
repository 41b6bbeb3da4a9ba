// The devices of this program as the hands of its session: one for every page that may hold something, and those that
// are plugged in, each with a hand of its own. All of them are alike to world and loop (device/hand_device.h).
//
// This class knows how the plugged ones are doing and what is to be said about that. It decides nothing: who may hold
// what, or switch what, is arbitration's.
#pragma once

#include <cotouch/device/page_device.h>
#include <cotouch/session/running_world.h>
#include <cotouch/session/view.h>

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cotouch {

// At least half of the hands are the pages'.
inline constexpr std::size_t k_most_devices = k_session_hands / 2;

// One that is known and does not take part: it is connected and was not asked for, or its driver is missing.
struct MissingDevice {
  std::string name, reason;  // a sentence
};

struct MissingDevices {
  std::vector<MissingDevice> known;
  std::shared_future<std::vector<MissingDevice>> later = {};  // those that a search finds; it never throws
};

class SessionDevices {
 public:
  // Throws Error if there are too many. Devices of one name get a number each.
  SessionDevices(std::vector<std::unique_ptr<HandDevice>> plugged, MissingDevices missing);
  // A device whose driver hangs is never destroyed.
  ~SessionDevices();
  SessionDevices(const SessionDevices&) = delete;
  SessionDevices& operator=(const SessionDevices&) = delete;

  // In the order of the hands: the pages' first. For any thread.
  HandDevices hands() const;
  // For the threads that hold and release, as all that follows.
  HandDevice& hand(std::size_t index) const { return *hands_[index]; }
  PageDevice* page(std::size_t hand) const;  // null if that hand is a plugged device's

  struct Plugged {
    std::uint32_t number = 0;  // from 1
    std::string name;
    std::size_t hand = 0;  // index
    HandDevice* device = nullptr;
    ParticipantId who = ParticipantId::nobody;
    HandRequest waiting;  // until it is somebody's turn
    DeviceView::State told = DeviceView::State::idle;
    std::uint32_t pause = 0;  // ticks, before it may ask again
    std::string refused_for;  // why it did not get what it asked for last; empty if it did
    std::chrono::steady_clock::time_point switched_on{};
  };
  std::vector<Plugged>& plugged() { return plugged_; }
  Plugged* find(std::uint32_t number);

  // The session's thread's, from here on.
  // What the person at it asks for; to be called in every tick.
  HandRequest request_of(Plugged& plugged);
  DeviceView::State state_of(const Plugged& plugged, const TouchLoop* loop) const;
  // What has just happened to it, a sentence; empty if nothing that people must hear.
  std::string news(Plugged& plugged, DeviceView::State now) const;
  // `frame` is the newest of the loop; null, both: none runs.
  std::vector<DeviceView> views(const TouchFrame* frame, const TouchLoop* loop);
  // Switches a device, in the loop that runs or for those to come. Why it could not be done; empty if it was.
  std::string switch_device(Plugged& plugged, bool on, RunningWorld* world);
  // After a loop did not end because drivers hang: their devices are replaced by hands that nobody moves.
  void leave_behind(const TouchLoop& loop);

 private:
  using Clock = std::chrono::steady_clock;

  std::vector<std::unique_ptr<HandDevice>> owned_;  // one for each hand
  std::vector<std::unique_ptr<HandDevice>> spare_;  // in the place of those that are left behind
  mutable std::mutex mutex_;
  HandDevices hands_;  // locked where the session's thread changes it and where others read it
  std::vector<Plugged> plugged_;
  MissingDevices missing_;
  std::uint64_t counted_cycles_ = 0;
  Clock::time_point counted_at_{};
  double rate_ = 0;
};

}  // namespace cotouch

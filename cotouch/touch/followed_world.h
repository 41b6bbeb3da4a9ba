// A world that steps elsewhere, for instance a hundred times a second, and may be rolled back; here it is felt at every
// cycle. Its newest state is followed; only what a local hand holds moves by itself here.
//
// - A body in a local hand is stepped here, with contact, so that an edge is felt as if alone. It drifts to where
//   the slower world has it, as seen from that hand: a hundredth of the difference a millisecond (0.1 s), and no
//   point of it faster than 0.15 m/s. A correction of d metres, by a rollback for instance, is therefore a change of
//   force of at most K min(d / 0.1 s, 0.15 m/s): with the coupling's 1000 N/m and 5 mm that is 0.05 N/ms, and never
//   more than 0.15 N/ms.
// - All other bodies glide to where the slower world has them (20 ms), whatever they meet.
// - What bends does so here while a local hand holds it or something that touches it, so that soft things feel soft,
//   and drifts to how the slower world has it bent, as above; within 0.1 s after that it goes back to gliding.
// - Hands of others glide (20 ms) and pull at a body that a local hand holds too. When one of them grasps or lets
//   go, its pull comes and goes within 0.1 s, so that the force changes by at most 0.2 N/ms with the largest pull of 8
//   N.
// - A local hand is never overwritten. Its grasp ends only if the body cannot be held any more there (it is docked in
//   its place), or if the slower world goes on without that grasp for 25 states, as after a reset.
// - Whether the task is done is for the slower world to say.
#pragma once

#include <cotouch/base/channel.h>
#include <cotouch/elastic/deformation.h>
#include <cotouch/touch/touch_world.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace cotouch {

inline constexpr std::size_t k_followed_hands = 16;  // of a world that is followed, at most

// What a local hand does, for the slower world.
struct LocalHand {
  HandInput input;           // of the newest cycle
  std::uint32_t grasps = 0;  // times it has taken hold of something, so that none is lost between two slow ticks
  std::uint32_t body = 0;    // id of what it holds; 0: nothing
  // It held this body already, as another hand: there it takes hold anew where nothing pulls, so that its pull goes on.
  bool goes_on = false;
  Pose unpulled;
};

// By the number of the world's hand; those that are not led here are not present.
using LocalHands = std::array<LocalHand, k_followed_hands>;

// The slower world's input for one tick: a grasp is told once, by the first tick after it. `told` is the count of
// grasps that the tick before was made from. Not quantised.
HandInput shared_input(const LocalHand& hand, std::uint32_t told) noexcept;

class FollowedWorld : public TouchWorld {
 public:
  // Every device that is there leads a hand, the first of them hand `self` and the others such as set_usable() allows:
  // at first none. If all are led, one that takes hold gets that of a device which holds nothing. Throws Error if there
  // is no such hand, or if there are too many.
  FollowedWorld(std::shared_ptr<const WorldModel> model, std::size_t self, const StepDetail& detail = {});

  void cycle(std::span<const HandInput> devices) noexcept override;
  std::size_t hand_of(std::size_t device) const noexcept override {
    const std::uint8_t hand = device < led_by_.size() ? led_by_[device].load(std::memory_order_acquire) : k_none;
    return hand == k_none ? k_no_hand : hand;
  }
  std::size_t self() const noexcept { return self_; }
  // From any thread: could one more device that takes hold lead a hand?
  bool has_room() const noexcept { return has_room_.load(std::memory_order_relaxed); }

  // These from the one thread that feeds; nothing waits or allocates.
  // The slower world's state, of a model with the same bodies, hands and pairs. False, and the state before it goes on
  // being followed, if this is none (WorldState::restore).
  bool follow(const WorldState& newest) noexcept;
  // Which hands may be led here besides that of `self`, bit n for hand n. Somebody else has the others: who leads one
  // of them goes on with another, and holds what it held.
  void set_usable(std::uint32_t hands) noexcept { usable_.store(hands, std::memory_order_relaxed); }
  const LocalHands& local_hands() noexcept { return local_.read(); }

 private:
  static constexpr std::uint8_t k_none = std::numeric_limits<std::uint8_t>::max();
  struct Newest {
    WorldState state;
    std::uint64_t number = 0;
  };
  // Somebody else's hand as it is here.
  struct Other {
    bool present = false;
    Pose pose;
    double body = -1;  // index of what it grasps, as long as some of its pull is left
    Pose grip;
    double point = -1;   // of that body's shell, if it holds one
    double share = 0;    // of its pull that is felt
    bool pulls = false;  // at the body in the local hand, in the last cycle
    Pose pulled_from;    // where it was for the step then
    Vec6 velocity;
  };

  // A hand that a device here leads.
  struct Own {
    bool led = false;
    HandInput input;
    bool goes_on = false;          // it holds what another hand held before, and there that is not known yet
    std::uint32_t disowned = 0;    // states in a row in which it does not hold there what it holds here
    std::uint64_t ours_until = 0;  // number of the state until which it is still there as we left it
  };

  // An elastic body as it is here.
  struct Bent {
    std::uint32_t body = 0;      // its index
    double local = 0;            // 1: it bends by itself; 0: it is led; between: it is on its way back
    std::vector<double> target;  // where it is led in this cycle: coordinates and rates
    Deformation shape;
  };

  // followed_hands.cpp: which device leads which hand
  void lead_hands(std::span<const HandInput> devices) noexcept;
  std::uint8_t free_hand(std::uint32_t usable) const noexcept;
  std::uint8_t hand_of_idler(std::span<const HandInput> devices) const noexcept;
  void begin_to_lead(std::size_t device, std::uint8_t hand) noexcept;
  void cease_to_lead(std::size_t device) noexcept;
  void go_on_with(std::size_t device, std::uint8_t hand) noexcept;

  void notice_state(std::size_t hand, const Newest& newest, bool fresh) noexcept;
  void notice_grip(HandRecord& here, const HandRecord& there) noexcept;
  void follow_bending(const WorldState& newest) noexcept;
  void lead_bending() noexcept;
  bool touches_what_is_held(std::uint32_t body) const noexcept;
  bool bends_here(double body) const noexcept;
  Pose held_frame(double body, double point) noexcept;
  void follow_bodies(const WorldState& newest) noexcept;
  HandRecord others_record(std::size_t hand, const Newest& newest) const noexcept;
  void follow_hand(std::size_t hand, const HandRecord& there) noexcept;
  void show(const Newest& newest) noexcept;
  void report() noexcept;
  Pose drifted(std::size_t body, std::size_t hand, const WorldState& newest) const noexcept;
  Pose pulling_pose(const Other& other) noexcept;
  bool leads(std::size_t hand) const noexcept { return own_[hand].led; }
  // The local hand that holds a body; k_no_hand: none.
  std::size_t holder_of(std::size_t body) const noexcept;
  bool holds(std::size_t body) const noexcept { return holder_of(body) != k_no_hand; }
  bool wants(std::size_t body) const noexcept;

  std::size_t self_;
  std::atomic<std::uint32_t> usable_{0};
  // The touch thread's, for others to read.
  std::array<std::atomic<std::uint8_t>, k_followed_hands> led_by_;  // the hand of each device
  std::atomic<bool> has_room_{true};
  // The feeding thread's.
  WorldState checked_;
  std::uint64_t fed_ = 0;
  // Between the two.
  LatestValue<Newest> newest_;
  LatestValue<LocalHands> local_;
  // The touch thread's.
  std::vector<HandInput> inputs_;
  std::vector<Other> others_;  // one for each hand; those of hands that are led here are not used
  std::vector<Own> own_;       // likewise
  std::vector<Bent> bent_;
  LocalHands told_;
  std::uint64_t seen_ = 0;  // number of the newest state
};

}  // namespace cotouch

// A world that steps elsewhere, for instance a hundred times a second, and may be rolled back; here it is felt at every
// cycle. Its newest state is followed; only what the local hand holds moves by itself here.
//
// - The body in the local hand is stepped here, with contact, so that an edge is felt as if alone. It drifts to where
//   the slower world has it, as seen from the local hand: a hundredth of the difference a millisecond (0.1 s), and no
//   point of it faster than 0.15 m/s. A correction of d metres, by a rollback for instance, is therefore a change of
//   force of at most K min(d / 0.1 s, 0.15 m/s): with the coupling's 1000 N/m and 5 mm that is 0.05 N/ms, and never
//   more than 0.15 N/ms.
// - All other bodies glide to where the slower world has them (20 ms), whatever they meet.
// - What bends does so here while the local hand holds it or something that touches it, so that soft things feel soft,
//   and drifts to how the slower world has it bent, as above; within 0.1 s after that it goes back to gliding.
// - Hands of others glide (20 ms) and pull at the body that the local hand holds too. When one of them grasps or lets
//   go, its pull comes and goes within 0.1 s, so that the force changes by at most 0.2 N/ms with the largest pull of 8
//   N.
// - The local hand is never overwritten. Its grasp ends only if the body cannot be held any more there (it is docked in
//   its place), or if the slower world goes on without that grasp for 25 states, as after a reset.
// - Whether the task is done is for the slower world to say.
#pragma once

#include <cotouch/base/channel.h>
#include <cotouch/elastic/deformation.h>
#include <cotouch/touch/touch_world.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cotouch {

// What the local hand does, for the slower world.
struct LocalHand {
  HandInput input;           // of the newest cycle
  std::uint32_t grasps = 0;  // times it has taken hold of something, so that none is lost between two slow ticks
  std::uint32_t body = 0;    // id of what it holds; 0: nothing
};

// The slower world's input for one tick: a grasp is told once, by the first tick after it. `told` is the count of
// grasps that the tick before was made from. Not quantised.
HandInput shared_input(const LocalHand& hand, std::uint32_t told) noexcept;

class FollowedWorld : public TouchWorld {
 public:
  // The first device is hand `self`; others have none. Throws Error if there is no such hand.
  FollowedWorld(std::shared_ptr<const WorldModel> model, std::size_t self, const StepDetail& detail = {});

  void cycle(std::span<const HandInput> devices) noexcept override;
  std::size_t hand_of(std::size_t device) const noexcept override { return device == 0 ? self_ : k_no_hand; }

  // Both from the one thread that feeds; nothing waits or allocates.
  // The slower world's state, of a model with the same bodies, hands and pairs. False, and the state before it goes on
  // being followed, if this is none (WorldState::restore).
  bool follow(const WorldState& newest) noexcept;
  const LocalHand& local_hand() noexcept { return local_.read(); }

 private:
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

  // An elastic body as it is here.
  struct Bent {
    std::uint32_t body = 0;      // its index
    double local = 0;            // 1: it bends by itself; 0: it is led; between: it is on its way back
    std::vector<double> target;  // where it is led in this cycle: coordinates and rates
    Deformation shape;
  };

  void notice_state(const Newest& newest, const HandInput& own) noexcept;
  void notice_grip(HandRecord& here, const HandRecord& there) noexcept;
  void follow_bending(const WorldState& newest, const HandInput& own) noexcept;
  void lead_bending() noexcept;
  bool touches_what_is_held(std::uint32_t body, const HandInput& own) const noexcept;
  bool bends_here(double body) const noexcept;
  Pose held_frame(double body, double point) noexcept;
  void follow_bodies(const WorldState& newest, const HandInput& own) noexcept;
  void follow_hand(std::size_t hand, const HandRecord& there, const HandInput& own) noexcept;
  void show(const WorldState& newest) noexcept;
  void report(const HandInput& own) noexcept;
  Pose drifted(std::size_t body, const WorldState& newest, const HandInput& own) const noexcept;
  Pose pulling_pose(const Other& other) noexcept;
  bool holds(std::size_t body, const HandInput& own) const noexcept;
  bool wants(std::size_t body, const HandInput& own) const noexcept;

  std::size_t self_;
  // The feeding thread's.
  WorldState checked_;
  std::uint64_t fed_ = 0;
  // Between the two.
  LatestValue<Newest> newest_;
  LatestValue<LocalHand> local_;
  // The touch thread's.
  std::vector<HandInput> inputs_;
  std::vector<Other> others_;  // one for each hand; that of `self` is not used
  std::vector<Bent> bent_;
  LocalHand own_;
  std::uint64_t seen_ = 0;      // number of the newest state
  std::uint32_t disowned_ = 0;  // states in a row in which the local hand does not hold what it holds here
};

}  // namespace cotouch

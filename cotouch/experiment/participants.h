// Simulated people who dock the box of paper 004 together. Each sees only its own view of the world, late, and moves
// one hand: it reaches for the box, takes hold, waits for the other, and leads the box from waypoint to waypoint.
//
// People correct themselves in steps: they look, plan a movement, make it, and look again (intermittent control;
// Woodworth 1899, Craik 1947, Meyer et al. 1988). What is planned is a minimum-jerk movement,
//   x(t) = x0 + (x1 - x0) (10 s^3 - 15 s^4 + 6 s^5),  s = t / T   (Flash & Hogan 1985),
// whose duration follows Fitts' law and whose end misses by a share of its length. The hand then follows what is
// planned as a mass on a spring and a damper, pushed by the force that it feels:
//   m a = F + k (x_plan - x) + b (v_plan - v).
// The two have different opinions of where the box should go next, which fade as they see what it does.
//
// Sources are cited for the order of a figure, not to its last digit: where a range is given, ours lies in it.
// Figures without a source in the comments are choices that make two novices take a little over a minute, as in the
// study (about 70 s, Figure 13). The same seed and the same views give the same hand.
#pragma once

#include <cotouch/base/random.h>
#include <cotouch/device/simulated_device.h>
#include <cotouch/world/input.h>
#include <cotouch/world/state.h>

#include <array>
#include <vector>

namespace cotouch {

struct PersonSettings {
  // From seeing to acting: perception 100, decision 70, motion 70 ms (Card, Moran & Newell 1983); corrections of aimed
  // movements need 190 to 260 ms (Keele & Posner 1968).
  double reaction = 0.23;  // seconds
  // Fitts' law, T = a + b log2(2 D / W). Slopes of 0.1 to 0.2 s/bit (MacKenzie 1992).
  double fitts_offset = 0.1, fitts_slope = 0.15;  // seconds, seconds a bit
  double aim = 0.008;                             // W, metres
  // Noise grows with the signal (Harris & Wolpert 1998): ends of movements scatter by about this share of their length
  // (Schmidt et al. 1979: effective widths of 4 to 8 % of speed times duration).
  double scatter = 0.06;
  // While it moves, the hand wanders off its plan by this share of what it covers in `wander_time`.
  double wander = 0.05, wander_time = 0.15;  // -, seconds
  // Physiological tremor of a supported hand: 8 to 12 Hz, approximately 0.05 mm root mean square at the tip of a held
  // tool (Harwell & Ferguson 1983 and Riviere et al. 1997 give some hundredths to a tenth of a millimetre).
  double tremor = 5e-5;                                // metres
  double tremor_frequency = 10, tremor_bandwidth = 2;  // Hz
  double tremor_angle = 3e-4;                          // radians
  // A relaxed grip: 300 to 500 N/m and 5 to 10 N s/m (Hajian & Howe 1997, of the finger; Kuchenbecker et al. 2003, of
  // hand and stylus). The mass is that of hand and handle.
  ArmImpedance arm{0.25, 400, 8, 4e-4, 2, 0.02};
  double strongest_push = 6;      // newtons: beyond, a person gives way rather than pushing on
  double strongest_twist = 0.25;  // newton metres, likewise

  double longest_step = 0.025;  // metres that a person leads the box in one movement
  double largest_turn = 0.1;    // radians, likewise
  double share = 0.6;           // of the error that one tries to take away at once
  double hesitation = 1.0;      // seconds on average between looking and moving
  double opinion = 0.008;       // metres by which one's idea of a waypoint is off, standard deviation
  double opinion_angle = 0.04;  // radians, likewise
  double persuasion = 0.85;     // how much of an opinion is left after each look
  double tension = 0.85;        // how much of a pull that one has built up is left after each look; people relax
  double search = 0.003;        // metres that one tries to the side if the body does not go in, standard deviation
  double search_angle = 0.03;   // radians, likewise
  double patience = 12;         // seconds without progress before one goes back a waypoint
  double awry = 0.35;           // radians: who sees the body turned by more goes back a waypoint
  double regrasp_every = 35;    // seconds, on average, until one takes hold anew; people attach and detach (5.2)
  double pace = 1;              // above one all pauses are shorter and all movements faster

  static PersonSettings novice() { return {}; }
  // The study's second user (section 4.2).
  static PersonSettings expert();
};

// Where the body goes next, and how exactly. Metres and radians.
struct Waypoint {
  Pose pose;
  Vec3d way;             // direction in which it is approached
  double aside;          // from that way; who is farther off gets onto it first
  double arrival;        // who is nearer calls it there,
  double arrival_angle;  // if it is turned no more than this
};

// What there is to do: the body, where it is to go (poses of the body, the last is the place where it snaps in), and
// from where one takes hold of it.
struct PersonTask {
  std::uint32_t body = 0;        // id
  std::uint32_t body_index = 0;  // in the state
  std::vector<Waypoint> waypoints;
  Vec3d grip;  // in the body's frame
};
// The built-in scene `docking`: up, in front of the rails, and in. `side` is -1 or 1.
PersonTask docking_task(const WorldModel& model, double side);
// Where a hand rests before it begins.
Pose person_start(double side);

class SimulatedPerson {
 public:
  // `hand` is the person's number among the hands of the world.
  SimulatedPerson(const PersonSettings& settings, PersonTask task, std::uint32_t hand, const Pose& start,
                  std::uint64_t seed);

  // What the hand does now, once a tick of the world, given the state that the person's own machine shows.
  HandInput act(double now, const WorldState& view);

  bool is_done() const { return phase_ == Phase::done; }  // saw the box snap in
  std::size_t waypoint() const { return waypoint_; }

 private:
  enum class Phase : std::uint8_t { wait, reach, together, lead, aside, done };
  struct Seen {
    double time = 0;
    Pose body;
    bool held_by_other = false, done = false;
  };
  static constexpr std::size_t k_memory = 128;  // ticks that are seen late

  const Seen& seen(double now) const;
  void look(double now, const WorldState& view);
  void decide(double now, const Seen& view, HandInput& input);
  void lead(double now, const Seen& view, HandInput& input);
  void next_waypoint(std::size_t waypoint, double now);
  void plan(double now, const Pose& goal);
  void pause(double now, double mean);
  Pose planned(double now) const;
  void follow(double dt, const Pose& wish, const Wrench& felt);
  Pose trembling(double dt);
  double normal();

  PersonSettings settings_;
  PersonTask task_;
  std::uint32_t hand_;
  Random random_;
  Phase phase_ = Phase::wait;
  std::array<Seen, k_memory> memory_{};
  std::size_t looks_ = 0;
  double last_ = -1;        // when it acted last
  double think_until_ = 0;  // nothing new is planned before
  // The movement under way.
  Pose from_, to_, wish_;
  double begin_ = 0, duration_ = 0;
  // The hand.
  Pose pose_;
  Vec6 velocity_;
  bool holding_ = false;
  double grasped_at_ = 0, regrasp_at_ = 0;
  // Where it thinks it is.
  std::size_t waypoint_ = 0;
  Vec3d opinion_, opinion_turn_;
  double best_ = 0, best_at_ = 0;  // nearest to the waypoint so far, and when
  double last_distance_ = 0;       // from the waypoint at the last look
  // Noise.
  Vec3d wander_;
  std::array<Vec3d, 2> tremor_{}, tremor_turn_{};
};

}  // namespace cotouch

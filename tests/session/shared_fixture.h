// A world light enough to be simulated for hours, and hands that play in it.
#pragma once

#include <cotouch/base/trig.h>
#include <cotouch/session/simulated_session.h>

#include "session/session_fixture.h"

namespace cotouch::testing_session {

// Three balls, two of them free: one with its mass, one without.
inline std::shared_ptr<const WorldModel> shared_balls() {
  static const auto k_model = [] {
    Scene scene = three_balls();
    scene.bodies[2].holding = Holding::dynamic;
    ModelOptions options;
    options.tick = 0.01;
    options.hands = k_shared_hands;
    options.budget = WorkBudget::of(512);
    return make_model(scene, options);
  }();
  return k_model;
}

// A hand that wanders about, takes a ball now and then and lets it go; another one for each number.
inline HandInput playing_hand(std::size_t number, double now) {
  HandInput hand;
  const double phase = static_cast<double>(number) * 1.7;
  const double second = std::floor(now + 0.31 * phase), part = now + 0.31 * phase - second;
  hand.present = true;
  const double angle = 0.9 * now + phase;
  hand.pose.position = {0.05 * sin_cos(angle).cos, 0.05 * sin_cos(1.3 * angle).sin, 0.03 + 0.02 * sin_cos(angle).sin};
  const auto turn = static_cast<std::int64_t>(second) % 3;
  if (part < 0.0101 && turn == 0) {
    hand.action = HandInput::Action::grasp;
    hand.body = 2 + static_cast<std::uint32_t>(number % 2);
  } else if (part < 0.0101 && turn == 2) {
    hand.action = HandInput::Action::release;
  }
  return hand;
}
inline SimulatedSession::Hands playing() {
  return [](std::size_t machine, double now, const WorldState&) { return playing_hand(machine, now); };
}

inline SimulationSettings simulation(const char* network, std::size_t machines, std::uint64_t seed) {
  SimulationSettings settings;
  const NetworkProfile* const known = find_network(network);
  if (known == nullptr) throw Error(std::string("There is no network ") + network);
  settings.network = *known;
  settings.machines = machines;
  settings.seed = seed;
  return settings;
}

}  // namespace cotouch::testing_session

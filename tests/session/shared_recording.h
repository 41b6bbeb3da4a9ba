// A shared session of two people at two balls, as it is recorded: a hundred ticks a second, hands 3 and 15 of sixteen.
#pragma once

#include <cotouch/session/running_world.h>

#include "session/session_fixture.h"

#include <array>

namespace cotouch::testing_session {

constexpr std::size_t k_ann = 3, k_ben = 15;  // whose hands are there

// Both take the upper ball; Ann presses it 4 mm into the other, Ben leads it aside.
inline std::array<HandInput, 16> press_of_two(std::uint32_t tick) {
  std::array<HandInput, 16> inputs;
  const double down = std::min(0.05, 0.034 + 0.016 * (1 - 0.02 * tick));
  inputs[k_ann] = {true, HandInput::Action::none, 0, {{0, 0, down}, {}}, 0};
  inputs[k_ben] = {true, HandInput::Action::none, 0, {{0.0001 * tick, 0, 0.05}, {}}, 1};
  if (tick == 0)
    for (const std::size_t hand : {k_ann, k_ben})
      inputs[hand] = {true, HandInput::Action::grasp, 2, {{0, 0, 0.05}, {}}, 0};
  if (tick >= 80) inputs[k_ben] = {};
  for (HandInput& input : inputs) input = quantised(input);
  return inputs;
}

inline Recording shared_press(std::uint32_t ticks = 100) {
  FeelSettings feel;
  feel.warm_nodes = 300;
  const auto model = felt_model(two_balls(), feel, k_shared_pace);
  WorldState state(*model);
  StepScratch scratch(*model);
  Recording recording = begin_shared_recording(*model, state, format_recorded_scene({"balls", feel, k_shared_pace}));
  for (std::uint32_t tick = 0; tick < ticks; ++tick) {
    step(*model, state, press_of_two(tick), scratch);
    append_tick(recording, press_of_two(tick), state);
  }
  using Kind = RecordedEvent::Kind;
  append_event(recording, {0, k_ann, Kind::joined, "Ann"});
  append_event(recording, {0, k_ben, Kind::joined, "B\x1b[2Jen"});
  append_event(recording, {60, k_ann, Kind::said, "push\x1b[31m \xff harder"});
  append_event(recording, {80, k_ben, Kind::left, ""});
  return recording;
}

}  // namespace cotouch::testing_session

// The journal of the session in shared_recording.h.
#pragma once

#include <cotouch/session/journal.h>
#include <cotouch/session/tick_record.h>

#include "session/shared_recording.h"

namespace cotouch::testing_session {

// All hundred ticks but those from `missing` to `back`.
inline void write_shared_journal(const std::filesystem::path& file, Tick missing = 0, Tick back = 0) {
  FeelSettings feel;
  feel.warm_nodes = 300;
  const auto model = felt_model(two_balls(), feel, k_shared_pace);
  WorldState state(*model);
  StepScratch scratch(*model);
  Journal journal = Journal::open_or_create(
      file, {"c0ffee", format_recorded_scene({"balls", feel, k_shared_pace}), model->hash(), {}});
  for (Tick tick = 0; tick < 100; ++tick) {
    const auto inputs = press_of_two(static_cast<std::uint32_t>(tick));
    const bool away = tick >= missing && tick < back;
    if (tick % 30 == 0 || tick == back) {
      if (!away) journal.snapshot(tick, state.bytes());
    }
    step(*model, state, inputs, scratch);
    if (!away) journal.append(tick, encode_tick(inputs), state.hash());
  }
  journal.agree(100);
  journal.note(0, "joined", "Ann", k_ann);
  journal.note(0, "joined", "B\x1b[2Jen", k_ben);
  journal.note(60, "said", "push\x1b[31m \xff harder", k_ann);
  journal.note(61, "desync", "healed");
  journal.note(80, "left", "", k_ben);
}

}  // namespace cotouch::testing_session

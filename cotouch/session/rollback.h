// Optimistic simulation with rollback (paper 004, section 3; Jefferson's virtual time): the part that decides what is
// to be simulated, with which inputs, and what has to be simulated again. It holds no world. It answers with requests,
// and whoever owns a world carries them out in order (world_runner.h), so that the same object runs in the real loop
// and in a simulation.
//
// Ticks before objective() are objective: the inputs of every member are known, so every peer has or will have exactly
// this state. Ticks from there up to now() are subjective: what is not known yet was predicted. When an input turns out
// to be another than was used, everything from its tick on is simulated again, once, before the next tick.
#pragma once

#include <cotouch/session/input_stream.h>
#include <cotouch/session/prediction.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <variant>
#include <vector>

namespace cotouch {

// Which member leads each hand; k_nobody: none does.
using HandLeaders = std::array<MemberId, k_shared_hands>;
constexpr HandLeaders leaders_none() {
  HandLeaders leaders{};
  leaders.fill(k_nobody);
  return leaders;
}

// What all members do in one tick. A hand is led by the member of its number as long as that one's hand is there, or
// else by the lowest member that names it. That follows from the inputs of the tick alone: nobody has to be asked, and
// nothing of it has to be kept.
struct TickInputs {
  std::array<HandInput, k_shared_hands> hands{};
  HandLeaders leaders = leaders_none();
  bool reset = false;  // the world starts anew before these are applied
};

// Those of members who take no part are null.
using InputsOfMembers = std::array<const PeerInput*, k_most_members>;
TickInputs together(const InputsOfMembers& members);

// Go back to the state before this tick, which was saved.
struct LoadState {
  Tick tick = 0;
};
// Step the world: from the state before `tick` to the one after it.
struct AdvanceState {
  Tick tick = 0;
  TickInputs inputs;
};
// Keep the present state, the one before `tick`, until `tick` is confirmed.
struct SaveState {
  Tick tick = 0;
};
// All inputs of this tick are known: they are those it was last advanced with, and the saved state after it is
// objective.
struct ConfirmTick {
  Tick tick = 0;
  TickInputs inputs;
};

using WorldRequest = std::variant<LoadState, AdvanceState, SaveState, ConfirmTick>;

struct RollbackSettings {
  Tick window = 128;  // ticks that may be subjective; beyond, the world waits
  double tick_seconds = 0.01;
  Prediction prediction = Prediction::kalman_acceleration;
};

class Rollback {
 public:
  static constexpr Tick k_widest_window = 256;

  // Everything before `start` is over.
  Rollback(const RollbackSettings& settings, Tick start);

  Tick objective() const { return objective_; }
  Tick now() const { return now_; }  // the next tick to be simulated
  bool is_full() const { return now_ - objective_ >= settings_.window; }
  // Members whose inputs the next objective tick lacks; bit m for member m.
  std::uint32_t awaited() const;

  // A member takes part from `first` on, which must not be simulated yet, or in a snapshot's past.
  void open(MemberId member, Tick first);
  const InputStream* stream(MemberId member) const;
  // What became known. False if it was known, is too far ahead, or nobody has this number.
  bool receive(MemberId member, Tick tick, PeerInput input);
  // Nothing comes from this member from `end` on.
  void finish(MemberId member, Tick end);
  // How uneven a member's inputs arrive, seconds.
  void set_jitter(MemberId member, double seconds);

  // Appends what has to be simulated again because it was predicted wrong. Returns how many ticks that are.
  Tick repair(std::vector<WorldRequest>& requests);
  // The next tick, with what is known and what is predicted.
  void advance(std::vector<WorldRequest>& requests);
  // If the oldest subjective tick is fully known now, and was simulated so: one more tick is objective.
  bool confirm(std::vector<WorldRequest>& requests);

  // From the objective state before `tick` again, with the inputs that are known. False, and nothing is changed, if
  // they are not kept so long or `tick` is not objective yet.
  bool restart(Tick tick);

  // Who led each hand in the newest tick; nobody before the first.
  HandLeaders leaders() const { return now_ > begun_ ? used_[index(now_ - 1)].leaders : leaders_none(); }
  // As simulated last; of a tick from objective() to before now().
  const TickInputs& used(Tick tick) const { return used_[index(tick)]; }

 private:
  struct Source {
    InputStream stream;
    HandPredictor predictor;
    std::map<std::uint8_t, HandPredictor> further;  // of the hands that the newest known input names
    Tick observed;                                  // inputs before this one were shown to the predictors
    double jitter = 0;
  };
  static std::size_t index(Tick tick) { return static_cast<std::size_t>(tick & (k_widest_window - 1)); }
  void observe(MemberId member);
  void observe(Source& source, Tick tick, const PeerInput& input);
  static PeerInput predict(const Source& source, Tick tick);
  bool is_reset(Tick tick) const;
  TickInputs inputs_of(Tick tick) const;
  void simulate(Tick tick, std::vector<WorldRequest>& requests);
  void compare(MemberId member, Tick tick, const PeerInput& input);

  RollbackSettings settings_;
  Tick objective_, now_;
  Tick begun_;         // where this began, or began again
  Tick replaced_ = 0;  // before it somebody else had a number that was given away again
  Tick first_wrong_ = k_never;
  std::array<std::optional<Source>, k_most_members> sources_;
  std::vector<TickInputs> used_;
};

}  // namespace cotouch

// Carries out what a Rollback asks for: a world, and the states that may have to be gone back to.
#pragma once

#include <cotouch/session/rollback.h>
#include <cotouch/world/step.h>

#include <memory>
#include <span>
#include <vector>

namespace cotouch {

class WorldRunner {
 public:
  // `start` is the state before tick `tick`. The model has k_shared_hands hands. Throws Error if it cannot be stepped
  // by state (WorldModel::check_data_is_there).
  WorldRunner(std::shared_ptr<const WorldModel> model, const WorldState& start, Tick tick);

  void carry_out(const WorldRequest& request);

  // Goes on from another objective state, the one before tick `tick`.
  void restart(const WorldState& state, Tick tick);
  // For tests: changes one bit of the present state, as broken memory would.
  void damage();

  const WorldModel& model() const { return *model_; }
  const std::shared_ptr<const WorldModel>& shared_model() const { return model_; }
  // The newest, subjective state.
  const WorldState& now() const { return now_; }
  const StepScratch& scratch() const { return scratch_; }
  // A state that was saved and may still be gone back to.
  const WorldState& saved(Tick tick) const { return saved_[index(tick)]; }
  // The newest objective state, the one before tick objective().
  const WorldState& objective_state() const { return saved(objective_); }
  Tick objective() const { return objective_; }

 private:
  static std::size_t index(Tick tick) { return static_cast<std::size_t>(tick & (Rollback::k_widest_window - 1)); }

  std::shared_ptr<const WorldModel> model_;
  WorldState start_, now_;  // start_: what a reset begins with
  StepScratch scratch_;
  std::vector<WorldState> saved_;
  Tick objective_;
};

// One tick of a world with these inputs; `start` is what a reset begins with. Throws Error if an invariant is broken
// (base/invariant.h): the state is then nothing that others should hear of.
void step_shared(const WorldModel& model, const WorldState& start, WorldState& state, const TickInputs& inputs,
                 StepScratch& scratch);

}  // namespace cotouch

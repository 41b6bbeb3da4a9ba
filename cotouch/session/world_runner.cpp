#include <cotouch/session/world_runner.h>

#include <cotouch/base/error.h>
#include <cotouch/base/invariant.h>

#include <utility>

namespace cotouch {

void step_shared(const WorldModel& model, const WorldState& start, WorldState& state, const TickInputs& inputs,
                 StepScratch& scratch) {
  const InvariantWatch watch;
  if (inputs.reset) state = start;
  step(model, state, inputs.hands, scratch, {});
  if (watch.broken() != nullptr) throw Error(invariant_report(watch.broken()));
}

WorldRunner::WorldRunner(std::shared_ptr<const WorldModel> model, const WorldState& start, Tick tick)
    : model_(std::move(model)),
      start_(*model_),
      now_(start),
      scratch_(*model_),
      saved_(Rollback::k_widest_window, start),
      objective_(tick) {
  model_->check_data_is_there();
}

void WorldRunner::restart(const WorldState& state, Tick tick) {
  now_ = state;
  saved_[index(tick)] = state;
  objective_ = tick;
}

void WorldRunner::damage() {
  for (WorldState* state : {&now_, &saved_[index(objective_)]})
    for (BodyRecord& body : state->bodies()) body.velocity.x += 1e-9;
}

void WorldRunner::carry_out(const WorldRequest& request) {
  if (const auto* load = std::get_if<LoadState>(&request)) {
    now_ = saved_[index(load->tick)];
  } else if (const auto* advance = std::get_if<AdvanceState>(&request)) {
    step_shared(*model_, start_, now_, advance->inputs, scratch_);
  } else if (const auto* save = std::get_if<SaveState>(&request)) {
    saved_[index(save->tick)] = now_;
  } else if (const auto* confirmed = std::get_if<ConfirmTick>(&request)) {
    objective_ = confirmed->tick + 1;
  }
}

}  // namespace cotouch

// The world as the 1 kHz loop sees it: hands in, forces out. Alone it steps here; shared with others it steps
// elsewhere, more slowly, and here only what the local hands hold is felt against it.
#pragma once

#include <cotouch/base/channel.h>
#include <cotouch/world/step.h>

#include <memory>
#include <span>

namespace cotouch {

class TouchWorld {
 public:
  // The model's tick is the loop's period. Levels of detail follow `detail`; its rule is by work for a world of this
  // machine's own.
  TouchWorld(std::shared_ptr<const WorldModel> model, const StepDetail& detail);
  virtual ~TouchWorld() = default;
  TouchWorld(const TouchWorld&) = delete;
  TouchWorld& operator=(const TouchWorld&) = delete;

  // One cycle; what each hand feels is in its record. No allocation, no lock, bounded by count.
  virtual void cycle(std::span<const HandInput> hands) noexcept = 0;

  const WorldModel& model() const noexcept { return *model_; }
  const std::shared_ptr<const WorldModel>& shared_model() const noexcept { return model_; }
  WorldState& state() noexcept { return state_; }
  const WorldState& state() const noexcept { return state_; }
  const StepScratch& scratch() const noexcept { return scratch_; }
  const StepDetail& detail() const noexcept { return detail_; }
  // For a replay: the levels of the next cycle, one for each pair.
  void set_levels(std::span<const std::uint8_t> levels) noexcept;

 protected:
  std::shared_ptr<const WorldModel> model_;
  WorldState state_;
  StepScratch scratch_;
  StepDetail detail_;
};

// A world of one's own.
class LocalWorld final : public TouchWorld {
 public:
  explicit LocalWorld(std::shared_ptr<const WorldModel> model, const StepDetail& detail = {})
      : TouchWorld(std::move(model), detail) {}
  void cycle(std::span<const HandInput> hands) noexcept override { step(*model_, state_, hands, scratch_, detail_); }
};

// A world that steps elsewhere, for instance a hundred times a second. Its newest state is followed: bodies that no
// local hand holds glide to where it has them, and what a local hand holds is felt here, at every cycle, against them.
// The held body drifts to where the slower world has it over a tenth of a second, so that a correction is felt as a
// slow pull and not as a step; what the limiter allows a millisecond bounds the rest.
class FollowedWorld final : public TouchWorld {
 public:
  explicit FollowedWorld(std::shared_ptr<const WorldModel> model, const StepDetail& detail = {});

  void cycle(std::span<const HandInput> hands) noexcept override;
  // From the one thread that feeds: the slower world's state, of a model with the same bodies, hands and pairs. False,
  // and the state before it goes on being followed, if this is none (WorldState::restore).
  bool follow(const WorldState& newest) noexcept;

 private:
  bool is_held(std::size_t body) const noexcept;
  bool is_wanted(std::size_t body, std::span<const HandInput> hands) const noexcept;

  WorldState checked_;  // the feeding thread's
  LatestValue<WorldState> newest_;
};

}  // namespace cotouch

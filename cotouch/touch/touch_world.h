// The world as the 1 kHz loop sees it: hands in, forces out. Alone it steps here; one that is shared with others steps
// elsewhere, more slowly, and is followed (followed_world.h).
#pragma once

#include <cotouch/device/body_places.h>
#include <cotouch/world/step.h>

#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace cotouch {

inline constexpr std::size_t k_no_hand = std::numeric_limits<std::size_t>::max();

class TouchWorld : public BodyPlaces {
 public:
  // The model's tick is the loop's period. Levels of detail follow `detail`; its rule is by work for a world of this
  // machine's own.
  TouchWorld(std::shared_ptr<const WorldModel> model, const StepDetail& detail);
  virtual ~TouchWorld() = default;
  TouchWorld(const TouchWorld&) = delete;
  TouchWorld& operator=(const TouchWorld&) = delete;

  // One cycle; one input for each device. What a hand feels is in its record. No allocation, no lock, bounded by count.
  virtual void cycle(std::span<const HandInput> devices) noexcept = 0;
  // Which of the world's hands a device is; k_no_hand: none, and it feels nothing.
  virtual std::size_t hand_of(std::size_t device) const noexcept { return device; }

  std::optional<Pose> pose_of(std::uint32_t body) const noexcept override;

  const WorldModel& model() const noexcept { return *model_; }
  const std::shared_ptr<const WorldModel>& shared_model() const noexcept { return model_; }
  WorldState& state() noexcept { return state_; }
  const WorldState& state() const noexcept { return state_; }
  const StepScratch& scratch() const noexcept { return scratch_; }
  const StepDetail& detail() const noexcept { return detail_; }
  // For a replay: the levels of the next cycle, one for each pair, and what engines did without then.
  void set_levels(std::span<const std::uint8_t> levels, std::span<const MissingPieces::Piece> missing) noexcept;
  // The share of the coupling's stiffness that a device's hand is held with from the next cycle on (softening.h).
  void set_stiffness(std::size_t device, double share) noexcept;

 protected:
  std::shared_ptr<const WorldModel> model_;
  WorldState state_;
  StepScratch scratch_;
  StepDetail detail_;
  std::vector<double> stiffness_;  // of each hand, for the detail
};

// A world of one's own.
class LocalWorld : public TouchWorld {
 public:
  explicit LocalWorld(std::shared_ptr<const WorldModel> model, const StepDetail& detail = {})
      : TouchWorld(std::move(model), detail) {}
  void cycle(std::span<const HandInput> devices) noexcept override {
    step(*model_, state_, devices, scratch_, detail_);
  }
};

}  // namespace cotouch

#include <cotouch/touch/touch_world.h>

namespace cotouch {

// Levels that follow from the state are chosen without coherence: caches, nearly a megabyte a pair, would be of no use.
TouchWorld::TouchWorld(std::shared_ptr<const WorldModel> model, const StepDetail& detail)
    : model_(std::move(model)),
      state_(*model_),
      scratch_(*model_, detail.rule != Detail::Rule::by_state),
      detail_(detail),
      stiffness_(model_->settings().hands, 1.0) {
  if (detail.rule == Detail::Rule::by_state) model_->check_data_is_there();
  detail_.stiffness = stiffness_;
}

std::optional<Pose> TouchWorld::pose_of(std::uint32_t body) const noexcept {
  const auto index = model_->index_of(body);
  if (!index) return std::nullopt;
  return state_.bodies()[*index].pose;
}

void TouchWorld::set_levels(std::span<const std::uint8_t> levels,
                            std::span<const MissingPieces::Piece> missing) noexcept {
  detail_.rule = Detail::Rule::exactly;
  detail_.levels = levels;
  detail_.missing = missing;
}

void TouchWorld::set_stiffness(std::size_t device, double share) noexcept {
  const std::size_t hand = hand_of(device);
  if (hand < stiffness_.size()) stiffness_[hand] = share;
}

}  // namespace cotouch

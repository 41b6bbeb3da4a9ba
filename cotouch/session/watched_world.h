// A world of one's own that shows what its bodies touch.
#pragma once

#include <cotouch/base/channel.h>
#include <cotouch/session/world_view.h>
#include <cotouch/touch/touch_world.h>

#include <memory>
#include <vector>

namespace cotouch {

class WatchedWorld final : public TouchWorld {
 public:
  WatchedWorld(std::shared_ptr<const WorldModel> model, const StepDetail& detail)
      : TouchWorld(std::move(model), detail), contacts_(std::vector<ContactStats>(model_->bodies().size())) {}

  void cycle(std::span<const HandInput> hands) noexcept override {
    step(*model_, state_, hands, scratch_, detail_);
    contacts_.write_in_place([this](std::vector<ContactStats>& slot) { copy_body_contacts(scratch_, slot); });
  }

  // For one reading thread: contact of each body in the newest cycle, in the order of the model's bodies.
  const std::vector<ContactStats>& contacts() noexcept { return contacts_.read(); }

 private:
  LatestValue<std::vector<ContactStats>> contacts_;
};

}  // namespace cotouch

// Worlds that show what their bodies touch, whether they step here or are followed.
#pragma once

#include <cotouch/base/channel.h>
#include <cotouch/session/world_view.h>
#include <cotouch/touch/followed_world.h>
#include <cotouch/touch/touch_world.h>

#include <memory>
#include <utility>
#include <vector>

namespace cotouch {

class WatchedContacts {
 public:
  explicit WatchedContacts(std::size_t bodies) : contacts_(std::vector<ContactStats>(bodies)) {}

  // For one reading thread: contact of each body in the newest cycle, in the order of the model's bodies.
  const std::vector<ContactStats>& contacts() noexcept { return contacts_.read(); }

 protected:
  ~WatchedContacts() = default;
  void watch(const StepScratch& scratch) noexcept {
    contacts_.write_in_place([&](std::vector<ContactStats>& slot) { copy_body_contacts(scratch, slot); });
  }

 private:
  LatestValue<std::vector<ContactStats>> contacts_;
};

// `World` is a LocalWorld or a FollowedWorld, with the same arguments.
template <class World>
class Watched final : public World, public WatchedContacts {
 public:
  template <class... Arguments>
  explicit Watched(const std::shared_ptr<const WorldModel>& model, Arguments&&... arguments)
      : World(model, std::forward<Arguments>(arguments)...), WatchedContacts(model->bodies().size()) {}

  void cycle(std::span<const HandInput> devices) noexcept override {
    World::cycle(devices);
    watch(this->scratch());
  }
};

}  // namespace cotouch

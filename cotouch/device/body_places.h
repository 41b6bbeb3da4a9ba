// Where a world's bodies are, for devices that begin where the body is that they take hold of.
#pragma once

#include <cotouch/base/pose.h>

#include <cstdint>
#include <optional>

namespace cotouch {

class BodyPlaces {
 public:
  // By its id; none if there is no such body. For the touch thread, between two steps of the world.
  virtual std::optional<Pose> pose_of(std::uint32_t body) const noexcept = 0;

 protected:
  ~BodyPlaces() = default;
};

}  // namespace cotouch

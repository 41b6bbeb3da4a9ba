// A SpaceMouse through libspnav, found at run time: nothing to link, nothing to rebuild, and a missing library, daemon
// or device is a sentence for the user, not a failure.
#pragma once

#include <cotouch/device/steered_device.h>

#include <memory>
#include <string>

namespace cotouch {

class SpaceMouse final : public SteeringSource {
 public:
  static constexpr const char* k_name = "spacemouse";  // on command lines

  // Null if there is none; `why` then says so and what to do.
  static std::unique_ptr<SpaceMouse> open(std::string& why);
  // Whether libspnav is there, so that somebody means to use one. After open().
  static bool is_expected() noexcept;
  ~SpaceMouse() override;
  SpaceMouse(const SpaceMouse&) = delete;
  SpaceMouse& operator=(const SpaceMouse&) = delete;

  std::string name() const override { return "SpaceMouse"; }
  bool poll(Deflection& now) noexcept override;

 private:
  struct Library;
  explicit SpaceMouse(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
  Deflection now_;
};

}  // namespace cotouch

// A SpaceMouse through libspnav, found at run time: nothing to link, nothing to rebuild, and a missing library, daemon
// or device is a sentence for the user, not a failure.
#pragma once

#include <cotouch/base/vec.h>

#include <memory>
#include <string>

namespace cotouch {

class SpaceMouse {
 public:
  // Null where there is none; `why` then says so and what to do.
  static std::unique_ptr<SpaceMouse> open(std::string& why);
  ~SpaceMouse();
  SpaceMouse(const SpaceMouse&) = delete;
  SpaceMouse& operator=(const SpaceMouse&) = delete;

  // How far the cap is pushed and turned, each from about -1 to 1, in world axes (x right, y away, z up). Takes in what
  // has happened since the last call; never waits.
  struct Deflection {
    Vec3d push, turn;
    bool moved = false;  // the cap is not at rest
    unsigned buttons = 0;
  };
  Deflection poll();

 private:
  struct Library;
  explicit SpaceMouse(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
  Deflection now_;
};

}  // namespace cotouch

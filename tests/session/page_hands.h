// The hands of pages, for worlds without a session.
#pragma once

#include <cotouch/device/page_device.h>
#include <cotouch/session/running_world.h>

#include <array>

namespace cotouch::testing_session {

class PageHands {
 public:
  PageDevice& operator[](std::size_t i) { return devices_[i]; }
  operator HandDevices() {  // NOLINT(google-explicit-constructor): a test passes them on as they are
    HandDevices all;
    for (PageDevice& device : devices_) all.push_back(&device);
    return all;
  }

 private:
  std::array<PageDevice, k_session_hands> devices_;
};

}  // namespace cotouch::testing_session

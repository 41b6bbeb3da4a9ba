// A SpaceMouse, by a daemon that this test plays.
#include <cotouch/device/spacemouse.h>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

class Daemon {
 public:
  Daemon() {
    ::dlopen(COTOUCH_STAND_IN_SPNAV, RTLD_NOW);  // found by its name from now on
    const std::string path = folder_ / "spnav.sock";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(listening_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listening_, 1), 0);
    ::setenv("SPNAV_SOCKET", path.c_str(), 1);
  }
  ~Daemon() {
    hang_up();
    ::close(listening_);
    ::unsetenv("SPNAV_SOCKET");
  }
  void accept() { client_ = ::accept(listening_, nullptr, nullptr); }
  void tell(const std::array<int, 8>& event) {
    EXPECT_EQ(::write(client_, event.data(), sizeof event), static_cast<ssize_t>(sizeof event));
  }
  void hang_up() {
    if (client_ >= 0) ::close(client_);
    client_ = -1;
  }

 private:
  TemporaryFolder folder_;
  int listening_ = ::socket(AF_UNIX, SOCK_STREAM, 0), client_ = -1;
};

TEST(SpaceMouse, OneWithoutADaemonIsASentence) {
  ::dlopen(COTOUCH_STAND_IN_SPNAV, RTLD_NOW);
  ::setenv("SPNAV_SOCKET", "/nowhere/spnav.sock", 1);
  std::string why;
  EXPECT_EQ(SpaceMouse::open(why), nullptr);
  EXPECT_NE(why.find("spacenavd"), std::string::npos);
  ::unsetenv("SPNAV_SOCKET");
}

TEST(SpaceMouse, SteersAHandThroughTheAdapter) {
  Daemon daemon;
  std::string why;
  std::unique_ptr<SpaceMouse> mouse = SpaceMouse::open(why);
  ASSERT_NE(mouse, nullptr) << why;
  daemon.accept();
  SteeredDevice device(std::move(mouse));
  device.fit({{}, 0.4});
  EXPECT_EQ(device.name(), "SpaceMouse");
  EXPECT_EQ(device.request().kind, HandRequest::Kind::none);
  // Half way to the right, a fifth away, and up to the stop: the daemon's y is up, its z away from the user.
  daemon.tell({0, 175, 350, 70, 0, 0, 0, 16});
  daemon.tell({1, 1, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(device.request().kind, HandRequest::Kind::take);
  device.hold(1, {});
  DeviceReading reading;
  Vec3d way;
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(device.read(reading));
  way = reading.pose.position;
  EXPECT_GT(way.x, 0.005);
  EXPECT_NEAR(way.z / way.x, 2, 1e-9);
  EXPECT_NEAR(way.y / way.x, 0.4, 1e-9);
  EXPECT_EQ(reading.buttons, 2U);
}

TEST(SpaceMouse, IsGoneWhenItsDaemonEnds) {
  Daemon daemon;
  std::string why;
  std::unique_ptr<SpaceMouse> mouse = SpaceMouse::open(why);
  ASSERT_NE(mouse, nullptr) << why;
  daemon.accept();
  SteeredDevice device(std::move(mouse));
  device.request();
  EXPECT_TRUE(device.is_there());
  daemon.hang_up();
  device.request();
  EXPECT_FALSE(device.is_there());
}

}  // namespace
}  // namespace cotouch::this_file

// A process that pushes a hand until it is killed: pushing_process SOCKET GUARD. Its device's motor is at the other end
// of the socket and keeps the last force that it was told, as motors without a heartbeat do.
#include <cotouch/touch/loop.h>

#include "touch/fixtures.h"

#include <cstdio>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

using namespace cotouch;

class SocketDevice final : public Device {
 public:
  explicit SocketDevice(const char* path) : path_(path), socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) std::perror("connect");
  }
  ~SocketDevice() override { close(socket_); }
  std::string name() const override { return "socket"; }
  DeviceLimits limits() const noexcept override { return k_without_motors; }
  std::optional<SilenceCall> silence_call() const override {
    return SilenceCall{path_, std::vector<std::byte>(sizeof(double))};  // a force of zero
  }
  bool read(DeviceReading& reading) noexcept override {
    reading.pose = {{0, 0, reads_ == 0 ? 0.005 : -4e-3}, {}};
    if (reads_++ == 0) {
      reading.action = HandInput::Action::grasp;
      reading.body = testing::k_peg;
    }
    return true;
  }
  void write(const LimitedWrench& wrench) noexcept override { tell(norm(wrench.get().force)); }
  void disable() noexcept override { tell(0); }
  bool enable() noexcept override { return true; }

 private:
  void tell(double force) noexcept { send(socket_, &force, sizeof force, MSG_DONTWAIT | MSG_NOSIGNAL); }

  std::string path_;
  int socket_;
  int reads_ = 0;
};

}  // namespace

int main(int, char** arguments) {
  LocalWorld world(testing::peg_model());
  SocketDevice device(arguments[1]);
  TouchLoopSettings settings;
  settings.guard = arguments[2];
  settings.stall_seconds = 10;  // on a busy machine the watchdog would let the force fade in and in
  TouchLoop loop({&device}, world, settings);
  try {
    loop.start();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::this_thread::sleep_for(std::chrono::seconds(60));
  return 0;
}

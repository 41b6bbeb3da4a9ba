// Stands in for libspnav, which not every machine has: the functions that cotouch finds in it, speaking the first
// version of spacenavd's protocol over the socket that SPNAV_SOCKET names. A datagram of eight numbers an event: what
// it is (0 motion, 1 pressed, 2 released), then x, y, z, rx, ry, rz and the milliseconds since the last, or the button.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace {
int daemon_socket = -1;
}

extern "C" {

int spnav_open() {
  const char* path = std::getenv("SPNAV_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || std::strlen(path) >= sizeof address.sun_path) return -1;
  std::strcpy(address.sun_path, path);
  daemon_socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (::connect(daemon_socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return 0;
  ::close(daemon_socket);
  daemon_socket = -1;
  return -1;
}

int spnav_close() {
  return ::close(daemon_socket);
}

int spnav_fd() {
  return daemon_socket;
}

// Fills what libspnav calls a spnav_event.
int spnav_poll_event(int* event) {
  int told[8];
  if (::recv(daemon_socket, told, sizeof told, MSG_DONTWAIT) != static_cast<ssize_t>(sizeof told)) return 0;
  if (told[0] == 0) {
    event[0] = 1;
    std::memcpy(event + 1, told + 1, 7 * sizeof(int));
  } else {
    event[0] = 2;
    event[1] = told[0] == 1;
    event[2] = told[1];
  }
  return event[0];
}
}

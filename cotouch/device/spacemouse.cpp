#include <cotouch/device/spacemouse.h>

#include <dlfcn.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace cotouch {
namespace {

// The part of libspnav's interface (version 0 of its binary interface) that is used here.
constexpr const char* k_library = "libspnav.so.0";
constexpr int k_event_motion = 1;
constexpr int k_event_button = 2;

struct MotionEvent {
  int type;
  int x, y, z;
  int rx, ry, rz;
  unsigned period;
  int* data;
};
struct ButtonEvent {
  int type;
  int press;
  int number;
};
union Event {
  int type;
  MotionEvent motion;
  ButtonEvent button;
};

constexpr double k_full_deflection = 350;  // what the daemon reports at the stop

double share(int value) {
  return std::clamp(static_cast<double>(value) / k_full_deflection, -1.0, 1.0);
}

}  // namespace

struct SpaceMouse::Library {
  // Stays loaded as long as the process: it keeps memory of its own, also where it finds no daemon, which unloading it
  // would lose.
  void* handle = nullptr;
  int (*open)() = nullptr;
  int (*close)() = nullptr;
  int (*poll_event)(Event*) = nullptr;
  int (*fd)() = nullptr;
  bool connected = false;

  bool is_open() const noexcept;

  ~Library() {
    if (connected) close();
  }
};

std::unique_ptr<SpaceMouse> SpaceMouse::open(std::string& why) {
  auto library = std::make_unique<Library>();
  library->handle = ::dlopen(k_library, RTLD_NOW | RTLD_LOCAL);
  if (library->handle == nullptr) {
    why = "No SpaceMouse: the library libspnav is not installed (Debian package libspnav0).";
    return nullptr;
  }
  library->open = reinterpret_cast<int (*)()>(::dlsym(library->handle, "spnav_open"));
  library->close = reinterpret_cast<int (*)()>(::dlsym(library->handle, "spnav_close"));
  library->poll_event = reinterpret_cast<int (*)(Event*)>(::dlsym(library->handle, "spnav_poll_event"));
  library->fd = reinterpret_cast<int (*)()>(::dlsym(library->handle, "spnav_fd"));
  if (library->open == nullptr || library->close == nullptr || library->poll_event == nullptr) {
    why = "No SpaceMouse: the libspnav installed here is one that cotouch does not know.";
    return nullptr;
  }
  if (library->open() < 0) {
    why = "No SpaceMouse: the daemon spacenavd does not answer; start it and plug the device in.";
    return nullptr;
  }
  library->connected = true;
  return std::unique_ptr<SpaceMouse>(new SpaceMouse(std::move(library)));
}

bool SpaceMouse::is_expected() noexcept {
  return ::dlopen(k_library, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) != nullptr;
}

SpaceMouse::SpaceMouse(std::unique_ptr<Library> library) : library_(std::move(library)) {
}

SpaceMouse::~SpaceMouse() = default;

// The daemon has ended or was restarted: the library does not say so.
bool SpaceMouse::Library::is_open() const noexcept {
  if (fd == nullptr) return true;  // an older library cannot tell
  char byte = 0;
  const ssize_t got = ::recv(fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ENOTSOCK));
}

bool SpaceMouse::poll(Deflection& now) noexcept {
  // Bounded, in case events come faster than they are taken in.
  Event event{};
  for (int i = 0; i < 1000 && library_->poll_event(&event) != 0; ++i) {
    if (event.type == k_event_motion) {
      const MotionEvent& m = event.motion;
      // The daemon's axes are x right, y up, z away from the user.
      now_.push = {share(m.x), share(m.z), share(m.y)};
      now_.turn = {share(m.rx), share(m.rz), share(m.ry)};
    } else if (event.type == k_event_button && event.button.number >= 0 && event.button.number < 8) {
      const unsigned bit = 1U << event.button.number;
      now_.buttons = event.button.press != 0 ? now_.buttons | bit : now_.buttons & ~bit;
    }
  }
  now = now_;
  return library_->is_open();
}

}  // namespace cotouch

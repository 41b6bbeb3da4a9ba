// cotouch-guard: takes the force off devices when the process that drives them has died or stands still.
//
//   cotouch-guard MILLISECONDS [PATH HEX]...
//
// Standard input is a socket to that process. Every byte on it is a heartbeat and is answered by a byte, so that the
// other side knows that it is guarded; its end is the process's, however it ended (kill -9 included). Then, and
// whenever no heartbeat came for so many milliseconds after the first one, the bytes HEX are written to every PATH (a
// device node, a named pipe or a datagram socket). All are opened before the first byte, which tells the other side
// that the guard watches. Where a queue is full, as that of a driver which is starved, it is tried again for as long as
// it takes, and no other device waits for it.
//
// A program of its own, and as small as that, so that nothing that can kill the other kills it too: it shares no
// memory, no locks and no signals with it and allocates nothing after its start.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

struct Call {
  const char* path = nullptr;
  std::string message;
  int file = -1;
  bool told = true;
};

int open_socket(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof address.sun_path) return -1;
  std::strcpy(address.sun_path, path);
  const int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file < 0) return -1;
  if (connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return file;
  close(file);
  return -1;
}

int open_call(const char* path) {
  struct stat what {};
  if (stat(path, &what) != 0) return -1;
  if (S_ISSOCK(what.st_mode)) return open_socket(path);
  return open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
}

bool from_hex(const char* hex, std::string& bytes) {
  const std::size_t length = std::strlen(hex);
  if (length == 0 || length % 2 != 0) return false;
  for (std::size_t i = 0; i < length; i += 2) {
    const char digits[3] = {hex[i], hex[i + 1], 0};
    char* end = nullptr;
    bytes += static_cast<char>(std::strtoul(digits, &end, 16));
    if (end != digits + 2) return false;
  }
  return true;
}

void begin_silence(std::vector<Call>& calls) {
  for (Call& call : calls) call.told = false;
}

// Returns whether everybody has been told, or is gone.
bool silence(std::vector<Call>& calls) {
  bool all_told = true;
  for (Call& call : calls) {
    if (!call.told) {
      const bool written = write(call.file, call.message.data(), call.message.size()) >= 0;
      call.told = written || (errno != EAGAIN && errno != EINTR && errno != ENOBUFS);
    }
    all_told = all_told && call.told;
  }
  return all_told;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2 || count % 2 != 0) return 64;
  const int patience = std::atoi(arguments[1]);
  if (patience <= 0) return 64;
  std::vector<Call> calls;
  for (int i = 2; i < count; i += 2) {
    Call& call = calls.emplace_back();
    call.path = arguments[i];
    if (!from_hex(arguments[i + 1], call.message)) return 64;
    call.file = open_call(call.path);
    if (call.file < 0) return 66;
  }
  // What ends the other process on purpose must not end this one first.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) std::signal(signal, SIG_IGN);
  mlockall(MCL_CURRENT | MCL_FUTURE);
  sched_param priority{};
  priority.sched_priority = 83;  // above the watchdog
  sched_setscheduler(0, SCHED_FIFO, &priority);

  const char ready = 'r', answer = 'a';
  if (send(STDIN_FILENO, &ready, 1, MSG_NOSIGNAL) != 1) return 74;
  constexpr int k_again = 1;  // ms
  enum class State { waits, guards, silences } state = State::waits;
  for (;;) {
    pollfd beat{STDIN_FILENO, POLLIN, 0};
    const int found = poll(&beat, 1, state == State::waits ? -1 : state == State::guards ? patience : k_again);
    if (found < 0 && errno == EINTR) continue;
    if (found == 0) {
      if (state == State::guards) begin_silence(calls);
      state = silence(calls) ? State::waits : State::silences;  // until it beats again
      continue;
    }
    char byte;
    const ssize_t got = recv(STDIN_FILENO, &byte, 1, MSG_DONTWAIT);
    if (got > 0) {
      state = State::guards;
      // There is room: the other side sends no heartbeat before it has the last one's answer.
      send(STDIN_FILENO, &answer, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
      continue;
    }
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    begin_silence(calls);
    while (!silence(calls)) usleep(1000 * k_again);
    return 0;
  }
}

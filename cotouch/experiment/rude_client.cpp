#include <cotouch/experiment/rude_client.h>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace cotouch {

RudeClient::RudeClient(std::uint16_t port, Clock::time_point until, int receive_buffer) : port_(port), until_(until) {
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_ < 0) return;
  if (receive_buffer > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int error = 0;
  socklen_t size = sizeof error;
  const bool begun = ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 || errno == EINPROGRESS;
  if (begun && wait(POLLOUT, std::chrono::milliseconds(1000)) &&
      ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0)
    return;
  ::close(socket_);
  socket_ = -1;
}

RudeClient::~RudeClient() {
  if (socket_ >= 0) ::close(socket_);
}

bool RudeClient::wait(short events, std::chrono::milliseconds patience) const {
  const Clock::time_point end = std::min(until_, Clock::now() + patience);
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    pollfd watched{socket_, events, 0};
    const int ready = ::poll(&watched, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000)));
    if (ready >= 0 || errno != EINTR) return ready > 0;  // a signal is no answer
  }
}

bool RudeClient::send(std::string_view bytes, std::chrono::milliseconds patience) {
  while (open() && !bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN || !wait(POLLOUT, patience)) {
      return false;
    }
  }
  return open();
}

std::string RudeClient::receive(std::chrono::milliseconds patience) {
  std::string bytes(64U << 10, '\0');
  if (!open() || !wait(POLLIN, patience)) return {};
  const ssize_t got = ::recv(socket_, bytes.data(), bytes.size(), 0);
  if (got == 0 || (got < 0 && errno != EAGAIN)) {
    ::close(socket_);
    socket_ = -1;
  }
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return bytes;
}

bool RudeClient::is_closed_within(std::chrono::milliseconds patience) {
  until_ = Clock::now() + patience;
  while (open() && Clock::now() < until_) receive(patience);
  return !open();
}

bool RudeClient::become_viewer(const std::string& key) {
  if (!send(request(port_, "GET", "/feed", key,
                    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n")))
    return false;
  if (!receive().starts_with("HTTP/1.1 101")) return false;
  return send_text(R"({"type":"hello","protocol":2})");
}

std::string RudeClient::number_in(std::string_view answer, std::string_view key) {
  const std::string quoted = '"' + std::string(key) + "\":";
  const std::size_t at = answer.find(quoted);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = answer.substr(at + quoted.size());
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789")));
}

std::string RudeClient::frame(unsigned char head, std::string_view payload) {
  std::string out(1, static_cast<char>(head));
  // The masking key is zero, which masks nothing and is allowed.
  if (payload.size() < 126) {
    out += static_cast<char>(0x80 | payload.size());
  } else {
    out += static_cast<char>(0x80 | 127);
    for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(payload.size() >> shift & 0xff);
  }
  out.append(4, '\0');
  out += payload;
  return out;
}

std::string RudeClient::request(std::uint16_t port, std::string_view method, std::string_view target,
                                const std::string& key, std::string_view more_head) {
  std::string out(method);
  out.append(" ").append(target).append(" HTTP/1.1\r\nHost: 127.0.0.1:").append(std::to_string(port));
  out.append("\r\nX-Cotouch-Key: ").append(key);
  return out.append("\r\n").append(more_head).append("\r\n");
}

}  // namespace cotouch

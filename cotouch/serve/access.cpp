#include <cotouch/base/error.h>
#include <cotouch/serve/access.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <system_error>

namespace cotouch {
namespace {

constexpr std::size_t k_token_bytes = 16;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool is_token(std::string_view text) {
  return text.size() == 2 * k_token_bytes && std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool is_address_literal(const std::string& host) {
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return true;
  if (host.size() < 2 || host.front() != '[' || host.back() != ']') return false;
  in6_addr v6{};
  return inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6) == 1;
}

// "name:port" -> name, port; without a port the one that http means.
bool split_host(const std::string& host, std::string& name, std::string& port) {
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = host.rfind(':');
  if (colon == std::string::npos || (bracket != std::string::npos && colon < bracket)) {
    name = host;
    port = "80";
  } else {
    name = host.substr(0, colon);
    port = host.substr(colon + 1);
  }
  return !name.empty() && !port.empty();
}

// A file descriptor that closes itself.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

std::string make_token() {
  std::array<unsigned char, k_token_bytes> bytes{};
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::getrandom(bytes.data() + filled, bytes.size() - filled, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw Error("The operating system gave no random numbers for the address's token; try again.");
    filled += static_cast<std::size_t>(got);
  }
  std::string token;
  for (const unsigned char byte : bytes) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

std::string kept_token(const std::filesystem::path& folder, std::uint16_t port) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::string path = (folder / ("token-" + std::to_string(port))).string();
  {
    // A link is not followed, and a file that others can read or that is not ours is no secret.
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    struct stat info {};
    if (file.fd >= 0 && ::fstat(file.fd, &info) == 0 && info.st_uid == ::geteuid() && (info.st_mode & 077) == 0) {
      char bytes[2 * k_token_bytes + 1];
      const ssize_t got = ::read(file.fd, bytes, sizeof bytes);
      if (got > 0 && is_token({bytes, static_cast<std::size_t>(got)})) return {bytes, static_cast<std::size_t>(got)};
    }
  }
  std::string token = make_token();
  ::unlink(path.c_str());
  const Descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  // Where it cannot be kept, the address is new after a restart; that is all.
  if (file.fd >= 0 && ::write(file.fd, token.data(), token.size()) != static_cast<ssize_t>(token.size()))
    ::unlink(path.c_str());
  return token;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept {
  // The length of a token is no secret.
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  return difference == 0;
}

bool host_is_ours(std::string_view host, std::uint16_t port, const std::vector<std::string>& names) {
  std::string name, given_port;
  if (!split_host(lower(host), name, given_port)) return false;
  for (const std::string& ours : names)
    if (lower(ours) == name) return true;
  return given_port == std::to_string(port) && (name == "localhost" || is_address_literal(name));
}

bool origin_is_ours(std::string_view origin, std::string_view host, bool tls) {
  const std::string given = lower(origin), expected = lower(host);
  return given == "https://" + expected || (!tls && given == "http://" + expected);
}

}  // namespace cotouch

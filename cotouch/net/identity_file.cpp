// An identity on disk: one line of text with the 32 bytes from which the key pair is made, readable by its owner only.
#include <cotouch/base/error.h>
#include <cotouch/net/crypto.h>

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_head = "cotouch identity 1 ";
constexpr std::size_t k_digits = 64;
constexpr std::size_t k_file_bytes = k_head.size() + k_digits + 1;
using FileText = Secret<k_file_bytes>;

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

[[noreturn]] void fail(const char* action, const fs::path& path, int reason) {
  throw Error(
      "Cannot " + std::string(action) + " your identity in " + path.string() + ": " + std::strerror(reason) + ".",
      ErrorCode::io);
}

// What keeps others from reading the file, and us from reading another's.
void check_private(int fd, const fs::path& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) fail("read", path, errno);
  if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid())
    throw Error("Your identity in " + path.string() + " is not a file of yours; remove it to get a new identity.",
                ErrorCode::refused);
  if ((info.st_mode & 077) != 0)
    throw Error("Others may read your identity in " + path.string() +
                    ", so it may no longer be yours alone. Remove the file to get a new identity, or, if nobody has "
                    "read it, run: chmod 600 " +
                    path.string(),
                ErrorCode::refused);
}

char* characters(FileText& text) {
  return reinterpret_cast<char*>(text.bytes().data());
}

// The bytes of the key pair from the text of the file; false if it is damaged.
bool parse(FileText& text, Secret<32>& seed) {
  const std::string_view all(characters(text), k_file_bytes);
  std::size_t bytes = 0;
  return all.starts_with(k_head) && all.ends_with('\n') &&
         sodium_hex2bin(reinterpret_cast<unsigned char*>(seed.bytes().data()), 32, all.data() + k_head.size(), k_digits,
                        nullptr, &bytes, nullptr) == 0 &&
         bytes == 32;
}

FileText format(const Secret<32>& seed) {
  FileText text;
  Secret<k_digits + 1> digits;  // with the zero that libsodium writes after them
  sodium_bin2hex(reinterpret_cast<char*>(digits.bytes().data()), k_digits + 1,
                 reinterpret_cast<const unsigned char*>(seed.bytes().data()), 32);
  std::memcpy(characters(text), k_head.data(), k_head.size());
  std::memcpy(characters(text) + k_head.size(), digits.bytes().data(), k_digits);
  characters(text)[k_file_bytes - 1] = '\n';
  return text;
}

// Zero, or the reason.
int write_private(const fs::path& path, const FileText& text) {
  const Descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (file.fd < 0) return errno;
  const ssize_t written = ::write(file.fd, text.bytes().data(), k_file_bytes);
  if (written < 0) return errno;
  if (written != static_cast<ssize_t>(k_file_bytes)) return ENOSPC;
  return ::fsync(file.fd) == 0 ? 0 : errno;
}

}  // namespace

std::optional<Identity> Identity::load(const fs::path& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (file.fd < 0 && errno == ENOENT) return std::nullopt;
  if (file.fd < 0) fail("read", path, errno);
  check_private(file.fd, path);
  FileText text;
  Secret<32> seed;
  std::byte more;
  if (::read(file.fd, text.bytes().data(), k_file_bytes) != static_cast<ssize_t>(k_file_bytes) ||
      ::read(file.fd, &more, 1) != 0 || !parse(text, seed))
    throw Error(
        "Your identity in " + path.string() +
            " is damaged. Restore the file, or remove it to get a new identity, which others will not recognise.",
        ErrorCode::damaged_file);
  return Identity(seed);
}

Identity Identity::load_or_make(const fs::path& path) {
  if (std::optional<Identity> found = load(path)) return *found;
  std::error_code ignored;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), ignored);
  Secret<32> seed;
  random_bytes(seed.bytes());
  // Written whole under another name first; of two programs that start at once, the first to link it wins.
  fs::path temporary = path;
  temporary += '.';
  temporary += std::to_string(::getpid());
  temporary += ".part";
  ::unlink(temporary.c_str());
  int reason = write_private(temporary, format(seed));
  if (reason == 0 && ::link(temporary.c_str(), path.c_str()) != 0) reason = errno;
  ::unlink(temporary.c_str());
  if (reason == 0) return Identity(seed);
  if (reason == EEXIST)
    if (std::optional<Identity> found = load(path)) return *found;
  fail("write", path, reason);
}

}  // namespace cotouch

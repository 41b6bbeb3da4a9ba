#include <cotouch/base/read_file.h>

#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

namespace cotouch {
namespace {

[[noreturn]] void refuse_to_read(const std::filesystem::path& path, const std::string& why, ErrorCode code) {
  throw Error("Cannot read " + path.string() + ": " + why + ".", code);
}

[[noreturn]] void say_reason(const std::filesystem::path& path, int reason) {
  if (reason == ENXIO) refuse_to_read(path, "it is a socket; name a file", ErrorCode::invalid_argument);
  if (reason == ENOENT || reason == ENOTDIR)
    throw Error(path.string() + " does not exist. Check the name.", ErrorCode::not_found);
  if (reason == EACCES)
    refuse_to_read(path, "you may not; ask its owner to let you, or copy it to a folder of yours", ErrorCode::io);
  if (reason == EIO) refuse_to_read(path, "its disk does not give it back; get it again", ErrorCode::io);
  refuse_to_read(path, std::string(std::strerror(reason)) + "; try again", ErrorCode::io);
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "it is a folder; name a file";
  if (S_ISFIFO(mode)) return "it is a pipe; write it to a file first";
  return "it is a device; name a file";
}

// From the beginning; stops early where the file ends. Asks on the way: it may be large, and its disk slow.
std::size_t read_into(std::span<std::byte> buffer, int fd, const std::filesystem::path& path) {
  constexpr std::size_t k_piece = 1U << 20U;
  std::size_t have = 0;
  while (have < buffer.size()) {
    throw_if_cancelled();
    const std::size_t most = std::min(k_piece, buffer.size() - have);
    const ssize_t count = ::pread(fd, buffer.data() + have, most, static_cast<off_t>(have));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) say_reason(path, errno);
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  return have;
}

}  // namespace

ReadableFile::ReadableFile(const std::filesystem::path& path)
    : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
  if (fd_ < 0) say_reason(path, errno);
  struct stat about {};
  const int reason = ::fstat(fd_, &about) == 0 ? 0 : errno;
  if (reason == 0 && S_ISREG(about.st_mode)) {
    size_ = static_cast<std::uint64_t>(about.st_size);
    return;
  }
  ::close(fd_);
  if (reason != 0) say_reason(path, reason);
  refuse_to_read(path, kind_of(about.st_mode), ErrorCode::invalid_argument);
}

ReadableFile::~ReadableFile() {
  ::close(fd_);
}

std::size_t ReadableFile::read_beginning(std::span<std::byte> buffer) const {
  return read_into(buffer, fd_, path_);
}

void ReadableFile::read_at(std::uint64_t offset, std::span<std::byte> buffer) const {
  while (!buffer.empty()) {
    const ssize_t count = ::pread(fd_, buffer.data(), buffer.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) say_reason(path_, errno);
    if (count == 0) refuse_to_read(path_, "it was cut short", ErrorCode::damaged_file);
    buffer = buffer.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

FileCopy ReadableFile::copy(std::uint64_t most) const {
  const std::size_t size = std::min(size_, most);
  if (size == 0) return {};
  const std::string no_memory =
      "its " + std::to_string(size) + " bytes are more than half of the memory that is free; close other programs";
  if (size > free_memory() / 2) refuse_to_read(path_, no_memory, ErrorCode::too_large);
  void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) refuse_to_read(path_, no_memory, ErrorCode::too_large);
  std::shared_ptr<const void> keep_alive(address, [size](const void* p) { ::munmap(const_cast<void*>(p), size); });
  const std::size_t have = read_into({static_cast<std::byte*>(address), size}, fd_, path_);
  ::mprotect(address, size, PROT_READ);
  return {{static_cast<const std::byte*>(address), have}, std::move(keep_alive)};
}

FileCopy read_file(const std::filesystem::path& path, std::uint64_t most) {
  const ReadableFile file(path);
  if (file.size() > most)
    refuse_to_read(path, "it is larger than the " + std::to_string(most) + " bytes allowed; name another",
                   ErrorCode::too_large);
  return file.copy();
}

std::string read_text(const std::filesystem::path& path, std::uint64_t most) {
  const FileCopy file = read_file(path, most);
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

std::uint64_t free_memory() {
  std::string text(4096, '\0');
  const int fd = ::open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
  const ssize_t length = fd >= 0 ? ::read(fd, text.data(), text.size()) : -1;
  if (fd >= 0) ::close(fd);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  constexpr std::string_view k_name = "MemAvailable:";
  const std::size_t found = text.find(k_name);
  std::uint64_t kibibytes = 0;
  if (found != std::string::npos) {
    const std::size_t digits = text.find_first_not_of(' ', found + k_name.size());
    if (digits != std::string::npos) std::from_chars(text.data() + digits, text.data() + text.size(), kibibytes);
  }
  return kibibytes > 0 ? kibibytes << 10U : std::numeric_limits<std::uint64_t>::max();
}

}  // namespace cotouch

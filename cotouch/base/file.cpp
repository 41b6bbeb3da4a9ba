#include <cotouch/base/file.h>

#include <cotouch/base/error.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* action, const fs::path& path, int reason) {
  throw Error(std::string("Cannot ") + action + " " + path.string() + ": " + std::strerror(reason) + ".",
              reason == ENOENT || reason == ENOTDIR ? ErrorCode::not_found : ErrorCode::io);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

struct CannotWrite {
  int reason;
};

using Produce = std::function<void(const WriteBytes&)>;

// Zero, or the reason. What `produce` throws goes on.
int write_all(int fd, const Produce& produce) {
  try {
    produce([fd](std::span<const std::byte> piece) {
      while (!piece.empty()) {
        const ssize_t count = ::write(fd, piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw CannotWrite{errno};
        piece = piece.subspan(static_cast<std::size_t>(count));
      }
    });
  } catch (const CannotWrite& failure) {
    return failure.reason;
  }
  return 0;
}

// A name beside `path` that no other writer uses.
fs::path temporary_name(const fs::path& path) {
  static std::atomic<unsigned> counter{0};
  fs::path name = path;
  name += '.';
  name += std::to_string(::getpid());
  name += '-';
  name += std::to_string(counter.fetch_add(1));
  name += ".part";
  return name;
}

// A new name takes effect on the disk when the folder is written.
void sync_folder(const fs::path& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) ::fsync(fd.get());
}

constexpr double k_lock_patience = 30;  // seconds

// False if somebody else still has it after so many seconds; true also where there are no locks.
bool lock_folder(int fd, int kind, double patience) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience);
  while (::flock(fd, kind | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return true;
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace

void make_folders(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return;
  const fs::path parent = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
  if (parent != folder) make_folders(parent);
  error.clear();
  fs::create_directory(folder, error);
  if (!fs::is_directory(folder))
    throw Error("Cannot make the folder " + folder.string() + ": " +
                    (error ? error.message() : "something else has its name") + ".",
                ErrorCode::io);
  sync_folder(parent);
}

FolderLock FolderLock::to_write(const fs::path& folder) {
  std::optional<FolderLock> lock = take(folder, k_lock_patience);
  if (!lock) throw Error("Somebody else is using " + folder.string() + "; try again.", ErrorCode::busy);
  return std::move(*lock);
}

std::optional<FolderLock> FolderLock::to_write_now(const fs::path& folder) {
  return take(folder, 0);
}

std::optional<FolderLock> FolderLock::take(const fs::path& folder, double patience) {
  for (;;) {
    make_folders(folder);
    FolderLock lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (lock.fd_ < 0 && errno == ENOENT) continue;
    if (lock.fd_ < 0) fail("open", folder, errno);
    if (!lock_folder(lock.fd_, LOCK_EX, patience)) return std::nullopt;
    // Whoever had it before may have deleted it.
    struct stat here {
    }, there{};
    if (::fstat(lock.fd_, &here) == 0 && ::stat(folder.c_str(), &there) == 0 && here.st_ino == there.st_ino &&
        here.st_dev == there.st_dev)
      return lock;
  }
}

FolderLock FolderLock::to_read(const fs::path& folder) {
  FolderLock lock(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.fd_ >= 0 && !lock_folder(lock.fd_, LOCK_SH, k_lock_patience))
    throw Error("Somebody else is changing " + folder.string() + "; try again.", ErrorCode::busy);
  return lock;
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) ::close(fd_);
}

FolderLock::FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {
}

void write_file(const fs::path& path, std::span<const std::span<const std::byte>> pieces) {
  write_file(path, [pieces](const WriteBytes& write) {
    for (const std::span<const std::byte> piece : pieces) write(piece);
  });
}

void write_file(const fs::path& given, const Produce& produce) {
  std::error_code ignored;
  // A link is followed, not replaced.
  const fs::path path = fs::is_symlink(given, ignored) ? fs::weakly_canonical(given, ignored) : given;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    // Without waiting for somebody who reads a pipe: nobody could say how long, and signals do not end it.
    const Descriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
    if (fd.get() < 0 && errno == ENXIO && fs::is_fifo(status))
      throw Error("Cannot write " + given.string() + ": it is a pipe that nobody reads.", ErrorCode::io);
    if (fd.get() < 0 || ::fcntl(fd.get(), F_SETFL, 0) != 0) fail("write", given, errno);
    if (const int reason = write_all(fd.get(), produce); reason != 0) fail("write", given, reason);
    return;
  }

  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const fs::path temporary = temporary_name(path);
  bool named = false;
  Descriptor nameless(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  // Some file systems know no nameless files.
  Descriptor fallback(nameless.get() >= 0 ? -1
                                          : ::open(temporary.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666));
  const int fd = nameless.get() >= 0 ? nameless.get() : fallback.get();
  if (fd < 0) fail("write", given, errno);
  named = nameless.get() < 0;

  int reason = 0;
  try {
    reason = write_all(fd, produce);
  } catch (...) {
    if (named) ::unlink(temporary.c_str());
    throw;
  }
  if (reason == 0 && ::fsync(fd) != 0) reason = errno;
  if (reason == 0 && !named) {
    // linkat does not replace, so the file gets a passing name first.
    const std::string self = "/proc/self/fd/" + std::to_string(fd);
    named = ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW) == 0;
    if (!named) reason = errno;
  }
  if (reason == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) reason = errno;
  if (reason != 0) {
    if (named) ::unlink(temporary.c_str());
    fail("write", given, reason);
  }
  sync_folder(folder);
}

void write_file(const fs::path& path, std::string_view contents) {
  const std::span<const std::byte> piece = std::as_bytes(std::span(contents));
  write_file(path, std::span(&piece, 1));
}

void check_writable(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status))
    throw Error("Cannot write " + path.string() + ": it is a folder; give the name of a file.",
                ErrorCode::invalid_argument);
  if (fs::exists(status) && !fs::is_regular_file(status)) return;  // a device or pipe needs no folder
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!fs::is_directory(folder, error))
    throw Error("Cannot write " + path.string() + ": there is no folder " + folder.string() + ".",
                ErrorCode::not_found);
  if (::access(folder.c_str(), W_OK) != 0)
    throw Error("Cannot write " + path.string() + ": the folder " + folder.string() + " may not be written to.",
                ErrorCode::io);
}

void check_not_input(const std::filesystem::path& output, const std::filesystem::path& input) {
  std::error_code error;
  if (!output.empty() && std::filesystem::equivalent(output, input, error))
    throw Error("Writing " + output.string() + " would replace what is read; give another name.",
                ErrorCode::invalid_argument);
}

}  // namespace cotouch

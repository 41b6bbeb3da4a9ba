#include <cotouch/serve/spool.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_full =
    "Other files are being read and there is no room for this one; try again when they are done.";

int open_nameless(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return descriptor;
  // A file system without nameless files: one whose name is gone at once.
  std::string name = (folder / "upload-XXXXXX").string();
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

std::string disk_says(int error) {
  return "The file cannot be kept on the server's disk (" + std::system_category().message(error) +
         "); make room there and try again.";
}

}  // namespace

SpooledFile::SpooledFile(int descriptor, std::shared_ptr<std::atomic<std::uint64_t>> left)
    : descriptor_(descriptor), left_(std::move(left)) {
}

SpooledFile::~SpooledFile() {
  close(descriptor_);
  *left_ += taken_;
}

bool SpooledFile::take(std::uint64_t bytes) {
  std::uint64_t left = left_->load();
  do {
    if (bytes > left) return false;
  } while (!left_->compare_exchange_weak(left, left - bytes));
  taken_ += bytes;
  return true;
}

std::string SpooledFile::append(std::span<const char> bytes) {
  if (size_ + bytes.size() > taken_ && !take(size_ + bytes.size() - taken_)) return k_full;
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return disk_says(written < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    size_ += static_cast<std::uint64_t>(written);
  }
  return {};
}

Spool::Spool(fs::path folder, std::uint64_t quota_bytes)
    : folder_(std::move(folder)), left_(std::make_shared<std::atomic<std::uint64_t>>(quota_bytes)) {
}

std::shared_ptr<SpooledFile> Spool::open(std::uint64_t expected, std::string& reason) {
  std::error_code error;
  if (folder_.empty()) folder_ = fs::temp_directory_path(error);
  fs::create_directories(folder_, error);
  const int descriptor = open_nameless(folder_);
  if (descriptor < 0) {
    reason = disk_says(errno);
    return nullptr;
  }
  std::shared_ptr<SpooledFile> file(new SpooledFile(descriptor, left_));
  if (file->take(expected)) return file;
  reason = k_full;
  return nullptr;
}

}  // namespace cotouch

// Files that somebody names, opened and read in one place.
//
// A name may lead to a pipe, whose opening waits for a writer that never comes, or to a device that has no end: only
// regular files are opened. And a file may be cut short or overwritten at any time: what is used is a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>

namespace cotouch {

// A file's bytes as they were when they were read. They stay valid as long as `keep_alive` and begin on a page. They
// are in memory that is this process's alone, so that nothing that is done to the file afterwards changes them: in a
// mapping of the file itself, overwriting it would change what was checked already, and reading what was cut off would
// end the program. They take as much memory as the file is large; the touch loop locks what it reads in memory anyway.
struct FileCopy {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> keep_alive;
};

// A regular file, open for reading. Never waits.
class ReadableFile {
 public:
  // Throws Error with the system's reason, or if it is something else than a regular file.
  explicit ReadableFile(const std::filesystem::path& path);
  ~ReadableFile();
  ReadableFile(const ReadableFile&) = delete;
  ReadableFile& operator=(const ReadableFile&) = delete;

  int descriptor() const { return fd_; }
  std::uint64_t size() const { return size_; }  // when it was opened

  // Fills the buffer from the file's beginning; returns how much there was. Throws Error if it cannot be read.
  std::size_t read_beginning(std::span<std::byte> buffer) const;
  // Fills the buffer from there on. Throws Error if it cannot, or if the file was cut short. From any thread.
  void read_at(std::uint64_t offset, std::span<std::byte> buffer) const;
  // As much of it as there was when it was opened, but no more than `most` bytes; less if it was cut short meanwhile.
  // Throws Error if it cannot be read or would take more than half of the memory that is free: others need some, and so
  // does what is made of it.
  FileCopy copy(std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;

 private:
  std::filesystem::path path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

// Both throw Error as above, and with ErrorCode::too_large if the file is larger than `most` bytes.
inline constexpr std::uint64_t k_any_size = std::numeric_limits<std::uint64_t>::max();
FileCopy read_file(const std::filesystem::path& path, std::uint64_t most = k_any_size);
std::string read_text(const std::filesystem::path& path, std::uint64_t most = k_any_size);

// Bytes that this machine can give away without taking any from others; more than there can be if it does not say.
std::uint64_t free_memory();

}  // namespace cotouch

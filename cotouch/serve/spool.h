// Files that strangers send, on the disk instead of in memory while they are received and read.
//
// They have no name, so that nobody else can open them and nothing is left of them however the program ends, and all of
// them together stay within a quota.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace cotouch {

// One file; gives back its share of the quota when it goes. Used by one thread at a time, whichever that is.
class SpooledFile {
 public:
  ~SpooledFile();
  SpooledFile(const SpooledFile&) = delete;
  SpooledFile& operator=(const SpooledFile&) = delete;

  // Empty, or a sentence that says why there is no room for them.
  std::string append(std::span<const char> bytes);
  std::uint64_t size() const { return size_; }
  // Open for reading and writing as long as this lives.
  int descriptor() const { return descriptor_; }

 private:
  friend class Spool;
  SpooledFile(int descriptor, std::shared_ptr<std::atomic<std::uint64_t>> left);
  bool take(std::uint64_t bytes);

  int descriptor_;
  std::shared_ptr<std::atomic<std::uint64_t>> left_;
  std::uint64_t size_ = 0, taken_ = 0;
};

class Spool {
 public:
  // Makes the folder when the first file comes. An empty one stands for the system's folder for temporary files.
  Spool(std::filesystem::path folder, std::uint64_t quota_bytes);

  // For a file of at least `expected` bytes. Null if there is no room for it; then `reason` is a sentence.
  std::shared_ptr<SpooledFile> open(std::uint64_t expected, std::string& reason);

 private:
  std::filesystem::path folder_;
  std::shared_ptr<std::atomic<std::uint64_t>> left_;  // files may outlive the spool
};

}  // namespace cotouch

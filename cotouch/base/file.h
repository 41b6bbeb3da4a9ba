// Files that are either whole or absent. What others name and write is read by base/read_file.h.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

namespace cotouch {

// Writes the pieces one after another into a nameless file in the same folder, makes sure they are on the disk, and
// only then gives it its name. A failed or killed write therefore leaves what was there before and nothing else.
// Devices and pipes that somebody reads ("/dev/stdout") are written to directly. Throws Error with the system's reason.
void write_file(const std::filesystem::path& path, std::span<const std::span<const std::byte>> pieces);
// The same for what is larger than memory: `produce` calls `write` with one piece after another. What it throws leaves
// the old file as it was.
using WriteBytes = std::function<void(std::span<const std::byte>)>;
void write_file(const std::filesystem::path& path, const std::function<void(const WriteBytes& write)>& produce);
void write_file(const std::filesystem::path& path, std::string_view contents);

// Makes a folder and those it lies in, on the disk and not just in memory. Throws Error with the system's reason.
void make_folders(const std::filesystem::path& folder);

// Keeps others out of a folder while several of its files change together or are read together. For this and other
// programs that lock it too; the system lets go of it however the program ends, and no file is left behind.
class FolderLock {
 public:
  // Alone, and the folder is there: it is made if it was not, also if somebody deletes it meanwhile. Throws Error if it
  // cannot be made, or if somebody else has it for half a minute.
  static FolderLock to_write(const std::filesystem::path& folder);
  // The same without waiting: nothing if somebody else has it.
  static std::optional<FolderLock> to_write_now(const std::filesystem::path& folder);
  // Together with others who read. Nothing is locked if there is no such folder or its file system knows no locks.
  static FolderLock to_read(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  static std::optional<FolderLock> take(const std::filesystem::path& folder, double patience);  // seconds

  int fd_;
};

// Throws Error where a file of this name surely cannot be written: what takes minutes to make should not be lost for
// want of a folder.
void check_writable(const std::filesystem::path& path);
// Throws Error where the output would replace the input it is made from, however the two are spelt.
void check_not_input(const std::filesystem::path& output, const std::filesystem::path& input);

}  // namespace cotouch

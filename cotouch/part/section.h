// A named run of bytes of a prepared part, for the contact engine that asks for it by its name.
//
// A section is checked either as a whole when the part is read, or, if it is large, in pieces: each when it is first
// read, so that a part may be larger than memory. Names are its engine's to choose ("voxels/chunks"); how the file lays
// sections out is in asset.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cotouch {

// Where a section's bytes are read from.
class SectionSource {
 public:
  virtual ~SectionSource() = default;
  // Fills the buffer. Throws Error if there is less, or if it cannot be read. From any thread.
  virtual void read(std::uint64_t offset, std::span<std::byte> buffer) const = 0;
};

class PartSection {
 public:
  static constexpr std::size_t k_longest_name = 31;
  static constexpr std::uint64_t k_smallest_piece = 4096, k_largest_piece = std::uint64_t{1} << 30;

  // In memory, checked as a whole. The bytes live as long as `keep_alive`.
  PartSection(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> keep_alive);
  // In memory, to be written in pieces of so many bytes. Throws Error if that is no size for a piece.
  PartSection(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> keep_alive,
              std::uint64_t piece);
  // In a file: `size` bytes from `offset` on, with the hash of each piece. `where` is what messages call the file.
  PartSection(std::string name, std::shared_ptr<const SectionSource> source, std::string where, std::uint64_t offset,
              std::uint64_t size, std::uint64_t piece, std::vector<std::uint64_t> hashes);

  const std::string& name() const noexcept { return name_; }
  std::uint64_t size() const noexcept { return size_; }
  bool is_in_pieces() const noexcept { return piece_ > 0; }
  std::uint64_t piece_size() const noexcept { return piece_; }  // bytes; the last one may be shorter
  std::uint64_t piece_count() const noexcept { return piece_ > 0 ? (size_ + piece_ - 1) / piece_ : 0; }
  std::span<const std::uint64_t> hashes() const noexcept { return hashes_; }  // of each piece

  // All of it, if it is not in pieces.
  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  // Reads a piece into the buffer, which must have its size, and checks it. Throws Error if it is not what was written.
  void read_piece(std::uint64_t piece, std::span<std::byte> buffer) const;
  std::size_t size_of_piece(std::uint64_t piece) const noexcept;

 private:
  std::string name_;
  std::uint64_t size_ = 0, piece_ = 0, offset_ = 0;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> keep_alive_;
  std::shared_ptr<const SectionSource> source_;
  std::string where_;
  std::vector<std::uint64_t> hashes_;
};

}  // namespace cotouch

#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/part/section.h>

#include <algorithm>
#include <cstring>

namespace cotouch {
namespace {

const std::string& checked(const std::string& name) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  if (name.empty() || name.size() > PartSection::k_longest_name || !std::ranges::all_of(name, is_plain))
    throw Error("A section's name has from 1 to 31 letters, digits and other plain characters.");
  return name;
}

void check_piece(const std::string& name, std::uint64_t piece) {
  if (piece < PartSection::k_smallest_piece || piece > PartSection::k_largest_piece)
    throw Error("The section '" + name + "' has pieces of " + std::to_string(piece) +
                " bytes; they have from 4096 bytes to a gigabyte.");
}

}  // namespace

PartSection::PartSection(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> keep_alive)
    : name_(checked(name)), size_(bytes.size()), bytes_(bytes), keep_alive_(std::move(keep_alive)) {
}

PartSection::PartSection(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> keep_alive,
                         std::uint64_t piece)
    : PartSection(std::move(name), bytes, std::move(keep_alive)) {
  check_piece(name_, piece);
  piece_ = piece;
  for (std::uint64_t i = 0; i < piece_count(); ++i)
    hashes_.push_back(hash_bytes(bytes_.subspan(i * piece_, size_of_piece(i))));
}

PartSection::PartSection(std::string name, std::shared_ptr<const SectionSource> source, std::string where,
                         std::uint64_t offset, std::uint64_t size, std::uint64_t piece,
                         std::vector<std::uint64_t> hashes)
    : name_(std::move(name)),
      size_(size),
      piece_(piece),
      offset_(offset),
      source_(std::move(source)),
      where_(std::move(where)),
      hashes_(std::move(hashes)) {
  check_piece(name_, piece_);
}

std::size_t PartSection::size_of_piece(std::uint64_t piece) const noexcept {
  return static_cast<std::size_t>(std::min(piece_, size_ - piece * piece_));
}

void PartSection::read_piece(std::uint64_t piece, std::span<std::byte> buffer) const {
  if (piece >= piece_count() || buffer.size() != size_of_piece(piece))
    throw Error("The section '" + name_ + "' has no such piece.");
  if (source_ == nullptr) {
    std::memcpy(buffer.data(), bytes_.data() + piece * piece_, buffer.size());
    return;
  }
  source_->read(offset_ + piece * piece_, buffer);
  if (hash_bytes(buffer) != hashes_[piece])
    throw Error(where_ + " is damaged: piece " + std::to_string(piece) + " of the section '" + name_ +
                    "' does not match its checksum; prepare the part again.",
                ErrorCode::damaged_file);
}

}  // namespace cotouch

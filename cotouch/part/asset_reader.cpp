// The table of sections of an asset file, of any version.
#include <cotouch/part/asset_format.h>

#include <algorithm>

namespace cotouch::asset {
namespace {

std::string quoted(std::string_view section) {
  return "'" + std::string(section) + "'";
}

std::size_t kind_of(std::string_view title) {
  for (std::size_t kind = 1; kind <= k_kinds; ++kind)
    if (title == k_kind_names[kind]) return kind;
  return 0;
}

std::vector<std::byte> read_from(const SectionSource& source, std::uint64_t begin, std::uint64_t end) {
  std::vector<std::byte> bytes(end - begin);
  source.read(begin, bytes);
  return bytes;
}

class Memory final : public SectionSource {
 public:
  Memory(Bytes bytes, std::shared_ptr<const void> keep_alive) : bytes_(bytes), keep_alive_(std::move(keep_alive)) {}
  void read(std::uint64_t offset, std::span<std::byte> buffer) const override {
    std::ranges::copy(bytes_.subspan(offset, buffer.size()), buffer.begin());
  }

 private:
  Bytes bytes_;
  std::shared_ptr<const void> keep_alive_;
};

}  // namespace

Reader::Reader(Bytes bytes, const std::shared_ptr<const void>& keep_alive, const std::string& name)
    : Reader(bytes, keep_alive, std::make_shared<Memory>(bytes, keep_alive), bytes.size(), name) {
}

Reader::Reader(Bytes beginning, const std::shared_ptr<const void>& keep_alive,
               std::shared_ptr<const SectionSource> file, std::uint64_t file_size, const std::string& name)
    : bytes_(beginning),
      keep_alive_(keep_alive),
      file_(std::move(file)),
      file_size_(file_size),
      name_(name),
      header_(read_header(beginning, file_size, name)) {
  std::size_t last_kind = 0;
  for (const TableEntry& entry : header_.version < 3 ? read_numbered_table() : read_table()) {
    check_name(entry, last_kind);
    if (entry.piece == 0)
      read_section(entry);
    else
      read_section_in_pieces(entry);
  }
  if (end_ != file_size_) damaged("something follows its last section");
}

std::vector<TableEntry> Reader::read_table() {
  if (header_.sections > k_most_sections) damaged("it has more sections than any part");
  const std::size_t size = header_.sections * sizeof(TableEntry);
  if (bytes_.size() - sizeof(Header) < size) damaged("its table of sections is incomplete");
  const Bytes table = bytes_.subspan(sizeof(Header), size);
  if (header_hash(header_, table) != header_.hash) damaged("its header does not match its checksum");
  std::vector<TableEntry> entries(header_.sections);
  if (size > 0) std::memcpy(entries.data(), table.data(), size);
  end_ = sizeof(Header) + size;
  return entries;
}

std::vector<TableEntry> Reader::read_numbered_table() {
  const std::size_t kinds = header_.version == 1 ? k_kinds_of_version_1 : k_kinds;
  if (header_.sections != kinds) damaged("its number of sections is wrong");
  const std::size_t size = kinds * sizeof(NumberedEntry);
  if (bytes_.size() - sizeof(Header) < size) damaged("its table of sections is incomplete");
  const Bytes table = bytes_.subspan(sizeof(Header), size);
  if (header_hash(header_, table) != header_.hash) damaged("its header does not match its checksum");
  std::vector<TableEntry> entries;
  for (std::size_t i = 0; i < kinds; ++i) {
    NumberedEntry old;
    std::memcpy(&old, table.data() + i * sizeof old, sizeof old);
    if (old.kind != i + 1 || old.zero != 0) damaged("its table of sections is out of order");
    entries.push_back(entry_of(k_kind_names[i + 1], old.offset, old.size, old.hash, 0));
  }
  end_ = sizeof(Header) + size;
  return entries;
}

void Reader::check_name(const TableEntry& entry, std::size_t& last_kind) {
  const std::string_view title = entry.title();
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  const bool is_padded = std::all_of(entry.name.begin() + static_cast<std::ptrdiff_t>(title.size()), entry.name.end(),
                                     [](char c) { return c == '\0'; });
  if (title.empty() || title.size() > PartSection::k_longest_name || !is_padded ||
      !std::ranges::all_of(title, is_plain))
    damaged("a section has no name");
  const std::size_t kind = kind_of(title);
  if (kind > 0) {
    if (kind <= last_kind || !others_.empty()) damaged("its table of sections is out of order");
    if (entry.piece != 0) damaged("the section " + quoted(title) + " is in pieces");
    last_kind = kind;
  }
  for (const PartSection& other : others_) {
    if (other.name() == title) damaged("it has two sections " + quoted(title));
    if (other.is_in_pieces() && entry.piece == 0) damaged("its table of sections is out of order");
  }
}

void Reader::skip_to(std::uint64_t begin, const std::string& what) {
  if (begin > file_size_) damaged(what + " lies outside the file");
  for (const std::byte b : read_from(*file_, end_, begin))
    if (b != std::byte{0}) damaged("there is something before " + what);
  end_ = begin;
}

void Reader::begin_section(const TableEntry& entry) {
  const std::string what = "the section " + quoted(entry.title());
  if (entry.offset != aligned(end_)) damaged(what + " lies outside the file");
  skip_to(entry.offset, what);
  if (entry.size > file_size_ - end_) damaged(what + " lies outside the file");
}

void Reader::read_section(const TableEntry& entry) {
  begin_section(entry);
  // Of a file with pieces only what comes before them was read.
  if (entry.offset > bytes_.size() || entry.size > bytes_.size() - entry.offset)
    damaged("the section " + quoted(entry.title()) + " lies where the pieces should be");
  const Bytes content = bytes_.subspan(entry.offset, entry.size);
  if (hash_cancellable(content) != entry.hash)
    damaged("the section " + quoted(entry.title()) + " does not match its checksum");
  if (const std::size_t kind = kind_of(entry.title()); kind > 0)
    sections_[kind] = content;
  else
    others_.emplace_back(std::string(entry.title()), content, keep_alive_);
  end_ = entry.offset + entry.size;
}

void Reader::read_section_in_pieces(const TableEntry& entry) {
  const std::string what = "the section " + quoted(entry.title());
  if (entry.piece < PartSection::k_smallest_piece || entry.piece > PartSection::k_largest_piece || entry.size == 0)
    damaged(what + " has pieces of a wrong size");
  begin_section(entry);
  const std::uint64_t count = (entry.size - 1) / entry.piece + 1;
  if (count > k_most_pieces) damaged(what + " has more pieces than any part");
  if (count * sizeof count > file_size_ - end_) damaged(what + " lies outside the file");
  std::vector<std::uint64_t> hashes(count);
  const auto list = std::as_writable_bytes(std::span(hashes));
  file_->read(end_, list);
  if (hash_cancellable(list) != entry.hash) damaged(what + " does not match its checksum");
  end_ += list.size();
  skip_to(aligned(end_), what);
  if (entry.size > file_size_ - end_) damaged(what + " lies outside the file");
  others_.emplace_back(std::string(entry.title()), file_, name_, end_, entry.size, entry.piece, std::move(hashes));
  end_ += entry.size;
}

std::uint64_t Reader::bytes_before_pieces(const SectionSource& file, std::uint64_t size, const std::string& name) {
  const std::vector<std::byte> beginning = read_from(file, 0, std::min<std::uint64_t>(size, sizeof(Header)));
  const Header header = read_header(beginning, size, name);
  const std::uint64_t table = std::uint64_t{header.sections} * sizeof(TableEntry);
  if (header.version < 3 || header.sections > k_most_sections || table > size - sizeof(Header)) return size;
  std::vector<TableEntry> entries(header.sections);
  if (!entries.empty()) file.read(sizeof(Header), std::as_writable_bytes(std::span(entries)));
  for (const TableEntry& entry : entries)
    if (entry.piece != 0) return std::clamp<std::uint64_t>(entry.offset, sizeof(Header) + table, size);
  return size;
}

}  // namespace cotouch::asset

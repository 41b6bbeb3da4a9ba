#include <cotouch/base/error.h>
#include <cotouch/reader/zip.h>

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string_view>

namespace cotouch {
namespace {

constexpr std::size_t k_most_entries = 4096;
constexpr std::size_t k_end_size = 22, k_directory_size = 46, k_head_size = 30;

[[noreturn]] void damaged() {
  throw Error("is cut short or no ZIP archive. Export or download it again.", ErrorCode::damaged_file);
}

std::uint32_t number(FileBytes bytes, std::uint64_t at, std::size_t size) {
  if (at > bytes.size() || bytes.size() - at < size) damaged();
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value |= static_cast<std::uint32_t>(bytes[at + i]) << (8 * i);
  return value;
}

FileBytes part(FileBytes bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size() || bytes.size() - at < size) damaged();
  return bytes.subspan(at, size);
}

// A raw DEFLATE stream (RFC 1951), unpacked piece by piece.
class Inflater {
 public:
  explicit Inflater(FileBytes packed) : rest_(packed) {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Fills as much of the buffer as there is; less means the end.
  std::size_t next(std::byte* buffer, std::size_t size) {
    constexpr std::size_t k_most = std::numeric_limits<uInt>::max();
    std::size_t done = 0;
    while (done < size && !ended_) {
      if (stream_.avail_in == 0) {
        const FileBytes piece = rest_.first(std::min(rest_.size(), k_most));
        rest_ = rest_.subspan(piece.size());
        // zlib does not write to its input; its interface is older than const.
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
        stream_.avail_in = static_cast<uInt>(piece.size());
      }
      const auto room = static_cast<uInt>(std::min(size - done, k_most));
      stream_.next_out = reinterpret_cast<Bytef*>(buffer + done);
      stream_.avail_out = room;
      const int result = inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      ended_ = result == Z_STREAM_END;
      if (result != Z_OK && !ended_) damaged();
    }
    return done;
  }

 private:
  FileBytes rest_;
  z_stream stream_{};
  bool ended_ = false;
};

std::uint32_t checksum(const std::vector<std::byte>& bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

ZipArchive::ZipArchive(FileBytes bytes) : bytes_(bytes) {
  // The directory is found from the end, where its last record says where it begins and how many files there are. A
  // comment of at most 64 KiB may follow.
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t end = text.rfind(std::string_view("PK\5\6", 4));
  if (end == std::string_view::npos || bytes.size() - end < k_end_size || bytes.size() - end > k_end_size + 65535)
    damaged();
  const std::uint32_t files = number(bytes, end + 10, 2);
  if (files == 0) damaged();
  if (files > k_most_entries)
    throw Error("holds more than " + std::to_string(k_most_entries) + " files. Pack fewer of them.",
                ErrorCode::too_large);
  std::uint64_t at = number(bytes, end + 16, 4);
  for (std::uint32_t i = 0; i < files; ++i) {
    if (number(bytes, at, 4) != 0x02014b50) damaged();
    ZipEntry entry;
    entry.flags = static_cast<std::uint16_t>(number(bytes, at + 8, 2));
    entry.method = static_cast<std::uint16_t>(number(bytes, at + 10, 2));
    entry.checksum = number(bytes, at + 16, 4);
    entry.packed = number(bytes, at + 20, 4);
    entry.unpacked = number(bytes, at + 24, 4);
    const std::uint32_t name_size = number(bytes, at + 28, 2);
    entry.at = number(bytes, at + 42, 4);
    const FileBytes name = part(bytes, at + k_directory_size, name_size);
    entry.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
    std::replace(entry.name.begin(), entry.name.end(), '\\', '/');  // written by some programs
    at += k_directory_size + name_size + number(bytes, at + 30, 2) + number(bytes, at + 32, 2);
    entries_.push_back(std::move(entry));
  }
}

const ZipEntry* ZipArchive::find_ending(std::string_view ending) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const ZipEntry& entry) { return entry.name.ends_with(ending); });
  return found == entries_.end() ? nullptr : &*found;
}

FileBytes ZipArchive::packed_bytes(const ZipEntry& entry) const {
  if ((entry.flags & 1) != 0) throw Error("is locked with a password. Pack it without one.", ErrorCode::unsupported);
  if (entry.method != 0 && entry.method != 8)
    throw Error("is packed in a way other than the usual one (deflate). Pack it again.", ErrorCode::unsupported);
  if (entry.packed == 0xffffffff || entry.unpacked == 0xffffffff)
    throw Error("holds a file of more than 4 GB. Simplify it first.", ErrorCode::too_large);
  if (number(bytes_, entry.at, 4) != 0x04034b50) damaged();
  const std::uint64_t data = std::uint64_t{entry.at} + k_head_size + number(bytes_, std::uint64_t{entry.at} + 26, 2) +
                             number(bytes_, std::uint64_t{entry.at} + 28, 2);
  return part(bytes_, data, entry.packed);
}

std::vector<std::byte> ZipArchive::unpack(const ZipEntry& entry, std::uint64_t most) const {
  const FileBytes packed = packed_bytes(entry);
  if (entry.unpacked > most)
    throw Error("is larger than allowed when unpacked. Pack fewer files or simplify them.", ErrorCode::too_large);
  std::vector<std::byte> out;
  if (entry.method == 0) {
    out.assign(packed.begin(), packed.end());
  } else {
    // No more is reserved than can come out: DEFLATE makes at most 1032 bytes of one.
    out.resize(std::min<std::uint64_t>(entry.unpacked, 1032 * packed.size() + 1024) + 1);
    Inflater inflater(packed);
    out.resize(inflater.next(out.data(), out.size()));
  }
  if (out.size() != entry.unpacked || checksum(out) != entry.checksum) damaged();
  return out;
}

std::string ZipArchive::beginning(const ZipEntry& entry, std::size_t most) const {
  const FileBytes packed = packed_bytes(entry);
  std::string out(most, '\0');
  if (entry.method == 0) {
    out.resize(std::min(most, packed.size()));
    std::copy_n(reinterpret_cast<const char*>(packed.data()), out.size(), out.begin());
  } else {
    out.resize(Inflater(packed).next(reinterpret_cast<std::byte*>(out.data()), out.size()));
  }
  return out;
}

}  // namespace cotouch

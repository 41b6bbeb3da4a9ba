#include <cotouch/base/error.h>
#include <cotouch/reader/zip.h>

#include <minizip/unzip.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace cotouch {
namespace {

constexpr std::size_t k_most_entries = 4096;
constexpr std::size_t k_longest_name = 65535;  // its length is a number of two bytes
constexpr std::uint64_t k_most_of_one = 1032;  // bytes that DEFLATE makes of one

[[noreturn]] void damaged() {
  throw Error("is cut short or no ZIP archive. Export or download it again.", ErrorCode::damaged_file);
}

void require(bool holds) {
  if (!holds) damaged();
}

}  // namespace

// What minizip takes for a file: bytes in memory, and a place in them.
struct ZipArchive::Reading {
  explicit Reading(FileBytes all) : bytes(all) {}
  ~Reading() {
    if (archive != nullptr) unzClose(archive);
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  // Null if it is no archive.
  unzFile open() {
    zlib_filefunc64_def own = calls();
    return archive = unzOpen2_64(nullptr, &own);
  }

  FileBytes bytes;
  std::uint64_t at = 0;
  unzFile archive = nullptr;
  bool is_cut = false;  // the last read wanted more than there is

 private:
  static Reading& of(voidpf stream) { return *static_cast<Reading*>(stream); }

  static uLong read(voidpf, voidpf stream, void* buffer, uLong size) {
    Reading& file = of(stream);
    const std::uint64_t left = file.bytes.size() - file.at;
    const std::uint64_t count = std::min<std::uint64_t>(left, size);
    std::copy_n(file.bytes.data() + file.at, count, static_cast<std::byte*>(buffer));
    file.at += count;
    file.is_cut = count < size;
    return count;
  }

  // Never behind the end, so that what follows it is read as missing.
  static long seek(voidpf, voidpf stream, ZPOS64_T offset, int origin) {
    Reading& file = of(stream);
    const std::uint64_t size = file.bytes.size();
    const std::uint64_t from = origin == ZLIB_FILEFUNC_SEEK_SET ? 0 : origin == ZLIB_FILEFUNC_SEEK_CUR ? file.at : size;
    if (offset > size - from) return -1;
    file.at = from + offset;
    return 0;
  }

  zlib_filefunc64_def calls() {
    zlib_filefunc64_def all{};
    all.zopen64_file = [](voidpf self, const void*, int) { return self; };
    all.zread_file = read;
    all.zwrite_file = [](voidpf, voidpf, const void*, uLong) { return uLong{0}; };
    all.ztell64_file = [](voidpf, voidpf stream) { return ZPOS64_T{of(stream).at}; };
    all.zseek64_file = seek;
    all.zclose_file = [](voidpf, voidpf) { return 0; };
    // Without this minizip takes what is missing at the end of a file for zeros.
    all.zerror_file = [](voidpf, voidpf stream) { return of(stream).is_cut ? 1 : 0; };
    all.opaque = this;
    return all;
  }
};

// One of the archive's files while it is unpacked. minizip has one at a time.
class ZipArchive::OpenEntry {
 public:
  OpenEntry(unzFile archive, const ZipEntry& entry) : archive_(archive) {
    if ((entry.flags & 1) != 0) throw Error("is locked with a password. Pack it without one.", ErrorCode::unsupported);
    if (entry.method != 0 && entry.method != Z_DEFLATED)
      throw Error("is packed in a way other than the usual one (deflate). Pack it again.", ErrorCode::unsupported);
    const unz64_file_pos place{entry.at, entry.number};
    require(unzGoToFilePos64(archive, &place) == UNZ_OK && unzOpenCurrentFile(archive) == UNZ_OK);
  }
  ~OpenEntry() {
    if (archive_ != nullptr) unzCloseCurrentFile(archive_);
  }
  OpenEntry(const OpenEntry&) = delete;
  OpenEntry& operator=(const OpenEntry&) = delete;

  // Fills as much of the buffer as there is; less means the end.
  std::size_t read(void* buffer, std::size_t size) {
    constexpr std::size_t k_most = 1 << 30;
    std::size_t done = 0;
    while (done < size) {
      const auto piece = static_cast<unsigned>(std::min(size - done, k_most));
      const int count = unzReadCurrentFile(archive_, static_cast<std::byte*>(buffer) + done, piece);
      require(count >= 0);
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

  // After all of it was read: has it the checksum that was promised?
  bool is_whole() { return unzCloseCurrentFile(std::exchange(archive_, nullptr)) == UNZ_OK; }

 private:
  unzFile archive_;
};

ZipArchive::ZipArchive(FileBytes bytes) : reading_(std::make_unique<Reading>(bytes)) {
  unzFile archive = reading_->open();
  unz_global_info64 all{};
  require(archive != nullptr && unzGetGlobalInfo64(archive, &all) == UNZ_OK && all.number_entry > 0);
  if (all.number_entry > k_most_entries)
    throw Error("holds more than " + std::to_string(k_most_entries) + " files. Pack fewer of them.",
                ErrorCode::too_large);
  std::string name(k_longest_name, '\0');
  for (ZPOS64_T i = 0; i < all.number_entry; ++i) {
    unz64_file_pos place{};
    unz_file_info64 about{};
    require((i == 0 ? unzGoToFirstFile(archive) : unzGoToNextFile(archive)) == UNZ_OK);
    require(unzGetFilePos64(archive, &place) == UNZ_OK);
    require(unzGetCurrentFileInfo64(archive, &about, name.data(), name.size(), nullptr, 0, nullptr, 0) == UNZ_OK);
    ZipEntry entry;
    entry.name = name.substr(0, about.size_filename);
    std::replace(entry.name.begin(), entry.name.end(), '\\', '/');  // written by some programs
    entry.packed = about.compressed_size;
    entry.unpacked = about.uncompressed_size;
    entry.at = place.pos_in_zip_directory;
    entry.number = place.num_of_file;
    entry.method = static_cast<std::uint16_t>(about.compression_method);
    entry.flags = static_cast<std::uint16_t>(about.flag);
    entries_.push_back(std::move(entry));
  }
}

ZipArchive::~ZipArchive() = default;

const ZipEntry* ZipArchive::find_ending(std::string_view ending) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const ZipEntry& entry) { return entry.name.ends_with(ending); });
  return found == entries_.end() ? nullptr : &*found;
}

std::vector<std::byte> ZipArchive::unpack(const ZipEntry& entry, std::uint64_t most) const {
  OpenEntry file(reading_->archive, entry);
  if (entry.unpacked > most)
    throw Error("is larger than allowed when unpacked. Pack fewer files or simplify them.", ErrorCode::too_large);
  // No more is reserved than can come out of what is there.
  const std::uint64_t packed = std::min<std::uint64_t>(entry.packed, reading_->bytes.size());
  require(entry.unpacked <= k_most_of_one * packed + 1024);
  std::vector<std::byte> out(entry.unpacked);
  require(file.read(out.data(), out.size()) == out.size() && file.is_whole());
  return out;
}

std::string ZipArchive::beginning(const ZipEntry& entry, std::size_t most) const {
  OpenEntry file(reading_->archive, entry);
  std::string out(most, '\0');
  out.resize(file.read(out.data(), out.size()));
  return out;
}

}  // namespace cotouch

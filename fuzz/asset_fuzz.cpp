// Whatever bytes an asset file holds: it is read, or refused with an Error. An input is either a whole file or a list
// of changes to a good one; in both cases it is also tried with its checksums made right, so that the checks in front
// do not hide those behind them.
#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/base/read_file.h>
#include <cotouch/contact/engine.h>
#include <cotouch/elastic/coarse_shell.h>
#include <cotouch/elastic/deformed_field.h>
#include <cotouch/elastic/embedding.h>
#include <cotouch/part/asset.h>
#include <cotouch/shapes/shapes.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <vector>

using namespace cotouch;

namespace {

constexpr std::align_val_t k_align{k_asset_alignment};
volatile float result;  // keeps the compiler from leaving the lookups out

template <class T>
T get(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void make_checksums_right(std::byte* data, std::size_t size) {
  constexpr std::size_t k_header = 64, k_most_sections = 64;
  if (size < k_header) return;
  // Older tables have numbers instead of names (part/asset.h).
  const bool numbered = get<std::uint32_t>(data + 12) < 3;
  const std::size_t entry_size = numbered ? 32 : 64, offset_at = numbered ? 8 : 32;
  const std::size_t sections = std::min<std::size_t>(get<std::uint32_t>(data + 24), k_most_sections);
  if (size < k_header + sections * entry_size) return;
  const std::uint64_t whole = size;
  std::memcpy(data + 16, &whole, sizeof whole);
  for (std::size_t i = 0; i < sections; ++i) {
    std::byte* entry = data + k_header + i * entry_size + offset_at;
    const auto offset = get<std::uint64_t>(entry), count = get<std::uint64_t>(entry + 8);
    const std::uint64_t piece = numbered ? 0 : get<std::uint64_t>(entry + 24);
    if (offset > size || count > size - offset) continue;
    std::uint64_t hash = hash_bytes({data + offset, count});
    if (piece > 0) {  // the hashes of the pieces come first
      const std::uint64_t list = (count / piece + (count % piece != 0 ? 1 : 0)) * sizeof hash;
      const std::uint64_t content = (offset + list + k_asset_alignment - 1) / k_asset_alignment * k_asset_alignment;
      if (list > size - offset || content > size || count > size - content) continue;
      for (std::uint64_t k = 0; k * piece < count; ++k) {
        hash = hash_bytes({data + content + k * piece, std::min(piece, count - k * piece)});
        std::memcpy(data + offset + k * sizeof hash, &hash, sizeof hash);
      }
      hash = hash_bytes({data + offset, list});
    }
    std::memcpy(entry + 16, &hash, sizeof hash);
  }
  std::memset(data + 32, 0, 8);
  const std::uint64_t hash = hash_bytes({data, k_header + sections * entry_size});
  std::memcpy(data + 32, &hash, sizeof hash);
}

// From a file its pieces are read later, and only if what comes before them is sound.
void try_to_read(const std::shared_ptr<void>& memory, std::size_t size) {
  static const int file = ::memfd_create("input", 0);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, memory.get(), size, 0) != static_cast<ssize_t>(size)) std::abort();
  try {
    read_asset("/proc/self/fd/" + std::to_string(file));
  } catch (const Error&) {
  }
}

void try_to_use(const std::shared_ptr<void>& memory, std::size_t size) {
  try_to_read(memory, size);
  try {
    const Part part = parse_asset({static_cast<const std::byte*>(memory.get()), size}, memory, "input");
    // What was let in must be safe to use.
    for (const PartSection& section : part.sections) {
      std::vector<std::byte> piece;
      for (std::uint64_t i = 0; i < section.piece_count(); ++i) {
        piece.resize(section.size_of_piece(i));
        section.read_piece(i, piece);
      }
    }
    if (default_engine_kind().missing_as_field(part).empty()) {
      const Box3f box = part.field.box();
      float sum = part.field.distance(box.low) + part.field.distance(box.center()) + part.field.distance(box.high);
      for (const Vec3f& p : part.shell.data().positions) sum += part.field.distance(p);
      result = sum;
    }
    if (part.elastic == nullptr) return;
    const CoarseShell coarse(*part.elastic, part.shell);
    Deformation shape(*part.elastic);
    const std::vector<double> q(part.elastic->size(), 1e-3);
    shape.set(q.data());
    for (const EmbeddedPoint& point : part.elastic->data().shell)
      result = static_cast<float>(shape.displacement_at(point).x);
    DeformedField field(*part.elastic, part.field);
    field.set(shape);
    float distance = 0;
    field.distances(part.shell.data().positions.data(), 1, 0, &distance);
    embed(tetrahedra_of(part.elastic->data()), part.shell.data().positions);
  } catch (const Error&) {
  }
}

std::shared_ptr<void> aligned_copy(const std::uint8_t* data, std::size_t size) {
  const std::shared_ptr<void> memory(::operator new(std::max<std::size_t>(size, 1), k_align),
                                     [](void* p) { ::operator delete(p, k_align); });
  if (size > 0) std::memcpy(memory.get(), data, size);
  return memory;
}

// A file that is accepted: most ways to be wrong are small changes to it.
const std::vector<std::uint8_t>& good_file(bool wanted) {
  const auto make = [](bool bends) {
    PartSettings settings;
    settings.field.resolution = 12;
    settings.shell.points = 32;
    if (bends) {
      ElasticSettings& elastic = settings.elastic.emplace();
      elastic.material = material_named("rubber");
      elastic.tets.target_tets = 100;
      elastic.coordinates = 3;
      elastic.domains = 2;
    }
    NoProgress progress;
    Part part = prepare_part(make_box({0.1, 0.04, 0.04}), settings, progress);
    static const std::vector<std::byte> k_own(9000, std::byte{3});
    part.sections.emplace_back("of an engine", std::span(k_own).first(100), nullptr);
    part.sections.emplace_back("of an engine, in pieces", k_own, nullptr, 4096);
    const auto path = std::filesystem::temp_directory_path() / ("cotouch-fuzz-" + std::to_string(::getpid()) + ".cot");
    write_asset(part, path);
    const FileCopy file = read_file(path);
    std::filesystem::remove(path);
    const auto* begin = reinterpret_cast<const std::uint8_t*>(file.bytes.data());
    return std::vector<std::uint8_t>(begin, begin + file.bytes.size());
  };
  static const std::vector<std::uint8_t> k_rigid = make(false), k_bending = make(true);
  return wanted ? k_bending : k_rigid;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  if (data[0] % 2 == 0) {
    const std::shared_ptr<void> memory = aligned_copy(data + 1, size - 1);
    try_to_use(memory, size - 1);
    make_checksums_right(static_cast<std::byte*>(memory.get()), size - 1);
    try_to_use(memory, size - 1);
    return 0;
  }
  // Four bytes say where (the lowest bit of the value: in the header and table, or anywhere), one says what.
  const std::vector<std::uint8_t>& good = good_file(data[0] % 4 == 1);
  const std::shared_ptr<void> memory = aligned_copy(good.data(), good.size());
  auto* bytes = static_cast<std::byte*>(memory.get());
  for (std::size_t at = 1; at + 5 <= size && at < 200; at += 5) {
    std::uint32_t where = 0;
    std::memcpy(&where, data + at, sizeof where);
    bytes[where % (where & 0x80000000U ? std::size_t{64 + 64 * 34} : good.size())] = std::byte{data[at + 4]};
  }
  make_checksums_right(bytes, good.size());
  try_to_use(memory, good.size());
  return 0;
}

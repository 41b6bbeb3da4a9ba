// Whatever bytes an asset file holds: it is read, or refused with an Error. An input is either a whole file or a list
// of changes to a good one; in both cases it is also tried with its checksums made right, so that the checks in front
// do not hide those behind them.
#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/base/read_file.h>
#include <cotouch/contact/asset.h>
#include <cotouch/elastic/deformed_field.h>
#include <cotouch/elastic/embedding.h>
#include <cotouch/shapes/shapes.h>

#include <unistd.h>

#include <algorithm>
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
  constexpr std::size_t k_header = 64, k_entry = 32, k_most_sections = 64;
  if (size < k_header) return;
  const std::size_t sections = std::min<std::size_t>(get<std::uint32_t>(data + 24), k_most_sections);
  if (size < k_header + sections * k_entry) return;
  const std::uint64_t whole = size;
  std::memcpy(data + 16, &whole, sizeof whole);
  for (std::size_t i = 0; i < sections; ++i) {
    std::byte* entry = data + k_header + i * k_entry;
    const auto offset = get<std::uint64_t>(entry + 8), count = get<std::uint64_t>(entry + 16);
    if (offset > size || count > size - offset) continue;
    const std::uint64_t hash = hash_bytes({data + offset, count});
    std::memcpy(entry + 24, &hash, sizeof hash);
  }
  std::memset(data + 32, 0, 8);
  const std::uint64_t hash = hash_bytes({data, k_header + sections * k_entry});
  std::memcpy(data + 32, &hash, sizeof hash);
}

void try_to_use(const std::shared_ptr<void>& memory, std::size_t size) {
  try {
    const Part part = parse_asset({static_cast<const std::byte*>(memory.get()), size}, memory, "input");
    // What was let in must be safe to use.
    const Box3f box = part.field.box();
    float sum = part.field.distance(box.low) + part.field.distance(box.center()) + part.field.distance(box.high);
    for (const Vec3f& p : part.shell.data().positions) sum += part.field.distance(p);
    result = sum;
    if (part.elastic == nullptr) return;
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
    const Part part = prepare_part(make_box({0.1, 0.04, 0.04}), settings, progress);
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
    bytes[where % (where & 0x80000000U ? std::size_t{1088} : good.size())] = std::byte{data[at + 4]};
  }
  make_checksums_right(bytes, good.size());
  try_to_use(memory, good.size());
  return 0;
}

// Whatever bytes an asset file holds: it is read, or refused with an Error. The input is patched so that the checks in
// front (magic, sizes, checksums) do not hide those behind them.
#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/contact/asset.h>

#include <algorithm>
#include <cstring>
#include <new>

using namespace cotouch;

namespace {

constexpr std::align_val_t k_align{k_asset_alignment};

template <class T>
T get(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void make_checksums_right(std::byte* data, std::size_t size) {
  constexpr std::size_t k_header = 64, k_entry = 32, k_sections = 13;
  if (size < k_header + k_sections * k_entry) return;
  const std::uint64_t whole = size;
  std::memcpy(data + 16, &whole, sizeof whole);
  for (std::size_t i = 0; i < k_sections; ++i) {
    std::byte* entry = data + k_header + i * k_entry;
    const auto offset = get<std::uint64_t>(entry + 8), count = get<std::uint64_t>(entry + 16);
    if (offset > size || count > size - offset) continue;
    const std::uint64_t hash = hash_bytes({data + offset, count});
    std::memcpy(entry + 24, &hash, sizeof hash);
  }
  std::memset(data + 32, 0, 8);
  const std::uint64_t hash = hash_bytes({data, k_header + k_sections * k_entry});
  std::memcpy(data + 32, &hash, sizeof hash);
}

void try_to_use(std::span<const std::byte> bytes, const std::shared_ptr<void>& memory) {
  try {
    const Part part = parse_asset(bytes, memory, "input");
    // What was let in must be safe to use.
    const Box3f box = part.field.box();
    float sum = part.field.distance(box.low) + part.field.distance(box.center()) + part.field.distance(box.high);
    for (const Vec3f& p : part.shell.data().positions) sum += part.field.distance(p);
    static volatile float sink;
    sink = sum;
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::shared_ptr<void> memory(::operator new(std::max<std::size_t>(size, 1), k_align),
                                     [](void* p) { ::operator delete(p, k_align); });
  auto* bytes = static_cast<std::byte*>(memory.get());
  if (size > 0) std::memcpy(bytes, data, size);
  try_to_use({bytes, size}, memory);
  make_checksums_right(bytes, size);
  try_to_use({bytes, size}, memory);
  return 0;
}

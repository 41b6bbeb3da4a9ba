#include <cotouch/field/lookup.h>

#include <cotouch/field/field.h>
#include <cotouch/field/lookup_block.h>

#include <algorithm>
#include <cstddef>

namespace cotouch::detail {
namespace {

using Block = LookUpBlock;

void find_cells(const Index3& bricks, const CellMap& map, const Vec3f* positions, const std::uint32_t* index,
                std::uint32_t count, Block& block) noexcept {
  const Vec3f size(bricks * FieldData::k_brick_cells);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Vec3f cell = map(positions[index[i]]);
    block.x[i] = cell.x;
    block.y[i] = cell.y;
    block.z[i] = cell.z;
    block.brick[i] = 0;
    block.local[i] = Block::k_outside;
    // What is not a number fails this too.
    if (!(cell.x >= 0 && cell.y >= 0 && cell.z >= 0 && cell.x < size.x && cell.y < size.y && cell.z < size.z)) continue;
    const Index3 at{static_cast<std::int32_t>(cell.x), static_cast<std::int32_t>(cell.y),
                    static_cast<std::int32_t>(cell.z)};
    block.brick[i] = static_cast<std::uint32_t>(((at.z >> 3) * bricks.y + (at.y >> 3)) * bricks.x + (at.x >> 3));
    block.local[i] = static_cast<std::uint32_t>(((at.z & 7) * k_dy + (at.y & 7)) * k_dy + (at.x & 7));
  }
}

// What is left of a coordinate within its cell.
float fraction(float v) {
  return v - static_cast<float>(static_cast<std::int32_t>(v));
}

void interpolate(float quantum, std::uint32_t count, const Block& block, float* distance) noexcept {
  const auto between = [](float a, float b, float t) { return a + t * (b - a); };
  for (std::uint32_t i = 0; i < count; ++i) {
    if (block.local[i] == Block::k_outside) continue;  // as an integer it may not exist
    const std::int16_t* const s = block.sample[i];
    const float x = fraction(block.x[i]), y = fraction(block.y[i]), z = fraction(block.z[i]);
    const auto along_x = [s, x](int k) { return static_cast<float>(s[k]) + x * static_cast<float>(s[k + 1] - s[k]); };
    const float low = between(along_x(0), along_x(k_dy), y);
    const float high = between(along_x(k_dz), along_x(k_dy + k_dz), y);
    distance[i] = between(low, high, z) * quantum;
  }
}

bool always() noexcept {
  return true;
}
#if defined(__x86_64__)
bool has_avx2() noexcept {
  return __builtin_cpu_supports("avx2") != 0;
}
#endif

constexpr LookUpKind k_kinds[] = {
    {"scalar", 1, find_cells, interpolate, always},
#if defined(__aarch64__)
    {"neon", 4, find_cells_neon, interpolate_neon, always},
#elif defined(__x86_64__)
    {"sse2", 4, find_cells_sse2, interpolate_sse2, always},
    {"avx2", 8, find_cells_avx2, interpolate_avx2, has_avx2},
#endif
};

// What a field without any bricks, or without fine ones, reads to no effect.
constexpr std::uint32_t k_no_bricks[] = {FieldData::k_coarse};
constexpr std::int16_t k_no_samples[k_dz + k_dy + 2] = {};

// Points without fine samples are listed and read the first sample instead, to no effect.
void find_samples(const Field& field, std::uint32_t count, Block& block) {
  const FieldData& data = field.data();
  const std::uint32_t* const brick_index = data.brick_index.empty() ? k_no_bricks : data.brick_index.data();
  const std::int16_t* const samples = data.samples.empty() ? k_no_samples : data.samples.data();
  const std::uint32_t slots = field.slots();
  // The upper bit tells k_outside from all others.
  const auto is_inside = [](std::uint32_t bits) { return static_cast<std::int32_t>(bits) >= 0; };
  const auto fetched = [samples](std::uint32_t slot, std::uint32_t local) {
    const std::int16_t* const sample = samples + std::size_t{slot} * FieldData::k_brick_samples + local;
    __builtin_prefetch(sample);
    __builtin_prefetch(sample + k_dz + k_dy + 1);
    return sample;
  };
  block.coarse_count = block.outside_count = 0;
  const auto one = [&](std::uint32_t i) {
    const std::uint32_t slot = brick_index[block.brick[i]], local = block.local[i];
    const bool inside = is_inside(local), fine = inside && field.has_samples(slot);
    block.sample[i] = fetched(fine ? slot : 0, fine ? local : 0);
    block.outside[block.outside_count] = block.coarse[block.coarse_count] = i;
    block.outside_count += inside ? 0U : 1U;
    block.coarse_count += inside && !fine ? 1U : 0U;
  };
  std::uint32_t i = 0;
  for (; i + 4 <= count; i += 4) {  // one branch for four points
    const std::uint32_t* const local = block.local + i;
    std::uint32_t slot[4], highest = 0, locals = 0;
    for (std::uint32_t k = 0; k < 4; ++k) {
      slot[k] = brick_index[block.brick[i + k]];
      highest = std::max(highest, slot[k]);
      locals |= local[k];
    }
    if ((highest < slots) & is_inside(locals)) [[likely]] {
      for (std::uint32_t k = 0; k < 4; ++k) block.sample[i + k] = fetched(slot[k], local[k]);
    } else {
      for (std::uint32_t k = 0; k < 4; ++k) one(i + k);
    }
  }
  for (; i < count; ++i) one(i);
}

// Field::coarse_distance of the block's points in coarse bricks, four at a time.
void find_coarse_distances(const FieldData& data, const Block& block, float* distance) {
  using Four = float __attribute__((vector_size(16)));
  using FourInts = std::int32_t __attribute__((vector_size(16)));
  const std::int32_t dy = data.bricks.x + 1, dz = dy * (data.bricks.y + 1);
  const auto between = [](const Four& a, const Four& b, const Four& t) { return a + t * (b - a); };
  for (std::uint32_t k = 0; k < block.coarse_count; k += 4) {
    std::uint32_t at[4];  // at the end some are done twice
    for (std::uint32_t lane = 0; lane < 4; ++lane) at[lane] = block.coarse[std::min(k + lane, block.coarse_count - 1)];
    const auto coordinates = [&at](const float* v) { return Four{v[at[0]], v[at[1]], v[at[2]], v[at[3]]}; };
    const auto bricks = [](const Four& v) { return __builtin_convertvector(v, FourInts) >> 3; };
    const auto fraction = [](const Four& v, const FourInts& i) {
      return v * 0.125F - __builtin_convertvector(i, Four);
    };
    const Four x = coordinates(block.x), y = coordinates(block.y), z = coordinates(block.z);
    const FourInts ix = bricks(x), iy = bricks(y), iz = bricks(z), corner = iz * dz + iy * dy + ix;
    const Four fx = fraction(x, ix), fy = fraction(y, iy), fz = fraction(z, iz);
    const float* const s[4] = {
        &data.coarse[static_cast<std::size_t>(corner[0])], &data.coarse[static_cast<std::size_t>(corner[1])],
        &data.coarse[static_cast<std::size_t>(corner[2])], &data.coarse[static_cast<std::size_t>(corner[3])]};
    const auto along_x = [&](std::int32_t i) {
      return between(Four{s[0][i], s[1][i], s[2][i], s[3][i]}, Four{s[0][i + 1], s[1][i + 1], s[2][i + 1], s[3][i + 1]},
                     fx);
    };
    const Four low = between(along_x(0), along_x(dy), fy), high = between(along_x(dz), along_x(dy + dz), fy);
    const Four value = between(low, high, fz);
    for (std::uint32_t lane = 0; lane < 4; ++lane) distance[at[lane]] = value[lane];
  }
}

// Calls `work(begin, size, block)` for blocks whose samples are on their way. What is left at the end of whole vectors
// is done without.
template <class Work>
void for_blocks(const LookUpKind& kind, const Field& field, const CellMap& map, const Vec3f* positions,
                const std::uint32_t* index, std::uint32_t count, Work work) noexcept {
  Block block;
  const std::uint32_t whole = count - count % kind.lanes;
  for (std::uint32_t begin = 0, size; begin < count; begin += size) {
    const LookUpKind& used = begin < whole ? kind : k_kinds[0];
    size = std::min(Block::k_size, (begin < whole ? whole : count) - begin);
    used.find_cells(field.data().bricks, map, positions, index + begin, size, block);
    find_samples(field, size, block);
    work(used, begin, size, block);
  }
}

// Field::gradient_at, two points at a time; `count` is even.
void find_slopes(double scale, std::uint32_t count, const Block& block, double* out_x, double* out_y, double* out_z) {
  using Two = double __attribute__((vector_size(16)));
  const auto mix = [](const Two& a, const Two& b, const Two& t) { return a + t * (b - a); };
  for (std::uint32_t i = 0; i < count; i += 2) {
    const std::int16_t *const s = block.sample[i], *const t = block.sample[i + 1];
    const auto corner = [s, t](int k) { return Two{static_cast<double>(s[k]), static_cast<double>(t[k])}; };
    const auto fractions = [i](const float* v) {
      return Two{static_cast<double>(fraction(v[i])), static_cast<double>(fraction(v[i + 1]))};
    };
    const auto put = [i, scale](double* out, const Two& value) {
      const Two scaled = value * scale;
      std::memcpy(out + i, &scaled, sizeof scaled);
    };
    const Two x = fractions(block.x), y = fractions(block.y), z = fractions(block.z);
    const Two a = corner(0), b = corner(1), c = corner(k_dy), d = corner(k_dy + 1);
    const Two e = corner(k_dz), f = corner(k_dz + 1), g = corner(k_dy + k_dz), h = corner(k_dy + k_dz + 1);
    put(out_x, mix(mix(b - a, d - c, y), mix(f - e, h - g, y), z));
    put(out_y, mix(mix(c - a, d - b, x), mix(g - e, h - f, x), z));
    put(out_z, mix(mix(e - a, f - b, x), mix(g - c, h - d, x), y));
  }
}

}  // namespace

std::span<const LookUpKind> look_up_kinds() noexcept {
  return k_kinds;
}

const LookUpKind& fastest_look_up_kind() noexcept {
  const LookUpKind* fastest = k_kinds;
  for (const LookUpKind& kind : k_kinds)
    if (kind.runs_here()) fastest = &kind;
  return *fastest;
}

void look_up_distances(const LookUpKind& kind, const Field& field, const CellMap& map, const Vec3f* positions,
                       const std::uint32_t* index, std::uint32_t count, float* distance) noexcept {
  const auto work = [&](const LookUpKind& used, std::uint32_t begin, std::uint32_t size, const Block& block) {
    float* const out = distance + begin;
    const auto cell = [&block](std::uint32_t i) { return Vec3f{block.x[i], block.y[i], block.z[i]}; };
    if (block.coarse_count + block.outside_count < size) used.interpolate(field.data().quantum, size, block, out);
    find_coarse_distances(field.data(), block, out);
    for (std::uint32_t k = 0; k < block.outside_count; ++k)
      out[block.outside[k]] = field.outside_distance(cell(block.outside[k]));
  };
  for_blocks(kind, field, map, positions, index, count, work);
}

void look_up_gradients(const LookUpKind& kind, const Field& field, const CellMap& map, const Vec3f* positions,
                       const std::uint32_t* index, std::uint32_t count, double* x, double* y, double* z) noexcept {
  const double scale = static_cast<double>(field.data().quantum) / static_cast<double>(field.spacing());
  const auto work = [&](const LookUpKind&, std::uint32_t begin, std::uint32_t size, Block& block) {
    const auto one_by_one = [&](std::uint32_t i) {
      const Vec3f cell = map(positions[index[begin + i]]);
      const Vec3d slope = field.gradient_at(field.locate(cell), cell);
      x[begin + i] = slope.x;
      y[begin + i] = slope.y;
      z[begin + i] = slope.z;
    };
    // Coordinates outside may be too large for what comes next.
    for (std::uint32_t k = 0; k < block.outside_count; ++k)
      for (float* row : {block.x, block.y, block.z}) row[block.outside[k]] = 0;
    find_slopes(scale, size - size % 2, block, x + begin, y + begin, z + begin);
    if (size % 2 != 0) one_by_one(size - 1);
    for (std::uint32_t k = 0; k < block.coarse_count; ++k) one_by_one(block.coarse[k]);
    for (std::uint32_t k = 0; k < block.outside_count; ++k) one_by_one(block.outside[k]);
  };
  for_blocks(kind, field, map, positions, index, count, work);
}

}  // namespace cotouch::detail

#include <cotouch/field/assemble.h>

#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/base/parallel.h>
#include <cotouch/field/stage.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>

namespace cotouch {
namespace {

constexpr std::int32_t k_cells = FieldData::k_brick_cells;
constexpr std::int32_t k_side = FieldData::k_brick_side;
constexpr std::size_t k_samples = FieldData::k_brick_samples;
constexpr double k_half_brick_diagonal = 6.92821;  // sqrt(3)/2 * 8 cells, rounded up

constexpr std::size_t sample_at(std::int32_t x, std::int32_t y, std::int32_t z) {
  return flat_index({x, y, z}, {k_side, k_side, k_side});
}

std::int16_t to_units(double cells) {
  return static_cast<std::int16_t>(std::clamp(std::floor(cells * k_units_per_cell + 0.5), -32767.0, 32767.0));
}

// Everything a Field points to.
struct Arrays {
  std::vector<std::uint32_t> brick_index;
  std::vector<std::int16_t> samples;
  std::vector<float> coarse;
};

// Samples every brick that may come near the surface and keeps those that do, in the order of the bricks.
void sample_bricks(const Lattice& lattice, const LatticeDistance& distance, Progress& progress, std::string_view stage,
                   Arrays& arrays) {
  const std::size_t bricks = lattice.brick_count();
  std::vector<std::uint8_t> near(bricks);
  for_each_reported(bricks, 256, progress, stage, 0, 0.1, [&](std::size_t b) {
    const Vec3d center = Vec3d(lattice.brick_corner(b)) + Vec3d{4, 4, 4};
    near[b] = std::fabs(distance.at(center)) < k_fine_threshold + k_half_brick_diagonal;
  });
  std::vector<std::size_t> candidates;
  for (std::size_t b = 0; b < bricks; ++b)
    if (near[b]) candidates.push_back(b);
  // Those that turn out coarse are taken out by copying the rest.
  refuse_more_memory(candidates.size() * 2 * k_samples * sizeof(std::int16_t));

  arrays.samples.resize(candidates.size() * k_samples);
  std::vector<std::uint8_t> fine(candidates.size());
  for_each_reported(candidates.size(), 16, progress, stage, 0.1, 0.9, [&](std::size_t c) {
    std::array<float, k_samples> values;
    distance.brick(lattice.brick_corner(candidates[c]), values);
    for (std::size_t i = 0; i < k_samples; ++i) {
      arrays.samples[c * k_samples + i] = to_units(static_cast<double>(values[i]));
      if (std::fabs(static_cast<double>(values[i])) < k_fine_threshold) fine[c] = 1;
    }
  });

  arrays.brick_index.assign(bricks, FieldData::k_coarse);
  std::uint32_t slots = 0;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (!fine[c]) continue;
    throw_if_cancelled();
    const auto from = arrays.samples.begin() + static_cast<std::ptrdiff_t>(c * k_samples);
    if (slots != c)
      std::copy_n(from, k_samples, arrays.samples.begin() + static_cast<std::ptrdiff_t>(slots * k_samples));
    arrays.brick_index[candidates[c]] = slots++;
  }
  arrays.samples.resize(slots * k_samples);
  arrays.samples.shrink_to_fit();
}

// Coarse values at the corners of the bricks, in steps of k_units_per_coarse_step units.
//
// Outside the part the value is lowered by half a brick's diagonal: d(p) >= d(c_i) - |p - c_i| for every corner c_i,
// and the weighted mean of |p - c_i| is at most sqrt(3)/2 * 8 cells (field.cpp, fact 1), so the interpolated value is
// <= d(p). Raising it to the band keeps that true, because d >= band everywhere in a coarse brick.
std::vector<std::int32_t> sample_nodes(const Lattice& lattice, const LatticeDistance& distance, Progress& progress,
                                       std::string_view stage, const Arrays& arrays) {
  constexpr double steps_per_cell = double{k_units_per_cell} / k_units_per_coarse_step;
  constexpr std::int32_t band = k_band_cells * k_units_per_cell / k_units_per_coarse_step;
  std::vector<std::int32_t> steps(lattice.node_count());
  const Index3 n = lattice.bricks;
  for_each_reported(steps.size(), 256, progress, stage, 0.9, 1, [&](std::size_t i) {
    const Index3 node = lattice.node(i);
    // Nodes between fine bricks are never read.
    bool used = false;
    for (std::int32_t corner = 0; corner < 8; ++corner) {
      const Index3 b{node.x / k_cells - (corner & 1), node.y / k_cells - (corner >> 1 & 1),
                     node.z / k_cells - (corner >> 2)};
      if (b.x < 0 || b.y < 0 || b.z < 0 || b.x >= n.x || b.y >= n.y || b.z >= n.z) continue;
      if (arrays.brick_index[flat_index(b, n)] == FieldData::k_coarse) used = true;
    }
    if (!used) return;
    const double d = distance.at(Vec3d(node));
    if (d > 0)
      steps[i] = std::max(band, static_cast<std::int32_t>(std::floor((d - k_half_brick_diagonal) * steps_per_cell)));
    else
      steps[i] = std::min(-band, static_cast<std::int32_t>(std::floor(d * steps_per_cell)));
  });
  return steps;
}

// Gives all nodes on the box's surface the smallest of their values, so that the extension outside starts from what the
// inside ends with. Returns it.
std::int32_t level_boundary(const Lattice& lattice, std::vector<std::int32_t>& steps) {
  const Index3 n = lattice.bricks;
  const auto on_surface = [&](std::size_t i) {
    const Index3 node = unflatten(i, n + Index3{1, 1, 1});
    return node.x == 0 || node.y == 0 || node.z == 0 || node.x == n.x || node.y == n.y || node.z == n.z;
  };
  std::int32_t lowest = std::numeric_limits<std::int32_t>::max();
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (on_surface(i)) lowest = std::min(lowest, steps[i]);
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (on_surface(i)) steps[i] = lowest;
  return lowest;
}

// The largest slope in one brick among the cells that can matter to free_radius (field.cpp): those with a positive
// sample and one below band - sqrt(3)/2 h. Inside a cell each partial derivative is a mean of its four edge
// differences.
double steepest(std::span<const std::int16_t> s) {
  constexpr std::int32_t limit = k_band_cells * k_units_per_cell - 886;  // sqrt(3)/2 * 1024 = 886.8
  std::int64_t worst = 0;
  for (std::int32_t z = 0; z < k_cells; ++z)
    for (std::int32_t y = 0; y < k_cells; ++y)
      for (std::int32_t x = 0; x < k_cells; ++x) {
        std::array<std::int32_t, 8> v;
        for (std::int32_t i = 0; i < 8; ++i)
          v[static_cast<std::size_t>(i)] = s[sample_at(x + (i & 1), y + (i >> 1 & 1), z + (i >> 2))];
        const auto [low, high] = std::minmax_element(v.begin(), v.end());
        if (*high <= 0 || *low > limit) continue;
        std::int64_t sum = 0;
        for (const std::size_t step : {1U, 2U, 4U}) {
          std::int64_t largest = 0;
          for (std::size_t i = 0; i < 8; ++i)
            if (!(i & step)) largest = std::max<std::int64_t>(largest, std::abs(v[i + step] - v[i]));
          sum += largest * largest;
        }
        worst = std::max(worst, sum);
      }
  return std::sqrt(static_cast<double>(worst)) / k_units_per_cell;
}

// Replaces the samples that a fine brick shares with coarse ones by the coarse interpolation (a hanging-node
// constraint). Two bricks that share a sample see the same coarse bricks around it, so their copies stay equal.
void stitch(const Lattice& lattice, const std::vector<std::int32_t>& steps, const Arrays& arrays, const Index3& b,
            std::span<std::int16_t> samples) {
  const Index3 n = lattice.bricks;
  std::array<std::int32_t, 8> corner;
  for (std::int32_t i = 0; i < 8; ++i)
    corner[static_cast<std::size_t>(i)] = steps[flat_index(b + cube_corner(i), n + Index3{1, 1, 1})];
  const auto interpolate = [&](std::int32_t x, std::int32_t y, std::int32_t z) {
    std::int32_t sum = 0;
    for (std::int32_t i = 0; i < 8; ++i)
      sum += corner[static_cast<std::size_t>(i)] * (i & 1 ? x : k_cells - x) * (i & 2 ? y : k_cells - y) *
             (i & 4 ? z : k_cells - z);
    return static_cast<std::int16_t>(sum / (512 / k_units_per_coarse_step));  // exact on a face of the brick
  };
  const auto from = [](std::int32_t d) { return d > 0 ? k_cells : 0; };
  const auto to = [](std::int32_t d) { return d < 0 ? 0 : k_cells; };
  for (std::int32_t dz = -1; dz <= 1; ++dz)
    for (std::int32_t dy = -1; dy <= 1; ++dy)
      for (std::int32_t dx = -1; dx <= 1; ++dx) {
        const Index3 o{b.x + dx, b.y + dy, b.z + dz};
        const std::uint32_t other = arrays.brick_index[flat_index(o, n)];
        if (other != FieldData::k_coarse) continue;
        for (std::int32_t z = from(dz); z <= to(dz); ++z)
          for (std::int32_t y = from(dy); y <= to(dy); ++y)
            for (std::int32_t x = from(dx); x <= to(dx); ++x) samples[sample_at(x, y, z)] = interpolate(x, y, z);
      }
}

}  // namespace

Index3 Lattice::brick_corner(std::size_t index) const {
  const Index3 b = unflatten(index, bricks);
  return {b.x * k_cells, b.y * k_cells, b.z * k_cells};
}

Index3 Lattice::node(std::size_t index) const {
  const Index3 b = unflatten(index, bricks + Index3{1, 1, 1});
  return {b.x * k_cells, b.y * k_cells, b.z * k_cells};
}

void refuse_more_memory(std::size_t bytes) {
  if (bytes > k_most_bytes)
    throw Error(
        "The part has too much surface for this resolution: building its field would take more than four gigabytes of "
        "memory; choose a lower resolution.");
}

bool Lattice::is_border(std::size_t index) const {
  const Index3 b = unflatten(index, bricks);
  return b.x == 0 || b.y == 0 || b.z == 0 || b.x == bricks.x - 1 || b.y == bricks.y - 1 || b.z == bricks.z - 1;
}

Lattice make_lattice(const Box3d& part, const FieldSettings& settings) {
  if (settings.resolution < k_lowest_resolution || settings.resolution > k_highest_resolution)
    throw Error("A field can have " + std::to_string(k_lowest_resolution) + " to " +
                std::to_string(k_highest_resolution) + " cells along its longest side, not " +
                std::to_string(settings.resolution) + "; choose another resolution.");
  if (!(settings.sheet_thickness > 0 && settings.sheet_thickness <= 16))
    throw Error("Open sheets can be thickened by more than 0 and up to 16 cells; choose another sheet thickness.");
  if (part.empty() || !is_finite(part.low) || !is_finite(part.high))
    throw Error("The part has no finite size, so there is nothing to measure distances to; check the mesh.");
  const Vec3d size = part.size();
  const double longest = std::max({size.x, size.y, size.z});
  if (!(longest > 1e-9 && longest < 1e9))
    throw Error("The part's longest side is not between a nanometre and a million kilometres; check its unit.");

  Lattice lattice;
  lattice.spacing = static_cast<float>(longest / settings.resolution);
  const double h = static_cast<double>(lattice.spacing);
  const double reach = std::max({std::fabs(part.low.x), std::fabs(part.low.y), std::fabs(part.low.z),
                                 std::fabs(part.high.x), std::fabs(part.high.y), std::fabs(part.high.z)});
  if (reach * 0x1p-24 > 0.05 * h)
    throw Error("The part lies so far from its origin that its details are lost in rounding; move it to the origin.");

  // A border brick is a brick's width of padding; beyond it comes more than the fine threshold.
  const double padding = k_cells + k_fine_threshold + settings.sheet_thickness + 0.1;
  const auto bricks = [&](double length) {
    return static_cast<std::int32_t>(std::ceil((length / h + 2 * padding) / k_cells));
  };
  lattice.bricks = {bricks(size.x), bricks(size.y), bricks(size.z)};
  lattice.origin = Vec3f(part.center() - Vec3d(lattice.bricks) * (h * k_cells / 2));
  return lattice;
}

Field assemble_field(const Lattice& lattice, const LatticeDistance& distance, Progress& progress,
                     std::string_view stage) {
  const auto arrays = std::make_shared<Arrays>();
  sample_bricks(lattice, distance, progress, stage, *arrays);
  std::vector<std::int32_t> steps = sample_nodes(lattice, distance, progress, stage, *arrays);
  const std::int32_t boundary = level_boundary(lattice, steps);

  std::vector<double> slopes(lattice.brick_count());
  parallel_for(lattice.brick_count(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      if (arrays->brick_index[b] == FieldData::k_coarse) continue;
      throw_if_cancelled();
      const std::span<std::int16_t> samples(arrays->samples.data() + arrays->brick_index[b] * k_samples, k_samples);
      slopes[b] = steepest(samples);
      stitch(lattice, steps, *arrays, unflatten(b, lattice.bricks), samples);
    }
  });

  FieldData data;
  data.origin = lattice.origin;
  data.spacing = lattice.spacing;
  data.bricks = lattice.bricks;
  data.quantum = lattice.spacing / k_units_per_cell;
  data.band = lattice.spacing * k_band_cells;
  data.boundary = static_cast<float>(boundary * k_units_per_coarse_step) * data.quantum;
  // A hair more than measured: the quotient was rounded, and so will be its inverse.
  data.lipschitz = static_cast<float>(std::max(1.0, *std::max_element(slopes.begin(), slopes.end())) * 1.00001);
  arrays->coarse.resize(steps.size());
  std::transform(steps.begin(), steps.end(), arrays->coarse.begin(),
                 [&](std::int32_t s) { return static_cast<float>(s) * (k_units_per_coarse_step * data.quantum); });
  data.brick_index = arrays->brick_index;
  data.samples = arrays->samples;
  data.coarse = arrays->coarse;
  return Field(data, arrays);
}

}  // namespace cotouch

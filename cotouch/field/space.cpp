#include <cotouch/field/space.h>

#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/base/parallel.h>
#include <cotouch/field/stage.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace cotouch {
namespace {

constexpr std::size_t k_samples = FieldData::k_brick_samples;
constexpr double k_half_brick_diagonal = 6.92821;
// Half the width of a crack that counts as closed, in units: a quarter of a cell.
constexpr std::int32_t k_crack = k_units_per_cell / 4;
// What building takes at its peak, with a little room. For each near brick: this space's samples, and while the flood
// is there its regions and marks, while distances are measured again the new samples, while the field is put together
// its samples twice; and the sides. For each brick of the lattice: distances, marks, numbers and coarse values.
constexpr std::size_t k_bytes_per_near_brick = 3 * k_samples * sizeof(std::uint16_t) + 128;
constexpr std::size_t k_bytes_per_brick = 64;

std::uint16_t to_units(double cells) {
  return static_cast<std::uint16_t>(std::min(std::floor(cells * k_units_per_cell + 0.5), 65535.0));
}

// Calls work(position in the brick, index of the sample) up to `last` along each axis: cubes of two by two by two
// samples, back and forth so that each is a neighbour of the one before.
template <class Work>
void for_each_sample(std::int32_t last, const Work& work) {
  const std::int32_t end = last / 2;
  Index3 c{0, 0, 0}, step{1, 1, 1};
  for (c.z = 0; c.z <= end; ++c.z, step.y = -step.y)
    for (c.y = step.y > 0 ? 0 : end; c.y >= 0 && c.y <= end; c.y += step.y, step.x = -step.x)
      for (c.x = step.x > 0 ? 0 : end; c.x >= 0 && c.x <= end; c.x += step.x)
        for (std::int32_t i = 0; i < 8; ++i) {
          const Index3 p = c * 2 + cube_corner(i);
          if (p.x <= last && p.y <= last && p.z <= last) work(p, flat_index(p, {9, 9, 9}));
        }
}

// Measures along a walk over the lattice. The answers for a cube of two by two by two points are mostly among a few
// triangles, which the tree is asked for once; and mostly the last answer's triangle, with which each search begins.
class Walk {
 public:
  Walk(const ClosestTriangle& triangles, const TriangleMesh& mesh) : triangles_(triangles), mesh_(mesh) {}

  std::uint16_t measure(const Index3& point) {
    throw_if_cancelled();
    const Vec3d p(point);
    if (const Index3 cube{point.x & ~1, point.y & ~1, point.z & ~1}; cube != cube_) enter(cube);
    last_ = collected_ ? triangles_.closest(p, last_from(p), nearby_) : triangles_.closest(p, last_from(p));
    return to_units(std::sqrt(last_.distance_squared));
  }

 private:
  static constexpr double k_half_cube_diagonal = 0.8661;

  void enter(const Index3& cube) {
    cube_ = cube;
    if (crowded_) return;
    const Vec3d center = Vec3d(cube) + Vec3d{0.5, 0.5, 0.5};
    last_ = last_ ? last_from(center) : triangles_.closest(center);
    collected_ = triangles_.collect(center, k_half_cube_diagonal, std::sqrt(last_.distance_squared), nearby_);
    crowded_ = !collected_;  // where triangles are far smaller than cells: also in the next cubes
  }

  ClosestHit last_from(const Vec3d& p) const {
    if (!last_) return {};
    const auto [a, b, c] = mesh_.corners(last_.triangle);
    const ClosestOnTriangle on = closest_on_triangle(p, a, b, c);
    return {on.distance_squared, on.point, on.weights, last_.triangle};
  }

  const ClosestTriangle& triangles_;
  const TriangleMesh& mesh_;
  ClosestHit last_;
  Index3 cube_{-1, -1, -1};
  ClosestTriangle::Nearby nearby_;
  bool collected_ = false, crowded_ = false;
};

// Triangles that all searches for the closest one may look at together: minutes. Where triangles are of about the size
// of what is between them a search looks at some ten, and the finest lattice has 5e8 places.
constexpr double k_most_looks = 2e10;

// How many triangles a search for the closest one has to look at: those with a box that is no farther.
std::size_t looks(const TriangleMesh& mesh, const Vec3d& p, double distance) {
  std::size_t count = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    Box3d box;
    for (const Vec3d& corner : mesh.corners(t)) box.add(corner);
    const Vec3d nearest = max(box.low, min(box.high, p));
    if (norm_squared(p - nearest) <= distance * distance) ++count;
  }
  return count;
}

// Throws Error if the triangles lie across each other so that as many searches would look at too many. Judged at some
// of the bricks; `brick_of(i)` is the i-th of `count`.
template <class BrickOf>
void refuse_crowded(const TriangleMesh& mesh, const ClosestTriangle& triangles, const Lattice& lattice,
                    std::size_t searches, std::size_t count, const BrickOf& brick_of) {
  if (static_cast<double>(searches) * static_cast<double>(mesh.triangles.size()) <= k_most_looks) return;
  const std::size_t judged = std::min<std::size_t>(count, 64);
  std::vector<std::size_t> found(judged);
  parallel_for(judged, 1, [&](std::size_t i, std::size_t) {
    const Vec3d p = Vec3d(lattice.brick_corner(brick_of(i * count / judged))) + Vec3d{4, 4, 4};
    found[i] = looks(mesh, p, std::sqrt(triangles.closest(p).distance_squared));
  });
  const double mean = std::accumulate(found.begin(), found.end(), 0.0) / static_cast<double>(judged);
  if (mean * static_cast<double>(searches) > k_most_looks)
    throw Error(
        "The mesh has too many long thin triangles that lie across each other: measuring distances to them would take "
        "far too long. Remesh it with triangles of about equal sides, or choose a lower resolution.",
        ErrorCode::too_large);
}

std::uint32_t root(std::vector<std::uint32_t>& parent, std::uint32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

// The lower number becomes the root, so that the result does not depend on the order of joining.
void join(std::vector<std::uint32_t>& parent, std::uint32_t a, std::uint32_t b) {
  a = root(parent, a);
  b = root(parent, b);
  if (a < b)
    parent[b] = a;
  else
    parent[a] = b;
}

}  // namespace

Space::Space(const Lattice& lattice, const TriangleMesh& mesh, const ClosestTriangle& triangles,
             const ClosestTriangle& sheets, double thickness, Progress& progress, const Space* previous,
             const ClosestTriangle* changes)
    : lattice_(lattice) {
  const std::size_t bricks = lattice.brick_count();
  refuse_crowded(mesh, triangles, lattice, bricks, bricks, [](std::size_t i) { return i; });
  std::vector<double> center(bricks);
  std::vector<std::uint8_t> near(bricks);
  for_each_reported(bricks, 256, progress, k_stage_distances, 0, 0.1, [&](std::size_t b) {
    const Vec3d p = Vec3d(lattice.brick_corner(b)) + Vec3d{4, 4, 4};
    center[b] = std::sqrt(triangles.closest(p).distance_squared);
    constexpr double limit = k_fine_threshold + k_half_brick_diagonal;
    near[b] = center[b] < limit || sheets.closest(p, limit + thickness);
  });
  slot_.assign(bricks, FieldData::k_coarse);
  for (std::size_t b = 0; b < bricks; ++b)
    if (near[b]) {
      slot_[b] = static_cast<std::uint32_t>(near_.size());
      near_.push_back(b);
    }
  refuse_more_memory(near_.size() * k_bytes_per_near_brick + bricks * k_bytes_per_brick +
                     mesh.triangles.size() * k_bytes_per_triangle);
  // The walls and sheets ask for each triangle, too.
  refuse_crowded(mesh, triangles, lattice, near_.size() * k_samples + mesh.triangles.size(), near_.size(),
                 [&](std::size_t i) { return near_[i]; });

  // What is known from the last time: all of a brick, where no change is as near to any of its points as they are to a
  // triangle (at most the centre's distance and half the diagonal); else the samples that are nearer to a triangle than
  // to any change.
  const auto known = [&](std::size_t b) {
    return previous && previous->slot_[b] != FieldData::k_coarse ? previous->distances(previous->slot_[b])
                                                                 : std::span<const std::uint16_t>();
  };
  const auto unchanged = [&](std::size_t b) {
    const Vec3d p = Vec3d(lattice.brick_corner(b)) + Vec3d{4, 4, 4};
    return !changes->closest(p, center[b] + 2 * k_half_brick_diagonal);
  };
  distances_.resize(near_.size() * k_samples);
  const auto samples = [&](std::size_t slot) { return std::span(distances_).subspan(slot * k_samples, k_samples); };
  const auto measure = [&](std::size_t slot, const Index3& p, std::size_t i, Walk& walk) {
    const Index3 point = lattice.brick_corner(near_[slot]) + p;
    if (const auto old = known(near_[slot]); !old.empty() && old[i] < 65535) {
      throw_if_cancelled();
      const double reach = (old[i] + 1.0) / k_units_per_cell;
      if (!changes->closest(Vec3d(point), reach)) return old[i];
    }
    return walk.measure(point);
  };
  std::vector<std::uint8_t> copied(near_.size());
  for_each_reported(near_.size(), 16, progress, k_stage_distances, 0.1, 0.8, [&](std::size_t s) {
    if (const auto old = known(near_[s]); !old.empty() && unchanged(near_[s])) {
      std::ranges::copy(old, samples(s).begin());
      copied[s] = 1;
      return;
    }
    Walk walk(triangles, mesh);
    for_each_sample(7, [&](const Index3& p, std::size_t i) { samples(s)[i] = measure(s, p, i, walk); });
  });
  // The last layers are the next bricks' first ones, where those are near.
  for_each_reported(near_.size(), 16, progress, k_stage_distances, 0.8, 1, [&](std::size_t s) {
    if (copied[s]) return;
    Walk walk(triangles, mesh);
    for_each_sample(8, [&](const Index3& p, std::size_t i) {
      if (p.x < 8 && p.y < 8 && p.z < 8) return;
      const Place owner = place(lattice.brick_corner(near_[s]) + p);
      samples(s)[i] = is_far(owner) ? measure(s, p, i, walk) : distance(owner);
    });
  });
}

Space::Place Space::place(const Index3& p) const {
  const Index3& n = lattice_.bricks;
  // The last layer of lattice points belongs to no brick of its own; border bricks are far, so any point of theirs will
  // do.
  const Index3 q{std::min(p.x, n.x * 8 - 1), std::min(p.y, n.y * 8 - 1), std::min(p.z, n.z * 8 - 1)};
  const std::size_t brick = flat_index({q.x >> 3, q.y >> 3, q.z >> 3}, n);
  if (slot_[brick] == FieldData::k_coarse) return place_of_far_brick(brick);
  return slot_[brick] * 512 + static_cast<Place>(((q.z & 7) * 8 + (q.y & 7)) * 8 + (q.x & 7));
}

Index3 Space::point(Place place) const {
  if (is_far(place)) return lattice_.brick_corner(place - near_.size() * 512) + Index3{4, 4, 4};
  const auto i = static_cast<std::int32_t>(place & 511);
  return lattice_.brick_corner(near_[place >> 9]) + Index3{i & 7, i >> 3 & 7, i >> 6};
}

std::uint16_t Space::distance(Place place) const {
  if (is_far(place)) return static_cast<std::uint16_t>(k_fine_threshold * k_units_per_cell);
  const std::uint32_t i = place & 511;
  return distances(place >> 9)[((i >> 6) * 9 + (i >> 3 & 7)) * 9 + (i & 7)];
}

std::vector<Space::Place> Space::connected() const {
  std::vector<Place> parent(places());
  std::iota(parent.begin(), parent.end(), 0U);
  const Index3& n = lattice_.bricks;
  const std::size_t stride[3] = {1, static_cast<std::size_t>(n.x), static_cast<std::size_t>(n.x * n.y)};
  constexpr std::size_t sample_stride[3] = {1, 9, 81};
  constexpr Place place_stride[3] = {1, 8, 64};
  for (std::size_t brick = 0; brick < lattice_.brick_count(); ++brick) {
    throw_if_cancelled();
    const Index3 corner = lattice_.brick_corner(brick);
    const bool far = slot_[brick] == FieldData::k_coarse;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool last = corner[axis] / 8 + 1 == n[axis];
      const std::size_t next = brick + stride[axis];
      const std::size_t a = (axis + 1) % 3, b = (axis + 2) % 3;
      // Across the face to the next brick.
      if (far && !last) {
        if (slot_[next] == FieldData::k_coarse) {
          join(parent, place_of_far_brick(brick), place_of_far_brick(next));
        } else {
          for (Place i = 0; i < 8; ++i)
            for (Place j = 0; j < 8; ++j)
              join(parent, place_of_far_brick(brick), slot_[next] * 512 + i * place_stride[a] + j * place_stride[b]);
        }
      }
      if (far) continue;
      const auto d = distances(slot_[brick]);
      const Place first = slot_[brick] * 512;
      for (Place k = 0; k < 8; ++k)
        for (Place i = 0; i < 8; ++i)
          for (Place j = 0; j < 8; ++j) {
            const std::size_t s = k * sample_stride[axis] + i * sample_stride[a] + j * sample_stride[b];
            if (d[s] + d[s + sample_stride[axis]] <= k_units_per_cell + 2 * k_crack) continue;
            const Place here = first + k * place_stride[axis] + i * place_stride[a] + j * place_stride[b];
            Place there = here + place_stride[axis];
            if (k == 7) {
              if (last) continue;
              there = slot_[next] == FieldData::k_coarse
                          ? place_of_far_brick(next)
                          : slot_[next] * 512 + i * place_stride[a] + j * place_stride[b];
            }
            join(parent, here, there);
          }
    }
  }
  for_each_cancellable(parent.size(), [&](std::size_t i) { parent[i] = parent[parent[i]]; });
  return parent;
}

}  // namespace cotouch

#include <cotouch/base/error.h>
#include <cotouch/base/parallel.h>
#include <cotouch/base/random.h>
#include <cotouch/shell/point_grid.h>
#include <cotouch/shell/sampling.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace cotouch {
namespace {

constexpr std::uint32_t k_most_on_top = 64;
constexpr std::size_t k_grain = 1024;

struct Points {
  std::vector<Vec3f> positions, normals;  // normals outward
  std::size_t size() const { return positions.size(); }
  void add(const Vec3f& position, const Vec3f& normal) {
    positions.push_back(position);
    normals.push_back(normal);
  }
};

// `count` random points of the surface, uniform by area.
Points draw_points(const LevelSet& surface, std::size_t count, std::uint64_t seed) {
  Points drawn;
  drawn.positions.resize(count);
  drawn.normals.resize(count);
  std::vector<std::uint8_t> failed((count + k_grain - 1) / k_grain, 0);
  parallel_for(count, k_grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      // Each point has its own stream, so the result does not depend on who draws it. About one draw in three hits.
      Random random(Random(seed + i).bits());
      int tries = 0;
      while (!surface.draw(random.bits(), drawn.positions[i], drawn.normals[i]))
        if (++tries == 10000) {
          failed[begin / k_grain] = 1;
          return;
        }
    }
  });
  if (std::find(failed.begin(), failed.end(), 1) != failed.end())
    throw Error("No points could be placed on the part's surface; choose a finer field resolution.");
  return drawn;
}

// Accepted points in hashed cells of one edge, with quick insertion: "is anything closer than r?"
class DartBoard {
 public:
  DartBoard(std::size_t capacity, float cell_edge)
      : inverse_edge_(1 / cell_edge), heads_(std::bit_ceil(2 * capacity), PointGrid::k_none) {}

  void insert(const Points& points, std::uint32_t index) {
    std::uint32_t& head = heads_[bucket(cell_of(points.positions[index]))];
    next_.resize(std::max<std::size_t>(next_.size(), index + 1));
    next_[index] = head;
    head = index;
  }
  // Of the points on the same side of the surface. `radius` at most the cell edge.
  bool is_free(const Points& points, const Vec3f& p, const Vec3f& normal, float radius) const {
    const Vec3f corner(radius, radius, radius);
    const Cell low = cell_of(p - corner), high = cell_of(p + corner);
    const float radius_squared = radius * radius;
    for (std::int64_t z = low.z; z <= high.z; ++z)
      for (std::int64_t y = low.y; y <= high.y; ++y)
        for (std::int64_t x = low.x; x <= high.x; ++x)
          for (std::uint32_t i = heads_[bucket({x, y, z})]; i != PointGrid::k_none; i = next_[i])
            if (norm_squared(points.positions[i] - p) < radius_squared && same_side(points.normals[i], normal))
              return false;
    return true;
  }

 private:
  using Cell = Vec3<std::int64_t>;
  Cell cell_of(const Vec3f& p) const {
    const auto along = [&](float c) { return static_cast<std::int64_t>(std::floor(c * inverse_edge_)); };
    return {along(p.x), along(p.y), along(p.z)};
  }
  std::size_t bucket(const Cell& c) const {
    const auto mix = static_cast<std::uint64_t>(c.x) * 0x9e3779b97f4a7c15ULL ^
                     static_cast<std::uint64_t>(c.y) * 0xc2b2ae3d27d4eb4fULL ^
                     static_cast<std::uint64_t>(c.z) * 0x165667b19e3779f9ULL;
    return (mix ^ mix >> 32) & (heads_.size() - 1);
  }

  float inverse_edge_;
  std::vector<std::uint32_t> heads_, next_;
};

// Adds points until there are `target`, each as far from the others as the shrinking distance still asks.
void fill_gaps(const LevelSet& surface, std::size_t target, float spacing, std::uint64_t seed, Points& points) {
  constexpr std::size_t k_candidates = 8;  // for each point wanted
  constexpr float k_first = 0.82F;         // of the spacing; random packing of discs jams at 0.78
  constexpr float k_shrink = 0.95F;
  const std::size_t wanted = target - points.size();
  const Points candidates = draw_points(surface, wanted * k_candidates, seed);
  DartBoard board(target, k_first * spacing);
  for (std::uint32_t i = 0; i < points.size(); ++i) board.insert(points, i);
  std::vector<std::uint32_t> open(candidates.size());
  for (std::uint32_t i = 0; i < open.size(); ++i) open[i] = i;

  const std::size_t frozen = points.size();
  for (float radius = k_first * spacing; points.size() < target; radius *= k_shrink) {
    std::size_t kept = 0;
    for (const std::uint32_t candidate : open) {
      const Vec3f &p = candidates.positions[candidate], &n = candidates.normals[candidate];
      if (points.size() < target && board.is_free(points, p, n, radius)) {
        points.add(p, n);
        board.insert(points, static_cast<std::uint32_t>(points.size() - 1));
      } else {
        open[kept++] = candidate;
      }
    }
    open.resize(kept);
    if (radius < 0.01F * spacing) radius = 0;  // take whatever is left
  }

  // In Morton order neighbours in space are near in memory.
  const std::span<const Vec3f> fresh = std::span(points.positions).subspan(frozen);
  const std::vector<std::uint32_t> order = morton_order(fresh);
  Points sorted;
  for (const std::uint32_t i : order) sorted.add(points.positions[frozen + i], points.normals[frozen + i]);
  std::copy(sorted.positions.begin(), sorted.positions.end(), points.positions.begin() + static_cast<long>(frozen));
  std::copy(sorted.normals.begin(), sorted.normals.end(), points.normals.begin() + static_cast<long>(frozen));
}

// Neighbour lists of the movable points, in pieces that threads fill independently.
struct Neighbours {
  struct Piece {
    std::vector<std::uint32_t> end;  // of each point's list
    std::vector<std::uint32_t> list;
  };
  std::vector<Piece> pieces;

  void find(const Points& points, std::size_t frozen, float radius) {
    const PointGrid grid(points.positions, radius);
    const std::size_t movable = points.size() - frozen;
    pieces.resize((movable + k_grain - 1) / k_grain);
    parallel_for(movable, k_grain, [&](std::size_t begin, std::size_t end) {
      Piece& piece = pieces[begin / k_grain];
      piece.end.clear();
      piece.list.clear();
      for (std::size_t i = frozen + begin; i < frozen + end; ++i) {
        grid.for_each_within(points.positions[i], radius, [&](std::uint32_t j, float) {
          if (j != i && same_side(points.normals[i], points.normals[j])) piece.list.push_back(j);
        });
        piece.end.push_back(static_cast<std::uint32_t>(piece.list.size()));
      }
    });
  }
};

// One Jacobi step of the points [frozen, end): all read the old positions, each writes its own new one.
// Returns the mean movement.
double push(const LevelSet& surface, const Neighbours& neighbours, std::size_t frozen, float width, float strength,
            float longest_step, const Points& from, Points& to) {
  std::vector<double> moved(neighbours.pieces.size());
  const float inverse_width = 1 / width;
  parallel_for(from.size() - frozen, k_grain, [&](std::size_t begin, std::size_t end) {
    const Neighbours::Piece& piece = neighbours.pieces[begin / k_grain];
    std::uint32_t k = 0;
    double sum = 0;
    for (std::size_t i = frozen + begin; i < frozen + end; ++i) {
      const Vec3f p = from.positions[i], n = from.normals[i];
      Vec3f force;
      for (const std::uint32_t k_end = piece.end[i - frozen - begin]; k < k_end; ++k) {
        const Vec3f apart = p - from.positions[piece.list[k]];
        const float q_squared = norm_squared(apart) * (inverse_width * inverse_width);
        if (q_squared >= 1 || q_squared == 0) continue;
        const float q = std::sqrt(q_squared);
        const float falloff = (1 - q);
        force += apart * (falloff * falloff * falloff / q);
      }
      Vec3f step = (force - n * dot(force, n)) * strength;
      const float length = norm(step);
      if (length > longest_step) step *= longest_step / length;
      Vec3f moved_point = p + step, moved_normal = n;
      if (surface.follow(moved_point, moved_normal)) {
        to.positions[i] = moved_point;
        to.normals[i] = moved_normal;
      } else {
        to.positions[i] = p;
        to.normals[i] = n;
      }
      sum += double{norm(to.positions[i] - p)};
    }
    moved[begin / k_grain] = sum;
  });
  double total = 0;
  for (const double m : moved) total += m;
  return total / static_cast<double>(from.size() - frozen);
}

void relax(const LevelSet& surface, std::size_t frozen, float spacing, Points& points, int iterations) {
  constexpr float k_width = 1.6F;
  constexpr float k_skin = 0.25F;
  Neighbours neighbours;
  Points next = points;
  double since_search = 1e30;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    if (since_search > double{0.3F * k_skin * spacing}) {
      neighbours.find(points, frozen, (k_width + k_skin) * spacing);
      since_search = 0;
    }
    const float heat = 1 - static_cast<float>(iteration) / static_cast<float>(iterations);
    const double moved =
        push(surface, neighbours, frozen, k_width * spacing, 1.0F, 0.3F * heat * spacing, points, next);
    since_search += moved;
    std::swap(points, next);
  }
}

}  // namespace

std::vector<std::uint32_t> level_sizes(std::uint32_t points) {
  std::vector<std::uint32_t> sizes{points};
  while (sizes.back() > k_most_on_top) sizes.push_back((sizes.back() + 2) / 4);
  std::reverse(sizes.begin(), sizes.end());
  return sizes;
}

NestedPoints sample_level_set(const LevelSet& surface, std::uint32_t points, std::uint64_t seed, Progress& progress) {
  Random random(seed);
  const double area = surface.estimate_area(random.bits());
  NestedPoints nested;
  nested.level_points = level_sizes(points);
  Points all;
  for (const std::uint32_t target : nested.level_points) {
    progress.update("Spreading points", static_cast<double>(all.size()) / points);
    const std::size_t frozen = all.size();
    const auto spacing = static_cast<float>(std::sqrt(2 * area / (std::sqrt(3.0) * target)));
    fill_gaps(surface, target, spacing, random.bits(), all);
    relax(surface, frozen, spacing, all, 40);
  }
  progress.update("Spreading points", 1);
  nested.positions = std::move(all.positions);
  nested.inward_normals = std::move(all.normals);
  for (Vec3f& n : nested.inward_normals) n = -n;
  return nested;
}

}  // namespace cotouch

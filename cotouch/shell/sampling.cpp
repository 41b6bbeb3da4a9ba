#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/base/parallel.h>
#include <cotouch/base/random.h>
#include <cotouch/shell/point_grid.h>
#include <cotouch/shell/sampling.h>
#include <cotouch/shell/spacing.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace cotouch {
namespace {

constexpr std::uint32_t k_most_on_top = 64;
constexpr std::size_t k_grain = 1024;
// Few points are cheap to place and hard to place well on an intricate part: such levels take more steps, and are begun
// again while they come out less even than this.
constexpr std::size_t k_few = 8192;
constexpr double k_even = 0.1;
constexpr int k_attempts = 6;

struct Points {
  std::vector<Vec3f> positions, normals;  // normals outward
  std::size_t size() const { return positions.size(); }
  void add(const Vec3f& position, const Vec3f& normal) {
    positions.push_back(position);
    normals.push_back(normal);
  }
};

// The squared distance by which points keep away from each other: Euclidean while the normals are less than a right
// angle apart, growing to 3/2 of it where they are opposite.
float apart_squared(const Vec3f& between, const Vec3f& normal_a, const Vec3f& normal_b) noexcept {
  const float facing = dot(normal_a, normal_b);
  return norm_squared(between) * (facing < 0 ? 1 + 0.5F * facing * facing : 1);
}

// `count` random points of the surface, uniform by area.
Points draw_points(const LevelSet& surface, std::size_t count, std::uint64_t seed) {
  constexpr int k_most_tries = 10000;
  Points drawn;
  drawn.positions.resize(count);
  drawn.normals.resize(count);
  parallel_for(count, k_grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      // Each point has its own stream, so it does not matter who draws it. About one draw in three hits.
      throw_if_cancelled();
      Random random(Random(seed + i).bits());
      for (int tries = 0; !surface.draw(random.bits(), drawn.positions[i], drawn.normals[i]); ++tries)
        if (tries == k_most_tries)
          throw Error("No points could be placed on the part's surface; choose a finer field resolution.");
    }
  });
  return drawn;
}

// The points so far in hashed cells of one edge, quick to add to: "what is in the way of a new one?"
class DartBoard {
 public:
  DartBoard(std::size_t capacity, float cell_edge)
      : inverse_edge_(1 / cell_edge), heads_(std::bit_ceil(2 * capacity), PointGrid::k_none) {
    next_.reserve(capacity);
  }

  // Points must come in the order of their indices.
  void add(const Vec3f& position) {
    std::uint32_t& head = heads_[bucket(cell_of(position))];
    next_.push_back(head);
    head = static_cast<std::uint32_t>(next_.size() - 1);
  }
  // The squared distance to some point closer than `radius` (at most the cell edge), or infinity where there is none.
  float conflict(const Points& points, const Vec3f& p, const Vec3f& normal, float radius) const {
    const Vec3f corner(radius, radius, radius);
    const Cell low = cell_of(p - corner), high = cell_of(p + corner);
    const float radius_squared = radius * radius;
    for (std::int64_t z = low.z; z <= high.z; ++z)
      for (std::int64_t y = low.y; y <= high.y; ++y)
        for (std::int64_t x = low.x; x <= high.x; ++x)
          for (std::uint32_t i = heads_[bucket({x, y, z})]; i != PointGrid::k_none; i = next_[i]) {
            const Vec3f between = points.positions[i] - p;
            if (norm_squared(between) >= radius_squared) continue;
            const float squared = apart_squared(between, points.normals[i], normal);
            if (squared < radius_squared) return squared;
          }
    return std::numeric_limits<float>::infinity();
  }

 private:
  using Cell = Vec3<std::int64_t>;
  Cell cell_of(const Vec3f& p) const {
    const auto along = [&](float c) { return static_cast<std::int64_t>(std::floor(c * inverse_edge_)); };
    return {along(p.x), along(p.y), along(p.z)};
  }
  std::size_t bucket(const Cell& c) const {
    const std::uint64_t mix = static_cast<std::uint64_t>(c.x) * 0x9e3779b97f4a7c15ULL ^
                              static_cast<std::uint64_t>(c.y) * 0xc2b2ae3d27d4eb4fULL ^
                              static_cast<std::uint64_t>(c.z) * 0x165667b19e3779f9ULL;
    return (mix ^ mix >> 32) & (heads_.size() - 1);
  }

  float inverse_edge_;
  std::vector<std::uint32_t> heads_, next_;
};

void sort_along_curve(Points& points, std::size_t begin) {
  const std::span<const Vec3f> positions(points.positions);
  const std::vector<std::uint32_t> order = morton_order(positions.subspan(begin));
  const Points unsorted = points;
  for (std::size_t i = 0; i < order.size(); ++i) {
    points.positions[begin + i] = unsorted.positions[begin + order[i]];
    points.normals[begin + i] = unsorted.normals[begin + order[i]];
  }
}

// Adds points until there are `target`, each as far from the others as a shrinking distance still asks. Returns that
// distance as it was in the end. `spacing` is that of the densest arrangement.
float fill_gaps(const LevelSet& surface, std::size_t target, float spacing, std::uint64_t seed, Points& points) {
  constexpr std::size_t k_candidates = 8;  // for each point wanted
  constexpr float k_first = 0.78F;         // of the spacing: where randomly packed discs jam
  constexpr float k_shrink = 0.95F;
  constexpr float k_last = 0.02F;  // below this take what is left
  const std::size_t frozen = points.size();
  const Points candidates = draw_points(surface, (target - frozen) * k_candidates, seed);
  DartBoard board(target, k_first * spacing);
  for (const Vec3f& p : points.positions) board.add(p);

  // A point that was in a candidate's way stays there: until the radius is below its distance there is nothing to test.
  struct Open {
    std::uint32_t candidate;
    float conflict_squared;
  };
  std::vector<Open> open(candidates.size());
  for (std::uint32_t i = 0; i < open.size(); ++i) open[i] = {i, std::numeric_limits<float>::infinity()};
  float radius = k_first * spacing;
  for (;; radius = radius > k_last * spacing ? radius * k_shrink : 0) {
    std::size_t kept = 0;
    for (Open& o : open) {
      throw_if_cancelled();
      const Vec3f &p = candidates.positions[o.candidate], &n = candidates.normals[o.candidate];
      if (o.conflict_squared >= radius * radius) o.conflict_squared = board.conflict(points, p, n, radius);
      if (o.conflict_squared < radius * radius) {
        open[kept++] = o;
        continue;
      }
      points.add(p, n);
      board.add(p);
      if (points.size() == target) {
        sort_along_curve(points, frozen);  // neighbours in space near in memory
        return radius;
      }
    }
    open.resize(kept);
  }
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
          if (j != i) piece.list.push_back(j);
        });
        piece.end.push_back(static_cast<std::uint32_t>(piece.list.size()));
      }
    });
  }
};

// One step of the points from `frozen` on: all read the old positions, each writes its own new one. The energy of a
// pair at distance q (in kernel widths) is (1 - q)^4. Returns the mean movement.
double push(const LevelSet& surface, const Neighbours& neighbours, std::size_t frozen, float width, const Points& from,
            Points& to) {
  // The stiffness is summed as if every neighbour pushed along the step, so it is about twice the true one; that leaves
  // room for a little more than one step although all points move at once.
  constexpr float k_share = 1.2F;
  constexpr float k_longest_step = 0.2F;  // widths
  std::vector<double> moved(neighbours.pieces.size());
  const float inverse_width_squared = 1 / (width * width);
  parallel_for(from.size() - frozen, k_grain, [&](std::size_t begin, std::size_t end) {
    const Neighbours::Piece& piece = neighbours.pieces[begin / k_grain];
    std::uint32_t k = 0;
    double sum = 0;
    for (std::size_t i = frozen + begin; i < frozen + end; ++i) {
      const Vec3f p = from.positions[i], n = from.normals[i];
      Vec3f force;
      float stiffness = 1e-6F;
      for (const std::uint32_t k_end = piece.end[i - frozen - begin]; k < k_end; ++k) {
        const Vec3f between = p - from.positions[piece.list[k]];
        const float q_squared = apart_squared(between, n, from.normals[piece.list[k]]) * inverse_width_squared;
        if (q_squared >= 1 || q_squared == 0) continue;
        const float q = std::sqrt(q_squared);
        const float left = 1 - q;
        force += between * (left * left * left / q);
        stiffness += 3 * left * left;
      }
      Vec3f step = (force - n * dot(force, n)) * (k_share / stiffness);
      const float length = norm(step);
      if (length > k_longest_step * width) step *= k_longest_step * width / length;
      to.positions[i] = p + step;
      to.normals[i] = n;
      if (!surface.follow(to.positions[i], to.normals[i])) to.positions[i] = p;
      sum += static_cast<double>(norm(to.positions[i] - p));
    }
    moved[begin / k_grain] = sum;
  });
  double total = 0;
  for (const double m : moved) total += m;
  return total / static_cast<double>(from.size() - frozen);
}

// Lets the points from `frozen` on push each other. `radius` is the distance at which darts filled the level.
template <class Report>
void relax(const LevelSet& surface, std::size_t frozen, float radius, Points& points, const Report& report) {
  // A wide kernel evens out density first; the narrow one, hardly reaching the nearest neighbour, then evens out the
  // distances themselves.
  constexpr float k_wide = 2.2F, k_narrow = 1.4F;
  constexpr float k_skin = 0.3F;   // lists reach this much farther, so that they serve for several steps
  constexpr double k_stale = 0.1;  // mean movement after which they are made anew
  const int steps = points.size() <= k_few ? 100 : 40;
  Neighbours neighbours;
  Points next = points;
  double since_found = std::numeric_limits<double>::infinity();
  for (int step = 0; step < steps; ++step) {
    report(static_cast<double>(step) / steps);
    const float t = std::min(1.0F, 2 * static_cast<float>(step) / static_cast<float>(steps));
    const float width = (k_wide + t * (k_narrow - k_wide)) * radius;
    if (since_found > k_stale * static_cast<double>(radius)) {
      neighbours.find(points, frozen, width + k_skin * radius);
      since_found = 0;
    }
    since_found += push(surface, neighbours, frozen, width, points, next);
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
    const std::size_t frozen = all.size();
    // Work is about proportional to the points added; finding the gaps takes a third of it.
    const auto report = [&](double share) {
      progress.update("Spreading points",
                      (static_cast<double>(frozen) + share * static_cast<double>(target - frozen)) / points);
    };
    const auto spacing = static_cast<float>(std::sqrt(2 * area / (std::sqrt(3.0) * target)));
    const int attempts = target <= k_few ? k_attempts : 1;
    Points best;
    double best_variation = std::numeric_limits<double>::infinity();
    for (int attempt = 0; attempt < attempts && best_variation > k_even; ++attempt) {
      Points trial = all;
      report(static_cast<double>(attempt) / attempts);
      const float radius = fill_gaps(surface, target, spacing, random.bits(), trial);
      relax(surface, frozen, radius, trial, [&](double share) { report((attempt + (1 + 2 * share) / 3) / attempts); });
      const double variation = attempts > 1 ? measure_spacing(trial.positions).variation : 0;
      if (variation < best_variation) {
        best_variation = variation;
        best = std::move(trial);
      }
    }
    all = std::move(best);
  }
  progress.update("Spreading points", 1);
  nested.positions = std::move(all.positions);
  nested.inward_normals = std::move(all.normals);
  for (Vec3f& n : nested.inward_normals) n = -n;
  return nested;
}

}  // namespace cotouch

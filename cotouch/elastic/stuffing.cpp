#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/base/parallel.h>
#include <cotouch/elastic/stencil.h>
#include <cotouch/elastic/stuffing.h>
#include <cotouch/field/mass.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <vector>

namespace cotouch {
namespace {

constexpr double k_infinity = std::numeric_limits<double>::infinity();
constexpr std::uint32_t k_none = 0xffffffff;
constexpr double k_most_points = 1 << 25;  // of the lattice, for it is kept whole in memory

// A point closer to a cut than this share of the edge moves there. The larger the shares, the better the tetrahedra at
// cuts and the worse those whose corners were moved. Trying all stencils with all extreme positions of cuts and moved
// corners gives angles from 10.78 to 164.73 degrees for these.
constexpr double k_snap_long = 0.2851, k_snap_short = 0.3988;

// The points are those of two cubic lattices, the second in the middles of the first one's cubes. A point has the
// number 2 * (place in its cubic lattice, x fastest) + (1 if it belongs to the second).
class Lattice {
 public:
  // More points than are allowed: none.
  static std::optional<Lattice> over(const Field& field, double edge) {
    const Box3f box = field.box();
    const Vec3d size = Vec3d(box.size());
    // Two cubes to spare at each side, so that every point that could be inside or move has all its neighbours.
    const Vec3d cubes{std::ceil(size.x / edge) + 4, std::ceil(size.y / edge) + 4, std::ceil(size.z / edge) + 4};
    if (!(2 * (cubes.x + 1) * (cubes.y + 1) * (cubes.z + 1) <= k_most_points)) return std::nullopt;
    return Lattice(field, edge, Vec3d(box.center()) - cubes * (edge / 2), cubes);
  }

  // More than k_most_tets: none. Without tetrahedra if the lattice is too coarse.
  std::optional<TetMesh> fill() {
    find_cuts();
    snap();
    return fill_tets();
  }

 private:
  Lattice(const Field& field, double edge, const Vec3d& origin, const Vec3d& cubes)
      : field_(field), edge_(edge), origin_(origin) {
    for (std::size_t axis = 0; axis < 3; ++axis) counts_[axis] = static_cast<std::uint32_t>(cubes[axis]) + 1;
    stride_ = {2, 2 * counts_[0], 2 * counts_[0] * counts_[1]};
    side_.resize(std::size_t{stride_[2]} * counts_[2]);
    parallel_for(counts_[2], 1, [this](std::size_t begin, std::size_t end) {
      for (std::size_t p = begin * stride_[2]; p < end * stride_[2]; ++p)
        side_[p] = side_of(static_cast<std::uint32_t>(p));
    });
  }

  // An edge that the surface crosses belongs to one of its ends: a long edge to the lower one, a short edge to the one
  // of the second cubic lattice.
  struct Cut {
    std::uint32_t from, to;
    double at;  // from 0 to 1
  };

  std::array<std::uint32_t, 3> place(std::uint32_t p) const {
    return {p / 2 % counts_[0], p / stride_[1] % counts_[1], p / stride_[2]};
  }
  Vec3d position(std::uint32_t p) const {
    const auto [x, y, z] = place(p);
    const double half = p % 2 ? 0.5 : 0;
    return origin_ + Vec3d{x + half, y + half, z + half} * edge_;
  }
  bool odd(std::uint32_t p) const {
    const auto [x, y, z] = place(p);
    return (x + y + z) % 2 != 0;
  }
  std::int8_t side_of(std::uint32_t p) const {
    const auto at = place(p);
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (at[axis] < 2 || at[axis] + 2 >= counts_[axis]) return -1;
    const float distance = field_.distance(Vec3f(position(p)));
    return static_cast<std::int8_t>((distance < 0) - (distance > 0));
  }
  // The far end of a point's short edge; all edges have another `direction`, from 0 to 7.
  std::uint32_t short_end(std::uint32_t p, unsigned direction) const {
    const std::uint32_t step =
        (direction & 1 ? stride_[0] : 0) + (direction & 2 ? stride_[1] : 0) + (direction & 4 ? stride_[2] : 0);
    return p % 2 ? p - 1 + step : p + 1 - step;
  }
  static bool is_long(const Cut& cut) { return cut.from % 2 == cut.to % 2; }
  Vec3d position(const Cut& cut) const {
    const Vec3d a = position(cut.from);
    return a + (position(cut.to) - a) * cut.at;
  }

  void find_cuts();
  double cut_position(std::uint32_t from, std::uint32_t to) const;
  std::uint32_t find_cut(std::uint32_t a, std::uint32_t b) const;
  void snap();
  std::uint32_t violated_by(std::uint32_t p) const;
  std::optional<TetMesh> fill_tets();
  std::uint32_t node(TetMesh& mesh, std::uint32_t a, std::uint32_t b);

  const Field& field_;
  double edge_;
  Vec3d origin_;
  std::array<std::uint32_t, 3> counts_{}, stride_{};
  std::vector<std::int8_t> side_;  // of each point: 1 inside, 0 on the surface, -1 outside
  std::vector<Cut> cuts_;          // ordered by where they belong
  std::vector<std::uint32_t> first_cut_;
  struct Moved {
    std::uint32_t point, cut;
  };
  std::vector<Moved> moved_;  // ascending
  std::vector<std::uint32_t> node_of_point_, node_of_cut_;
};

void Lattice::find_cuts() {
  first_cut_.resize(side_.size() + 1);
  const auto try_edge = [this](std::uint32_t from, std::uint32_t to) {
    if (side_[from] * side_[to] < 0) cuts_.push_back({from, to, cut_position(from, to)});
  };
  for (std::uint32_t p = 0; p < side_.size(); ++p) {
    throw_if_cancelled();
    first_cut_[p] = static_cast<std::uint32_t>(cuts_.size());
    const auto at = place(p);
    // The last points of a row are outside like all their neighbours.
    if (at[0] + 1 == counts_[0] || at[1] + 1 == counts_[1] || at[2] + 1 == counts_[2]) continue;
    for (const std::uint32_t step : stride_) try_edge(p, p + step);
    if (p % 2)
      for (unsigned direction = 0; direction < 8; ++direction) try_edge(p, short_end(p, direction));
  }
  first_cut_.back() = static_cast<std::uint32_t>(cuts_.size());
}

double Lattice::cut_position(std::uint32_t from, std::uint32_t to) const {
  const Vec3d a = position(from), along = position(to) - a;
  const bool begins_inside = side_[from] > 0;
  // Halving finds a crossing whatever the field does between the ends; what is left is nearly straight.
  constexpr int k_halvings = 16;
  double low = 0, high = 1;
  double at_low = static_cast<double>(field_.distance(Vec3f(a)));
  double at_high = static_cast<double>(field_.distance(Vec3f(a + along)));
  for (int i = 0; i < k_halvings; ++i) {
    const double middle = (low + high) / 2;
    const auto value = static_cast<double>(field_.distance(Vec3f(a + along * middle)));
    if ((value < 0) == begins_inside) {
      low = middle;
      at_low = value;
    } else {
      high = middle;
      at_high = value;
    }
  }
  const double share = at_low / (at_low - at_high);
  return share >= 0 && share <= 1 ? low + (high - low) * share : low;
}

std::uint32_t Lattice::find_cut(std::uint32_t a, std::uint32_t b) const {
  const bool same_lattice = a % 2 == b % 2;
  const std::uint32_t from = same_lattice ? std::min(a, b) : a % 2 ? a : b;
  const std::uint32_t to = from == a ? b : a;
  for (std::uint32_t i = first_cut_[from]; i < first_cut_[from + 1]; ++i)
    if (cuts_[i].to == to) return i;
  return k_none;
}

// Moves points onto the surface if a cut is too close, one after another: a point that was moved lies on the surface,
// so its edges are no longer cut, which spares its neighbours.
void Lattice::snap() {
  for (std::uint32_t p = 0; p < side_.size(); ++p) {
    if (side_[p] == 0) continue;
    throw_if_cancelled();
    const std::uint32_t cut = violated_by(p);
    if (cut == k_none) continue;
    side_[p] = 0;
    moved_.push_back({p, cut});
  }
}

// The closest cut that is too close to the point, if there is one.
std::uint32_t Lattice::violated_by(std::uint32_t p) const {
  std::uint32_t closest = k_none;
  double least = 1;  // in long edges
  const auto look_at = [&](std::uint32_t neighbour) {
    if (side_[p] * side_[neighbour] >= 0) return;
    const std::uint32_t i = find_cut(p, neighbour);
    const Cut& cut = cuts_[i];
    const double share = cut.from == p ? cut.at : 1 - cut.at;
    if (share >= (is_long(cut) ? k_snap_long : k_snap_short)) return;
    const double distance = is_long(cut) ? share : share * 0.8660254037844386;
    if (distance < least) {
      least = distance;
      closest = i;
    }
  };
  const auto at = place(p);
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (at[axis] == 0 || at[axis] + 1 == counts_[axis]) return k_none;  // outside like all its neighbours
  for (const std::uint32_t step : stride_) {
    look_at(p - step);
    look_at(p + step);
  }
  for (unsigned direction = 0; direction < 8; ++direction) look_at(short_end(p, direction));
  return closest;
}

// The node at a point (a == b) or at the cut of the edge between two.
std::uint32_t Lattice::node(TetMesh& mesh, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t cut = a == b ? k_none : find_cut(a, b);
  std::uint32_t& number = a == b ? node_of_point_[a] : node_of_cut_[cut];
  if (number != k_none) return number;
  number = static_cast<std::uint32_t>(mesh.nodes.size());
  if (a != b) {
    mesh.nodes.push_back(position(cuts_[cut]));
  } else {
    const auto moved = std::lower_bound(moved_.begin(), moved_.end(), a,
                                        [](const Moved& m, std::uint32_t point) { return m.point < point; });
    const bool was_moved = moved != moved_.end() && moved->point == a;
    mesh.nodes.push_back(was_moved ? position(cuts_[moved->cut]) : position(a));
  }
  return number;
}

std::optional<TetMesh> Lattice::fill_tets() {
  node_of_point_.assign(side_.size(), k_none);
  node_of_cut_.assign(cuts_.size(), k_none);
  TetMesh mesh;
  bool whole = false;
  for (std::uint32_t p = 1; p < side_.size(); p += 2) {
    throw_if_cancelled();
    const auto at = place(p);
    if (at[0] + 1 == counts_[0] || at[1] + 1 == counts_[1] || at[2] + 1 == counts_[2]) continue;
    // Four tetrahedra lie around the long edge to the next point along each axis, which passes through the face between
    // their two cubes.
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::uint32_t u = stride_[(axis + 1) % 3], v = stride_[(axis + 2) % 3], face = p - 1 + stride_[axis];
      const std::array<std::uint32_t, 4> around{face, face + u, face + u + v, face + v};
      for (std::size_t i = 0; i < 4; ++i) {
        const Tet points{p, p + stride_[axis], around[i], around[(i + 1) % 4]};
        LatticeTet tet;
        bool inside = false, cut = false;
        for (std::size_t k = 0; k < 4; ++k) {
          tet.side[k] = side_[points[k]];
          inside |= tet.side[k] > 0;
          cut |= tet.side[k] < 0;
        }
        if (!inside) continue;
        whole |= !cut;
        for (std::size_t k = 0; k < 4; ++k) tet.odd[k] = odd(points[k]);
        const Stencil stencil = cotouch::fill(tet);
        for (std::size_t k = 0; k < stencil.count; ++k) {
          Tet filling;
          for (std::size_t n = 0; n < 4; ++n)
            filling[n] = node(mesh, points[stencil.fillings[k][n].a], points[stencil.fillings[k][n].b]);
          mesh.tets.push_back(filling);
        }
        if (mesh.tets.size() > k_most_tets) return std::nullopt;
      }
    }
  }
  if (!whole) return TetMesh{};
  return mesh;
}

// More points or tetrahedra than are allowed: none. No tetrahedra if the edge is too long.
std::optional<TetMesh> stuff(const Field& field, double edge) {
  std::optional<Lattice> lattice = Lattice::over(field, edge);
  return lattice ? lattice->fill() : std::nullopt;
}

double cube_root(double a) {
  double x = std::max(a, 1.0);
  for (;;) {  // Newton's steps from above go down until rounding stops them
    const double next = (2 * x + a / (x * x)) / 3;
    if (!(next < x)) return x;
    x = next;
  }
}

std::string in_metres(double length) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g m", length);
  return text;
}

[[noreturn]] void refuse_too_coarse(const Field& field, double edge) {
  constexpr int k_tries = 8;
  std::string advice = "It is too thin to be cut into tetrahedra at all; thicken it or leave it rigid.";
  const Vec3f size = field.box().size();
  double shorter = std::min(edge, static_cast<double>(std::max({size.x, size.y, size.z})));
  for (int i = 0; i < k_tries; ++i) {
    shorter /= 2;
    const std::optional<TetMesh> mesh = stuff(field, shorter);
    if (!mesh) break;
    if (mesh->tets.empty()) continue;
    advice = "An edge of " + in_metres(shorter) + " works.";
    break;
  }
  throw Error(
      "An edge of " + in_metres(edge) + " is too coarse for this part: no whole tetrahedron fits inside. " + advice,
      ErrorCode::invalid_argument);
}

TetMesh with_edge(const Field& field, double edge) {
  std::optional<TetMesh> mesh = stuff(field, edge);
  if (!mesh)
    throw Error("An edge of " + in_metres(edge) + " is too short for this part: it would need more than the " +
                    std::to_string(k_most_tets) + " tetrahedra allowed or more memory than is sensible. Try " +
                    in_metres(2 * edge) + ".",
                ErrorCode::too_large);
  if (mesh->tets.empty()) refuse_too_coarse(field, edge);
  return *std::move(mesh);
}

TetMesh with_target(const Field& field, double target, Progress& progress) {
  constexpr int k_tries = 12;
  constexpr double k_close = 0.1;
  const double volume = mass_properties(field, 1).mass;
  double edge = cube_root(12 * volume / target);  // a cube of the lattice has twelve tetrahedra
  // Edges that gave too many and too few.
  double too_short = 0, too_long = k_infinity;
  TetMesh best;
  const auto error_of = [&](const TetMesh& mesh) {
    return std::fabs(static_cast<double>(mesh.tets.size()) - target) / target;
  };
  for (int i = 0; i < k_tries; ++i) {
    progress.update("cutting into tetrahedra", static_cast<double>(i) / k_tries);
    std::optional<TetMesh> mesh = stuff(field, edge);
    const double count = mesh ? static_cast<double>(mesh->tets.size()) : k_infinity;
    (count > target ? too_short : too_long) = edge;
    double next = edge * (!mesh ? 1.5 : count == 0 ? 0.7 : cube_root(count / target));
    if (count > 0 && mesh && (best.tets.empty() || error_of(*mesh) < error_of(best))) best = *std::move(mesh);
    if (!best.tets.empty() && error_of(best) <= k_close) break;
    if (!(next > too_short && next < too_long)) next = (too_short + too_long) / 2;
    edge = next;
  }
  if (best.tets.empty()) refuse_too_coarse(field, edge);
  return best;
}

}  // namespace

TetMesh tetrahedralise(const Field& field, const TetSettings& settings, Progress& progress) {
  if (!(settings.edge >= 0 && settings.edge < k_infinity))
    throw Error("The edge of tetrahedra must be a length in metres, or 0 to have it chosen.",
                ErrorCode::invalid_argument);
  if (settings.edge == 0 && (settings.target_tets == 0 || settings.target_tets > k_most_tets))
    throw Error("The number of tetrahedra must be between 1 and " + std::to_string(k_most_tets) + ".",
                ErrorCode::invalid_argument);
  progress.update("cutting into tetrahedra", 0);
  TetMesh mesh =
      settings.edge > 0 ? with_edge(field, settings.edge) : with_target(field, settings.target_tets, progress);
  progress.update("cutting into tetrahedra", 1);
  return mesh;
}

}  // namespace cotouch

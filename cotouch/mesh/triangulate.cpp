#include <cotouch/mesh/triangulate.h>

namespace cotouch {
namespace {

// Looking for an ear goes through all corners, and every corner may be looked at several times. Work per corner thus
// grows with the polygon; beyond these bounds the rest of it is halved.
constexpr std::size_t k_most_corners = 1024;
constexpr std::size_t k_most_looks = 16;  // at each corner, on average

struct Flat {
  double x, y;
};

// Twice the area of abc, positive counter-clockwise.
double turn(const Flat& a, const Flat& b, const Flat& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// The polygon seen along the main axis of its area vector (Newell), counter-clockwise. Empty where it has no area.
std::vector<Flat> flatten(const TriangleMesh& mesh, std::span<const std::uint32_t> corners) {
  Vec3d area;
  const Vec3d& origin = mesh.vertices[corners[0]];
  for (std::size_t i = 1; i + 1 < corners.size(); ++i)
    area += cross(mesh.vertices[corners[i]] - origin, mesh.vertices[corners[i + 1]] - origin);
  const double ax = std::fabs(area.x), ay = std::fabs(area.y), az = std::fabs(area.z);
  const std::size_t along = ax >= ay && ax >= az ? 0 : ay >= az ? 1 : 2;
  if (!(std::fabs(area[along]) > 0)) return {};
  const std::size_t u = (along + 1) % 3, v = (along + 2) % 3;
  const bool mirrored = area[along] < 0;
  std::vector<Flat> flat;
  for (const std::uint32_t corner : corners) {
    const Vec3d& p = mesh.vertices[corner];
    flat.push_back(mirrored ? Flat{p[v], p[u]} : Flat{p[u], p[v]});
  }
  return flat;
}

// Cuts off one half of the corners, then the next, and each half again likewise. Of a round polygon this makes compact
// triangles, a few of which meet in each corner; a fan would make slivers that all meet in one, and what looks for
// neighbours would find all of them everywhere.
void halve(TriangleMesh& mesh, std::span<const std::uint32_t> corners, std::span<const std::size_t> left) {
  std::vector<std::span<const std::size_t>> chains{left};  // each closed by the line from its last to its first
  while (!chains.empty()) {
    const std::span<const std::size_t> chain = chains.back();
    chains.pop_back();
    if (chain.size() < 3) continue;
    const std::size_t middle = chain.size() / 2;
    mesh.triangles.push_back({corners[chain.front()], corners[chain[middle]], corners[chain.back()]});
    chains.push_back(chain.subspan(middle));
    chains.push_back(chain.first(middle + 1));
  }
}

}  // namespace

void add_polygon(TriangleMesh& mesh, std::span<const std::uint32_t> corners) {
  if (corners.size() < 3) return;
  if (corners.size() == 3) {
    mesh.triangles.push_back({corners[0], corners[1], corners[2]});
    return;
  }
  std::vector<Flat> flat;
  if (corners.size() <= k_most_corners) flat = flatten(mesh, corners);

  std::vector<std::size_t> left(corners.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  // An ear: a corner that turns left, with no other corner in its triangle.
  const auto is_ear = [&](std::size_t i) {
    const std::size_t n = left.size();
    const std::size_t before = left[(i + n - 1) % n], at = left[i], after = left[(i + 1) % n];
    if (!(turn(flat[before], flat[at], flat[after]) > 0)) return false;
    for (const std::size_t other : left) {
      if (other == before || other == at || other == after) continue;
      if (turn(flat[before], flat[at], flat[other]) >= 0 && turn(flat[at], flat[after], flat[other]) >= 0 &&
          turn(flat[after], flat[before], flat[other]) >= 0)
        return false;
    }
    return true;
  };
  // The next ear is mostly where the last one was: of a spiral only the ends can be cut.
  std::size_t at = 0, in_vain = 0;
  for (std::size_t looks = k_most_looks * corners.size(); !flat.empty() && left.size() > 3 && looks > 0; --looks) {
    const std::size_t n = left.size();
    if (in_vain == n) break;  // it crosses itself
    if (!is_ear(at)) {
      at = (at + 1) % n;
      ++in_vain;
      continue;
    }
    mesh.triangles.push_back({corners[left[(at + n - 1) % n]], corners[left[at]], corners[left[(at + 1) % n]]});
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
    at = (at + n - 2) % (n - 1);
    in_vain = 0;
  }
  halve(mesh, corners, left);
}

}  // namespace cotouch

#include <cotouch/mesh/subdivide.h>

#include <cotouch/base/cancel.h>
#include <cotouch/base/salt.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace cotouch {
namespace {

class Halver {
 public:
  Halver(const TriangleMesh& mesh, double longest) : longest_squared_(longest * longest) {
    out_.name = mesh.name;
    out_.vertices = mesh.vertices;
  }

  // False once there are more than `most` triangles.
  bool add(const Triangle& whole, std::size_t most) {
    todo_.assign(1, whole);
    while (!todo_.empty()) {
      throw_if_cancelled();
      const Triangle t = todo_.back();
      todo_.pop_back();
      std::size_t edge = 0;
      double length_squared = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        const double l = norm_squared(out_.vertices[t[(i + 1) % 3]] - out_.vertices[t[i]]);
        if (l > length_squared) {
          length_squared = l;
          edge = i;
        }
      }
      if (!(length_squared > longest_squared_)) {
        out_.triangles.push_back(t);
        if (out_.triangles.size() > most) return false;
        continue;
      }
      const std::uint32_t a = t[edge], b = t[(edge + 1) % 3], c = t[(edge + 2) % 3];
      const std::uint32_t middle = middle_of(a, b);
      todo_.push_back({a, middle, c});
      todo_.push_back({middle, b, c});
    }
    return true;
  }

  TriangleMesh take() { return std::move(out_); }

 private:
  std::uint32_t middle_of(std::uint32_t a, std::uint32_t b) {
    const std::uint64_t key = std::uint64_t{std::min(a, b)} << 32 | std::max(a, b);
    const auto [found, is_new] = middles_.try_emplace(key, static_cast<std::uint32_t>(out_.vertices.size()));
    if (is_new) out_.vertices.push_back((out_.vertices[a] + out_.vertices[b]) * 0.5);
    return found->second;
  }

  double longest_squared_;
  TriangleMesh out_;
  std::vector<Triangle> todo_;
  std::unordered_map<std::uint64_t, std::uint32_t, SaltedHash> middles_;  // looked up, never walked
};

}  // namespace

TriangleMesh with_short_edges(const TriangleMesh& mesh, double longest, std::size_t most) {
  // Twice the length until it fits; with edges as long as the mesh itself nothing is left to halve.
  for (const double whole = norm(mesh.bounds().size()); longest > 0 && longest < whole; longest *= 2) {
    Halver halver(mesh, longest);
    if (std::all_of(mesh.triangles.begin(), mesh.triangles.end(),
                    [&](const Triangle& t) { return halver.add(t, most); }))
      return halver.take();
  }
  return mesh;
}

}  // namespace cotouch

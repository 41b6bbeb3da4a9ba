#include <cotouch/session/display_mesh.h>

#include <meshoptimizer.h>

#include <algorithm>
#include <limits>

namespace cotouch {
namespace {

// A mesh as meshoptimizer takes it. Corners at the same place share a vertex: soup comes with three for each triangle,
// and of edges that nobody shares none could be removed.
class Simplifier {
 public:
  explicit Simplifier(const TriangleMesh& mesh) {
    const Vec3d middle = mesh.bounds().center();
    positions_.reserve(mesh.vertices.size());
    for (const Vec3d& vertex : mesh.vertices) positions_.emplace_back(vertex - middle);  // of parts far from the origin
    std::vector<unsigned> corners;
    corners.reserve(3 * mesh.triangles.size());
    for (const Triangle& t : mesh.triangles) corners.insert(corners.end(), t.begin(), t.end());
    indices_.resize(corners.size());
    meshopt_generateShadowIndexBuffer(indices_.data(), corners.data(), corners.size(), places(), positions_.size(),
                                      sizeof(Vec3f), sizeof(Vec3f));
  }

  std::size_t triangles() const { return indices_.size() / 3; }

  // Towards so many triangles, as far as the surface moves by no more than `error` metres.
  void simplify(std::size_t triangles, double error) {
    const double scale = static_cast<double>(meshopt_simplifyScale(places(), positions_.size(), sizeof(Vec3f)));
    const auto share = static_cast<float>(std::min(1.0, error / std::max(scale, 1e-300)));
    std::vector<unsigned> left(indices_.size());
    left.resize(meshopt_simplify(left.data(), indices_.data(), indices_.size(), places(), positions_.size(),
                                 sizeof(Vec3f), 3 * triangles, share, 0, nullptr));
    indices_ = std::move(left);
  }

  // To so many triangles, whatever becomes of holes and handles. A mesh of which nothing would be left stays.
  void simplify_roughly(std::size_t triangles) {
    std::vector<unsigned> left(indices_.size());
    left.resize(meshopt_simplifySloppy(left.data(), indices_.data(), indices_.size(), places(), positions_.size(),
                                       sizeof(Vec3f), 3 * triangles, 1.0F, nullptr));
    if (!left.empty()) indices_ = std::move(left);
  }

  TriangleMesh result(const TriangleMesh& mesh) const {
    constexpr std::uint32_t k_unused = std::numeric_limits<std::uint32_t>::max();
    TriangleMesh out;
    out.name = mesh.name;
    std::vector<std::uint32_t> number(mesh.vertices.size(), k_unused);
    out.triangles.reserve(triangles());
    for (std::size_t i = 0; i + 2 < indices_.size(); i += 3) {
      Triangle& triangle = out.triangles.emplace_back();
      for (std::size_t k = 0; k < 3; ++k) {
        std::uint32_t& vertex = number[indices_[i + k]];
        if (vertex == k_unused) {
          vertex = static_cast<std::uint32_t>(out.vertices.size());
          out.vertices.push_back(mesh.vertices[indices_[i + k]]);
        }
        triangle[k] = vertex;
      }
    }
    return out;
  }

 private:
  const float* places() const { return &positions_.front().x; }

  std::vector<Vec3f> positions_;
  std::vector<unsigned> indices_;
};

}  // namespace

TriangleMesh display_mesh(const TriangleMesh& mesh, const DisplayLimits& limits) {
  if (mesh.triangles.size() <= std::min(limits.exact, limits.most)) return mesh;
  const double size = norm(mesh.bounds().size());
  Simplifier simplifier(mesh);
  simplifier.simplify(std::min(limits.exact, limits.most), limits.error * size);
  if (simplifier.triangles() > limits.most) simplifier.simplify(limits.most, size);
  if (simplifier.triangles() > limits.most) simplifier.simplify_roughly(limits.most);
  return simplifier.result(mesh);
}

}  // namespace cotouch

#include <cotouch/session/display_mesh.h>

#include <cotouch/base/cancel.h>
#include <cotouch/base/random.h>
#include <cotouch/net/crypto.h>

#include <meshoptimizer.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <semaphore>
#include <span>
#include <thread>

namespace cotouch {
namespace {

// meshoptimizer cannot be ended on its way. So it works on a thread of its own, which is left behind if its result is
// no longer wanted: the work then ends here at once, and there a little later. One at a time, so that whoever cancels
// again and again leaves no more behind than one.
void wait_cancellable(std::binary_semaphore& turn) {
  while (!turn.try_acquire_for(std::chrono::milliseconds(20))) throw_if_cancelled();
}

void do_elsewhere(std::function<void()> work) {
  static std::binary_semaphore nothing_runs{1};
  struct Outcome {
    std::binary_semaphore done{0};
    std::exception_ptr failure;
  };
  wait_cancellable(nothing_runs);
  const auto outcome = std::make_shared<Outcome>();
  const auto run = [outcome, work = std::move(work)]() mutable {
    try {
      work();
    } catch (...) {
      outcome->failure = std::current_exception();
    }
    work = nullptr;  // what it has goes before the next one begins
    nothing_runs.release();
    outcome->done.release();
  };
  try {
    std::thread(run).detach();
  } catch (...) {
    nothing_runs.release();
    throw;
  }
  wait_cancellable(outcome->done);
  if (outcome->failure) std::rethrow_exception(outcome->failure);
}

// A mesh as meshoptimizer takes it. Corners at the same place share a vertex: soup comes with three for each triangle,
// and of edges that nobody shares none could be removed.
//
// Its tables (version 0.18) hash the bits of positions, the cells of a grid over all of them, and the numbers of
// vertices, in ways that can be worked backwards: of 100,000 vertices that all meet in one place of such a table, a
// thousand triangles take most of a minute. So positions are moved, the bounds that the grid covers as well, and
// vertices are numbered anew, by what follows from a hash of the whole mesh that cannot be worked backwards: nobody can
// make a mesh that collides once it is moved as its own hash says, and the same mesh always looks the same.
class Simplifier {
 public:
  explicit Simplifier(const TriangleMesh& mesh) : number_(mesh.vertices.size()) {
    const Digest digest =
        hash_of("cotouch picture", {std::as_bytes(std::span(mesh.vertices)), std::as_bytes(std::span(mesh.triangles))});
    std::uint64_t seed = 0;
    std::memcpy(&seed, digest.data(), sizeof seed);
    Random random(seed);
    throw_if_cancelled();
    std::iota(number_.begin(), number_.end(), 0U);
    for (std::size_t i = number_.size(); i > 1; --i) std::swap(number_[i - 1], number_[random.below(i)]);

    const Box3d bounds = mesh.bounds();
    const Vec3d size = max(bounds.size(), norm(bounds.size()) * Vec3d{1e-3, 1e-3, 1e-3});
    const auto some_of = [&](double share) {
      const double x = random.uniform(0, share), y = random.uniform(0, share), z = random.uniform(0, share);
      return Vec3d{x * size.x, y * size.y, z * size.z};
    };
    const Vec3d aside = some_of(1) - bounds.center();  // of parts far from the origin, too
    positions_.resize(mesh.vertices.size());
    for (std::size_t i = 0; i < number_.size(); ++i) positions_[number_[i]] = Vec3f(mesh.vertices[i] + aside);
    positions_.emplace_back(bounds.low - some_of(0.1) + aside);  // no triangle has these
    positions_.emplace_back(bounds.high + some_of(0.1) + aside);

    throw_if_cancelled();
    indices_.reserve(3 * mesh.triangles.size());
    for (const Triangle& t : mesh.triangles)
      for (const std::uint32_t corner : t) indices_.push_back(number_[corner]);
  }

  void join_corners() {
    std::vector<unsigned> joined(indices_.size());
    meshopt_generateShadowIndexBuffer(joined.data(), indices_.data(), indices_.size(), places(), positions_.size(),
                                      sizeof(Vec3f), sizeof(Vec3f));
    indices_ = std::move(joined);
  }

  std::size_t triangles() const { return indices_.size() / 3; }

  // Whether so many triangles meet in one vertex that collapsing edges, which looks at all of them for each of them,
  // would take longer than anybody waits, this mesh's owner or the next one's.
  bool is_crowded() const {
    constexpr std::uint64_t k_most_looks = 2'000'000'000;  // some seconds; of 4 million usual triangles 72 million
    std::vector<std::uint64_t> around(positions_.size());
    for (const unsigned vertex : indices_) ++around[vertex];
    std::uint64_t looks = 0;
    for (const std::uint64_t count : around) looks += count * count;
    return looks > k_most_looks;
  }

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
    std::vector<std::uint32_t> vertex_of(positions_.size());
    for (std::size_t i = 0; i < number_.size(); ++i) vertex_of[number_[i]] = static_cast<std::uint32_t>(i);
    std::vector<std::uint32_t> kept(mesh.vertices.size(), k_unused);
    out.triangles.reserve(triangles());
    for (std::size_t i = 0; i + 2 < indices_.size(); i += 3) {
      Triangle& triangle = out.triangles.emplace_back();
      for (std::size_t k = 0; k < 3; ++k) {
        const std::uint32_t from = vertex_of[indices_[i + k]];
        if (kept[from] == k_unused) {
          kept[from] = static_cast<std::uint32_t>(out.vertices.size());
          out.vertices.push_back(mesh.vertices[from]);
        }
        triangle[k] = kept[from];
      }
    }
    return out;
  }

 private:
  const float* places() const { return &positions_.front().x; }

  std::vector<std::uint32_t> number_;  // of the mesh's vertices among these
  std::vector<Vec3f> positions_;
  std::vector<unsigned> indices_;
};

}  // namespace

TriangleMesh display_mesh(const TriangleMesh& mesh, const DisplayLimits& limits) {
  if (mesh.triangles.size() <= std::min(limits.exact, limits.most)) return mesh;
  const double size = norm(mesh.bounds().size());
  const auto simplifier = std::make_shared<Simplifier>(mesh);
  do_elsewhere([simplifier, limits, size] {
    simplifier->join_corners();
    if (!simplifier->is_crowded()) {
      simplifier->simplify(std::min(limits.exact, limits.most), limits.error * size);
      if (simplifier->triangles() > limits.most) simplifier->simplify(limits.most, size);
    }
    if (simplifier->triangles() > limits.most) simplifier->simplify_roughly(limits.most);
  });
  return simplifier->result(mesh);
}

}  // namespace cotouch

#include <cotouch/experiment/peer_fcl.h>

#include <chrono>

// FCL's headers are not clean under our warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#pragma GCC diagnostic ignored "-Wextra"
#include <fcl/geometry/bvh/BVH_model.h>
#include <fcl/narrowphase/collision.h>
#pragma GCC diagnostic pop

namespace cotouch {
namespace {

using Model = fcl::BVHModel<fcl::OBBRSSd>;

std::shared_ptr<Model> make_model(const TriangleMesh& mesh) {
  std::vector<fcl::Vector3d> vertices;
  vertices.reserve(mesh.vertices.size());
  for (const Vec3d& v : mesh.vertices) vertices.emplace_back(v.x, v.y, v.z);
  std::vector<fcl::Triangle> triangles;
  triangles.reserve(mesh.triangles.size());
  for (const Triangle& t : mesh.triangles) triangles.emplace_back(t[0], t[1], t[2]);
  auto model = std::make_shared<Model>();
  model->beginModel(static_cast<int>(triangles.size()), static_cast<int>(vertices.size()));
  model->addSubModel(vertices, triangles);
  model->endModel();
  return model;
}

fcl::Transform3d to_fcl(const Pose& pose) {
  fcl::Transform3d transform = fcl::Transform3d::Identity();
  transform.translation() = fcl::Vector3d(pose.position.x, pose.position.y, pose.position.z);
  transform.linear() =
      Eigen::Quaterniond(pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z).toRotationMatrix();
  return transform;
}

class FclPair final : public PeerPair {
 public:
  FclPair(const TriangleMesh& a, const TriangleMesh& b) : a_(make_model(a)), b_(make_model(b)) {}

  Answer collide(const Pose& a, const Pose& b, std::size_t max_contacts) const override {
    const fcl::CollisionObjectd first(a_, to_fcl(a));
    const fcl::CollisionObjectd second(b_, to_fcl(b));
    const fcl::CollisionRequestd request(max_contacts, true);
    fcl::CollisionResultd result;
    const auto start = std::chrono::steady_clock::now();
    fcl::collide(&first, &second, request, result);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    return {elapsed.count(), result.numContacts()};
  }

 private:
  std::shared_ptr<Model> a_, b_;
};

}  // namespace

std::unique_ptr<PeerPair> make_fcl_pair(const TriangleMesh& a, const TriangleMesh& b) {
  return std::make_unique<FclPair>(a, b);
}

}  // namespace cotouch

// The same contact question asked of FCL (mesh against mesh), to have a peer's time in the same run.
#pragma once

#include <cotouch/base/pose.h>
#include <cotouch/mesh/mesh.h>

#include <cstddef>
#include <memory>

namespace cotouch {

class FclPair {
 public:
  FclPair(const TriangleMesh& a, const TriangleMesh& b);
  ~FclPair();

  struct Answer {
    double seconds = 0;
    std::size_t contacts = 0;
  };
  // All intersecting triangle pairs with contact points and normals, up to `max_contacts`: what a penalty method over
  // meshes needs every cycle.
  Answer collide(const Pose& a, const Pose& b, std::size_t max_contacts) const;

 private:
  struct Models;
  std::unique_ptr<Models> models_;
};

}  // namespace cotouch

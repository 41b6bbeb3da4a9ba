// The same contact question asked of FCL (mesh against mesh), to have a peer's time in the same run. FCL may be missing
// when the program is built (COTOUCH_FCL); then the comparison says so.
#pragma once

#include <cotouch/base/pose.h>
#include <cotouch/experiment/experiment.h>
#include <cotouch/mesh/mesh.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace cotouch {

class PeerPair {
 public:
  virtual ~PeerPair() = default;

  struct Answer {
    double seconds = 0;
    std::size_t contacts = 0;
  };
  // All intersecting triangle pairs with contact points and normals, up to `max_contacts`: what a penalty method over
  // meshes needs every cycle.
  virtual Answer collide(const Pose& a, const Pose& b, std::size_t max_contacts) const = 0;
};

// Null if the program was built without FCL.
std::unique_ptr<PeerPair> make_fcl_pair(const TriangleMesh& a, const TriangleMesh& b);

// What both needed for the same question, each time that it was asked.
struct PeerTimes {
  std::string scene;
  std::size_t triangles[2] = {0, 0};
  std::vector<double> ours_us;
  std::vector<double> peer_us;  // none: there was no peer
  std::size_t peer_contacts = 0;
};
void add_peer_rows(const PeerTimes& times, ExperimentReport& report);

}  // namespace cotouch

// In place of peer_fcl.cpp where there is no FCL.
#include <cotouch/experiment/peer_fcl.h>

namespace cotouch {

std::unique_ptr<PeerPair> make_fcl_pair(const TriangleMesh&, const TriangleMesh&) {
  return nullptr;
}

}  // namespace cotouch

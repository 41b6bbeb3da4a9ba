// The parts of a small gearbox, to be put together by hand: the scene `assembly`. Metres.
//
// The housing is open at the top. Everything goes in from above, along -z, in the order of the list: a bearing into
// each pocket of the floor, the shafts into the bearings, a gear onto each shaft, bearings onto the shafts' upper ends,
// the cover over the bearings, and two screws through the cover's ears.
#pragma once

#include <cotouch/base/pose.h>
#include <cotouch/mesh/mesh.h>

#include <string>
#include <vector>

namespace cotouch {

struct GearboxPart {
  std::string name;
  TriangleMesh mesh;
  Pose assembled;  // in the housing's frame, with 0.7 mm of clearance to what holds the part
  Pose laid_out;   // in the same frame, on the table beside the housing
};

// The table on which the housing stands and the parts lie, half a millimetre below them: its upper side in the
// housing's frame, whose origin is in the middle of the floor's underside. The parts lie within 0.2 m of the origin
// along x and y.
inline constexpr double k_gearbox_table = -0.0155;

// In the order of assembly; the first is the housing, which stays where it is.
std::vector<GearboxPart> make_gearbox();

}  // namespace cotouch

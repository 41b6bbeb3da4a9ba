// The parts of the scenes in which something bends. Their flat sides are cut into small triangles, because a bent mesh
// is drawn by its vertices. Metres.
#pragma once

#include <cotouch/mesh/mesh.h>

namespace cotouch {

// A solid round hose along x that hangs down in an arc of a circle, its ends at z = 0.
struct HangingHoseShape {
  double length = 0.22;  // from end to end
  double radius = 0.009;
  double sag = 0.03;  // how far the middle of the arc is below the ends
  int steps = 24;     // around
  int segments = 72;  // along
};
TriangleMesh make_hanging_hose(const HangingHoseShape& shape = {});

// What is led between two hoses: a turned metal part along z, pointed below, widest in the middle, with a thin stem
// above.
struct FittingShape {
  double radius = 0.015;       // where it is widest, at z = 0
  double stem_radius = 0.006;  // less than the gap between the hoses
  int steps = 48;
};
TriangleMesh make_fitting(const FittingShape& shape = {});

// The opening in a wall in which hoses hang: a flat frame about z.
struct FrameShape {
  double length = 0.24, width = 0.13, height = 0.03;  // along x, y and z
  double border = 0.02;
};
TriangleMesh make_frame(const FrameShape& shape = {});

// A bar with rounded edges, centred.
TriangleMesh make_soft_bar(const Vec3d& size);
// A base with a post at each end, on which a bar can lie: z = 0 is the posts' upper side.
TriangleMesh make_bar_rest(double between);

// A clip that goes into its latch along -z: two arms below a base, each with a hook that points outwards, and a knob to
// hold it by. The base's underside is at z = 0; there it sits on the latch's rim. Inside the latch a ridge on either
// side bends the arms inwards; behind it they spring back. Hooks and ridges have the same slopes, gentle on the way in
// and steep on the way out.
struct ClipShape {
  double width = 0.012;              // along x
  double arm = 0.009;                // y of an arm's outer side
  double thickness = 0.0045;         // of an arm
  double hook = 0.0035;              // by which a hook stands out from its arm
  double side_room = 0.001;          // between arms and ridges; so far, a hook does not bend its arm
  double room_behind = 0.0009;       // between hooks and ridges if the clip is in
  double way_in = 25, way_out = 50;  // degrees between slopes and arms
  double depth = 0.045;              // from the base to where the arms are bent most
};
TriangleMesh make_clip(const ClipShape& shape = {});
TriangleMesh make_latch(const ClipShape& shape = {});

}  // namespace cotouch

// The docking task of paper 004 (section 4): a fuel-control box is mounted onto an engine. Metres.
#pragma once

#include <cotouch/base/pose.h>
#include <cotouch/mesh/mesh.h>

namespace cotouch {

// The box slides on its flange between two rails, along -x, until it stands before a stop. Docked, it has the clearance
// to everything around it: base, rails, their lips, the stop, and a pin that keeps it from docking the wrong way
// around.
struct DockingShape {
  double clearance = 0.001;
  int around = 48;  // corners of a circle
};

// The fixed side: a base with rails, lips over them and a stop at the back. The base's upper side is at z = 0; rails
// run along x and are wider at the front.
TriangleMesh make_engine_bracket(const DockingShape& shape = {});

// 120 x 90 x 70 mm: flange below, housing of two heights, pipe stubs of different widths, a plug on one side. Centred
// on its bounds; no turn maps it onto itself.
TriangleMesh make_fuel_control_box(const DockingShape& shape = {});

// The box's pose in the bracket's frame when it is docked.
Pose docked_pose(const DockingShape& shape = {});
// A start from which the way in is free: in front of the rails and above them, oriented as docked.
Pose undocked_pose(const DockingShape& shape = {});

}  // namespace cotouch

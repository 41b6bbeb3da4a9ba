// Procedural shapes: exact, reproducible test objects and the parts of the built-in scenes.
// All are closed and outward-oriented unless their comment says otherwise; lengths in metres. The same arguments give
// the same bits on every machine.
#pragma once

#include <cotouch/mesh/mesh.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cotouch {

TriangleMesh make_box(const Vec3d& size);                                                         // centred
TriangleMesh make_sphere(double radius, int subdivisions);                                        // icosphere, centred
TriangleMesh make_torus(double ring_radius, double tube_radius, int ring_steps, int tube_steps);  // axis z
TriangleMesh make_cylinder(double radius, double height, int steps);                              // axis z, centred

// The parts of the built-in scenes: hand-sized, with defaults that work together. Impossible settings throw Error.

// A ball with a stem along +z, and a cup that holds it. Both are centred on the ball's centre.
struct BallJointShape {
  double radius = 0.03;
  double stem_radius = 0.009, stem_length = 0.07;  // the length from the ball's centre
  double clearance = 0.0005;                       // between ball and cup
  double wall = 0.006;
  double opening = 60;  // degrees between the stem and the cup's rim; below 90 the cup holds the ball
  int steps = 96;       // around the axis
};
TriangleMesh make_ball(const BallJointShape& shape = {});
TriangleMesh make_socket(const BallJointShape& shape = {});

// A bridge along x, its deck's top at z = 0: deck, two rows of arches on pillars, rails on posts. Closed pieces that
// overlap where they are joined.
struct BridgeShape {
  double length = 0.24, width = 0.06, height = 0.06;
  int arches = 3;
  int posts = 13;       // along each side
  int arch_steps = 24;  // along each arch
};
TriangleMesh make_bridge(const BridgeShape& shape = {});

// A hose that winds along x.
struct HoseShape {
  double length = 0.2;
  double radius = 0.01;
  double wall = 0.0025;  // zero: solid
  double sway = 0.03;    // how far it swings out
  int steps = 32;        // around
  int segments = 200;    // along
};
TriangleMesh make_hose(const HoseShape& shape = {});

// A spur gear with involute flanks and a round bore, axis z, its middle plane at z = 0, one tooth pointing along +x.
struct GearShape {
  int teeth = 18;
  double module = 0.004;  // pitch diameter over number of teeth, metres
  double thickness = 0.012;
  double bore_radius = 0.008;
  double pressure_angle = 20;  // degrees
  double backlash = 0.0001;    // by which each tooth is thinner at the pitch circle than its gap
  int flank_steps = 8;
};
TriangleMesh make_gear(const GearShape& shape = {});

// A peg with a right-handed thread that rises along z from 0 to `length`, and a square block with the matching hole.
// Placed alike, peg and block fit with the clearance all around.
struct ThreadShape {
  double core_radius = 0.012;
  double depth = 0.003;  // of the thread
  double pitch = 0.008;
  double length = 0.06;         // of the peg
  double block_height = 0.032;  // the hole goes through
  double block_width = 0.05;
  double clearance = 0.0005;  // radial
  int steps = 72;             // around; a multiple of eight
  int rings_per_pitch = 24;
};
TriangleMesh make_threaded_peg(const ThreadShape& shape = {});
TriangleMesh make_threaded_block(const ThreadShape& shape = {});

// An animal that stands on z = 0 and looks along +x: body, neck, head, four legs, tail, and a row of separate round
// bumps along its back. Closed pieces that overlap where they are joined.
struct CreatureShape {
  double length = 0.14;  // of the body
  int bumps = 7;
  double bump_radius = 0.005;
  double bump_spacing = 0.015;
  double edge = 0.003;  // about the length of a triangle's edges
};
TriangleMesh make_creature(const CreatureShape& shape = {});
// The highest point of each bump, from tail to head.
std::vector<Vec3d> creature_bump_tops(const CreatureShape& shape = {});

// A box without a lid, and an angle bracket that goes into it.
struct BoxAndBracketShape {
  Vec3d box{0.12, 0.08, 0.06};  // outside; the bottom's underside at z = 0, open at the top
  double wall = 0.004;
  Vec3d bracket{0.07, 0.05, 0.045};  // length of the foot (x), width (y), height of the back (z)
  double sheet = 0.005;              // thickness of the bracket
};
TriangleMesh make_open_box(const BoxAndBracketShape& shape = {});
TriangleMesh make_bracket(const BoxAndBracketShape& shape = {});

// What fills an engine bay: pipes, housings, ribs and bolts between the walls of a box, all over each other.
struct ClutterShape {
  std::uint64_t seed = 1;
  std::size_t triangles = 100'000;  // met within a few per cent, from a few thousand to many millions
  Vec3d size{0.5, 0.4, 0.3};
};
TriangleMesh make_clutter(const ClutterShape& shape = {});

}  // namespace cotouch

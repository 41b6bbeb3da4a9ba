// A beam of tetrahedra, and which of its vibrations bend it: what the experiment `beam` and its tests share.
#pragma once

#include <cotouch/elastic/modes.h>
#include <cotouch/experiment/beam_theory.h>
#include <cotouch/experiment/experiment.h>

#include <cstdint>
#include <vector>

namespace cotouch {

struct MeshedBeam {
  TetMesh mesh;                        // along x from the origin
  std::vector<std::uint32_t> clamped;  // nodes at x = 0
  std::uint32_t tip = 0;               // the node in the middle of the other end
};
// `cells`: across the beam, even, so that there are nodes on its middle line; the cells are cubes.
MeshedBeam mesh_beam(const SquareBeam& beam, std::uint32_t cells);

// Of the modes those that bend the beam: rad/s, ascending, one for both ways in which a square beam bends alike.
std::vector<double> bending_omegas(const SquareBeam& beam, const MeshedBeam& meshed, const Modes& modes);

}  // namespace cotouch

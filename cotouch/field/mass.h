// Mass properties of the solid that a distance field describes: what contact feels, whatever the mesh was.
#pragma once

#include <cotouch/field/field.h>
#include <cotouch/mesh/mass.h>

namespace cotouch {

// Integrates over the points with D < 0. Cells that the surface does not cross count exactly; in a crossed cell 4 x 4
// columns along the axis on which D changes most are cut exactly where D, linear along an axis, is zero.
//
// A flat surface across an axis comes out exact up to rounding. Over a curved one the interpolated distance is too
// large by h^2/12 * (sum of the principal curvatures) on average, so convex parts come out too small by that times
// their area: at resolution 64 a ball by 0.05 %, a torus whose tube is 15 cells thick by 0.3 %. Edges and corners lose
// part of a cell; walls thinner than a cell and open sheets have the thickness the field gave them.
//
// The density is in kg/m^3. Throws Error if it is not positive or if no point is inside.
MassProperties mass_properties(const Field& field, double density);

}  // namespace cotouch

// Pictures of what a prepared part holds.
#pragma once

#include <cotouch/experiment/picture.h>
#include <cotouch/part/part.h>

namespace cotouch {

Image draw_mesh(const Part& part, int width, int height);
// The field's values on a vertical plane through the middle of its box: blue inside, red outside, with lines of equal
// distance, the surface in black, and fine bricks' borders faint.
Image draw_field_slice(const Field& field, int width, int height);
// The shell's points on the part, coloured by the level on which they first appear; coarser ones larger.
Image draw_shell(const Part& part, int width, int height, std::uint32_t deepest_level = ~0U);

}  // namespace cotouch

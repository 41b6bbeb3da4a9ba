// What all hands did in one tick, as a few bytes: the inputs column of a journal.
//
// A varint with the number of hands; a varint whose bit i says that hand i is not as if nobody had ever been there; for
// each of these a byte of flags (bit 0 present, bits 1 and 2 the action, bit 3 a body follows, bit 4 buttons follow,
// bit 5 the pose is in whole units, bit 6 it is in doubles, neither: it is the unit pose), a varint body, a varint of
// buttons, and the pose: seven signed varints in units of 2^-20 (position, w, x, y, z of the rotation), or seven f64.
// Quantised inputs are in units; all others come back exactly as well.
#pragma once

#include <cotouch/world/input.h>

#include <cstddef>
#include <span>
#include <vector>

namespace cotouch {

inline constexpr std::size_t k_tick_hands = 16;

// Throws Error if there are more hands than that.
std::vector<std::byte> encode_tick(std::span<const HandInput> inputs);
// False, with `inputs` empty, if the bytes are not of this form.
bool decode_tick(std::span<const std::byte> bytes, std::vector<HandInput>& inputs);

}  // namespace cotouch

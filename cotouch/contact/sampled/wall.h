// How thin a part is at its thinnest: what decides how far bodies may move between two looks at their contact.
#pragma once

#include <cotouch/field/field.h>
#include <cotouch/shell/shell.h>

namespace cotouch {

// Metres from a point of the shell straight through the part to where the field is outside again; the least of all
// points, or of a fair selection of them if they are many. At most `most`. Zero if somewhere there is no inside at all.
double thinnest_wall(const Shell& shell, const Field& field, double most);

}  // namespace cotouch

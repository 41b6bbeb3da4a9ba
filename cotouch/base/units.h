// Units of length that meshes come in. Everything inside cotouch is in metres.
#pragma once

#include <string_view>

namespace cotouch {

// Metres in one `name` ("mm", "cm", "m", "in", "ft", "um"). Throws Error naming the units it knows.
double metres_per(std::string_view name);

}  // namespace cotouch

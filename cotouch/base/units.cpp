#include <cotouch/base/units.h>

#include <cotouch/base/error.h>

#include <array>
#include <utility>

namespace cotouch {

double metres_per(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, double>, 6> k_units{
      {{"m", 1.0}, {"cm", 1e-2}, {"mm", 1e-3}, {"um", 1e-6}, {"in", 0.0254}, {"ft", 0.3048}}};
  for (const auto& [unit, metres] : k_units)
    if (unit == name) return metres;
  throw Error("Unknown unit '" + std::string(name) + "'. Use one of m, cm, mm, um, in, ft.",
              ErrorCode::invalid_argument);
}

}  // namespace cotouch

// What an elastic body is made of: isotropic, and Hooke's law for small strains.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

struct Material {
  double young = 1e6;     // E, Pa
  double poisson = 0.4;   // nu, from -1 to 0.5, both excluded
  double density = 1000;  // kg/m^3
  // Rayleigh's damping C = a M + b K: a mode of the frequency w loses the share (a / w + b w) / 2 of critical damping.
  double mass_damping = 1;          // a, 1/s
  double stiffness_damping = 1e-3;  // b, s

  // Lame's constants, Pa.
  double lambda() const { return young * poisson / ((1 + poisson) * (1 - 2 * poisson)); }
  double mu() const { return young / (2 * (1 + poisson)); }

  friend bool operator==(const Material&, const Material&) = default;
};

// Throws Error with what to change if a number makes no sense or linear tetrahedra would lock (nearly incompressible).
void check_material(const Material& material);

std::vector<std::string> material_names();
// Throws Error naming the materials there are.
Material material_named(std::string_view name);
// The named material that this one is, whatever its stiffness; empty if there is none.
std::string_view name_but_for_stiffness(const Material& material);

}  // namespace cotouch

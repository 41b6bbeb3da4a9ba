#include <cotouch/base/error.h>
#include <cotouch/elastic/material.h>

#include <array>
#include <cmath>
#include <cstdio>

namespace cotouch {
namespace {

struct NamedMaterial {
  const char* name;
  Material material;
};

// Round textbook values; real ones vary by a factor of two or more for everything soft.
//
// Rubber, silicone and soft tissue hardly change their volume (nu 0.49 to 0.4999), but linear tetrahedra become far too
// stiff in bending there ("locking"). With 0.45 they bend as they should and are merely easier to compress.
//
// The stiffness damping lets the lowest modes of a body of 10 cm lose what the material does: some 10 % of critical for
// tissue and foam, 5 % for rubber, 1 to 2 % for plastics and wood, a few tenths of a percent for metals.
constexpr std::array<NamedMaterial, 9> k_materials{{
    //                young  poisson density  a   b
    {"soft tissue", {10e3, 0.45, 1050, 2, 1e-2}},  // muscle and liver at rest
    {"foam", {50e3, 0.2, 60, 2, 1.5e-3}},          // polyurethane, as in cushions
    {"silicone", {600e3, 0.45, 1100, 1, 1e-3}},    // Shore A 20
    {"rubber", {3e6, 0.45, 1100, 1, 4e-4}},        // Shore A 55 to 60
    {"abs", {2.2e9, 0.37, 1050, 1, 5e-6}},
    {"nylon", {2.5e9, 0.39, 1140, 1, 5e-6}},
    {"wood", {10e9, 0.3, 600, 1, 1e-6}},  // spruce along its grain; across it, it is far softer
    {"aluminium", {69e9, 0.33, 2700, 1, 2e-7}},
    {"steel", {200e9, 0.29, 7850, 1, 2e-7}},
}};

// Without regard to case, and a hyphen, an underscore or a space are the same.
std::string plain(std::string_view name) {
  std::string result;
  for (char c : name) {
    if (c == '-' || c == '_') c = ' ';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    result += c;
  }
  return result;
}

void require_between(double value, double low, double high, const char* what, const char* unit) {
  if (value >= low && value <= high) return;
  char text[200];
  std::snprintf(text, sizeof text, "A material's %s must be between %g and %g%s, not %g.", what, low, high, unit,
                value);
  throw Error(text, ErrorCode::invalid_argument);
}

}  // namespace

void check_material(const Material& material) {
  require_between(material.young, 100, 1e13, "Young's modulus", " Pa");
  require_between(material.density, 0.1, 1e5, "density", " kg/m^3");
  if (!(material.poisson > -1 && material.poisson < 0.5)) {
    char text[120];
    std::snprintf(text, sizeof text, "A material's Poisson's ratio must be above -1 and below 0.5, not %g.",
                  material.poisson);
    throw Error(text, ErrorCode::invalid_argument);
  }
  if (material.poisson > 0.495) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "A Poisson's ratio of %g is too close to 0.5: linear tetrahedra lock, that is, they hardly bend. Use "
                  "at most 0.495, better 0.45.",
                  material.poisson);
    throw Error(text, ErrorCode::invalid_argument);
  }
  require_between(material.mass_damping, 0, 1e6, "damping by mass", " 1/s");
  require_between(material.stiffness_damping, 0, 1e3, "damping by stiffness", " s");
}

std::vector<std::string> material_names() {
  std::vector<std::string> names;
  for (const NamedMaterial& known : k_materials) names.emplace_back(known.name);
  return names;
}

Material material_named(std::string_view name) {
  const std::string wanted = plain(name);
  std::string names;
  for (const NamedMaterial& known : k_materials) {
    if (wanted == known.name) return known.material;
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  }
  throw Error("There is no material '" + std::string(name.substr(0, 40)) + "'. There are: " + names + '.',
              ErrorCode::not_found);
}

std::string_view name_but_for_stiffness(const Material& material) {
  for (const NamedMaterial& known : k_materials) {
    Material same = known.material;
    same.young = material.young;
    if (same == material) return known.name;
  }
  return {};
}

}  // namespace cotouch

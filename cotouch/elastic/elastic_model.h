// An elastic part at run time: few coordinates q that say how it is bent, and what it takes to bend it so.
//
// Everything is in the part's frame. A material point X has the linear displacement y = S q and rotation w = W q, rows
// of the mesh's nodes interpolated at X. Two laws:
// - warped: linear modes. The point is at X + warped(y, w) (warp.h); the energy is q' diag(omega^2) q / 2.
// - stvk: modes and their derivatives. The point is at X + y; the energy is St. Venant-Kirchhoff's, exactly, as a
//   polynomial in q (stvk_polynomials.h).
// The coordinates are mass-orthonormal, sqrt(kg) m: the kinetic energy is q'.q' / 2.
#pragma once

#include <cotouch/base/vec.h>
#include <cotouch/elastic/packed_ldl.h>
#include <cotouch/elastic/stvk_polynomials.h>
#include <cotouch/elastic/tet_mesh.h>
#include <cotouch/field/field.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cotouch {

enum class ElasticLaw : std::uint32_t { warped, stvk };

// A point that moves with the nodes around it. The weights add up to one; a point outside of the tetrahedra has
// negative ones.
struct EmbeddedPoint {
  std::array<std::uint32_t, 4> node;
  std::array<float, 4> weight;
};
static_assert(sizeof(EmbeddedPoint) == 32);

// Of the deformed distance field (deformed_field.h): a point of the surface that knows how its surroundings deform.
struct ElasticProxy {
  Vec3f rest;  // metres
  EmbeddedPoint point;
};
static_assert(sizeof(ElasticProxy) == 44);

// Proxies that look at a distance field of their own.
struct ElasticDomain {
  std::uint32_t begin, end;  // of its proxies
  float cover;               // metres: no point of the surface is farther from them, at rest
};
static_assert(sizeof(ElasticDomain) == 12);

constexpr std::uint32_t k_most_domains = 8, k_most_proxies = 256;

constexpr std::uint32_t k_most_coordinates = 128;  // 64 of a stvk part

// Plain arrays, in memory or mapped from an asset file. Rows have stride() numbers, those beyond size are zero.
struct ElasticData {
  ElasticLaw law = ElasticLaw::warped;
  std::uint32_t size = 0;        // r: coordinates
  bool anchored = false;         // nodes that do not move hold it in its frame
  double mass_damping = 0;       // 1/s: Rayleigh's, as in Material
  double stiffness_damping = 0;  // s
  std::span<const Vec3f> nodes;  // at rest, metres
  std::span<const Tet> tets;
  std::span<const float> shapes;         // S: three rows a node, 1/sqrt(kg)
  std::span<const float> rotations;      // W: three rows a node, 1/(sqrt(kg) m)
  std::span<const double> stiffness;     // warped: omega^2, (rad/s)^2
  StvkData stvk;                         // stvk
  std::span<const double> weight;        // three rows of `size`: the force of 1 m/s^2 along each axis, sqrt(kg)
  std::span<const EmbeddedPoint> shell;  // the points of the part's shell
  std::span<const EmbeddedPoint> mesh;   // the vertices of its mesh
  // Two rows for every branch of the shell's tree: by how much S, and by how much W, of any point below differs from
  // that of the branch's own point, coordinate by coordinate, rounded up.
  std::span<const float> spread;
  std::span<const ElasticProxy> proxies;
  std::span<const float> slopes;  // du/dX at each proxy: nine rows, the first three of the displacement's x
  std::span<const ElasticDomain> domains;

  std::uint32_t stride() const noexcept { return (size + 3) / 4 * 4; }
};

// What it is made of, at rest.
TetMesh tetrahedra_of(const ElasticData& data);

class ElasticModel {
 public:
  ElasticModel() = default;
  // `domain_fields`: one for each domain, or none if there is one only. `keep_alive` owns the memory behind the spans.
  // Throws Error if the arrays do not fit together or hold what is not a
  // number: they may come from a stranger's file.
  ElasticModel(const ElasticData& data, std::vector<Field> domain_fields, std::shared_ptr<const void> keep_alive);

  const ElasticData& data() const noexcept { return data_; }
  const Field& domain_field(std::size_t i) const noexcept { return domain_fields_[i]; }
  std::uint32_t size() const noexcept { return data_.size; }
  std::uint32_t stride() const noexcept { return data_.stride(); }

  // The derivative of the elastic energy and its own derivative, packed (packed_ldl.h). What the material does is the
  // negative of the force. Returns the energy, joules.
  double internal(std::span<const double> q, std::span<double> force, std::span<double> tangent) const noexcept;

  // Tells two models apart that may move differently.
  std::uint64_t hash() const;

  // No point of nodes, shell or mesh moves by more than this, metres; at rates, m/s.
  double largest_move(const double* q) const noexcept;

 private:
  ElasticData data_;
  StvkPolynomials stvk_;
  std::vector<Field> domain_fields_;
  std::vector<double> largest_;  // of each coordinate
  std::shared_ptr<const void> keep_alive_;
};

}  // namespace cotouch

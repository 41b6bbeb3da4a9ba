// A reduced St. Venant-Kirchhoff body: displacements are u = q_1 U_1 + ... + q_r U_r, and what the full body
// (stvk_full.h) would answer is known exactly, as polynomials in q (Barbic & James 2005, "Real-Time Subspace
// Integration for St. Venant-Kirchhoff Deformable Models", section 3).
//
// The energy W(q) = W2 + W3 + W4 has terms of the second, third and fourth degree. With x = (1, q) it is one form of
// the fourth degree in n = r + 1 numbers, W = F(x), so that everything follows from the second derivatives H of F:
//   tangent  K_ij = H_ij,   i, j = 1 ... r
//   force    f_i = dW/dq_i = (H x)_i / 3      (Euler: the slope of F is a form of the third degree)
//   energy   W = x' H x / 12.
// F needs its n (n+1) (n+2) (n+3) / 24 coefficients, a third of what all products of two pairs of coordinates would
// take: a step costs little more than reading them.
#pragma once

#include <cotouch/base/progress.h>
#include <cotouch/elastic/material.h>
#include <cotouch/elastic/modes.h>

#include <cstdint>
#include <memory>
#include <span>

namespace cotouch {

// The body's contents as plain arrays, in memory or mapped from an asset file.
struct StvkData {
  std::uint32_t size = 0;  // r
  // J per product of four of x. F is the sum of coefficient(a, b, c, d) x_a x_b x_c x_d over a <= b <= c <= d < n.
  // Groups of four a, within them b from the group's first a, then c from b, then d from c, then the four a side by
  // side, zero if a > b.
  std::span<const double> coefficients;
};

class StvkPolynomials {
 public:
  static constexpr std::uint32_t k_most = 64;  // the largest r
  static constexpr std::size_t k_side = 4;     // coefficients side by side

  StvkPolynomials() = default;
  // `keep_alive` owns the memory behind the span. Throws Error if the numbers do not describe an elastic body.
  StvkPolynomials(const StvkData& data, std::shared_ptr<const void> keep_alive);

  std::uint32_t size() const noexcept { return data_.size; }
  const StvkData& data() const noexcept { return data_; }

  // At the coordinates q (r numbers): f = dW/dq, the body pulling back with -f; K = df/dq, packed (packed_ldl.h).
  // Returns W. Does not allocate; takes 40 kB of stack.
  double evaluate(std::span<const double> q, std::span<double> force, std::span<double> tangent) const noexcept;

  // How many coefficients a body has, and where coefficient(a, b, c, d) is among them, a <= b <= c <= d <= size.
  static std::size_t coefficient_count(std::uint32_t size);
  static std::size_t coefficient_index(std::uint32_t size, std::size_t a, std::size_t b, std::size_t c, std::size_t d);

 private:
  StvkData data_;
  std::shared_ptr<const void> keep_alive_;
};

// Computes the polynomials of a body whose displacements are sums of `shapes`, from 1 to k_most of them.
StvkPolynomials reduce_stvk(const TetMesh& mesh, const Material& material, const Shapes& shapes, Progress& progress);

}  // namespace cotouch

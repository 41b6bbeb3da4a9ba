// How `evaluate` goes about it.
//
// A term k x_a x_b x_c x_d of F adds to the second derivatives of each of its six pairs of factors, U_ab += k x_c x_d
// and so on; afterwards H is U with its diagonal doubled, because a pair of equal factors counts in both orders. For
// all terms with the same a and b, and s_c = sum of k x_d over the other factors d (a term with c = d counts twice):
//   U_cd += (x_a x_b) k    U_ac += x_b s_c    U_bc += x_a s_c    U_ab += (s . x) / 2:
// three multiplications for each coefficient, and few beyond them. Four a are computed at once; they share the x_d and
// the U_cd that are fetched, as do two neighbouring c.
#include <cotouch/elastic/stvk_polynomials.h>

#include <cotouch/base/error.h>
#include <cotouch/elastic/packed_ldl.h>
#include <cotouch/elastic/pair.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace cotouch {
namespace {

constexpr std::size_t k_side = StvkPolynomials::k_side;
constexpr std::size_t k_pairs = k_side / 2;
constexpr std::size_t k_most_x = StvkPolynomials::k_most + 1;

using Side = std::array<Pair, k_pairs>;  // a number for each of four a

Side load(const double* from) noexcept {
  return {load_pair(from), load_pair(from + 2)};
}

// Coefficients with one b >= the first a of a group, of which there are k_side for each c and d.
constexpr std::size_t triangle(std::size_t n, std::size_t b) {
  return packed_size(n - b);
}

struct Sums {
  std::array<Pair, packed_size(k_most_x)> u;  // packed; the two halves of a sum
  std::array<Side, k_most_x> s, u_a;          // s_c, and U_ac for the four a of a group
};

// Adds U_cd for the terms with four a, one b and `Rows` neighbouring c, and sums up s. `k` and `u` are where d = c of
// the first of them is, and are moved behind the last.
template <std::size_t Rows>
void add_rows(std::size_t n, std::size_t c, const double*& k, const double* x, const Side& ab, Pair*& u,
              Side* s) noexcept {
  std::array<const double*, Rows> k_row;
  std::array<Pair*, Rows> u_row;
  std::array<double, Rows> x_row;
  std::array<Side, Rows> s_row{};
  for (std::size_t row = 0; row < Rows; ++row) {
    k_row[row] = k;
    u_row[row] = u;
    x_row[row] = x[c + row];
    k += k_side * (n - c - row);
    u += n - c - row;
  }
  // d is one of the neighbouring c.
  for (std::size_t row = 0; row < Rows; ++row)
    for (std::size_t d = row; d < Rows; ++d, k_row[row] += k_side, ++u_row[row]) {
      Pair u_cd = *u_row[row];
      for (std::size_t i = 0; i < k_pairs; ++i) {
        const Pair k_cd = load_pair(k_row[row] + 2 * i);
        s_row[row][i] += k_cd * x_row[d];
        s_row[d][i] += k_cd * x_row[row];
        u_cd += k_cd * ab[i];
      }
      *u_row[row] = u_cd;
    }
  // d is larger than they are.
  const std::size_t beyond = n - c - Rows;
  x += c + Rows;
  Side* const s_beyond = s + c + Rows;
  for (std::size_t d = 0; d < beyond; ++d) {
    Side s_d = s_beyond[d];
    for (std::size_t row = 0; row < Rows; ++row) {
      Pair u_cd = u_row[row][d];
      for (std::size_t i = 0; i < k_pairs; ++i) {
        const Pair k_cd = load_pair(k_row[row] + k_side * d + 2 * i);
        s_row[row][i] += k_cd * x[d];
        s_d[i] += k_cd * x_row[row];
        u_cd += k_cd * ab[i];
      }
      u_row[row][d] = u_cd;
    }
    s_beyond[d] = s_d;
  }
  for (std::size_t row = 0; row < Rows; ++row)
    for (std::size_t i = 0; i < k_pairs; ++i) s[c + row][i] += s_row[row][i];
}

// The same for all c >= b. Returns the coefficients behind theirs.
const double* add_terms(std::size_t n, std::size_t b, const double* k, const double* x, const Side& ab, Pair* u,
                        Side* s) noexcept {
  std::size_t c = b;
  for (; c + 2 <= n; c += 2) add_rows<2>(n, c, k, x, ab, u, s);
  if (c < n) add_rows<1>(n, c, k, x, ab, u, s);
  return k;
}

void require(bool holds, const char* what) {
  if (!holds)
    throw Error(std::string("The elastic body is damaged (") + what + "); prepare the part again.",
                ErrorCode::damaged_file);
}

}  // namespace

std::size_t StvkPolynomials::coefficient_count(std::uint32_t size) {
  return coefficient_index(size, (size / k_side + 1) * k_side, 0, 0, 0);
}

std::size_t StvkPolynomials::coefficient_index(std::uint32_t size, std::size_t a, std::size_t b, std::size_t c,
                                               std::size_t d) {
  const std::size_t n = std::size_t{size} + 1;
  std::size_t index = 0;
  const std::size_t group = a / k_side * k_side;
  for (std::size_t g = 0; g < group; g += k_side)
    for (std::size_t i = g; i < n; ++i) index += k_side * triangle(n, i);
  for (std::size_t i = group; i < b; ++i) index += k_side * triangle(n, i);
  for (std::size_t i = b; i < c; ++i) index += k_side * (n - i);
  return index + k_side * (d - c) + a % k_side;
}

StvkPolynomials::StvkPolynomials(const StvkData& data, std::shared_ptr<const void> keep_alive)
    : data_(data), keep_alive_(std::move(keep_alive)) {
  require(data.size >= 1 && data.size <= k_most, "its size is impossible");
  require(data.coefficients.size() == coefficient_count(data.size), "its coefficients are incomplete");
  for (const double k : data.coefficients) require(std::isfinite(k), "a coefficient is not a number");
  const std::size_t n = std::size_t{data.size} + 1;
  for (std::size_t d = 0; d < n; ++d)
    require(data.coefficients[k_side * d] == 0, "it is not at rest");  // the terms x_0^3 x_d
  const double* k = data.coefficients.data();
  for (std::size_t group = 0; group < n; group += k_side)
    for (std::size_t b = group; b < n; ++b)
      for (std::size_t i = 0; i < triangle(n, b); ++i, k += k_side)
        for (std::size_t a = b + 1; a < group + k_side; ++a) require(k[a - group] == 0, "its order is wrong");
  // At rest every deformation must cost energy, or the body flies apart.
  std::vector<double> zero(data.size), force(data.size), tangent(packed_size(data.size));
  evaluate(zero, force, tangent);
  double largest = 0;
  for (const double t : tangent) largest = std::fabs(t) > largest ? std::fabs(t) : largest;
  require(largest > 0 && factor_packed(tangent, data.size, 1e-14 * largest), "it is not elastic");
}

double StvkPolynomials::evaluate(std::span<const double> q, std::span<double> force,
                                 std::span<double> tangent) const noexcept {
  const std::size_t n = std::size_t{data_.size} + 1;
  std::array<double, k_most_x + k_side> x;
  x[0] = 1;
  for (std::size_t i = 1; i < n; ++i) x[i] = q[i - 1];
  for (std::size_t i = n; i < n + k_side; ++i) x[i] = 0;  // so that the last group has four

  Sums sums;
  for (std::size_t i = 0; i < packed_size(n); ++i) sums.u[i] = Pair{};
  const double* k = data_.coefficients.data();
  Pair* row_of_group = sums.u.data();  // where U_cd with c = the group's first a and d = c is
  for (std::size_t group = 0; group < n; group += k_side) {
    const Side x_a = load(&x[group]);
    for (std::size_t c = group; c < n; ++c) sums.u_a[c] = {};
    Pair* row = row_of_group;
    for (std::size_t b = group; b < n; row += n - b, ++b) {
      const double x_b = x[b];
      for (std::size_t c = b; c < n; ++c) sums.s[c] = {};
      k = add_terms(n, b, k, x.data(), {x_a[0] * x_b, x_a[1] * x_b}, row, sums.s.data());
      Side twice_u_ab{};
      for (std::size_t c = b; c < n; ++c) {
        const double x_c = x[c];
        for (std::size_t i = 0; i < k_pairs; ++i) {
          const Pair s = sums.s[c][i];
          twice_u_ab[i] += s * x_c;
          row[c - b] += s * x_a[i];
          sums.u_a[c][i] += s * x_b;
        }
      }
      for (std::size_t i = 0; i < k_pairs; ++i) sums.u_a[b][i] += twice_u_ab[i] * 0.5;
    }
    for (std::size_t a = group; a < n && a < group + k_side; row_of_group += n - a, ++a)
      for (std::size_t c = a; c < n; ++c) row_of_group[c - a][0] += sums.u_a[c][(a - group) / 2][(a - group) % 2];
  }

  // H, of which the first row and column belong to the constant; H x.
  std::array<double, k_most_x> slope{};  // three times dF/dx
  const Pair* u = sums.u.data();
  double* k_ij = tangent.data();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j, ++u) {
      const double half = (*u)[0] + (*u)[1];
      const double h = i == j ? 2 * half : half;
      slope[i] += h * x[j];
      if (j > i) slope[j] += h * x[i];
      if (i > 0) *k_ij++ = h;
    }
  double energy = slope[0];
  for (std::size_t i = 1; i < n; ++i) {
    force[i - 1] = slope[i] / 3;
    energy += slope[i] * x[i];
  }
  return energy / 12;
}

}  // namespace cotouch

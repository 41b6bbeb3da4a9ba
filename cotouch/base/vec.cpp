#include <cotouch/base/vec.h>

#include <utility>

namespace cotouch {

bool solve(const Mat6& a, const Vec6& b, Vec6& x) noexcept {
  double m[6][7];
  double scale = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 6; ++j) {
      m[i][j] = a(i, j);
      scale = std::fmax(scale, std::fabs(m[i][j]));
    }
    m[i][6] = i < 3 ? b.linear[i] : b.angular[i - 3];
  }
  // Forces per metre and torques per radian differ by the square of the part's size, so singularity is judged
  // against the whole matrix only at the level of rounding.
  const double tiny = scale * 1e-14;
  for (std::size_t col = 0; col < 6; ++col) {
    std::size_t pivot = col;
    for (std::size_t row = col + 1; row < 6; ++row)
      if (std::fabs(m[row][col]) > std::fabs(m[pivot][col])) pivot = row;
    if (!(std::fabs(m[pivot][col]) > tiny)) return false;
    for (std::size_t j = 0; j < 7; ++j) std::swap(m[col][j], m[pivot][j]);
    for (std::size_t row = col + 1; row < 6; ++row) {
      const double factor = m[row][col] / m[col][col];
      for (std::size_t j = col; j < 7; ++j) m[row][j] -= factor * m[col][j];
    }
  }
  double solution[6];
  for (std::size_t i = 6; i-- > 0;) {
    double sum = m[i][6];
    for (std::size_t j = i + 1; j < 6; ++j) sum -= m[i][j] * solution[j];
    solution[i] = sum / m[i][i];
  }
  x.linear = {solution[0], solution[1], solution[2]};
  x.angular = {solution[3], solution[4], solution[5]};
  return true;
}

}  // namespace cotouch

#include <cotouch/net/draw.h>

#include <cmath>

namespace cotouch {

double natural_log(double x) {
  constexpr double k_log_2_high = 0x1.62e42fefa3800p-1;  // its last bits are zero: a product with an exponent is exact
  constexpr double k_log_2_low = 0x1.ef35793c76730p-45;
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // exact; in [1/2, 1)
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  // log m = 2 artanh z with z = (m - 1)/(m + 1), |z| < 0.172: the first dropped term is below 1e-19.
  const double z = (mantissa - 1) / (mantissa + 1), square = z * z;
  double sum = 0;
  for (int n = 23; n >= 3; n -= 2) sum = (sum + 1.0 / n) * square;
  return exponent * k_log_2_high + (2 * z + (2 * z * sum + exponent * k_log_2_low));
}

double draw_normal(Random& random) {
  for (;;) {
    const double x = random.uniform(-1, 1);
    const double y = random.uniform(-1, 1);
    const double square = x * x + y * y;
    if (square > 0 && square < 1) return x * std::sqrt(-2 * natural_log(square) / square);
  }
}

double draw_exponential(Random& random) {
  return -natural_log(1 - random.uniform());
}

double draw_heavy_tail(Random& random, double mean, double most) {
  if (!(mean > 0)) return 0;
  const double scale = most * mean / (most - 2 * mean);
  const double beyond = scale / (scale + most);  // square root of the share that is cut off
  const double tail = 1 - random.uniform() * (1 - beyond * beyond);
  return std::fmin(scale * (1 / std::sqrt(tail) - 1), most);
}

}  // namespace cotouch

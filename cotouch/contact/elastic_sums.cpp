#include <cotouch/contact/elastic_sums.h>

namespace cotouch {

void ElasticSums::reset(std::uint32_t shell_size, std::uint32_t field_size) {
  shell = shell_size;
  field = field_size;
  const std::size_t n = size();
  push.assign(n, 0);
  mixed.assign(6 * n, 0);
  spread.assign(n * n, 0);
  carried.assign(3 * n, 0);
}

void ElasticSums::add(const double* direction, double sixth, double seventh) noexcept {
  const std::size_t n = size();
  const double* const e = direction + 6;
  for (std::size_t j = 0; j < n; ++j) push[j] += seventh * e[j];
  for (std::size_t i = 0; i < 6; ++i) {
    const double w = sixth * direction[i];
    double* const row = mixed.data() + i * n;
    for (std::size_t j = 0; j < n; ++j) row[j] += w * e[j];
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double w = sixth * e[i];
    double* const row = spread.data() + i * n;
    for (std::size_t j = 0; j <= i; ++j) row[j] += w * e[j];
  }
}

void ElasticSums::scale(double factor) noexcept {
  for (std::vector<double>* sums : {&push, &mixed, &spread})
    for (double& sum : *sums) sum *= factor;
}

}  // namespace cotouch

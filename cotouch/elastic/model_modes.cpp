#include <cotouch/elastic/model_modes.h>

#include <cotouch/base/trig.h>
#include <cotouch/elastic/eigen_symmetric.h>

#include <algorithm>
#include <cmath>

namespace cotouch {

std::vector<ModelMode> modes_of(const ElasticModel& model) {
  const std::size_t size = model.size();
  std::vector<double> rest(size), force(size), tangent(packed_size(size)), matrix(size * size);
  model.internal(rest, force, tangent);
  for (std::size_t i = 0, at = 0; i < size; ++i)
    for (std::size_t j = i; j < size; ++j, ++at) matrix[i * size + j] = matrix[j * size + i] = tangent[at];
  const SymmetricEigen eigen = eigen_symmetric(std::move(matrix), size);
  std::vector<ModelMode> modes(size);
  for (std::size_t i = 0; i < size; ++i) {
    const double* const vector = eigen.vectors.data() + i * size;
    modes[i] = {std::sqrt(std::max(eigen.values[i], 0.0)) / (2 * k_pi), {vector, vector + size}};
  }
  return modes;
}

std::size_t anchored_count(const ElasticModel& model) {
  const std::size_t row = std::size_t{3} * model.stride();
  const std::span<const float> shapes = model.data().shapes;
  std::size_t count = 0;
  for (std::size_t node = 0; node < model.data().nodes.size(); ++node) {
    const auto own = shapes.subspan(node * row, row);
    if (std::all_of(own.begin(), own.end(), [](float v) { return v == 0; })) ++count;
  }
  return count;
}

}  // namespace cotouch

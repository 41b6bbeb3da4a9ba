#include <cotouch/elastic/modal_derivatives.h>

#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/elastic/dense.h>
#include <cotouch/elastic/eigen_symmetric.h>
#include <cotouch/elastic/packed_ldl.h>
#include <cotouch/elastic/stvk_full.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace cotouch {
namespace {

// Components this much smaller than the first mode are rounding errors.
constexpr double k_least = 1e-12;

// Fields over a system's unknowns, one after another.
struct Fields {
  Fields(std::size_t length_, std::size_t count_) : length(length_), count(count_), values(length_ * count_) {}

  std::span<double> operator[](std::size_t i) { return {values.data() + i * length, length}; }
  std::span<const double> operator[](std::size_t i) const { return {values.data() + i * length, length}; }
  Dense matrix() { return {values.data(), length, count}; }

  std::size_t length, count;
  std::vector<double> values;
};

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void add(std::span<double> a, double s, std::span<const double> b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += s * b[i];
}

void scale(std::span<double> a, double s) {
  for (double& x : a) x *= s;
}

void copy_free(const double* field, const FemSystem& system, std::span<double> part) {
  for (std::size_t n = 0; n < system.free_nodes.size(); ++n)
    for (std::size_t i = 0; i < 3; ++i) part[3 * n + i] = field[3 * std::size_t{system.free_nodes[n]} + i];
}

// The derivatives and the modes, with their weights.
Fields weighted_fields(const FemSystem& system, const Modes& modes, const Shapes& derivatives) {
  const std::size_t mode_count = modes.shapes.count;
  const auto weight = [&](std::size_t i) { return modes.omega_squared[0] / modes.omega_squared[i]; };
  Fields fields(system.unknowns(), derivatives.count + mode_count);
  std::vector<double> mass_times(fields.length);
  std::size_t at = 0;
  for (std::size_t i = 0; i < mode_count; ++i)
    for (std::size_t j = i; j < mode_count; ++j, ++at) {
      throw_if_cancelled();
      copy_free(derivatives[at], system, fields[at]);
      multiply_mass(system, fields[at], mass_times);
      const double mass = dot(fields[at], mass_times);
      if (mass > 0) scale(fields[at], weight(i) * weight(j) / std::sqrt(mass));
    }
  for (std::size_t i = 0; i < mode_count; ++i, ++at) {
    copy_free(modes.shapes[i], system, fields[at]);
    scale(fields[at], weight(i));
  }
  return fields;
}

// The `count` sums of the fields, with factors of length one, that have most mass; orthogonal, but for rounding.
Fields principal_components(const FemSystem& system, Fields& fields, std::size_t count) {
  const std::size_t n = fields.count;
  Fields mass_times(fields.length, n);
  for (std::size_t i = 0; i < n; ++i) {
    throw_if_cancelled();
    multiply_mass(system, fields[i], mass_times[i]);
  }
  std::vector<double> products(n * n);
  add_product({products.data(), n, n}, 1, mass_times.matrix().transposed(), fields.matrix());
  SymmetricEigen eigen = eigen_symmetric(std::move(products), n);
  Fields sums(fields.length, count);
  for (std::size_t i = 0; i < count; ++i)  // the largest come last
    add_product(sums.matrix().block(0, i, fields.length, 1), 1, fields.matrix(),
                Dense(eigen.vectors.data() + (n - 1 - i) * n, n, 1));
  return sums;
}

// Gram and Schmidt. Returns how many fields there are before the first that is made of those before it.
std::size_t make_orthonormal(const FemSystem& system, Fields& fields) {
  Fields mass_times(fields.length, fields.count);
  for (std::size_t i = 0; i < fields.count; ++i) {
    for (int round = 0; round < 2; ++round)  // the second time for what rounding left
      for (std::size_t j = 0; j < i; ++j) {
        throw_if_cancelled();
        add(fields[i], -dot(mass_times[j], fields[i]), fields[j]);
      }
    multiply_mass(system, fields[i], mass_times[i]);
    const double length = std::sqrt(dot(fields[i], mass_times[i]));
    if (!(length > k_least)) return i;
    double most = 0;
    for (const double x : fields[i])
      if (std::fabs(x) > std::fabs(most)) most = x;
    const double factor = (most < 0 ? -1 : 1) / length;
    scale(fields[i], factor);
    scale(mass_times[i], factor);
  }
  return fields.count;
}

}  // namespace

Shapes modal_derivatives(const TetMesh& mesh, const Material& material, const FemSolver& solver, const Modes& modes,
                         Progress& progress) {
  const StvkFull body(mesh, material);
  const std::size_t mode_count = modes.shapes.count, size = body.size();
  Shapes shapes{modes.shapes.nodes, static_cast<std::uint32_t>(packed_size(mode_count)), {}};
  shapes.values.resize(shapes.count * size);
  std::size_t at = 0;
  for (std::size_t i = 0; i < mode_count; ++i) {
    progress.update("Finding how modes change", static_cast<double>(i) / static_cast<double>(mode_count));
    for (std::size_t j = i; j < mode_count; ++j, ++at) {
      throw_if_cancelled();
      const std::span<double> force(shapes[at], size);
      body.curvature_at_rest({modes.shapes[i], size}, {modes.shapes[j], size}, force);
      scale(force, -1);
    }
  }
  solver.solve(shapes);
  return shapes;
}

Shapes stvk_basis(const TetMesh& mesh, const Material& material, const FemSolver& solver, const Modes& modes,
                  std::uint32_t count, Progress& progress) {
  const FemSystem& system = solver.system();
  Fields all = weighted_fields(system, modes, modal_derivatives(mesh, material, solver, modes, progress));
  Fields basis = principal_components(system, all, std::min<std::size_t>(count, all.count));
  const std::size_t found = make_orthonormal(system, basis);
  if (found < count)
    throw Error("The body bends in " + std::to_string(found) + " ways that " + std::to_string(modes.shapes.count) +
                    " modes tell apart, but " + std::to_string(count) +
                    " were asked for. Ask for fewer ways to bend or for more modes.",
                ErrorCode::invalid_argument);
  Shapes shapes{modes.shapes.nodes, count, {}};
  shapes.values.resize(std::size_t{count} * 3 * shapes.nodes);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t n = 0; n < system.free_nodes.size(); ++n)
      for (std::size_t k = 0; k < 3; ++k) shapes[i][3 * std::size_t{system.free_nodes[n]} + k] = basis[i][3 * n + k];
  return shapes;
}

}  // namespace cotouch

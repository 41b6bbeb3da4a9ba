#include <cotouch/elastic/modes.h>

#include <cotouch/base/error.h>
#include <cotouch/elastic/krylov.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace cotouch {
namespace {

constexpr std::string_view k_stage = "Finding modes";
// Length of A u - theta u, as a share of theta, at which a mode counts as found. The error of a frequency is the square
// of it, that of a shape about as large.
constexpr double k_tolerance = 1e-10;

// Of a node, the highest: what frequencies of the whole mesh cannot exceed by much.
double largest_omega_squared(const FemSystem& system) {
  double largest = 0;
  for (std::size_t row = 0; row < system.free_nodes.size(); ++row) {
    const std::size_t k = system.row_begin[row + 1] - 1;
    const Mat3& block = system.stiffness[k];
    largest = std::max(largest, (block(0, 0) + block(1, 1) + block(2, 2)) / system.mass[k]);
  }
  return largest;
}

// A motion that costs no force should have the frequency zero, but rounding of the stiffness, relative to its largest
// numbers, gives it some.
void check_stiff(double lowest_omega_squared, const FemSystem& system) {
  if (!(lowest_omega_squared > 1e-13 * largest_omega_squared(system)))
    throw Error(
        "A part of the body moves without any force: it hangs on the rest by a single node or edge. Join it better or "
        "leave it out.",
        ErrorCode::invalid_argument);
}

// Extends the space until the `count` largest eigenvalues are found. They are the last of the result.
SymmetricEigen converge(KrylovSpace& space, const FemSystem& system, std::size_t count, std::size_t all,
                        Progress& progress) {
  // What compact bodies take; the rest of the bound is for bodies with crowded frequencies.
  const std::size_t usual = 4 * count + 8 * k_bundle, most = 2 * usual + 16 * k_bundle;
  const auto report = [&] {
    progress.update(k_stage, std::min(0.95, static_cast<double>(space.size()) / static_cast<double>(usual)));
  };
  std::size_t look = 2 * count + 2 * k_bundle, last_look = 0, last_found = 0;
  for (;;) {
    space.extend(report);
    report();
    const bool complete = space.size() >= all;
    if (!complete && space.size() < look) continue;
    SymmetricEigen eigen = space.eigen();
    report();
    check_stiff(1 / eigen.values.back(), system);  // such a motion would drown the others, so they are not waited for
    const std::size_t n = space.size();
    std::size_t found = 0;
    for (std::size_t i = n - count; i < n; ++i)
      if (space.residual(std::span(eigen.vectors).subspan(i * n, n)) <= k_tolerance * eigen.values[i]) ++found;
    if (found == count || complete) return eigen;
    if (n >= most)
      throw Error("Only " + std::to_string(found) + " of " + std::to_string(count) +
                  " vibration modes were found. Ask for fewer, or cut the volume into tetrahedra of a better shape.");
    // A look is expensive, so the next one is when most of the rest should have been found, at the speed so far.
    const std::size_t gained = std::max<std::size_t>(1, found - std::min(found, last_found));
    look = n + std::min((count - found) * (n - last_look) / gained * 7 / 10, usual / 4);
    last_look = n;
    last_found = found;
  }
}

void fix_sign(double* shape, std::size_t values) {
  std::size_t most = 0;
  for (std::size_t i = 1; i < values; ++i)
    if (std::fabs(shape[i]) > std::fabs(shape[most])) most = i;
  if (shape[most] < 0)
    for (std::size_t i = 0; i < values; ++i) shape[i] = -shape[i];
}

}  // namespace

Modes lowest_modes(const FemSolver& solver, std::uint32_t count, Progress& progress) {
  const FemSystem& system = solver.system();
  const std::size_t all = system.unknowns() - solver.rigid();
  if (count == 0) throw Error("At least one vibration mode must be asked for.", ErrorCode::invalid_argument);
  if (count > all)
    throw Error("The body has " + std::to_string(all) + " vibration modes, but " + std::to_string(count) +
                    " were asked for. Ask for fewer or cut the volume into more tetrahedra.",
                ErrorCode::invalid_argument);
  KrylovSpace space(solver);
  const SymmetricEigen eigen = converge(space, system, count, all, progress);

  const std::size_t n = space.size();
  Modes modes;
  modes.rigid = solver.rigid();
  modes.shapes.nodes = solver.mesh_nodes();
  modes.shapes.count = count;
  modes.shapes.values.resize(std::size_t{3} * count * modes.shapes.nodes);
  for (std::size_t i = 0; i < count; ++i) modes.omega_squared.push_back(1 / eigen.values[n - 1 - i]);

  std::vector<double> bundle(system.unknowns() * k_bundle);
  for (std::size_t first = 0; first < count; first += k_bundle) {
    progress.update(k_stage, 0.95 + 0.05 * static_cast<double>(first) / count);
    std::vector<std::span<const double>> coordinates;
    for (std::size_t i = first; i < std::min<std::size_t>(count, first + k_bundle); ++i)
      coordinates.push_back(std::span(eigen.vectors).subspan((n - 1 - i) * n, n));
    space.combine(coordinates, bundle);
    scatter(bundle, system, modes.shapes, first, coordinates.size());
    for (std::size_t i = 0; i < coordinates.size(); ++i)
      fix_sign(modes.shapes[first + i], std::size_t{3} * modes.shapes.nodes);
  }
  return modes;
}

Modes lowest_modes(const TetMesh& mesh, const FemSystem& system, std::uint32_t count, Progress& progress) {
  return lowest_modes(FemSolver(mesh, system, progress), count, progress);
}

}  // namespace cotouch

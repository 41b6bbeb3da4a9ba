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
constexpr std::uint64_t k_seed = 0x6d6f646573;
constexpr std::size_t k_probe = 4;  // steps of a search for modes that were missed

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
// numbers, gives it some: 1e-17 is usual. A rod a thousand times as long as it is thick has 1e-13.
void check_stiff(double lowest_omega_squared, const FemSystem& system) {
  if (!(lowest_omega_squared > 1e-15 * largest_omega_squared(system)))
    throw Error(
        "A part of the body moves without any force: it hangs on the rest by a single node or edge. Join it better or "
        "leave it out.",
        ErrorCode::invalid_argument);
}

void fix_sign(double* shape, std::size_t values) {
  std::size_t most = 0;
  for (std::size_t i = 1; i < values; ++i)
    if (std::fabs(shape[i]) > std::fabs(shape[most])) most = i;
  if (shape[most] < 0)
    for (std::size_t i = 0; i < values; ++i) shape[i] = -shape[i];
}

class ModeSearch {
 public:
  ModeSearch(const FemSolver& solver, std::size_t count, Progress& progress)
      : solver_(solver),
        system_(solver.system()),
        count_(count),
        all_(system_.unknowns() - solver.rigid()),
        progress_(progress) {}

  Modes run() {
    if (count_ == 0) throw Error("At least one vibration mode must be asked for.", ErrorCode::invalid_argument);
    if (count_ > all_)
      throw Error("The body has " + std::to_string(all_) + " vibration modes, but " + std::to_string(count_) +
                      " were asked for. Ask for fewer or cut the volume into more tetrahedra.",
                  ErrorCode::invalid_argument);
    KrylovSpace space(solver_, {}, k_seed);
    keep(space, converge(space, count_), count_);
    while (find_missed()) {
    }
    return result();
  }

 private:
  struct Found {
    double theta;  // 1 / w^2
    std::size_t bundle, field;
  };

  void report(double fraction) {
    fraction_ = std::max(fraction_, fraction);
    progress_.update(k_stage, fraction_);
  }

  // Extends the space until its `count` largest eigenvalues are found. They are the last of the result.
  SymmetricEigen converge(KrylovSpace& space, std::size_t count) {
    // What compact bodies take; the rest of the bound is for bodies with crowded frequencies.
    const std::size_t usual = 4 * count + 8 * k_bundle, most = 2 * usual + 16 * k_bundle;
    const auto report_size = [&] {
      report(std::min(0.9, static_cast<double>(space.size()) / static_cast<double>(usual)));
    };
    std::size_t look = 2 * count + 2 * k_bundle, last_look = 0, last_found = 0;
    for (;;) {
      space.extend(report_size);
      report_size();
      const bool complete = space.size() >= all_ - found_.size();
      if (!complete && space.size() < look) continue;
      SymmetricEigen eigen = space.eigen();
      report_size();
      check_stiff(1 / eigen.values.back(),
                  system_);  // such a motion would drown the others, so they are not waited for
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

  // A block of eight finds eight modes of the same frequency, and more of them only as rounding lets them in. Bodies
  // with many equal prongs have more. So a few steps of a new search, without what was found, show whether something is
  // left above the last mode that counts. Returns false if not.
  bool find_missed() {
    if (found_.size() >= all_) return false;
    const double last = theta_of_last();
    KrylovSpace space(solver_, bundles_, k_seed + found_.size());
    for (std::size_t i = 0; i < k_probe && space.size() < all_ - found_.size(); ++i)
      space.extend([&] { report(0.9 + 0.05 * static_cast<double>(i) / k_probe); });
    const std::vector<double> values = space.eigen().values;
    const auto missed = std::count_if(values.begin(), values.end(), [&](double v) { return v > last * (1 + 1e-6); });
    if (missed == 0) return false;
    keep(space, converge(space, static_cast<std::size_t>(missed)), static_cast<std::size_t>(missed));
    return true;
  }

  double theta_of_last() const {
    std::vector<double> theta;
    for (const Found& found : found_) theta.push_back(found.theta);
    std::sort(theta.begin(), theta.end());
    return theta[theta.size() - count_];
  }

  // Adds the fields of the `count` largest eigenvalues to those found.
  void keep(const KrylovSpace& space, const SymmetricEigen& eigen, std::size_t count) {
    const std::size_t n = space.size();
    for (std::size_t first = 0; first < count; first += k_bundle) {
      report(fraction_);
      std::vector<std::span<const double>> coordinates;
      for (std::size_t i = first; i < std::min(count, first + k_bundle); ++i) {
        found_.push_back({eigen.values[n - 1 - i], bundles_.size(), i - first});
        coordinates.push_back(std::span(eigen.vectors).subspan((n - 1 - i) * n, n));
      }
      bundles_.emplace_back(system_.unknowns() * k_bundle);
      space.combine(coordinates, bundles_.back());
    }
  }

  Modes result() {
    // In the order in which they were found if they are equal.
    std::stable_sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) { return a.theta > b.theta; });
    Modes modes;
    modes.rigid = solver_.rigid();
    modes.shapes.nodes = solver_.mesh_nodes();
    modes.shapes.count = static_cast<std::uint32_t>(count_);
    modes.shapes.values.resize(3 * count_ * modes.shapes.nodes);
    for (std::size_t i = 0; i < count_; ++i) {
      report(0.95 + 0.05 * static_cast<double>(i) / static_cast<double>(count_));
      modes.omega_squared.push_back(1 / found_[i].theta);
      double* shape = modes.shapes[i];
      const double* field = bundles_[found_[i].bundle].data() + found_[i].field;
      for (std::size_t node = 0; node < system_.free_nodes.size(); ++node)
        for (std::size_t r = 0; r < 3; ++r)
          shape[3 * std::size_t{system_.free_nodes[node]} + r] = field[(3 * node + r) * k_bundle];
      fix_sign(shape, std::size_t{3} * modes.shapes.nodes);
    }
    return modes;
  }

  const FemSolver& solver_;
  const FemSystem& system_;
  const std::size_t count_, all_;  // modes that are asked for, and that there are
  Progress& progress_;
  double fraction_ = 0;
  std::vector<std::vector<double>> bundles_;  // of the modes found so far
  std::vector<Found> found_;
};

}  // namespace

Modes lowest_modes(const FemSolver& solver, std::uint32_t count, Progress& progress) {
  return ModeSearch(solver, count, progress).run();
}

Modes lowest_modes(const TetMesh& mesh, const FemSystem& system, std::uint32_t count, Progress& progress) {
  return lowest_modes(FemSolver(mesh, system, progress), count, progress);
}

}  // namespace cotouch

#include <cotouch/elastic/fem_solver.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

std::vector<Vec3d> free_positions(const TetMesh& mesh, const FemSystem& system) {
  std::vector<Vec3d> positions;
  positions.reserve(system.free_nodes.size());
  for (const std::uint32_t node : system.free_nodes) positions.push_back(mesh.nodes[node]);
  return positions;
}

bool is_anchored(const TetMesh& mesh, const FemSystem& system) {
  return system.free_nodes.size() < mesh.nodes.size();
}

// Three translations and three rotations, mass-orthonormal, and two fields of zeros.
std::vector<double> rigid_motions(const TetMesh& mesh, const FemSystem& system) {
  if (is_anchored(mesh, system)) return {};
  Box3d box;
  for (const Vec3d& p : mesh.nodes) box.add(p);
  const Vec3d center = box.center();
  // Of similar size, so that digits are not lost between metres and radians.
  const double radius = norm(box.size()) / 2;
  std::vector<double> fields(system.unknowns() * k_bundle, 0.0), mass(fields.size());
  for (std::size_t node = 0; node < mesh.nodes.size(); ++node) {
    const Mat3 turn = Mat3::cross_matrix((center - mesh.nodes[node]) / radius);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double* row = fields.data() + (3 * node + axis) * k_bundle;
      row[axis] = 1;
      for (std::size_t r = 0; r < 3; ++r) row[3 + r] = turn(axis, r);
    }
  }
  // Gram and Schmidt, twice because once leaves what rounding did.
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = 0; i < 6; ++i) {
      multiply_mass_bundle(system, fields, mass);
      const BundleMatrix gram = products(fields, mass);
      BundleMatrix take{};
      for (std::size_t j = 0; j < i; ++j) take[j * k_bundle + i] = gram[j * k_bundle + i];
      // What is left of field i has this square, the others being orthonormal already.
      double square = gram[i * k_bundle + i];
      for (std::size_t j = 0; j < i; ++j) square -= gram[j * k_bundle + i] * gram[j * k_bundle + i];
      const double length = std::sqrt(square);
      const std::vector<double> before = fields;
      subtract_combinations(fields, before, take);
      for (std::size_t row = 0; row < system.unknowns(); ++row) fields[row * k_bundle + i] /= length;
    }
  return fields;
}

std::vector<double> times_mass(const FemSystem& system, const std::vector<double>& bundle) {
  std::vector<double> mass(bundle.size());
  if (!bundle.empty()) multiply_mass_bundle(system, bundle, mass);
  return mass;
}

// Holds a free body at three nodes far from each other: one in place, one on the line to it, one in the plane of all.
std::vector<Spring> holding_springs(const TetMesh& mesh, const FemSystem& system) {
  if (is_anchored(mesh, system)) return {};
  const auto farthest = [&](const auto& distance_squared) {
    std::uint32_t best = 0;
    for (std::uint32_t node = 1; node < mesh.nodes.size(); ++node)
      if (distance_squared(mesh.nodes[node]) > distance_squared(mesh.nodes[best])) best = node;
    return best;
  };
  Box3d box;
  for (const Vec3d& p : mesh.nodes) box.add(p);
  const std::uint32_t a = farthest([&](const Vec3d& p) { return norm_squared(p - box.center()); });
  const Vec3d& origin = mesh.nodes[a];
  const std::uint32_t b = farthest([&](const Vec3d& p) { return norm_squared(p - origin); });
  const Vec3d line = normalized(mesh.nodes[b] - origin);
  const std::uint32_t c = farthest([&](const Vec3d& p) { return norm_squared(cross(p - origin, line)); });
  const Vec3d normal = normalized(cross(line, mesh.nodes[c] - origin));
  // As stiff as a node is on average: the factor is no worse conditioned than the body itself.
  double stiffness = 0;
  for (std::size_t row = 0; row < system.free_nodes.size(); ++row) {
    const Mat3& block = system.stiffness[system.row_begin[row + 1] - 1];
    stiffness += block(0, 0) + block(1, 1) + block(2, 2);
  }
  stiffness /= static_cast<double>(system.unknowns());
  return {{a, Mat3::identity() * stiffness},
          {b, (Mat3::identity() - Mat3::outer(line, line)) * stiffness},
          {c, Mat3::outer(normal, normal) * stiffness}};
}

}  // namespace

FemSolver::FemSolver(const TetMesh& mesh, const FemSystem& system, Progress& progress)
    : system_(system),
      mesh_nodes_(static_cast<std::uint32_t>(mesh.nodes.size())),
      rigid_(rigid_motions(mesh, system)),
      rigid_mass_(times_mass(system, rigid_)),
      factor_(system, free_positions(mesh, system), holding_springs(mesh, system), progress) {
}

void FemSolver::remove_rigid(std::span<double> bundle) const {
  if (!rigid_.empty()) subtract_combinations(bundle, rigid_, products(rigid_mass_, bundle));
}

void FemSolver::solve(std::span<double> bundle) const {
  if (!rigid_.empty()) subtract_combinations(bundle, rigid_mass_, products(rigid_, bundle));
  factor_.solve(bundle);
  remove_rigid(bundle);
}

void FemSolver::solve(Shapes& fields) const {
  std::vector<double> bundle(system_.unknowns() * k_bundle);
  for (std::size_t first = 0; first < fields.count; first += k_bundle) {
    const std::size_t count = std::min<std::size_t>(k_bundle, fields.count - first);
    gather(fields, first, count, system_, bundle);
    solve(bundle);
    scatter(bundle, system_, fields, first, count);
  }
}

}  // namespace cotouch

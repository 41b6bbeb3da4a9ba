#include <cotouch/base/error.h>
#include <cotouch/elastic/modes.h>
#include <elastic/test_bodies.h>
#include <support/error_code.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace cotouch::this_file {
namespace {

const Material k_material{2e6, 0.3, 1200, 0, 0};

Modes modes_of(const TetMesh& mesh, const FemSystem& system, std::uint32_t count) {
  NoProgress quiet;
  return lowest_modes(mesh, system, count, quiet);
}

std::vector<double> unknowns(const Modes& modes, std::size_t mode, const FemSystem& system) {
  std::vector<double> u;
  for (const std::uint32_t node : system.free_nodes)
    u.insert(u.end(), modes.shapes[mode] + 3 * node, modes.shapes[mode] + 3 * node + 3);
  return u;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// All eigenvalues of K u = w^2 M u, ascending, the slow way: M = L L', then Jacobi's rotations on inverse(L) K
// inverse(L)'. Shares nothing with the code under test but the matrices.
std::vector<double> all_omega_squared(const FemSystem& system) {
  const std::size_t n = system.unknowns();
  const auto dense = [&](auto multiply) {
    std::vector<std::vector<double>> a(n, std::vector<double>(n));
    std::vector<double> unit(n);
    for (std::size_t i = 0; i < n; ++i) {
      unit[i] = 1;
      multiply(system, unit, a[i]);
      unit[i] = 0;
    }
    return a;
  };
  auto a = dense([](auto&&... args) { multiply_stiffness(args...); });
  auto l = dense([](auto&&... args) { multiply_mass(args...); });
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = j; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) l[i][j] -= l[i][k] * l[j][k];
      l[i][j] = i == j ? std::sqrt(l[i][j]) : l[i][j] / l[j][j];
    }
  for (int side = 0; side < 2; ++side) {
    for (std::size_t c = 0; c < n; ++c)
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) a[i][c] -= l[i][k] * a[k][c];
        a[i][c] /= l[i][i];
      }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) std::swap(a[i][j], a[j][i]);
  }
  for (int sweep = 0; sweep < 12; ++sweep)
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        if (a[p][q] == 0) continue;
        const double cot = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t = (cot < 0 ? -1 : 1) / (std::fabs(cot) + std::sqrt(cot * cot + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const double x = a[k][p], y = a[k][q];
          a[k][p] = c * x - s * y;
          a[k][q] = s * x + c * y;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double x = a[p][k], y = a[q][k];
          a[p][k] = c * x - s * y;
          a[q][k] = s * x + c * y;
        }
      }
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(a[i][i]);
  std::sort(values.begin(), values.end());
  return values;
}

TEST(Modes, AllFrequenciesOfASmallBodyAreThoseOfADenseSolver) {
  const TetMesh mesh = test::irregular_box({0.2, 0.1, 0.15}, {3, 2, 2});
  for (const bool anchored : {true, false}) {
    const FemSystem system =
        assemble(mesh, k_material, anchored ? test::nodes_at_the_low_end(mesh) : std::vector<std::uint32_t>{});
    const std::vector<double> expected = all_omega_squared(system);
    const std::size_t rigid = anchored ? 0 : 6, all = system.unknowns() - rigid;
    for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{30}, all}) {
      const Modes modes = modes_of(mesh, system, static_cast<std::uint32_t>(count));
      EXPECT_EQ(modes.rigid, rigid);
      ASSERT_EQ(modes.omega_squared.size(), count);
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_NEAR(modes.omega_squared[i], expected[rigid + i], 1e-9 * expected[rigid + i]) << i << " of " << count;
    }
  }
}

TEST(Modes, AreMassOrthonormalAndSolveTheEquation) {
  const TetMesh mesh = test::irregular_box({0.3, 0.1, 0.15}, {15, 5, 7});
  for (const bool anchored : {true, false}) {
    const std::vector<std::uint32_t> nodes = anchored ? test::nodes_at_the_low_end(mesh) : std::vector<std::uint32_t>{};
    const FemSystem system = assemble(mesh, k_material, nodes);
    const Modes modes = modes_of(mesh, system, 25);
    ASSERT_EQ(modes.shapes.count, 25U);
    ASSERT_EQ(modes.shapes.nodes, mesh.nodes.size());
    ASSERT_EQ(modes.shapes.values.size(), 25 * 3 * mesh.nodes.size());
    EXPECT_TRUE(std::is_sorted(modes.omega_squared.begin(), modes.omega_squared.end()));
    std::vector<double> mass(system.unknowns()), force(mass.size());
    for (std::size_t i = 0; i < 25; ++i) {
      const std::vector<double> u = unknowns(modes, i, system);
      multiply_mass(system, u, mass);
      multiply_stiffness(system, u, force);
      for (std::size_t j = 0; j <= i; ++j)
        ASSERT_NEAR(dot(unknowns(modes, j, system), mass), i == j ? 1 : 0, 1e-12) << i << ", " << j;
      double residual = 0;
      for (std::size_t k = 0; k < u.size(); ++k) residual += std::pow(force[k] - modes.omega_squared[i] * mass[k], 2);
      ASSERT_LT(std::sqrt(residual), 1e-8 * modes.omega_squared[i] * std::sqrt(dot(mass, mass))) << i;
      for (const std::uint32_t node : nodes)
        for (std::size_t r = 0; r < 3; ++r) ASSERT_EQ(modes.shapes[i][3 * node + r], 0);
      // The sign: what moves most moves forward.
      const auto [least, most] = std::minmax_element(u.begin(), u.end());
      ASSERT_GE(*most, -*least);
    }
  }
}

// A cube cut so that all its 48 symmetries remain: from the centre to each face's four triangles around its own centre.
TetMesh symmetric_cube(double size) {
  TetMesh mesh = tet_box({size, size, size}, {1, 1, 1});
  mesh.tets.clear();
  mesh.nodes.push_back(Vec3d{size, size, size} * 0.5);
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (std::uint32_t end = 0; end < 2; ++end) {
      const std::uint32_t a = 1U << ((axis + 1) % 3), b = 1U << ((axis + 2) % 3), first = end << axis;
      const std::array<std::uint32_t, 4> around{first, first + a, first + a + b, first + b};
      Vec3d center;
      for (const std::uint32_t node : around) center += mesh.nodes[node] * 0.25;
      const auto face = static_cast<std::uint32_t>(mesh.nodes.size());
      mesh.nodes.push_back(center);
      for (std::size_t i = 0; i < 4; ++i) {
        Tet tet{8, face, around[i], around[(i + 1) % 4]};
        mesh.tets.push_back(tet);
        if (tet_volume(mesh, mesh.tets.size() - 1) < 0) std::swap(mesh.tets.back()[2], mesh.tets.back()[3]);
      }
    }
  return mesh;
}

// Its 15 nodes carry 45 displacements. Group theory sorts them by how they behave under the symmetries (corners,
// faces and centre move like 2 A1g + A2u + 2 Eg + Eu + 2 T1g + 3 T2g + 5 T1u + 2 T2u). Without one T1u (shifts) and one
// T1g (turns) there are three modes that stand alone (A), three pairs (E) and ten triples (T).
TEST(Modes, CubeHasTheRepeatedFrequenciesOfItsSymmetry) {
  const TetMesh mesh = symmetric_cube(0.1);
  const Modes modes = modes_of(mesh, assemble(mesh, k_material), 39);
  std::map<std::size_t, int> groups;
  for (std::size_t i = 0; i < 39;) {
    std::size_t end = i + 1;
    while (end < 39 && modes.omega_squared[end] < modes.omega_squared[i] * (1 + 1e-9)) ++end;
    ++groups[end - i];
    i = end;
  }
  EXPECT_EQ(groups, (std::map<std::size_t, int>{{1, 3}, {2, 3}, {3, 10}}));
}

// Prongs on a base that is anchored do not feel each other, so every frequency of one is there as often as there are
// prongs: far more often than the search has fields in a block.
TEST(Modes, ManyEqualProngsAllCount) {
  constexpr std::uint32_t k_prongs = 24, k_cells = 2 * k_prongs - 1;
  const auto prongs = [](std::uint32_t count) {
    const TetMesh plate = tet_box({0.01 * k_cells, 0.01, 0.09}, {k_cells, 1, 9});
    TetMesh mesh;
    std::vector<std::uint32_t> number(plate.nodes.size(), ~0U);
    for (std::size_t t = 0; t < plate.tets.size(); ++t) {
      const std::size_t cell = t / 6, x = cell % k_cells, z = cell / k_cells;
      if (x >= 2 * count - 1 || (z > 0 && x % 2 == 1)) continue;
      Tet tet = plate.tets[t];
      for (std::uint32_t& node : tet) {
        if (number[node] == ~0U) {
          number[node] = static_cast<std::uint32_t>(mesh.nodes.size());
          mesh.nodes.push_back(plate.nodes[node]);
        }
        node = number[node];
      }
      mesh.tets.push_back(tet);
    }
    return mesh;
  };
  const auto modes = [](const TetMesh& mesh, std::uint32_t count) {
    std::vector<std::uint32_t> base;
    for (std::uint32_t i = 0; i < mesh.nodes.size(); ++i)
      if (mesh.nodes[i].z < 0.015) base.push_back(i);
    return modes_of(mesh, assemble(mesh, k_material, base), count);
  };
  const Modes one = modes(prongs(1), 2);
  ASSERT_GT(one.omega_squared[1], 1.5 * one.omega_squared[0]);
  for (const std::uint32_t count : {10U, 30U}) {
    const Modes all = modes(prongs(k_prongs), count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const double expected = one.omega_squared[i / k_prongs];
      EXPECT_NEAR(all.omega_squared[i], expected, 1e-9 * expected) << i << " of " << count;
    }
  }
}

// Bars without sideways contraction, as in theories of beams: 1 m long, square, 1/20 m thick.
constexpr double k_length = 1, k_thickness = 0.05;
const Material k_bar{1e7, 0, 1000, 0, 0};

// A bar whose cells are cubes, `across` of them across.
struct Bar {
  TetMesh mesh;
  FemSystem system;
  Modes modes;

  Bar(std::uint32_t across, bool anchored, std::uint32_t count)
      : mesh(tet_box({k_length, k_thickness, k_thickness}, {20 * across, across, across})),
        system(assemble(mesh, k_bar, anchored ? test::nodes_at_the_low_end(mesh) : std::vector<std::uint32_t>{})),
        modes(modes_of(mesh, system, count)) {}

  // w^2 of the mode that has most of a given displacement field in it.
  template <class Field>
  double omega_squared_like(const Field& field) const {
    std::vector<double> u, mass(system.unknowns());
    for (const std::uint32_t node : system.free_nodes) {
      const Vec3d v = field(mesh.nodes[node]);
      u.insert(u.end(), {v.x, v.y, v.z});
    }
    multiply_mass(system, u, mass);
    double most = 0, found = 0;
    for (std::size_t i = 0; i < modes.shapes.count; ++i) {
      const double part = std::fabs(dot(unknowns(modes, i, system), mass));
      if (part > most) {
        most = part;
        found = modes.omega_squared[i];
      }
    }
    return found;
  }
};

// Linear tetrahedra bend too stiffly, by a share that goes with the square of their size, so two sizes tell the limit.
double limit(double coarse, double fine) {
  return (4 * fine - coarse) / 3;
}

// Euler and Bernoulli: w = (b / L)^2 sqrt(E I / (rho A)) with I / A = t^2 / 12.
double beam_omega(double b) {
  return b * b / (k_length * k_length) * std::sqrt(k_bar.young / k_bar.density / 12) * k_thickness;
}
// Turning and shearing of cross sections (Timoshenko) lower a mode of the wave number b / L to first order by this
// share, with the shear factor 5/6 of a square.
double timoshenko(double b) {
  const double slenderness = b * b / (k_length * k_length) * k_thickness * k_thickness / 12;
  return 1 - slenderness / 2 * (1 + 2 * 6.0 / 5);
}

TEST(Modes, CantileverBendsAtTheFrequenciesOfBeamTheory) {
  const Bar coarse(2, true, 6), fine(4, true, 6);
  // Each frequency of bending comes twice, once for each direction. The tetrahedra favour one diagonal of the square
  // over the other, so the two differ a little: their mean is compared.
  const auto mean = [](const Modes& modes, std::size_t i) {
    return (modes.omega_squared[i] + modes.omega_squared[i + 1]) / 2;
  };
  constexpr std::array<double, 2> k_roots{1.87510407, 4.69409113};  // cos b cosh b = -1
  for (std::size_t i = 0; i < 2; ++i) {
    const double omega = std::sqrt(limit(mean(coarse.modes, 2 * i), mean(fine.modes, 2 * i)));
    const double expected = beam_omega(k_roots[i]) * timoshenko(k_roots[i]);
    EXPECT_NEAR(omega, expected, 0.005 * expected) << i;
    EXPECT_GT(mean(fine.modes, 2 * i), expected * expected);
  }
}

TEST(Modes, FreeBarBendsStretchesAndTwistsAsTheorySays) {
  // Cross sections warp when they twist, which takes more cells across than bending does.
  const Bar coarse(3, false, 24), fine(6, false, 24);
  EXPECT_EQ(coarse.modes.rigid, 6U);
  const auto at_limit = [&](const auto& field) {
    return std::sqrt(limit(coarse.omega_squared_like(field), fine.omega_squared_like(field)));
  };
  const double pi = std::numbers::pi;
  // Stretching: half a wave of sound along a rod.
  const double sound = std::sqrt(k_bar.young / k_bar.density);
  const double stretch = at_limit([&](const Vec3d& p) { return Vec3d{std::cos(pi * p.x / k_length), 0, 0}; });
  EXPECT_NEAR(stretch, pi / k_length * sound, 1e-4 * pi / k_length * sound);
  // Twisting: w = pi / L sqrt(G J / (rho I)) with Saint-Venant's J = 0.140577 t^4 of a square and I = t^4 / 6.
  const double twist = at_limit([&](const Vec3d& p) {
    const double angle = std::cos(pi * p.x / k_length);
    return Vec3d{0, -(p.z - k_thickness / 2) * angle, (p.y - k_thickness / 2) * angle};
  });
  const double twist_expected = pi / k_length * std::sqrt(k_bar.mu() / k_bar.density * 0.140577 * 6);
  EXPECT_NEAR(twist, twist_expected, 0.015 * twist_expected);
  // Bending: cos b cosh b = 1, along the two diagonals of the square, which the tetrahedra keep apart.
  constexpr double k_root = 4.73004074;
  for (const double side : {-1.0, 1.0}) {
    const double omega = at_limit([&](const Vec3d& p) {
      const double arch = std::cos(2 * pi * p.x / k_length);
      return Vec3d{0, arch, side * arch};
    });
    const double expected = beam_omega(k_root) * timoshenko(k_root);
    EXPECT_NEAR(omega, expected, 0.005 * expected) << side;
  }
}

TEST(Modes, DoNotDependOnAnythingButTheBody) {
  const TetMesh mesh = test::irregular_box({0.2, 0.1, 0.15}, {6, 4, 4});
  const FemSystem system = assemble(mesh, k_material);
  const Modes a = modes_of(mesh, system, 10), b = modes_of(mesh, system, 10);
  EXPECT_EQ(a.shapes.values, b.shapes.values);
  EXPECT_EQ(a.omega_squared, b.omega_squared);
}

TEST(Modes, MoreThanTheBodyHasAreRefused) {
  const TetMesh mesh = tet_box({0.1, 0.1, 0.1}, {1, 1, 1});
  const FemSystem system = assemble(mesh, k_material);
  EXPECT_EQ(code_of([&] { modes_of(mesh, system, 18); }), std::nullopt);
  EXPECT_EQ(code_of([&] { modes_of(mesh, system, 19); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { modes_of(mesh, system, 0); }), ErrorCode::invalid_argument);
}

// Two boxes that share one edge, as a hinge, which costs no force. Rounding decides whether that shows while the
// stiffness is factorised or as a mode of nearly no frequency, so several sizes are tried.
TEST(Modes, HingeIsRefused) {
  for (const double size : {0.1, 0.13, 0.17, 0.19, 0.23, 0.29}) {
    TetMesh mesh = tet_box({size, size, 0.1}, {2, 2, 2});
    const std::size_t nodes = mesh.nodes.size(), tets = mesh.tets.size();
    std::vector<std::uint32_t> mirrored;
    for (std::uint32_t i = 0; i < nodes; ++i) {
      const Vec3d p = mesh.nodes[i];
      const bool shared = p.x == size && p.y == size;
      mirrored.push_back(shared ? i : static_cast<std::uint32_t>(mesh.nodes.size()));
      if (!shared) mesh.nodes.push_back({2 * size - p.x, 2 * size - p.y, p.z});
    }
    for (std::size_t t = 0; t < tets; ++t) {
      Tet tet = mesh.tets[t];
      for (std::uint32_t& node : tet) node = mirrored[node];
      mesh.tets.push_back(tet);
    }
    for (const bool anchored : {true, false}) {
      const FemSystem system =
          assemble(mesh, k_material, anchored ? test::nodes_at_the_low_end(mesh) : std::vector<std::uint32_t>{});
      EXPECT_EQ(code_of([&] { modes_of(mesh, system, 5); }), ErrorCode::invalid_argument) << size;
    }
  }
}

// Remembers what is reported, and stops the work at a given call.
class Watcher final : public Progress {
 public:
  void update(std::string_view stage, double fraction) override {
    if (calls++ == stop_at) throw Cancelled();
    if (stages.empty() || stages.back() != stage) {
      stages.emplace_back(stage);
      last = 0;
    }
    ordered = ordered && fraction >= last && fraction <= 1;
    last = fraction;
  }
  std::vector<std::string> stages;
  int calls = 0, stop_at = -1;
  double last = 0;
  bool ordered = true;
};

TEST(Modes, ProgressGoesForwardThroughTheStagesAndMayStopTheWork) {
  const TetMesh mesh = tet_box({0.2, 0.1, 0.15}, {12, 8, 8});
  const FemSystem system = assemble(mesh, k_material);
  Watcher watcher;
  lowest_modes(mesh, system, 20, watcher);
  EXPECT_EQ(watcher.stages, (std::vector<std::string>{"Numbering", "Factorising", "Finding modes"}));
  EXPECT_TRUE(watcher.ordered);
  for (const int stop_at : {0, 3, watcher.calls / 2, watcher.calls - 1}) {
    Watcher stopper;
    stopper.stop_at = stop_at;
    EXPECT_EQ(code_of([&] { lowest_modes(mesh, system, 20, stopper); }), ErrorCode::cancelled);
    EXPECT_EQ(stopper.calls, stop_at + 1);
  }
}

}  // namespace
}  // namespace cotouch::this_file

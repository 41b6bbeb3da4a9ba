#include <cotouch/experiment/beam.h>

#include <gtest/gtest.h>
#include <support/temporary_folder.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numbers>
#include <sstream>
#include <string>

namespace cotouch::this_file {
namespace {

TEST(Beam, ReportsFiveFrequenciesAndTwoBends) {
  NoProgress quiet;
  const TemporaryFolder folder;
  ExperimentOptions options;
  options.quick = true;
  options.progress = &quiet;
  options.folder = folder.path();
  const ExperimentReport report = run_beam(options);
  std::map<std::string, double> values;
  for (const ExperimentResult& result : report.results) values[result.name] = result.value;
  for (int n = 1; n <= 5; ++n) {
    const std::string name = "beam/f" + std::to_string(n);
    // Four linear tetrahedra across are too stiff; what is left at their limit is small.
    EXPECT_GT(values.at(name + "-error-percent"), 0);
    EXPECT_LT(values.at(name + "-error-percent"), 20);
    EXPECT_LT(std::fabs(values.at(name + "-extrapolated-error-percent")), 6);
  }
  // Elements that are too stiff bend too little; without that, both laws follow the elastica.
  EXPECT_LT(values.at("beam/large-bend-error-percent"), 15);
  EXPECT_LT(values.at("beam/warped-large-bend-error-percent"), 15);
  EXPECT_LT(values.at("beam/large-bend-without-mesh-error-percent"), 5);
  EXPECT_LT(values.at("beam/warped-large-bend-without-mesh-error-percent"), 10);
  // Linear modes move the end straight aside, by P L^3 / (3 E I): a whole length here, or 0.75 if the mesh is a third
  // too stiff. The line to there is longer than the diagonal of that and the bar.
  EXPECT_GT(values.at("beam/linear-length"), std::hypot(1, 0.75));
  EXPECT_NEAR(values.at("beam/warped-length"), 1, 0.05);
  EXPECT_NEAR(values.at("beam/stvk-length"), 1, 0.02);
  ASSERT_EQ(report.figures.size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(report.figures[0]));
}

// Frequencies, Hz, from a table of CalculiX: mode number, eigenvalue, rad/time, cycles/time, imaginary part.
std::vector<double> read_frequencies(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<double> frequencies;
  bool table = false;
  for (std::string line; std::getline(file, line);) {
    if (line.find("E I G E N V A L U E   O U T P U T") != std::string::npos) table = true;
    if (line.find("P A R T I C I P A T I O N") != std::string::npos) break;
    std::istringstream words(line);
    double number = 0, eigenvalue = 0, omega = 0, hertz = 0;
    if (table && (words >> number >> eigenvalue >> omega >> hertz)) frequencies.push_back(hertz);
  }
  return frequencies;
}

void write_input(const std::filesystem::path& path, const SquareBeam& beam, const MeshedBeam& meshed, int modes) {
  std::ofstream file(path);
  file.precision(17);
  file << "*NODE, NSET=ALL\n";
  for (std::size_t i = 0; i < meshed.mesh.nodes.size(); ++i) {
    const Vec3d& p = meshed.mesh.nodes[i];
    file << i + 1 << ", " << p.x << ", " << p.y << ", " << p.z << '\n';
  }
  file << "*ELEMENT, TYPE=C3D4, ELSET=BEAM\n";
  for (std::size_t i = 0; i < meshed.mesh.tets.size(); ++i) {
    const Tet& t = meshed.mesh.tets[i];
    file << i + 1 << ", " << t[0] + 1 << ", " << t[1] + 1 << ", " << t[2] + 1 << ", " << t[3] + 1 << '\n';
  }
  file << "*NSET, NSET=CLAMP\n";
  for (const std::uint32_t node : meshed.clamped) file << node + 1 << ",\n";
  file << "*MATERIAL, NAME=STUFF\n*ELASTIC\n"
       << beam.young << ", " << beam.poisson << "\n*DENSITY\n"
       << beam.density << "\n*SOLID SECTION, ELSET=BEAM, MATERIAL=STUFF\n*BOUNDARY\nCLAMP, 1, 3\n*STEP\n*FREQUENCY\n"
       << modes << "\n*END STEP\n";
}

// CalculiX integrates the mass of this element at its middle alone, where every node has a quarter: entries of
// density V / 16 instead of density V (1 + [i = j]) / 20.
void take_mass_at_the_middle(const MeshedBeam& meshed, double density, FemSystem& system) {
  std::vector<std::size_t> row_of(meshed.mesh.nodes.size(), system.free_nodes.size());
  for (std::size_t row = 0; row < system.free_nodes.size(); ++row) row_of[system.free_nodes[row]] = row;
  std::fill(system.mass.begin(), system.mass.end(), 0.0);
  for (std::size_t t = 0; t < meshed.mesh.tets.size(); ++t)
    for (const std::uint32_t a : meshed.mesh.tets[t])
      for (const std::uint32_t b : meshed.mesh.tets[t]) {
        const std::size_t row = row_of[a], column = row_of[b];
        if (row == system.free_nodes.size() || column > row) continue;
        for (std::size_t k = system.row_begin[row]; k < system.row_begin[row + 1]; ++k)
          if (system.column[k] == column) system.mass[k] += density * tet_volume(meshed.mesh, t) / 16;
      }
}

TEST(Beam, HasTheFrequenciesThatCalculiXFinds) {
  if (std::system("command -v ccx > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "CalculiX is not installed (on Debian: apt install calculix-ccx)";
  SquareBeam beam;
  beam.length = 0.1;
  const MeshedBeam meshed = mesh_beam(beam, 4);
  constexpr int k_modes = 10;
  const TemporaryFolder folder;
  write_input(folder / "beam.inp", beam, meshed, k_modes);
  const std::string command = "cd '" + folder.path().string() + "' && OMP_NUM_THREADS=1 ccx beam > ccx.log 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::vector<double> theirs = read_frequencies(folder / "beam.dat");
  ASSERT_EQ(theirs.size(), static_cast<std::size_t>(k_modes));

  Material material;
  material.young = beam.young;
  material.poisson = beam.poisson;
  material.density = beam.density;
  FemSystem system = assemble(meshed.mesh, material, meshed.clamped);
  NoProgress quiet;
  const Modes consistent = lowest_modes(meshed.mesh, system, k_modes, quiet);
  take_mass_at_the_middle(meshed, beam.density, system);
  const Modes same = lowest_modes(meshed.mesh, system, k_modes, quiet);
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const auto hertz = [i](const Modes& modes) { return std::sqrt(modes.omega_squared[i]) / (2 * std::numbers::pi); };
    EXPECT_NEAR(hertz(same), theirs[i], 2e-6 * theirs[i]) << "mode " << i;  // it prints seven digits
    // Cross-sections have a little more inertia with the exact mass.
    EXPECT_LT(hertz(consistent), theirs[i]) << "mode " << i;
    EXPECT_NEAR(hertz(consistent), theirs[i], 0.02 * theirs[i]) << "mode " << i;
  }
}

}  // namespace
}  // namespace cotouch::this_file

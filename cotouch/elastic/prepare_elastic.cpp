#include <cotouch/elastic/prepare_elastic.h>

#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/base/parallel.h>
#include <cotouch/elastic/embedding.h>
#include <cotouch/elastic/fem_solver.h>
#include <cotouch/elastic/modal_derivatives.h>
#include <cotouch/elastic/modes.h>
#include <cotouch/elastic/proxies.h>
#include <cotouch/elastic/tet_faces.h>
#include <cotouch/elastic/tet_gradient.h>
#include <cotouch/field/mass.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace cotouch {
namespace {

constexpr double k_enough_volume = 0.6;  // of a part's that tetrahedra must hold: those of thin parts cut edges off
constexpr double k_one_piece = 0.95;     // of the volume of all tetrahedra, in the largest piece: the rest is dust

struct Storage {
  std::vector<Vec3f> nodes;
  std::vector<Tet> tets;
  std::vector<float> shapes, rotations, spread;
  std::vector<double> stiffness, weight;
  std::vector<EmbeddedPoint> shell, mesh;
  StvkPolynomials stvk;
  std::vector<ElasticProxy> proxies;
  std::vector<float> slopes;
  std::vector<ElasticDomain> domains;
};

// Three rows a node, padded, from fields one after another.
std::vector<float> rows_of(const Shapes& shapes, std::uint32_t stride) {
  std::vector<float> rows(std::size_t{3} * stride * shapes.nodes);
  for (std::size_t j = 0; j < shapes.count; ++j)
    for (std::size_t i = 0; i < std::size_t{3} * shapes.nodes; ++i)
      rows[i * stride + j] = static_cast<float>(shapes[j][i]);
  return rows;
}

// Half the curl at every node: the mean of the tetrahedra around it, by volume.
Shapes rotations_of(const TetMesh& mesh, const Shapes& shapes) {
  Shapes turns{shapes.nodes, shapes.count, std::vector<double>(shapes.values.size())};
  std::vector<double> volume(mesh.nodes.size());
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    throw_if_cancelled();
    const TetGradient gradient = tet_gradient(mesh, t);
    for (const std::uint32_t node : gradient.nodes) volume[node] += gradient.volume;
    for (std::size_t j = 0; j < shapes.count; ++j) {
      const Mat3 g = gradient.of(shapes[j]);
      const Vec3d turn = Vec3d{g(2, 1) - g(1, 2), g(0, 2) - g(2, 0), g(1, 0) - g(0, 1)} * (0.5 * gradient.volume);
      for (const std::uint32_t node : gradient.nodes)
        for (std::size_t k = 0; k < 3; ++k) turns[j][3 * std::size_t{node} + k] += turn[k];
    }
  }
  for (std::size_t j = 0; j < turns.count; ++j)
    for (std::size_t node = 0; node < turns.nodes; ++node)
      for (std::size_t k = 0; k < 3; ++k) turns[j][3 * node + k] /= volume[node];
  return turns;
}

// The force on each coordinate of 1 m/s^2 along each axis.
std::vector<double> weight_of(const TetMesh& mesh, double density, const Shapes& shapes) {
  std::vector<double> mass(mesh.nodes.size());
  for (std::size_t t = 0; t < mesh.tets.size(); ++t)
    for (const std::uint32_t node : mesh.tets[t]) mass[node] += density * tet_volume(mesh, t) / 4;
  std::vector<double> weight(std::size_t{3} * shapes.count);
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t j = 0; j < shapes.count; ++j)
      for (std::size_t node = 0; node < shapes.nodes; ++node)
        weight[k * shapes.count + j] += mass[node] * shapes[j][3 * node + k];
  return weight;
}

std::vector<EmbeddedPoint> embedded(const TetMesh& mesh, std::span<const Vec3f> points) {
  const Embedding embedding = embed(mesh, points);
  std::vector<EmbeddedPoint> out(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) out[i] = {mesh.tets[embedding.tet[i]], embedding.weight[i]};
  return out;
}

// The first leaf below every node of a shell, in its deepest level's order; the last entry of a level ends it.
std::vector<std::uint32_t> first_leaves(const ShellData& shell) {
  const std::size_t levels = shell.level_begin.size() - 1;
  std::vector<std::uint32_t> first(shell.nodes.size());
  for (std::uint32_t i = shell.level_begin[levels - 1]; i < shell.level_begin[levels]; ++i) first[i] = i;
  for (std::size_t l = levels - 1; l-- > 0;)
    for (std::uint32_t i = shell.level_begin[l]; i < shell.level_begin[l + 1]; ++i)
      first[i] = first[shell.nodes[i].first_child];
  return first;
}

// See ElasticData::spread (the point-based BD-tree of paper 001, IV-A; James & Pai 2004).
std::vector<float> spread_of(const Shell& shell, const Storage& model, std::uint32_t size, std::uint32_t stride) {
  const ShellData& data = shell.data();
  const std::vector<std::uint32_t> first = first_leaves(data);
  const std::uint32_t branches = shell.branch_count();
  std::vector<float> spread(std::size_t{2} * stride * branches);
  constexpr double k_up = 1 + 0x1p-18;  // what is computed of these in single precision is rounded, too
  parallel_for(std::size_t{2} * size, 1, [&](std::size_t begin, std::size_t end) {
    std::vector<Vec3d> at(model.shell.size());
    for (std::size_t row = begin; row < end; ++row) {
      const std::vector<float>& rows = row < size ? model.shapes : model.rotations;
      const std::size_t j = row % size;
      for (std::size_t i = 0; i < at.size(); ++i) {
        at[i] = {};
        for (std::size_t k = 0; k < 4; ++k) {
          const float* const node = rows.data() + std::size_t{3} * stride * model.shell[i].node[k] + j;
          at[i] +=
              Vec3d(Vec3f{node[0], node[stride], node[2 * stride]}) * static_cast<double>(model.shell[i].weight[k]);
        }
      }
      for (std::uint32_t branch = 0; branch < branches; ++branch) {
        if (first[branch] >= first[branch + 1]) continue;  // the end of a level
        throw_if_cancelled();
        const Vec3d center = at[data.nodes[branch].point];
        double farthest = 0;
        for (std::uint32_t leaf = first[branch]; leaf < first[branch + 1]; ++leaf)
          farthest = std::max(farthest, norm_squared(at[data.nodes[leaf].point] - center));
        spread[(std::size_t{2} * branch + (row < size ? 0 : 1)) * stride + j] =
            static_cast<float>(std::sqrt(farthest) * k_up);
      }
    }
  });
  return spread;
}

// `largest` piece and `all` of them, as shares of the part's volume.
[[noreturn]] void throw_not_whole(std::size_t tets, double largest, double all) {
  const std::string share = std::to_string(static_cast<int>(100 * largest)) + " %";
  if (all >= k_enough_volume && largest < k_one_piece * all)
    throw Error("The part is not of one piece: the largest of its pieces has " + share +
                    " of its volume. Prepare each piece as a part of its own, or connect them.",
                ErrorCode::invalid_argument);
  throw Error("The part is too thin for " + std::to_string(tets) + " tetrahedra: they hold " + share +
                  " of its volume in one piece. Ask for more of them, or make the part thicker.",
              ErrorCode::invalid_argument);
}

// One piece that is most of the part. Thin walls need finer tetrahedra than was asked for, up to a point.
TetMesh whole_mesh(const Field& field, const TetSettings& settings, Progress& progress) {
  constexpr int k_refinements = 4;
  const double volume = mass_properties(field, 1).mass;
  TetSettings finer = settings;
  for (int i = 0;; ++i) {
    TetMesh mesh = tetrahedralise(field, finer, progress);
    const TetPieces pieces = pieces_of(mesh);
    const double largest = *std::max_element(pieces.volume.begin(), pieces.volume.end());
    const double all = std::accumulate(pieces.volume.begin(), pieces.volume.end(), 0.0);
    if (largest >= k_one_piece * all && largest >= k_enough_volume * volume)
      return pieces.volume.size() == 1 ? mesh : largest_piece(mesh, pieces);
    if (settings.edge > 0 || i == k_refinements) throw_not_whole(mesh.tets.size(), largest / volume, all / volume);
    finer.target_tets *= 2;
  }
}

}  // namespace

void check_elastic(const ElasticSettings& settings) {
  check_material(settings.material);
  const std::uint32_t most = settings.law == ElasticLaw::stvk ? StvkPolynomials::k_most : k_most_coordinates;
  if (settings.coordinates < 1 || settings.coordinates > most)
    throw Error("An elastic part of this kind has from 1 to " + std::to_string(most) + " coordinates, not " +
                    std::to_string(settings.coordinates) + ".",
                ErrorCode::invalid_argument);
  if (settings.domains < 1 || settings.domains > k_most_domains)
    throw Error("An elastic part has from 1 to " + std::to_string(k_most_domains) + " domains, not " +
                    std::to_string(settings.domains) + ".",
                ErrorCode::invalid_argument);
  if (settings.anchors.size() > k_most_anchors)
    throw Error("An elastic part has at most " + std::to_string(k_most_anchors) + " anchors, not " +
                    std::to_string(settings.anchors.size()) + ".",
                ErrorCode::too_large);
}

ElasticModel tie_to_shapes(const ElasticParts& parts, const TetMesh& mesh, const ElasticShapes& shapes,
                           const ElasticSettings& settings, Progress& progress) {
  const auto storage = std::make_shared<Storage>();
  ElasticData data;
  data.law = settings.law;
  data.size = shapes.shapes.count;
  data.anchored = shapes.anchored;
  data.mass_damping = settings.material.mass_damping;
  data.stiffness_damping = settings.material.stiffness_damping;
  const std::uint32_t stride = data.stride();
  if (settings.law == ElasticLaw::stvk) {
    storage->stvk = reduce_stvk(mesh, settings.material, shapes.shapes, progress);
    data.stvk = storage->stvk.data();
  } else {
    storage->stiffness = shapes.omega_squared;
    data.stiffness = storage->stiffness;
  }
  progress.update("Tying the surface to the tetrahedra", 0);
  for (const Vec3d& node : mesh.nodes) storage->nodes.push_back(Vec3f(node));
  storage->tets = mesh.tets;
  storage->shapes = rows_of(shapes.shapes, stride);
  storage->rotations = rows_of(rotations_of(mesh, shapes.shapes), stride);
  storage->weight = weight_of(mesh, settings.material.density, shapes.shapes);
  storage->shell = embedded(mesh, parts.shell.data().positions);
  std::vector<Vec3f> vertices;
  for (const Vec3d& vertex : parts.mesh.vertices) vertices.push_back(Vec3f(vertex));
  storage->mesh = embedded(mesh, vertices);
  progress.update("Tying the surface to the tetrahedra", 0.3);
  storage->spread = spread_of(parts.shell, *storage, data.size, stride);
  progress.update("Tying the surface to the tetrahedra", 0.7);
  Proxies proxies =
      make_proxies(mesh, shapes.shapes, parts.field, parts.shell, storage->shell, settings.domains, stride);
  storage->proxies = std::move(proxies.proxies);
  storage->slopes = std::move(proxies.slopes);
  storage->domains = std::move(proxies.domains);

  data.nodes = storage->nodes;
  data.tets = storage->tets;
  data.shapes = storage->shapes;
  data.rotations = storage->rotations;
  data.weight = storage->weight;
  data.shell = storage->shell;
  data.mesh = storage->mesh;
  data.spread = storage->spread;
  data.proxies = storage->proxies;
  data.slopes = storage->slopes;
  data.domains = storage->domains;
  return {data, std::move(proxies.fields), storage};
}

ElasticModel prepare_elastic(const ElasticParts& parts, const ElasticSettings& settings, Progress& progress,
                             const TetMesh* given) {
  check_elastic(settings);
  if (given != nullptr)
    if (const std::string pieces = describe_pieces(pieces_of(*given)); !pieces.empty())
      throw Error(pieces, ErrorCode::invalid_argument);
  const TetMesh mesh = given != nullptr ? *given : whole_mesh(parts.field, settings.tets, progress);
  const std::vector<std::uint32_t> anchored =
      settings.anchors.empty() ? std::vector<std::uint32_t>() : anchored_nodes(mesh, settings.anchors, parts.mesh);
  const FemSystem system = assemble(mesh, settings.material, anchored);
  ElasticShapes shapes;
  shapes.anchored = !anchored.empty();
  const FemSolver solver(mesh, system, progress);
  // Large bending needs half of the shapes for how the others change on the way.
  const bool derived = settings.law == ElasticLaw::stvk && settings.coordinates > 1;
  Modes modes = lowest_modes(solver, derived ? (settings.coordinates + 1) / 2 : settings.coordinates, progress);
  shapes.shapes = derived ? stvk_basis(mesh, settings.material, solver, modes, settings.coordinates, progress)
                          : std::move(modes.shapes);
  shapes.omega_squared = std::move(modes.omega_squared);
  return tie_to_shapes(parts, mesh, shapes, settings, progress);
}

}  // namespace cotouch

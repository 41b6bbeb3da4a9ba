#include <cotouch/serve/elastic_basis.h>

#include <cotouch/elastic/model_modes.h>
#include <cotouch/elastic/tet_gradient.h>
#include <cotouch/serve/wire_layout.h>

#include <algorithm>
#include <vector>

namespace cotouch {
namespace {

constexpr std::uint32_t k_unused = ~std::uint32_t{0};

// Which nodes vertices move with: their numbers in the mesh, ascending, and their places among them.
struct UsedNodes {
  std::vector<std::uint32_t> node, place;
};

UsedNodes used_nodes(const PartPicture& picture) {
  UsedNodes used;
  used.place.assign(picture.part->elastic->data().nodes.size(), k_unused);
  for (const EmbeddedPoint& point : picture.embedding)
    for (const std::uint32_t node : point.node) used.place[node] = 0;
  for (std::uint32_t i = 0; i < used.place.size(); ++i)
    if (used.place[i] != k_unused) {
      used.place[i] = static_cast<std::uint32_t>(used.node.size());
      used.node.push_back(i);
    }
  return used;
}

// Nine rows for each used node.
std::vector<float> gradients_of(const ElasticModel& model, const UsedNodes& used) {
  const ElasticData& data = model.data();
  const TetMesh mesh = tetrahedra_of(model.data());
  const std::size_t size = data.size, stride = data.stride();
  std::vector<float> rows(9 * size * used.node.size());
  std::vector<double> volume(used.node.size());
  std::vector<double> of_tet(9 * size);
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    const Tet& tet = mesh.tets[t];
    if (std::none_of(tet.begin(), tet.end(), [&](std::uint32_t n) { return used.place[n] != k_unused; })) continue;
    const TetGradient gradient = tet_gradient(mesh, t);
    if (!(gradient.volume > 0)) continue;  // a stranger's file
    std::fill(of_tet.begin(), of_tet.end(), 0.0);
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t i = 0; i < 3; ++i) {
        const float* const shape = data.shapes.data() + (3 * std::size_t{tet[k]} + i) * stride;
        for (std::size_t c = 0; c < 3; ++c) {
          const double slope = gradient.slope[k][c];
          for (std::size_t j = 0; j < size; ++j)
            of_tet[(3 * i + c) * size + j] += static_cast<double>(shape[j]) * slope;
        }
      }
    for (const std::uint32_t node : tet) {
      const std::size_t place = used.place[node];
      if (place == k_unused) continue;
      volume[place] += gradient.volume;
      for (std::size_t e = 0; e < of_tet.size(); ++e)
        rows[place * of_tet.size() + e] += static_cast<float>(of_tet[e] * gradient.volume);
    }
  }
  for (std::size_t place = 0; place < volume.size(); ++place)
    if (volume[place] > 0)
      for (std::size_t e = 0; e < 9 * size; ++e) rows[place * 9 * size + e] /= static_cast<float>(volume[place]);
  return rows;
}

}  // namespace

std::size_t basis_bytes(const PartPicture& picture) {
  const std::size_t size = picture.part->elastic->size(), nodes = used_nodes(picture).node.size();
  return wire::ElasticHead::k_bytes + 4 * size * (size + 1) + nodes * (12 + 48 * size) + 32 * picture.embedding.size();
}

std::string encode_basis(const PartPicture& picture) {
  const ElasticModel& model = *picture.part->elastic;
  const ElasticData& data = model.data();
  const UsedNodes used = used_nodes(picture);
  std::string out;
  out.reserve(basis_bytes(picture));
  const auto law = data.law == ElasticLaw::stvk ? wire::ElasticLaw::stvk : wire::ElasticLaw::warped;
  wire::put(out,
            wire::ElasticHead{static_cast<std::uint32_t>(law), data.size, static_cast<std::uint32_t>(used.node.size()),
                              static_cast<std::uint32_t>(picture.embedding.size())});
  const std::vector<ModelMode> modes = modes_of(model);
  for (const ModelMode& mode : modes) wire::put(out, static_cast<float>(mode.frequency));
  for (const ModelMode& mode : modes)
    for (const double value : mode.direction) wire::put(out, static_cast<float>(value));
  for (const std::uint32_t node : used.node)
    for (std::size_t k = 0; k < 3; ++k) wire::put(out, data.nodes[node][k]);
  for (const std::uint32_t node : used.node)
    for (std::size_t k = 0; k < 3; ++k)
      for (const float value : data.shapes.subspan((3 * std::size_t{node} + k) * data.stride(), data.size))
        wire::put(out, value);
  for (const float value : gradients_of(model, used)) wire::put(out, value);
  for (const EmbeddedPoint& point : picture.embedding)
    for (const std::uint32_t node : point.node) wire::put(out, used.place[node]);
  for (const EmbeddedPoint& point : picture.embedding)
    for (const float weight : point.weight) wire::put(out, weight);
  return out;
}

}  // namespace cotouch

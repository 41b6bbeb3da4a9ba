#include <cotouch/elastic/elastic_model.h>

#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/elastic/tet_faces.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace cotouch {
namespace {

constexpr float k_farthest_node = 1e4F;  // metres, as of meshes
constexpr double k_largest_weight = 64;  // of an embedded point: farther outside of its tetrahedron nothing is meant

void require(bool holds, const char* what) {
  if (!holds)
    throw Error(std::string("The elastic part is damaged: ") + what + "; prepare it again.", ErrorCode::damaged_file);
}

template <class T>
void require_finite(std::span<const T> values, const char* what) {
  for_each_cancellable(values.size(), [&](std::size_t i) { require(std::isfinite(values[i]), what); });
}

void check_embedding(std::span<const EmbeddedPoint> points, std::size_t nodes, const char* what) {
  for (const EmbeddedPoint& point : points) {
    throw_if_cancelled();
    float sum = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      require(point.node[k] < nodes, what);
      require(std::fabs(static_cast<double>(point.weight[k])) <= k_largest_weight, what);
      sum += point.weight[k];
    }
    require(std::fabs(sum - 1) < 1e-3F, what);
  }
}

// Of nodes that are rounded to single precision: the smallest tetrahedra may have become flat, but not all of them.
void check_tets(const ElasticData& data) {
  for (const Vec3f& node : data.nodes)
    require(std::max({std::fabs(node.x), std::fabs(node.y), std::fabs(node.z)}) <= k_farthest_node,
            "a node that is not a number or too far away");
  for (const Tet& tet : data.tets)
    for (std::size_t i = 0; i < 4; ++i) {
      require(tet[i] < data.nodes.size(), "a tetrahedron without a corner");
      for (std::size_t k = 0; k < i; ++k) require(tet[i] != tet[k], "a tetrahedron with a corner twice");
    }
  const TetMesh mesh = tetrahedra_of(data);
  double volume = 0;
  for (std::size_t i = 0; i < mesh.tets.size(); ++i) volume += tet_volume(mesh, i);
  require(volume > 0 && !surface_of(mesh).tet.empty(), "tetrahedra that hold nothing");
}

void check(const ElasticData& data) {
  require(data.law == ElasticLaw::warped || data.law == ElasticLaw::stvk, "its law");
  require(data.size >= 1 && data.size <= k_most_coordinates, "its number of coordinates");
  require(data.mass_damping >= 0 && data.stiffness_damping >= 0 && std::isfinite(data.mass_damping) &&
              std::isfinite(data.stiffness_damping),
          "its damping");
  const std::size_t nodes = data.nodes.size(), rows = 3 * std::size_t{data.stride()} * nodes;
  require(nodes >= 4 && data.shapes.size() == rows && data.rotations.size() == rows, "the size of its shapes");
  check_tets(data);
  require_finite(data.shapes, "a shape that is not a number");
  require_finite(data.rotations, "a rotation that is not a number");
  require(data.weight.size() == 3 * std::size_t{data.size}, "the size of its weight");
  require_finite(data.weight, "a weight that is not a number");
  if (data.law == ElasticLaw::warped) {
    require(data.stiffness.size() == data.size, "the size of its stiffness");
    for (const double k : data.stiffness) require(k > 0 && std::isfinite(k), "a stiffness that is not positive");
  } else {
    require(data.stvk.size == data.size, "the size of its stiffness");
  }
  check_embedding(data.shell, nodes, "a point of its shell");
  check_embedding(data.mesh, nodes, "a vertex of its mesh");
  require(data.proxies.size() <= k_most_proxies, "its number of proxies");
  for (const ElasticProxy& proxy : data.proxies) {
    require(is_finite(proxy.rest), "a proxy that is not a number");
    check_embedding({&proxy.point, 1}, nodes, "a proxy");
  }
  require(data.slopes.size() == 9 * std::size_t{data.stride()} * data.proxies.size(), "the slopes of its proxies");
  require_finite(data.slopes, "a slope that is not a number");
  require(data.domains.size() <= k_most_domains, "its number of domains");
  std::uint32_t end = 0;
  for (const ElasticDomain& domain : data.domains) {
    require(domain.begin == end && domain.end > end && domain.cover >= 0 && std::isfinite(domain.cover), "a domain");
    end = domain.end;
  }
  require(end == data.proxies.size(), "the domains of its proxies");
  require(data.spread.size() % (2 * std::size_t{data.stride()}) == 0, "the bounds of its shell");
  for (const float s : data.spread) require(s >= 0 && std::isfinite(s), "a bound of its shell");
}

double largest_reach(std::span<const EmbeddedPoint> points) {
  float largest = 1;
  for (const EmbeddedPoint& point : points) {
    float sum = 0;
    for (const float w : point.weight) sum += std::fabs(w);
    largest = std::max(largest, sum);
  }
  return static_cast<double>(largest);
}

}  // namespace

TetMesh tetrahedra_of(const ElasticData& data) {
  TetMesh mesh;
  for (const Vec3f& node : data.nodes) mesh.nodes.push_back(Vec3d(node));
  mesh.tets.assign(data.tets.begin(), data.tets.end());
  return mesh;
}

ElasticModel::ElasticModel(const ElasticData& data, std::vector<Field> domain_fields,
                           std::shared_ptr<const void> keep_alive)
    : data_(data), domain_fields_(std::move(domain_fields)), keep_alive_(std::move(keep_alive)) {
  check(data);
  require(domain_fields_.size() == (data.domains.size() > 1 ? data.domains.size() : 0), "the fields of its domains");
  if (data.law == ElasticLaw::stvk) stvk_ = StvkPolynomials(data.stvk, keep_alive_);
  // A point is a weighted mean of nodes, so it moves no farther than the farthest times the sum of its weights' sizes.
  const double reach = std::max(largest_reach(data.shell), largest_reach(data.mesh)) * (1 + 1e-6);
  largest_.assign(data.size, 0);
  const std::size_t stride = data.stride();
  for (std::size_t node = 0; node < data.nodes.size(); ++node) {
    throw_if_cancelled();
    for (std::size_t j = 0; j < data.size; ++j) {
      const float* const row = data.shapes.data() + 3 * stride * node + j;
      const Vec3d shape(Vec3f{row[0], row[stride], row[2 * stride]});
      largest_[j] = std::max(largest_[j], norm(shape) * reach);
    }
  }
  // No two points are farther apart than twice that. A bound that is much too large would do no harm but take time.
  for (std::size_t i = 0; i < data.spread.size(); i += 2 * stride)
    for (std::size_t j = 0; j < data.size; ++j)
      require(static_cast<double>(data.spread[i + j]) <= 2.001 * largest_[j] + 1e-30, "a bound of its shell");
}

double ElasticModel::internal(std::span<const double> q, std::span<double> force,
                              std::span<double> tangent) const noexcept {
  if (data_.law == ElasticLaw::stvk) return stvk_.evaluate(q, force, tangent);
  const std::size_t size = data_.size;
  std::fill(tangent.begin(), tangent.end(), 0.0);
  double energy = 0;
  for (std::size_t j = 0, diagonal = 0; j < size; diagonal += size - j, ++j) {
    force[j] = data_.stiffness[j] * q[j];
    tangent[diagonal] = data_.stiffness[j];
    energy += force[j] * q[j] / 2;
  }
  return energy;
}

std::uint64_t ElasticModel::hash() const {
  Hasher hash;
  hash.add(static_cast<std::uint32_t>(data_.law));
  hash.add(data_.size);
  hash.add(data_.mass_damping);
  hash.add(data_.stiffness_damping);
  hash.add_bytes(std::as_bytes(data_.shapes));
  hash.add_bytes(std::as_bytes(data_.rotations));
  hash.add_bytes(std::as_bytes(data_.stiffness));
  hash.add_bytes(std::as_bytes(data_.weight));
  hash.add_bytes(std::as_bytes(data_.shell));
  hash.add_bytes(std::as_bytes(data_.spread));
  hash.add_bytes(std::as_bytes(data_.stvk.coefficients));
  hash.add_bytes(std::as_bytes(data_.proxies));
  hash.add_bytes(std::as_bytes(data_.slopes));
  hash.add_bytes(std::as_bytes(data_.domains));
  for (const Field& field : domain_fields_) hash.add_bytes(std::as_bytes(field.data().samples));
  return hash.digest();
}

double ElasticModel::largest_move(const double* q) const noexcept {
  double sum = 0;
  for (std::size_t j = 0; j < data_.size; ++j) sum += std::fabs(q[j]) * largest_[j];
  return sum;
}

}  // namespace cotouch

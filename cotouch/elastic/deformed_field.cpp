#include <cotouch/elastic/deformed_field.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace cotouch {
namespace {

constexpr std::uint32_t k_lanes = 4;
constexpr float k_nowhere = 1e18F;  // metres: where there is no proxy
constexpr float k_close =
    0.1F;  // cells by which the nearest proxy alone may be wrong, beside what it disagrees with others
constexpr std::uint32_t k_block = 64;  // places looked up at once
constexpr double k_at_a_proxy = 1e-9;  // metres: as close as this, no other counts

Mat3 inverted(const Mat3& m) {
  const Vec3d r0{m(0, 0), m(0, 1), m(0, 2)}, r1{m(1, 0), m(1, 1), m(1, 2)}, r2{m(2, 0), m(2, 1), m(2, 2)};
  const Vec3d c0 = cross(r1, r2), c1 = cross(r2, r0), c2 = cross(r0, r1);
  const double det = dot(r0, c0);
  // Turned inside out or flat: no reduced model means that, and the part counts as rigid there.
  if (!(det > 1e-3)) return Mat3::identity();
  return Mat3{{c0.x, c1.x, c2.x, c0.y, c1.y, c2.y, c0.z, c1.z, c2.z}} * (1 / det);
}

// An upper bound of the largest factor by which a matrix stretches: 1 for rotations.
double largest_stretch(const Mat3& m) {
  const Mat3 square = m.transposed() * m;
  double largest = 0;
  for (std::size_t i = 0; i < 3; ++i)
    largest = std::max(largest, std::fabs(square(i, 0)) + std::fabs(square(i, 1)) + std::fabs(square(i, 2)));
  return std::sqrt(largest);
}

}  // namespace

DeformedField::DeformedField(const ElasticModel& model, const Field& whole)
    : model_(&model), set_at_(model.size(), std::numeric_limits<float>::quiet_NaN()) {
  const ElasticData& data = model.data();
  for (const ElasticProxy& proxy : data.proxies)
    proxies_.push_back({proxy.rest, proxy.rest, Mat3::identity(), Mat3::identity(), {}});
  for (std::size_t i = 0; i < data.domains.size(); ++i) {
    const ElasticDomain& domain = data.domains[i];
    domains_.push_back(
        {data.domains.size() == 1 ? whole : model.domain_field(i), domain.begin, domain.end, 0, domain.cover, {}, 0});
  }
  for (Domain& domain : domains_) {
    domain.side = static_cast<std::uint32_t>(x_.size());
    const std::size_t size = x_.size() + (domain.end - domain.begin + k_lanes - 1) / k_lanes * k_lanes;
    for (std::vector<float>* side : {&x_, &y_, &z_}) side->resize(size, k_nowhere);
    for (std::uint32_t i = domain.begin; i < domain.end; ++i) {
      std::vector<std::pair<float, std::uint32_t>> others;
      for (std::uint32_t k = domain.begin; k < domain.end; ++k)
        if (k != i) others.push_back({norm_squared(proxies_[k].rest - proxies_[i].rest), k});
      std::sort(others.begin(), others.end());
      neighbours_.emplace_back();
      for (std::size_t k = 0; k < std::min<std::size_t>(k_nearest, others.size()); ++k)
        neighbours_.back().push_back(others[k].second);
    }
  }
}

void DeformedField::set(Deformation& shape) noexcept {
  const std::span<const float> now = shape.coordinates();
  if (std::equal(now.begin(), now.end(), set_at_.begin())) return;
  std::copy(now.begin(), now.end(), set_at_.begin());
  set_proxies(shape);
  set_balls();
  set_disagreement();
}

void DeformedField::set_proxies(Deformation& shape) noexcept {
  const ElasticData& data = model_->data();
  double shortest = 1, longest = 1;
  for (std::size_t i = 0; i < proxies_.size(); ++i) {
    Proxy& proxy = proxies_[i];
    const EmbeddedPoint& point = data.proxies[i].point;
    proxy.place = Vec3f(Vec3d(proxy.rest) + shape.displacement_at(point));
    const Mat3 slope = shape.slope_at(static_cast<std::uint32_t>(i));
    proxy.gradient = Mat3::identity() + slope;
    if (data.law == ElasticLaw::warped)
      proxy.gradient = rotation_matrix(shape.turn_at(point)) * (Mat3::identity() + (slope + slope.transposed()) * 0.5);
    proxy.inverse = inverted(proxy.gradient);
    shortest = std::min(shortest, 1 / largest_stretch(proxy.inverse));
    longest = std::max(longest, largest_stretch(proxy.gradient));
  }
  for (const Domain& domain : domains_) {
    const double cells = 1 / static_cast<double>(domain.field.spacing());
    for (std::uint32_t i = domain.begin; i < domain.end; ++i) {
      Proxy& proxy = proxies_[i];
      const std::size_t side = domain.side + i - domain.begin;
      x_[side] = proxy.place.x;
      y_[side] = proxy.place.y;
      z_[side] = proxy.place.z;
      const Mat3 m = proxy.inverse * cells;
      const Vec3d t = (Vec3d(proxy.rest) - Vec3d(domain.field.data().origin)) * cells - m * Vec3d(proxy.place);
      const auto f = [](double v) { return static_cast<float>(v); };
      proxy.map = {f(m(0, 0)), f(m(0, 1)), f(m(0, 2)), f(m(1, 0)), f(m(1, 1)), f(m(1, 2)),
                   f(m(2, 0)), f(m(2, 1)), f(m(2, 2)), f(t.x),     f(t.y),     f(t.z)};
    }
  }
  least_stretch_ = static_cast<float>(shortest);
  most_stretch_ = static_cast<float>(longest);
}

// No point of a domain's surface is farther from its nearest proxy than proxies cover.
void DeformedField::set_balls() noexcept {
  for (Domain& domain : domains_) {
    Vec3f sum;
    for (std::uint32_t i = domain.begin; i < domain.end; ++i) sum += proxies_[i].place;
    domain.center = sum / static_cast<float>(domain.end - domain.begin);
    float farthest = 0;
    for (std::uint32_t i = domain.begin; i < domain.end; ++i)
      farthest = std::max(farthest, norm_squared(proxies_[i].place - domain.center));
    domain.radius = std::sqrt(farthest) + domain.cover * most_stretch_;
  }
}

void DeformedField::set_disagreement() noexcept {
  disagreement_ = 0;
  for (std::size_t i = 0; i < proxies_.size(); ++i)
    for (const std::uint32_t k : neighbours_[i]) {
      const Vec3d expected =
          Vec3d(proxies_[i].place) + proxies_[i].gradient * (Vec3d(proxies_[k].rest) - Vec3d(proxies_[i].rest));
      disagreement_ = std::max(disagreement_, static_cast<float>(norm(expected - Vec3d(proxies_[k].place))));
    }
}

DeformedField::Nearest DeformedField::nearest(const Domain& domain, const Vec3d& at) const noexcept {
  Nearest found;
  std::array<float, k_nearest> square;
  std::array<float, k_most_proxies> squares;  // all first: the compiler takes several at a time
  const Vec3f x(at);
  const std::uint32_t count = domain.end - domain.begin;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t side = domain.side + i;
    const float dx = x.x - x_[side], dy = x.y - y_[side], dz = x.z - z_[side];
    squares[i] = dx * dx + dy * dy + dz * dz;
  }
  for (std::uint32_t i = domain.begin; i < domain.end; ++i) {
    const float d = squares[i - domain.begin];
    if (found.count == k_nearest && !(d < square[k_nearest - 1])) continue;
    std::uint32_t k = found.count < k_nearest ? found.count++ : k_nearest - 1;
    for (; k > 0 && d < square[k - 1]; --k) {
      square[k] = square[k - 1];
      found.proxy[k] = found.proxy[k - 1];
    }
    square[k] = d;
    found.proxy[k] = i;
  }
  for (std::uint32_t k = 0; k < found.count; ++k)
    found.distance[k] = std::max(k_at_a_proxy, norm(at - Vec3d(proxies_[found.proxy[k]].place)));
  const double farthest = found.distance[found.count - 1];
  for (std::uint32_t k = 0; k < found.count; ++k) {
    found.weight[k] = std::max(0.0, 1 / found.distance[k] - 1 / farthest);
    found.sum += found.weight[k];
  }
  if (!(found.sum > 0)) {  // all are equally far
    found.weight.fill(0);
    found.weight[0] = found.sum = 1;
  }
  for (std::uint32_t k = 0; k < found.count; ++k) found.weight[k] /= found.sum;
  return found;
}

double DeformedField::distance_in(const Domain& domain, const Vec3d& at) const noexcept {
  const Nearest near = nearest(domain, at);
  double sum = 0;
  for (std::uint32_t k = 0; k < near.count; ++k)
    if (near.weight[k] > 0)
      sum +=
          near.weight[k] * static_cast<double>(domain.field.distance(Vec3f(pulled_back(proxies_[near.proxy[k]], at))));
  return sum;
}

// Four at a time; of several that are equally near the first.
DeformedField::Near DeformedField::nearest_one(const Domain& domain, const Vec3f& at) const noexcept {
  using Floats = float __attribute__((vector_size(16)));
  using Numbers = std::int32_t __attribute__((vector_size(16)));
  const auto load = [](const float* from) {
    Floats four;
    std::memcpy(&four, from, sizeof four);
    return four;
  };
  const std::uint32_t count = domain.end - domain.begin;
  Floats least = Floats{} + std::numeric_limits<float>::max();
  Numbers best{}, number{0, 1, 2, 3};
  for (std::uint32_t i = 0; i < count; i += k_lanes) {
    const std::size_t side = domain.side + i;
    const Floats dx = load(&x_[side]) - at.x, dy = load(&y_[side]) - at.y, dz = load(&z_[side]) - at.z;
    const Floats d = dx * dx + dy * dy + dz * dz;
    const Numbers nearer = d < least;
    Numbers bits, kept;
    std::memcpy(&bits, &d, sizeof bits);
    std::memcpy(&kept, &least, sizeof kept);
    kept = (bits & nearer) | (kept & ~nearer);
    std::memcpy(&least, &kept, sizeof least);
    best = (number & nearer) | (best & ~nearer);
    number += static_cast<std::int32_t>(k_lanes);
  }
  std::size_t lane = 0;
  for (std::size_t k = 1; k < k_lanes; ++k)
    if (least[k] < least[lane] || (least[k] == least[lane] && best[k] < best[lane])) lane = k;
  const std::uint32_t proxy = domain.begin + std::min(static_cast<std::uint32_t>(best[lane]), count - 1);
  return {proxy, std::sqrt(least[lane])};
}

void DeformedField::distances(const Vec3f* at, std::uint32_t count, float clearance, float* distance) const noexcept {
  std::array<std::uint8_t, k_block> domain;
  for (std::uint32_t begin = 0; begin < count; begin += k_block)
    block_distances(at + begin, std::min(k_block, count - begin), clearance, distance + begin, domain.data());
}

// First of that domain alone which may be nearest, as its nearest proxy has it: many places at once. Few of them want
// more.
void DeformedField::block_distances(const Vec3f* at, std::uint32_t count, float clearance, float* distance,
                                    std::uint8_t* domain) const noexcept {
  static constexpr CellMap k_as_it_is{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
  std::array<std::array<float, k_most_domains>, k_block> bound;  // no point of the domain's surface is nearer
  std::array<Vec3f, k_block> cell;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::size_t best = 0;
    for (std::size_t d = 0; d < domains_.size(); ++d) {
      bound[i][d] = norm(at[i] - domains_[d].center) - domains_[d].radius;
      if (bound[i][d] < bound[i][best]) best = d;
    }
    domain[i] = static_cast<std::uint8_t>(best);
    cell[i] = proxies_[nearest_one(domains_[best], at[i]).proxy].map(at[i]);
  }
  std::array<std::uint32_t, k_block> asked;
  std::array<float, k_block> answer;
  for (std::size_t d = 0; d < domains_.size(); ++d) {
    std::uint32_t size = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      asked[size] = i;
      size += domain[i] == d ? 1U : 0U;
    }
    domains_[d].field.distances(k_as_it_is, cell.data(), asked.data(), size, answer.data());
    for (std::uint32_t k = 0; k < size; ++k)
      distance[asked[k]] = refined(domains_[d], answer[k], at[asked[k]], clearance);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t first = domain[i];
    for (std::size_t d = 0; d < domains_.size(); ++d) {
      if (d == first || !(bound[i][d] < distance[i])) continue;
      const Near near = nearest_one(domains_[d], at[i]);
      if (!(near.distance - domains_[d].cover * most_stretch_ < distance[i])) continue;
      const float rough = domains_[d].field.distance_in_cells(proxies_[near.proxy].map(at[i]));
      const float here = refined(domains_[d], rough, at[i], clearance);
      if (!(here < distance[i])) continue;
      distance[i] = here;
      domain[i] = static_cast<std::uint8_t>(d);
    }
  }
}

float DeformedField::refined(const Domain& domain, float rough, const Vec3f& at, float clearance) const noexcept {
  return rough < clearance + 2 * disagreement_ + k_close * domain.field.spacing()
             ? static_cast<float>(distance_in(domain, Vec3d(at)))
             : rough;
}

Vec3d DeformedField::gradient(const Vec3f& place, Deformation& shape, double* coordinates) const noexcept {
  // Of the domain that distances() has it from.
  float distance;
  std::uint8_t which;
  block_distances(&place, 1, std::numeric_limits<float>::infinity(), &distance, &which);
  const Domain* const domain = &domains_[which];
  const Vec3d at(place);
  const double least = distance_in(*domain, at);
  const ElasticData& data = model_->data();
  const Nearest near = nearest(*domain, at);
  const Proxy& farthest = proxies_[near.proxy[near.count - 1]];
  const double far = near.distance[near.count - 1];
  const Vec3d from_farthest = (at - Vec3d(farthest.place)) / (far * far * far);
  Vec3d sum, on_farthest;
  for (std::uint32_t k = 0; k < near.count; ++k) {
    if (!(near.weight[k] > 0)) continue;
    const Proxy& proxy = proxies_[near.proxy[k]];
    const Vec3d back = pulled_back(proxy, at);
    const Vec3f cell = domain->field.to_cells(Vec3f(back));
    const Vec3d slope =
        proxy.inverse.transposed() * domain->field.gradient_at(domain->field.locate(cell), cell) * near.weight[k];
    // How the weights change: s_i changes with the place by -(x - p_i) / d_i^3 + (x - p_k) / d_k^3.
    const double answer = static_cast<double>(domain->field.distance_in_cells(cell));
    const double d = near.distance[k], excess = (answer - least) / near.sum;
    const Vec3d away = (at - Vec3d(proxy.place)) * (excess / (d * d * d));
    sum += slope - away + from_farthest * excess;
    on_farthest -= from_farthest * excess;
    // The proxy's own motion does the opposite of the place's; its surroundings stretch and turn besides.
    const Vec3d arm = back - Vec3d(proxy.rest);
    const bool warps = data.law == ElasticLaw::warped;
    const Vec3d turning = warps ? cross(proxy.gradient * arm, -slope) : Vec3d{};
    shape.add_gradient(data.proxies[near.proxy[k]].point, away - slope, turning, coordinates);
    const Vec3d seen = warps ? rotate(shape.turn_at(data.proxies[near.proxy[k]].point).conjugate(), -slope) : -slope;
    shape.add_slope_gradient(near.proxy[k], seen, arm, coordinates);
  }
  shape.add_gradient(data.proxies[near.proxy[near.count - 1]].point, on_farthest, {}, coordinates);
  return sum;
}

void DeformedField::add_motion(const Vec3f& at, const Vec3d& direction, Deformation& shape,
                               double* coordinates) const noexcept {
  std::size_t nearest_proxy = 0;
  float least = std::numeric_limits<float>::max();
  for (std::size_t i = 0; i < proxies_.size(); ++i) {
    const float distance = norm_squared(at - proxies_[i].place);
    if (!(distance < least)) continue;
    nearest_proxy = i;
    least = distance;
  }
  shape.add_gradient(model_->data().proxies[nearest_proxy].point, direction, {}, coordinates);
}

}  // namespace cotouch

#include <cotouch/elastic/surface_update.h>

#include <cotouch/elastic/row_products.h>
#include <cotouch/elastic/warp.h>

#include <array>

namespace cotouch {
namespace {

// The series of warp.cpp, A and B with as many terms as single precision sees up to this square of the angle.
constexpr float k_series = 9;

Vec3f warped_in_short(const Vec3f& y, const Vec3f& w) noexcept {
  const float s = norm_squared(w);
  if (!(s <= k_series)) return Vec3f(warped(Vec3d(y), Vec3d(w)));
  // (-s)^k / (2k + 2)! and (-s)^k / (2k + 3)!
  constexpr std::array<float, 9> k_a{1.0F / 2,       -1.0F / 24,     1.0F / 720,      -1.0F / 40320, 1.0F / 3628800,
                                     -2.0876757e-9F, 1.1470746e-11F, -4.7794773e-14F, 1.5619207e-16F};
  constexpr std::array<float, 9> k_b{1.0F / 6,        -1.0F / 120,    1.0F / 5040,     -1.0F / 362880, 2.5052108e-8F,
                                     -1.6059044e-10F, 7.6471637e-13F, -2.8114573e-15F, 8.2206352e-18F};
  float a = k_a[8], b = k_b[8];
  for (std::size_t k = 8; k-- > 0;) {
    a = a * s + k_a[k];
    b = b * s + k_b[k];
  }
  const Vec3f turned = cross(w, y);
  return y + turned * a + cross(w, turned) * b;
}

}  // namespace

SurfaceUpdate::SurfaceUpdate(const ElasticModel& model, std::span<const std::uint32_t> nodes)
    : model_(&model), nodes_(nodes.begin(), nodes.end()), q_(model.stride()), places_(nodes.size()) {
}

std::span<const Vec3f> SurfaceUpdate::at(std::span<const double> q) noexcept {
  const ElasticData& data = model_->data();
  const std::size_t stride = data.stride();
  for (std::size_t j = 0; j < data.size; ++j) q_[j] = static_cast<float>(q[j]);
  const bool warps = data.law == ElasticLaw::warped;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const std::size_t row = 3 * stride * nodes_[i];
    const Vec3f y = dot_rows(data.shapes.data() + row, q_.data(), stride);
    places_[i] = data.nodes[nodes_[i]] +
                 (warps ? warped_in_short(y, dot_rows(data.rotations.data() + row, q_.data(), stride)) : y);
  }
  return places_;
}

}  // namespace cotouch

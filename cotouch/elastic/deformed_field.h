// The distance field of a part that bends, approximately (paper 001, IV-B).
//
// Some points spread over the part's surface, the proxies, know how their surroundings have moved: X -> p + F (X - P),
// with P, p a proxy's place at rest and now and F the deformation gradient there. To find the distance of a place x,
// the k nearest proxies of a domain each pull it back to the part at rest, X_i = P_i + F_i^-1 (x - p_i), and the field
// there is asked; the answers D_i are weighted with
//   w_i = s_i / (sum of s),   s_i = 1 / |x - p_i| - 1 / |x - p_k|,   p_k the farthest of them,
// which is continuous in x and in the deformation, and exact if the deformation is affine. Where two domains of a part
// bend away from each other, each has a field of its own, of which the least counts: else one would appear mirrored
// beside the other.
//
// Derivatives are those of this very expression, weights included, so that a force along them is the derivative of an
// energy. Of a warped part, F = R (1 + e) with the rotation and the strain of its modes there.
#pragma once

#include <cotouch/elastic/deformation.h>
#include <cotouch/field/field.h>

#include <array>
#include <cstdint>
#include <vector>

namespace cotouch {

class DeformedField {
 public:
  static constexpr std::uint32_t k_nearest = 5;
  static constexpr float k_ask_all = 1e9F;  // a clearance within which everything is

  // Keeps references: to the model, and to `whole`, the field of the part at rest, if the model has one domain only.
  DeformedField(const ElasticModel& model, const Field& whole);

  // The proxies' places at the deformation's coordinates, once for the same.
  void set(Deformation& shape) noexcept;

  // Metres, of places in the part's frame. What surely is farther than `clearance` is asked of the nearest proxy alone.
  void distances(const Vec3f* at, std::uint32_t count, float clearance, float* distance) const noexcept;

  // How the distance at a place changes as the place moves; and adds to `coordinates` how it changes with each of the
  // part's coordinates.
  Vec3d gradient(const Vec3f& at, Deformation& shape, double* coordinates) const noexcept;

  // Adds how fast the material at a place moves along `direction` with each coordinate, as the nearest proxy has it.
  void add_motion(const Vec3f& at, const Vec3d& direction, Deformation& shape, double* coordinates) const noexcept;

  // Nothing in the part is shorter than this times what it was, as far as the proxies know.
  float least_stretch() const noexcept { return least_stretch_; }

 private:
  struct Proxy {
    Vec3f rest, place;
    Mat3 gradient, inverse;  // F, 1 / F
    CellMap map;             // pulls a place back, in cells of its domain's field; rounded
  };
  struct Domain {
    Field field;
    std::uint32_t begin = 0, end = 0;  // of its proxies
    std::uint32_t side = 0;            // where their places begin in x_, y_, z_
    float cover = 0;                   // metres from any point of its surface to the next proxy, at rest
    Vec3f center;                      // of a ball that holds its surface as it is bent
    float radius = 0;
  };
  struct Nearest {
    std::array<std::uint32_t, k_nearest> proxy;
    std::array<double, k_nearest> distance, weight;  // metres
    std::uint32_t count = 0;
    double sum = 0;  // of s
  };
  void set_proxies(Deformation& shape) noexcept;
  void set_balls() noexcept;
  void set_disagreement() noexcept;
  Nearest nearest(const Domain& domain, const Vec3d& at) const noexcept;
  struct Near {
    std::uint32_t proxy;
    float distance;  // metres
  };
  Near nearest_one(const Domain& domain, const Vec3f& at) const noexcept;
  // `domain`: which of them each distance is of.
  void block_distances(const Vec3f* at, std::uint32_t count, float clearance, float* distance,
                       std::uint8_t* domain) const noexcept;
  // What several proxies say, if what the nearest one alone says may be wrong.
  float refined(const Domain& domain, float rough, const Vec3f& at, float clearance) const noexcept;
  Vec3d pulled_back(const Proxy& proxy, const Vec3d& at) const noexcept {
    return Vec3d(proxy.rest) + proxy.inverse * (at - Vec3d(proxy.place));
  }
  double distance_in(const Domain& domain, const Vec3d& at) const noexcept;

  const ElasticModel* model_;
  std::vector<float> set_at_;  // the coordinates of the proxies as they are; not numbers before the first
  std::vector<Proxy> proxies_;
  std::vector<Domain> domains_;
  std::vector<float> x_, y_, z_;  // where the proxies are, side by side; each domain's begin at a multiple of four
  std::vector<std::vector<std::uint32_t>> neighbours_;  // of each proxy, at rest
  float least_stretch_ = 1, most_stretch_ = 1;
  float disagreement_ = 0;  // metres by which a proxy is not where its neighbours think it is, at most
};

}  // namespace cotouch

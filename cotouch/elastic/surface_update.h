// Where all nodes of a body's surface are at once, for the eye: the whole-surface update of paper 000, Table 2.
//
// For every node the rows of S and W are multiplied by the coordinates (elastic_model.h), which is as fast as memory is
// read: 24 bytes for each node and coordinate of a warped body, half of that of a St. Venant-Kirchhoff body. Computed
// in single precision, which is enough to look at; contact uses deformation.h.
#pragma once

#include <cotouch/elastic/elastic_model.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cotouch {

class SurfaceUpdate {
 public:
  // `nodes`: which of the model's, best ascending (TetSurface::node). Keeps a reference to the model.
  SurfaceUpdate(const ElasticModel& model, std::span<const std::uint32_t> nodes);

  // The place of every node at the coordinates q, metres, in the part's frame. Does not allocate.
  std::span<const Vec3f> at(std::span<const double> q) noexcept;

 private:
  const ElasticModel* model_;
  std::vector<std::uint32_t> nodes_;
  std::vector<float> q_;  // padded with zeros
  std::vector<Vec3f> places_;
};

}  // namespace cotouch

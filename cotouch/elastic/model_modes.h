// How an elastic part swings by itself when it is moved a little from rest: for reports, pictures and viewers.
#pragma once

#include <cotouch/elastic/elastic_model.h>

#include <vector>

namespace cotouch {

struct ModelMode {
  double frequency = 0;           // Hz, without damping
  std::vector<double> direction;  // of the coordinates, length one
};

// As many as the model has coordinates, slowest first: the eigenvectors of the energy's second derivative at rest.
// Coordinates are mass-orthonormal, so its eigenvalues are (2 pi f)^2. The modes of a stvk part beyond the first half
// belong to its modal derivatives and are stiffer than the part's own.
std::vector<ModelMode> modes_of(const ElasticModel& model);

// Nodes that no coordinate moves.
std::size_t anchored_count(const ElasticModel& model);

}  // namespace cotouch

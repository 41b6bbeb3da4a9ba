// Small elastic parts, prepared once.
#pragma once

#include <cotouch/base/random.h>
#include <cotouch/part/part.h>
#include <cotouch/shapes/shapes.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/prepared.h"

namespace cotouch::elastic_test {

struct BarOptions {
  ElasticLaw law = ElasticLaw::stvk;
  std::vector<std::string> anchors{"x<-0.09"};
  std::uint32_t coordinates = 15;
  std::string material = "rubber";
  Vec3d size{0.2, 0.02, 0.02};  // metres, centred
  std::uint32_t domains = 1;
};

inline std::shared_ptr<const Part> make_bar(const BarOptions& options = {}) {
  PartSettings settings;
  settings.field.resolution = 64;
  settings.shell.points = 4096;
  ElasticSettings elastic;
  elastic.material = material_named(options.material);
  elastic.law = options.law;
  elastic.coordinates = options.coordinates;
  elastic.domains = options.domains;
  elastic.tets.target_tets = 1500;
  for (const std::string& anchor : options.anchors) elastic.anchors.push_back(parse_anchor(anchor));
  settings.elastic = elastic;
  return testing_support::prepared(make_box(options.size), settings);
}

// Held at its low x end; of rubber.
inline const std::shared_ptr<const Part>& held_bar(ElasticLaw law) {
  static const auto warped = make_bar({ElasticLaw::warped}), stvk = make_bar({ElasticLaw::stvk});
  return law == ElasticLaw::warped ? warped : stvk;
}
// Held by nothing.
inline const std::shared_ptr<const Part>& loose_bar(ElasticLaw law) {
  static const auto warped = make_bar({ElasticLaw::warped, {}}), stvk = make_bar({ElasticLaw::stvk, {}});
  return law == ElasticLaw::warped ? warped : stvk;
}

// Coordinates that bend the part by about `size` metres, low modes more than high ones.
inline std::vector<double> random_bend(const ElasticModel& model, double size, Random& random) {
  std::vector<double> q(model.size());
  for (std::size_t j = 0; j < q.size(); ++j) q[j] = random.uniform(-1, 1) / static_cast<double>(1 + j);
  const double largest = model.largest_move(q.data());
  for (double& v : q) v *= size / largest;
  return q;
}

constexpr ElasticLaw k_laws[] = {ElasticLaw::warped, ElasticLaw::stvk};

}  // namespace cotouch::elastic_test

// The points of a part that know how their surroundings deform, for its deformed distance field (deformed_field.h).
#pragma once

#include <cotouch/elastic/elastic_model.h>
#include <cotouch/elastic/modes.h>
#include <cotouch/field/field.h>
#include <cotouch/shell/shell.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cotouch {

struct Proxies {
  std::vector<ElasticProxy> proxies;  // domain by domain
  std::vector<float> slopes;          // as ElasticData has them
  std::vector<ElasticDomain> domains;
  std::vector<Field> fields;  // of each domain, if there are several
};

// The coarsest level of the part's own shell: spread evenly already. `embedded` are the shell's points in the mesh.
// Several domains are parts that are far from each other along the body, as legs are; each has the field of what is
// nearer to its own end than to others, along the body, and a little more, so that no cut is felt.
Proxies make_proxies(const TetMesh& mesh, const Shapes& shapes, const Field& field, const Shell& shell,
                     std::span<const EmbeddedPoint> embedded, std::uint32_t domains, std::uint32_t stride);

}  // namespace cotouch

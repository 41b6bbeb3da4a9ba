#include <cotouch/base/error.h>
#include <cotouch/field/assemble.h>

#include <cmath>

namespace cotouch {

Field build_field(const std::function<double(const Vec3d&)>& distance, const Box3d& part,
                  const FieldSettings& settings) {
  const Lattice lattice = make_lattice(part, settings);
  const double cells_per_metre = 1 / static_cast<double>(lattice.spacing);
  LatticeDistance source;
  source.at = [&](const Vec3d& cell) { return distance(lattice.to_metres(cell)) * cells_per_metre; };
  source.brick = [&](const Index3& corner, std::span<float> samples) {
    const bool border = lattice.is_border(flat_index({corner.x / 8, corner.y / 8, corner.z / 8}, lattice.bricks));
    std::size_t i = 0;
    for (std::int32_t z = 0; z < FieldData::k_brick_side; ++z)
      for (std::int32_t y = 0; y < FieldData::k_brick_side; ++y)
        for (std::int32_t x = 0; x < FieldData::k_brick_side; ++x) {
          samples[i] = static_cast<float>(source.at(Vec3d(corner + Index3{x, y, z})));
          if (border && std::fabs(static_cast<double>(samples[i])) < k_fine_threshold)
            throw Error("The part reaches out of the box that was given for it; give a box that holds all of it.");
          ++i;
        }
  };
  NoProgress quiet;
  return assemble_field(lattice, source, quiet, "Measuring distances");
}

}  // namespace cotouch

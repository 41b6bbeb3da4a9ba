#include <cotouch/field/assemble.h>

namespace cotouch {

Field build_field(const std::function<double(const Vec3d&)>& distance, const Box3d& part,
                  const FieldSettings& settings) {
  const Lattice lattice = make_lattice(part, settings);
  const double cells_per_metre = 1 / static_cast<double>(lattice.spacing);
  LatticeDistance source;
  source.at = [&](const Vec3d& cell) { return distance(lattice.to_metres(cell)) * cells_per_metre; };
  source.brick = [&](const Index3& corner, std::span<float> samples) {
    std::size_t i = 0;
    for (std::int32_t z = 0; z < FieldData::k_brick_side; ++z)
      for (std::int32_t y = 0; y < FieldData::k_brick_side; ++y)
        for (std::int32_t x = 0; x < FieldData::k_brick_side; ++x)
          samples[i++] =
              static_cast<float>(source.at(Vec3d{double(corner.x + x), double(corner.y + y), double(corner.z + z)}));
  };
  NoProgress quiet;
  return assemble_field(lattice, source, quiet, "Measuring distances");
}

}  // namespace cotouch

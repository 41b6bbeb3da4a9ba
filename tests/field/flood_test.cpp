// What a flood and its sides ask while they go through hundreds of millions of places.
#include <cotouch/field/sides.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

#include "support/questions.h"

namespace cotouch::this_file {
namespace {

TEST(Flood, AsksWhetherToGoOnAlsoAfterItsPlacesAreConnected) {
  FieldSettings settings;
  settings.resolution = 96;
  TriangleMesh mesh = make_sphere(1, 3);
  const Lattice lattice = make_lattice(mesh.bounds(), settings);
  for (Vec3d& v : mesh.vertices) v = (v - Vec3d(lattice.origin)) / static_cast<double>(lattice.spacing);
  NoProgress quiet;
  const Space space(lattice, mesh, ClosestTriangle(mesh), ClosestTriangle(), 0, quiet);
  ASSERT_GT(space.places(), std::size_t{1} << 18U);
  std::optional<Flood> flood;
  // Connecting asks at each brick. Then come three rounds through all places.
  EXPECT_GE(questions_of([&] { flood.emplace(space); }), lattice.brick_count() + 3 * (space.places() >> 14U));

  const Enclosure enclosure(mesh, mesh.bounds());
  Sides sides;
  const std::size_t asked = questions_of([&] { sides = find_sides(*flood, enclosure, quiet); });
  std::size_t rounds =
      0;  // twice over the near bricks: at each range, at each brick and at each place near the surface
  for (const Sides::Points& points : sides.asked) rounds += 2 + points.count();
  rounds += 2 * ((space.near_bricks() + 15) / 16);
  EXPECT_GE(asked, rounds + (space.near_bricks() * 512 >> 14U));
}

}  // namespace
}  // namespace cotouch::this_file

// Friction on bodies that bend.
#include <cotouch/elastic/deformation.h>
#include <cotouch/world/step.h>

#include <gtest/gtest.h>
#include <support/elastic_parts.h>
#include <world/support.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace cotouch::world_test::this_file {
namespace {

using namespace elastic_test;

constexpr double k_friction = 0.3;
constexpr double k_lifted_to = -0.008;  // z of the plate; the bar's lower side is at -0.01 at rest

// A bar along x, held at its low end, with a damping of its own, and a plate that lifts it by 2 mm and slides from one
// place to the next. Behind the plate's edge the bar rises, so that they touch there: 145 mm from where it is held.
struct PressedBar {
  PressedBar(double mass_damping, double stiffness_damping, const std::vector<Vec3d>& slides)
      : part(damped(mass_damping, stiffness_damping)), world(bodies(part, slides), rubbing()), shape(*part->elastic) {}

  static std::shared_ptr<const Part> damped(double of_mass, double of_stiffness) {
    auto bar = std::make_shared<Part>(*held_bar(ElasticLaw::warped));
    ElasticData data = bar->elastic->data();
    data.mass_damping = of_mass;
    data.stiffness_damping = of_stiffness;
    bar->elastic = std::make_shared<const ElasticModel>(data, std::vector<Field>(), bar->elastic);
    return bar;
  }
  static std::vector<BodyModel> bodies(const std::shared_ptr<const Part>& bar, const std::vector<Vec3d>& slides) {
    const Vec3d place{0.15, 0, k_lifted_to};
    BodyModel plate = fixed_body(2, plate_part(), {place + slides[0], {}});
    if (slides.size() > 1) {
      std::vector<Pose> keys;
      for (const Vec3d& slide : slides) keys.push_back({place + slide, {}});
      plate.motion = Motion::path;
      plate.path = HandPath(keys, 0.05);
    }
    return {fixed_body(1, bar), plate};
  }
  static WorldSettings rubbing() {
    WorldSettings settings = plain();
    settings.friction = k_friction;
    return settings;
  }

  double push() const { return norm(world.scratch.contact(0).on_shell.wrench.force); }
  // The point of the bar's shell that is nearest to the middle of the contact.
  std::uint32_t touched() {
    // The nearest to the bar's origin of the line along which the wrench pushes, taken down to the plate.
    const Wrench& on_bar = world.scratch.contact(0).on_shell.wrench;
    const Vec3d middle = cross(on_bar.force, on_bar.torque) / norm_squared(on_bar.force) + Vec3d{0, 0, k_lifted_to};
    std::uint32_t best = 0;
    double least = 1;
    for (std::uint32_t i = 0; i < part->shell.point_count(); ++i)
      if (const double away = norm(point(i) - middle); away < least) {
        least = away;
        best = i;
      }
    return best;
  }
  Vec3d point(std::uint32_t i) {
    shape.set(world.state.bending().data());
    Vec3f at;
    shape.shell_points(part->shell.data().positions.data(), &i, 1, &at);
    return Vec3d(at);
  }
  // How the coordinates move a point along a direction.
  std::vector<double> row(std::uint32_t i, const Vec3d& direction) {
    shape.set(world.state.bending().data());
    std::vector<double> out(part->elastic->size());
    shape.add_gradient(part->elastic->data().shell[i], direction, {}, out.data());
    return out;
  }

  std::shared_ptr<const Part> part;
  World world;
  Deformation shape;
};

TEST(ElasticFriction, SlidingBodyDragsTheBarWithCoulombsForce) {
  // Damped so that a swing is over in tenths of a second; the plate goes 100 mm in 2 s, fastest in the middle.
  PressedBar bar(60, 4e-4, {{0, -0.05, 0}, {0, 0.05, 0}});
  bar.world.run(1.2);
  const std::uint32_t at = bar.touched();
  const double push = bar.push(), moved = bar.point(at).y - Vec3d(bar.part->shell.data().positions[at]).y;
  // At rest omega^2 q = J' F, so the bar is bent aside by J (J' F) / omega^2.
  const std::vector<double> aside = bar.row(at, {0, 1, 0}), pushed = bar.row(at, {0, k_friction * push, push});
  double bend = 0;
  for (std::size_t j = 0; j < aside.size(); ++j) bend += aside[j] * pushed[j] / bar.part->elastic->data().stiffness[j];
  EXPECT_GT(bend, 5e-4);
  // Friction acts at a point of the shell, and those are 2 mm apart: three times 2 of 145 mm of a bar whose compliance
  // grows with the cube of its length.
  EXPECT_NEAR(moved, bend, 0.05 * bend);
}

TEST(ElasticFriction, ABarThatSlidesOnABodyAtRestLosesCoulombsWork) {
  // Lifted and at rest, then without damping of its own and set going along the plate with 0.2 m/s.
  PressedBar settled(60, 4e-4, {Vec3d{}}), bar(0, 0, {Vec3d{}});
  settled.world.run(1);
  const std::size_t n = bar.part->elastic->size();
  std::copy_n(settled.world.state.bending().begin(), n, bar.world.state.bending().begin());
  const std::uint32_t at = settled.touched();
  const std::vector<double> aside = bar.row(at, {0, 1, 0});
  // The slowest two modes are those in which a square bar bends, in any two directions.
  const double size = aside[0] * aside[0] + aside[1] * aside[1];
  for (std::size_t j = 0; j < 2; ++j) bar.world.state.bending()[n + j] = 0.2 * aside[j] / size;
  const auto total = [&] {
    const WorldEnergy e = energy(*bar.world.model, bar.world.state);
    return e.kinetic + e.potential;
  };
  const double start = bar.point(at).y, first = total();
  double work = 0, last = start;
  for (int i = 0; i < 40; ++i) {  // until it turns back
    bar.world.step();
    const double y = bar.point(at).y;
    work += k_friction * bar.push() * std::fabs(y - last);
    last = y;
  }
  EXPECT_GT(last - start, 4e-3);
  // The push changes by a few percent from tick to tick.
  EXPECT_NEAR(first - total(), work, 0.05 * work);
}

}  // namespace
}  // namespace cotouch::world_test::this_file

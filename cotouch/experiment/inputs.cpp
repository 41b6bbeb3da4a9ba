#include <cotouch/experiment/inputs.h>

#include <cotouch/base/error.h>
#include <cotouch/base/realtime.h>
#include <cotouch/base/trig.h>
#include <cotouch/contact/cache.h>
#include <cotouch/field/isosurface.h>
#include <cotouch/mesh/import.h>
#include <cotouch/shapes/shapes.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace cotouch {
namespace {

// The engine with a stopwatch.
class TimedContact final : public ContactEngine {
 public:
  explicit TimedContact(ContactEngine& engine) : engine_(engine) {}

  void evaluate(const Pose& shell, const Pose& field, Moving moving, ContactResult& result) noexcept override {
    const std::int64_t start = monotonic_ns();
    engine_.evaluate(shell, field, moving, result);
    last_us = static_cast<double>(monotonic_ns() - start) * 1e-3;
  }
  std::span<const ContactPoint> contacts() const noexcept override { return engine_.contacts(); }
  void reset() noexcept override { engine_.reset(); }

  double last_us = 0;

 private:
  ContactEngine& engine_;
};

PartSettings settings_of(int resolution, std::uint32_t points, const ExperimentOptions& options) {
  PartSettings settings;
  settings.field.resolution = resolution;
  settings.shell.points = points;
  settings.shell.seed = options.seed;
  return settings;
}

void set_bodies(ContactCase& scene, const Part& shell_part, const Part& field_part) {
  scene.shell = shell_part.shell;
  scene.field = field_part.field;
  scene.shell_mesh = shell_part.mesh;
  scene.field_mesh = field_part.mesh;
}

// How far along `direction` the moving body goes from `start` until the first point touches.
double distance_to_touch(const ContactCase& scene, const Pose& start, const Vec3d& direction) {
  constexpr double k_step = 1e-4, k_farthest = 1.0;
  NestedContact engine(scene.shell, scene.field, {});
  ContactResult result;
  for (double way = 0; way < k_farthest; way += k_step) {
    const Pose moving{start.position + direction * way, start.rotation};
    if (scene.moving == Moving::shell)
      engine.evaluate(moving, scene.other, scene.moving, result);
    else
      engine.evaluate(scene.other, moving, scene.moving, result);
    if (result.stats.in_contact > 0) return way;
  }
  throw Error("The two bodies of the experiment '" + scene.name + "' never meet.");
}

// From just before touch, pressed in by `press`, slid forth and back by `slide`, and out again.
HandPath press_and_slide(const ContactCase& scene, const Pose& start, const Vec3d& direction, double press,
                         const Vec3d& slide) {
  const double way = distance_to_touch(scene, start, direction);
  const auto at = [&](double depth, const Vec3d& aside) {
    return Pose{start.position + direction * (way + depth) + aside, start.rotation};
  };
  return HandPath(
      {at(-0.01, {}), at(press, {}), at(press, slide), at(press, {}), at(press, -slide), at(press, {}), at(-0.01, {})},
      0.05);
}

}  // namespace

TriangleMesh scanned_model(const std::string& file_name) {
  const char* const folder = std::getenv("COTOUCH_MODELS");
  if (folder == nullptr) return {};
  const std::filesystem::path path = std::filesystem::path(folder) / file_name;
  if (!std::filesystem::exists(path)) return {};
  return load_mesh(path, {.unit = "m", .up_axis = {}, .limits = {}}).mesh;
}

std::vector<FeltCycle> feel(const ContactCase& scene, NestedContact& engine, const HeldObjectSettings& settings) {
  engine.reset();
  TimedContact timed(engine);
  HeldObject object(timed, settings, scene.hand.at(0), scene.other);
  const auto count = static_cast<std::size_t>(scene.hand.duration() * 1000);
  std::vector<FeltCycle> cycles(count);
  for (std::size_t i = 0; i < count; ++i) {
    FeltCycle& cycle = cycles[i];
    cycle.object = object.pose();
    const Pose hand = scene.hand.at(static_cast<double>(i) * 1e-3);
    const std::int64_t start = monotonic_ns();
    cycle.felt = object.step(hand);
    cycle.cycle_us = static_cast<double>(monotonic_ns() - start) * 1e-3;
    cycle.contact_us = timed.last_us;
    cycle.stats = object.contact().stats;
  }
  return cycles;
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = std::lround(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

double median(std::vector<double> values) {
  return percentile(std::move(values), 0.5);
}

ContactCase million_points_case(const ExperimentOptions& options) {
  ContactCase scene;
  scene.name = "million-points";
  scene.note = "a procedural creature of a million points stands in for the knight, a toothed wheel for the axe";
  const Part creature = prepare_cached(make_creature({}), settings_of(256, 1U << 20, options), *options.progress);
  const Part wheel = prepare_cached(make_gear({}), settings_of(256, 1024, options), *options.progress);
  set_bodies(scene, creature, wheel);
  scene.moving = Moving::field;
  const Box3d bounds = creature.mesh.bounds();
  // The wheel on its side, brought down on the back like a blade.
  const Pose above{{bounds.center().x, bounds.center().y, bounds.high.z + 0.1}, quat_from_rotation_vector({1.5, 0, 0})};
  scene.hand = press_and_slide(scene, above, {0, 0, -1}, 0.008, {0.02, 0.01, 0});
  return scene;
}

ContactCase bridge_creature_case(const ExperimentOptions& options) {
  ContactCase scene;
  scene.name = "bridge-creature";
  scene.note = "procedural bridge and creature, both rigid (the paper's bridge bends)";
  const Part bridge = prepare_cached(make_bridge({}), settings_of(256, 85018, options), *options.progress);
  const Part creature = prepare_cached(make_creature({}), settings_of(256, 1U << 20, options), *options.progress);
  set_bodies(scene, bridge, creature);
  scene.moving = Moving::field;
  const Box3d bounds = bridge.mesh.bounds();
  const Pose above{{bounds.center().x, bounds.center().y, bounds.high.z + 0.2}, {}};
  scene.hand = press_and_slide(scene, above, {0, 0, -1}, 0.008, {0.02, 0.01, 0});
  return scene;
}

ContactCase dragon_hole_case(const ExperimentOptions& options) {
  ContactCase scene;
  scene.name = "dragon-hole";
  TriangleMesh figure = scanned_model("dragon.ply");
  scene.note = "the scanned dragon, in a hole made by offsetting its own field";
  if (figure.triangles.empty()) {
    figure = make_creature({});
    scene.note = "a procedural creature stands in for the dragon (./dev models fetches the scan)";
  }
  const Part part = prepare_cached(figure, settings_of(256, 262144, options), *options.progress);

  // A block around the lower two thirds of the figure, less everything within one and a half cells of it: half a cell
  // of the gap is the shell's own offset, so the fit has a clearance of one cell all round.
  const Box3d bounds = part.mesh.bounds();
  const double cell = static_cast<double>(part.field.spacing());
  const double clearance = 1.5 * cell;
  const Vec3d wall{0.02, 0.02, 0.02};
  Box3d block{bounds.low - wall, bounds.high + wall};
  const std::size_t up = bounds.size().y > bounds.size().z ? 1 : 2;
  block.high[up] = bounds.low[up] + bounds.size()[up] * 0.66;
  const auto hole = [&](const Vec3d& p) {
    const Vec3d outside = max(block.low - p, p - block.high);
    const double to_block = std::max({outside.x, outside.y, outside.z});
    return std::max(to_block, clearance - static_cast<double>(part.field.distance(Vec3f(p))));
  };
  options.progress->update("Cutting the hole", 0);
  FieldSettings field_settings;
  field_settings.resolution = 256;
  const TriangleMesh hole_mesh = extract_isosurface(build_field(hole, block, field_settings), 0);
  const Part hole_part = prepare_cached(hole_mesh, settings_of(256, 1024, options), *options.progress);

  set_bodies(scene, part, hole_part);
  scene.moving = Moving::shell;
  // Wriggling in the hole: pushed each way by more than the clearance, and turned.
  const auto key = [](const Vec3d& position, const Vec3d& rotation) {
    return Pose{position, quat_from_rotation_vector(rotation)};
  };
  const Pose home;
  scene.hand =
      HandPath({home, key({0.004, 0, 0}, {}), key({-0.004, 0, 0}, {}), key({0, 0, 0.004}, {}), key({0, -0.006, 0}, {}),
                key({0, -0.004, 0}, {0, 0.08, 0}), key({0, -0.004, 0}, {0.08, 0, 0}), home},
               0.02, 0.2);
  return scene;
}

ContactCase bump_slide_case(const ExperimentOptions& options) {
  ContactCase scene;
  scene.name = "bump-slide";
  // Six bumps pass, as in the paper. The beam is narrower than the distance between two of them.
  CreatureShape shape;
  shape.bumps = 6;
  const double beam_width = 0.3 * shape.bump_spacing;
  scene.note =
      "the creature's back slides under a beam; the paper slid a dinosaur's back along its bridge's upper shelf";
  const Part creature = prepare_cached(make_creature(shape), settings_of(256, 4096, options), *options.progress);
  const Part beam =
      prepare_cached(make_box({beam_width, 0.03, 0.01}), settings_of(128, 262144, options), *options.progress);
  set_bodies(scene, beam, creature);
  scene.moving = Moving::field;
  // The beam hangs a millimetre lower than the first top, turned to lie flat on the line of the bumps. The creature
  // walks under it so that every top would pass at the same height.
  const std::vector<Vec3d> tops = creature_bump_tops(shape);
  const Vec3d along = normalized(tops.back() - tops.front());
  const double slope = angle_of(-along.z, along.x);
  const Quat tilt = quat_from_rotation_vector({0, slope, 0});
  constexpr double k_half_beam = 0.005, k_press = 0.001;
  scene.other = {tops.front() + rotate(tilt, {0, 0, k_half_beam - k_press}), tilt};
  const Vec3d half_way = along * (0.5 * shape.bump_spacing);
  std::vector<Pose> keys{{half_way, {}}};
  for (const Vec3d& top : tops) keys.push_back({tops.front() - top, {}});
  keys.push_back({keys.back().position - half_way, {}});
  scene.hand = HandPath(std::move(keys), 0.05);
  return scene;
}

}  // namespace cotouch

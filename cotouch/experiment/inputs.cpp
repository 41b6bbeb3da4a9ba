#include <cotouch/experiment/inputs.h>

#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/field/isosurface.h>
#include <cotouch/mesh/import.h>
#include <cotouch/part/cache.h>
#include <cotouch/shapes/shapes.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace cotouch {
namespace {

PartSettings settings_of(int resolution, std::uint32_t points, const ExperimentOptions& options) {
  PartSettings settings;
  settings.field.resolution = resolution;
  settings.shell.points = points;
  settings.shell.seed = options.seed;
  return settings;
}

SceneBody body_of(std::uint32_t id, Motion motion, const Part& part, const Pose& pose) {
  SceneBody body;
  body.id = id;
  body.name = part.name;
  body.motion = motion;
  body.pose = pose;
  // Held without inertia: what it weighs does not matter.
  body.mass = MassProperties{1, {}, Mat3::identity()};
  ScenePart piece;
  piece.name = part.name;
  piece.part = std::make_shared<const Part>(part);
  body.parts.push_back(std::move(piece));
  return body;
}

void set_bodies(ContactCase& scene, const Part& resting, const Part& held, const Pose& resting_pose = {}) {
  scene.scene.name = scene.name;
  scene.scene.bodies = {body_of(ContactCase::k_resting, Motion::fixed, resting, resting_pose),
                        body_of(ContactCase::k_held, Motion::free, held, {})};
  scene.model = make_model(scene.scene);
}

// The held body waits where the hand begins.
void set_hand(ContactCase& scene, HandPath hand) {
  scene.hand = std::move(hand);
  scene.scene.bodies.back().pose = scene.hand.at(0);
  scene.model = make_model(scene.scene);
}

// How far along `direction` the held body goes from `start` until the first point touches.
double distance_to_touch(const ContactCase& scene, const Pose& start, const Vec3d& direction) {
  constexpr double k_step = 1e-4, k_farthest = 1.0;
  const std::unique_ptr<ContactWorkspace> workspace = scene.engine().make_workspace();
  for (double way = 0; way < k_farthest; way += k_step) {
    const Pose held{start.position + direction * way, start.rotation};
    if (scene.contact_at(held, Detail::everything(), *workspace, nullptr).stats.in_contact > 0) return way;
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

bool ContactCase::holds_shell() const {
  return model->bodies()[model->pairs().front().shell_body].id == k_held;
}

PairState ContactCase::state_at(const Pose& held) const {
  const Pose& resting = scene.find(k_resting)->pose;
  return {{holds_shell() ? held : resting}, {holds_shell() ? resting : held}};
}

PairContact ContactCase::contact_at(const Pose& held, const Detail& detail, ContactWorkspace& workspace,
                                    ContactCache* cache) const {
  PairContact contact;
  engine().evaluate(state_at(held), detail, workspace, cache, contact);
  return contact;
}

const Part& ContactCase::shell_part() const {
  const PairModel& pair = model->pairs().front();
  return *model->bodies()[pair.shell_body].pieces[pair.shell_piece].part;
}

const Part& ContactCase::field_part() const {
  const PairModel& pair = model->pairs().front();
  return *model->bodies()[pair.field_body].pieces[pair.field_piece].part;
}

std::vector<FeltCycle> feel(const ContactCase& scene, const StepDetail& detail) {
  WorldState state(*scene.model);
  StepScratch scratch(*scene.model, true);
  const std::size_t held = *scene.model->index_of(ContactCase::k_held);
  std::vector<FeltCycle> cycles(static_cast<std::size_t>(scene.hand.duration() * 1000));
  HandInput input;
  input.present = true;
  input.action = HandInput::Action::grasp;
  input.body = ContactCase::k_held;
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    FeltCycle& cycle = cycles[i];
    cycle.object = state.bodies()[held].pose;
    input.pose = scene.hand.at(static_cast<double>(i) * 1e-3);
    const std::int64_t start = processor_ns();
    step(*scene.model, state, {&input, 1}, scratch, detail);
    cycle.cycle_us = static_cast<double>(processor_ns() - start) * 1e-3;
    cycle.felt = state.hands()[0].felt;
    cycle.stats = scratch.body_stats(held);
    input.action = HandInput::Action::none;
  }

  // Contact alone along the same poses, with a cache of its own.
  const std::unique_ptr<ContactWorkspace> workspace = scene.engine().make_workspace();
  const std::unique_ptr<ContactCache> cache = scene.engine().make_cache();
  std::uint32_t level = 0;
  for (FeltCycle& cycle : cycles) {
    const Detail wanted = detail.rule == Detail::Rule::exactly ? Detail::at(detail.levels.front())
                                                               : Detail::by_work(detail.budget, level);
    const std::int64_t start = processor_ns();
    level = scene.contact_at(cycle.object, wanted, *workspace, cache.get()).stats.level;
    cycle.contact_us = static_cast<double>(processor_ns() - start) * 1e-3;
  }
  return cycles;
}

std::vector<FeltCycle> feel(const ContactCase& scene, const WorkBudget& budget) {
  return feel(scene, StepDetail{Detail::Rule::by_work, budget, {}});
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
  const Box3d bounds = creature.mesh.bounds();
  // The wheel on its side, brought down on the back like a blade.
  const Pose above{{bounds.center().x, bounds.center().y, bounds.high.z + 0.1}, quat_from_rotation_vector({1.5, 0, 0})};
  set_hand(scene, press_and_slide(scene, above, {0, 0, -1}, 0.008, {0.02, 0.01, 0}));
  return scene;
}

ContactCase bridge_creature_case(const ExperimentOptions& options) {
  ContactCase scene;
  scene.name = "bridge-creature";
  scene.note = "procedural bridge and creature, both rigid (the paper's bridge bends)";
  const Part bridge = prepare_cached(make_bridge({}), settings_of(256, 85018, options), *options.progress);
  const Part creature = prepare_cached(make_creature({}), settings_of(256, 1024, options), *options.progress);
  set_bodies(scene, bridge, creature);
  const Box3d bounds = bridge.mesh.bounds();
  const Pose above{{bounds.center().x, bounds.center().y, bounds.high.z + 0.2}, {}};
  set_hand(scene, press_and_slide(scene, above, {0, 0, -1}, 0.008, {0.02, 0.01, 0}));
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

  set_bodies(scene, hole_part, part);
  // Wriggling in the hole: pushed each way by more than the clearance, and turned.
  const auto key = [](const Vec3d& position, const Vec3d& rotation) {
    return Pose{position, quat_from_rotation_vector(rotation)};
  };
  const Pose home;
  set_hand(scene, HandPath({home, key({0.004, 0, 0}, {}), key({-0.004, 0, 0}, {}), key({0, 0, 0.004}, {}),
                            key({0, -0.006, 0}, {}), key({0, -0.004, 0}, {0, 0.08, 0}),
                            key({0, -0.004, 0}, {0.08, 0, 0}), home},
                           0.02, 0.2));
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
  // The beam hangs a millimetre lower than the first top, turned to lie flat on the line of the bumps. The creature
  // walks under it so that every top would pass at the same height.
  const std::vector<Vec3d> tops = creature_bump_tops(shape);
  const Vec3d along = normalized(tops.back() - tops.front());
  const double slope = angle_of(-along.z, along.x);
  const Quat tilt = quat_from_rotation_vector({0, slope, 0});
  constexpr double k_half_beam = 0.005, k_press = 0.001;
  set_bodies(scene, beam, creature, {tops.front() + rotate(tilt, {0, 0, k_half_beam - k_press}), tilt});
  const Vec3d half_way = along * (0.5 * shape.bump_spacing);
  std::vector<Pose> keys{{half_way, {}}};
  for (const Vec3d& top : tops) keys.push_back({tops.front() - top, {}});
  keys.push_back({keys.back().position - half_way, {}});
  set_hand(scene, HandPath(std::move(keys), 0.05));
  return scene;
}

}  // namespace cotouch

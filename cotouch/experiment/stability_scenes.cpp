#include <cotouch/experiment/stability_scenes.h>

#include <cotouch/part/cache.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/world/pushing_hands.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace cotouch {
namespace {

Shell single_point() {
  struct Arrays {
    std::array<ShellNode, 2> nodes{ShellNode{{0, 0, 0}, 0, 0, 0}, ShellNode{}};
    std::array<std::uint32_t, 2> level_begin{0, 2};
    std::array<Vec3f, 1> position{Vec3f{0, 0, 0}}, inward{Vec3f{0, 0, 1}};
  };
  const auto arrays = std::make_shared<const Arrays>();
  return Shell({arrays->nodes, arrays->level_begin, arrays->position, arrays->inward}, arrays);
}

// A hand that is where it is told to be.
class FirmHand {
 public:
  explicit FirmHand(const TouchedScene& scene)
      : model_(*scene.model),
        state_(model_),
        scratch_(model_, true),
        body_(scene.script.body),
        last_{scene.script.keys.front()} {}

  void lead_to(const Pose& pose, double speed) {
    const HandPath path({last_, pose}, speed);
    const double tick = model_.settings().tick;
    for (double t = 0; t < path.duration(); t += tick) step_at(path.at(t));
    step_at(pose);
    last_ = pose;
  }
  void rest(double seconds) {
    for (double t = 0; t < seconds; t += model_.settings().tick) step_at(last_);
  }
  Vec3d felt() const { return state_.hands()[0].felt.force; }
  const Pressed& worst() const { return worst_; }

 private:
  void step_at(const Pose& pose) {
    HandInput input;
    input.present = true;
    input.pose = pose;
    input.body = body_;
    input.action = state_.head().ticks == 0 ? HandInput::Action::grasp : HandInput::Action::none;
    step(model_, state_, std::span(&input, 1), scratch_,
         {Detail::Rule::by_work, WorkBudget::of(k_stability_nodes), {}});
    worst_.force = std::max(worst_.force, norm(felt()));
    worst_.deepest = std::max(worst_.deepest, static_cast<double>(scratch_.stats().deepest));
    worst_.cells = std::max(worst_.cells, deepest_in_cells(model_, scratch_));
  }

  const WorldModel& model_;
  WorldState state_;
  StepScratch scratch_;
  std::uint32_t body_;
  Pose last_;
  Pressed worst_;
};

}  // namespace

HandScript script_of(const Scene& scene) {
  const std::vector<HandScript> hands = pushing_hands(scene);
  return hands.empty() ? HandScript{} : hands.front();
}

bool theory_holds(const Scene& scene, std::uint32_t held) {
  return std::all_of(scene.bodies.begin(), scene.bodies.end(), [held](const SceneBody& body) {
    const bool bends = std::any_of(body.parts.begin(), body.parts.end(),
                                   [](const ScenePart& part) { return part.settings.elastic.has_value(); });
    return !bends && (body.id == held ? body.holding == Holding::quasi_static : body.motion == Motion::fixed);
  });
}

TouchedScene touched(Scene scene) {
  scene.task.reset();
  TouchedScene touched{scene.name, make_model(scene), script_of(scene)};
  touched.theory_holds = theory_holds(scene, touched.script.body);
  return touched;
}

TouchedScene rigid_wall(Progress& progress) {
  constexpr double k_stiffness = 1e7;  // N/m
  PartSettings settings;
  settings.field.resolution = 64;
  settings.shell.points = 64;
  // Its own points are left out, so that the other brings its only one.
  auto wall = std::make_shared<Part>(prepare_cached(make_box({0.2, 0.2, 0.05}), settings, progress));
  auto tip = std::make_shared<Part>(*wall);
  wall->shell = {};
  tip->shell = single_point();

  BodyModel fixed, held;
  fixed.id = 1;
  fixed.pieces = {{wall, {{0, 0, -0.025}, {}}}};
  held.id = 2;
  held.motion = Motion::free;
  held.mass = {1, {}, Mat3::identity()};
  held.pieces = {{tip, {}}};
  TouchedScene scene;
  scene.name = "rigid-wall";
  scene.script = {2, {{{0, 0, 0.005}, {}}, {{0, 0, -0.01}, {}}, {{0.05, 0, -0.01}, {}}, {{0.05, 0, 0.005}, {}}}, 0.05};
  held.start = scene.script.keys.front();
  WorldSettings world;
  world.contact.stiffness = k_stiffness;
  scene.model = std::make_shared<const WorldModel>(std::vector{fixed, held}, world);
  return scene;
}

Pressed press_hard(const TouchedScene& scene, bool quick) {
  constexpr double k_far = 0.02;   // metres: beyond 10 mm the coupling pulls no harder
  constexpr double k_fast = 0.1;   // m/s
  constexpr double k_wait = 0.05;  // seconds
  FirmHand hand(scene);
  for (const Pose& key : scene.script.keys) {
    hand.lead_to(key, k_fast);
    hand.rest(k_wait);
    std::vector<Vec3d> directions;
    if (norm(hand.felt()) > 0.05) directions.push_back(-normalized(hand.felt()));
    if (!quick)
      for (const double sign : {-1.0, 1.0})
        for (std::size_t axis = 0; axis < 3; ++axis) directions.emplace_back()[axis] = sign;
    for (const Vec3d& direction : directions) {
      hand.lead_to({key.position + direction * k_far, key.rotation}, k_fast);
      hand.rest(k_wait);
      hand.lead_to(key, k_fast);
    }
  }
  return hand.worst();
}

double felt_stiffness(const TouchedScene& scene, double coupling) {
  constexpr double k_fast = 0.1;                        // m/s
  constexpr double k_wait = 0.1;                        // seconds
  constexpr double k_back = 2.5e-4, k_farthest = 0.02;  // metres, drawn back in steps
  constexpr double k_little = 1e-4;                     // metres
  constexpr double k_linear = 3, k_touching = 0.05;     // newtons
  WorldSettings settings = scene.model->settings();
  settings.coupling.linear_stiffness = coupling;
  TouchedScene stiff = scene;
  stiff.model = scene.model->with(settings);
  FirmHand hand(stiff);
  double stiffest = 0;
  for (const Pose& key : scene.script.keys) {
    hand.lead_to(key, k_fast);
    hand.rest(k_wait);
    Pose place = key;
    for (double back = 0; norm(hand.felt()) > k_linear && back < k_farthest; back += k_back) {
      place.position += normalized(hand.felt()) * k_back;
      hand.lead_to(place, k_fast);
      hand.rest(k_wait);
    }
    if (norm(hand.felt()) > k_touching) {
      const Vec3d out = normalized(hand.felt());
      const auto force_at = [&](double offset) {
        hand.lead_to({place.position + out * offset, place.rotation}, k_fast);
        hand.rest(k_wait);
        return dot(hand.felt(), out);
      };
      const double in = force_at(-k_little), away = force_at(k_little);
      stiffest = std::max(stiffest, (in - away) / (2 * k_little));
    }
    hand.lead_to(key, k_fast);
  }
  return stiffest;
}

}  // namespace cotouch

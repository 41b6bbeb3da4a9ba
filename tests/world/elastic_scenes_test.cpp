// The built-in scenes in which something bends: they do what their summaries say.
#include <cotouch/elastic/deformation.h>
#include <cotouch/field/mass.h>
#include <cotouch/mesh/mass.h>
#include <cotouch/world/hand_path.h>
#include <cotouch/world/scene.h>
#include <cotouch/world/step.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace cotouch::this_file {
namespace {

// As users see it; its parts come from the cache if they are there. Rigid: the same with nothing that bends.
const Scene& shown_scene(const std::string& name, bool rigid = false) {
  static std::map<std::pair<std::string, bool>, Scene> made;
  const auto [at, is_new] = made.try_emplace({name, rigid});
  if (!is_new) return at->second;
  Scene scene = builtin_scene(name);
  for (SceneBody& body : scene.bodies)
    for (ScenePart& part : body.parts)
      if (rigid) part.settings.elastic.reset();
  NoProgress quiet;
  prepare(scene, quiet);
  return at->second = std::move(scene);
}

// A world of a scene and its hands, which count the work that they do.
class Play {
 public:
  explicit Play(const Scene& scene, bool with_task = false)
      : scene_(scene), model_(make_model(without_task(scene, with_task))), state_(*model_), scratch_(*model_, true) {
    inputs_.resize(4);
  }

  void grasp(std::size_t hand, std::uint32_t body, const Pose& pose) {
    inputs_[hand].present = true;
    inputs_[hand].action = HandInput::Action::grasp;
    inputs_[hand].body = body;
    inputs_[hand].pose = pose;
    advance();
  }
  void grasp_as_scripted() {
    for (std::size_t i = 0; i < scene_.scripts.size(); ++i)
      grasp(i, scene_.scripts[i].body, scene_.scripts[i].keys.front());
  }
  // Calls `look` after every step.
  template <class Look>
  void follow_scripts(const Look& look) {
    std::vector<HandPath> paths;
    double end = 0;
    for (const HandScript& script : scene_.scripts) {
      paths.emplace_back(script.keys, script.speed);
      end = std::max(end, paths.back().duration());
    }
    for (double t = 0; t < end; t += k_tick) {
      for (std::size_t i = 0; i < paths.size(); ++i) inputs_[i].pose = paths[i].at(t);
      advance();
      look();
    }
  }
  template <class Look>
  void lead(std::size_t hand, const Pose& to, double speed, const Look& look) {
    const HandPath path({inputs_[hand].pose, to}, speed);
    for (double t = 0; t < path.duration(); t += k_tick) {
      inputs_[hand].pose = path.at(t);
      advance();
      look();
    }
  }
  template <class Look>
  void rest(double seconds, const Look& look) {
    for (double t = 0; t < seconds; t += k_tick) {
      advance();
      look();
    }
  }

  const Scene& scene() const { return scene_; }
  const WorldModel& model() const { return *model_; }
  const WorldState& state() const { return state_; }
  const StepScratch& scratch() const { return scratch_; }
  const Pose& pose(std::uint32_t body) const { return state_.bodies()[*model_->index_of(body)].pose; }
  Vec3d felt(std::size_t hand = 0) const { return state_.hands()[hand].felt.force; }
  WorldEnergy energy() const { return cotouch::energy(*model_, state_); }
  double work() const { return work_; }  // of all hands, joules

  // Deepest in cells of the field it is in.
  double deepest_in_cells() const {
    double deepest = 0;
    for (std::size_t p = 0; p < model_->pairs().size(); ++p)
      deepest = std::max(deepest, static_cast<double>(scratch_.contact(p).stats.deepest) / model_->pairs()[p].feature);
    return deepest;
  }
  // By how much a place of a bending body has moved in its body's frame.
  Vec3d moved(std::uint32_t id, const Vec3d& place) const {
    const std::uint32_t body = *model_->index_of(id);
    const Part& part = *model_->bodies()[body].pieces[0].part;
    std::uint32_t nearest = 0;
    const auto at = [&](std::uint32_t i) { return Vec3d(part.shell.data().positions[i]); };
    for (std::uint32_t i = 0; i < part.shell.point_count(); ++i)
      if (norm(at(i) - place) < norm(at(nearest) - place)) nearest = i;
    Deformation shape(*part.elastic);
    shape.set(state_.bending().data() + model_->elastic_begin(body));
    return shape.displacement_at(part.elastic->data().shell[nearest]);
  }

 private:
  static constexpr double k_tick = 1e-3;

  static Scene without_task(const Scene& scene, bool with_task) {
    Scene copy = scene;
    if (!with_task) copy.task.reset();
    return copy;
  }
  void advance() {
    std::vector<HandRecord> before(state_.hands().begin(), state_.hands().end());
    step(*model_, state_, inputs_, scratch_);
    for (std::size_t i = 0; i < before.size(); ++i) {
      const HandRecord& after = state_.hands()[i];
      const Vec3d turn = rotation_vector(after.pose.rotation * before[i].pose.rotation.conjugate());
      if (before[i].present != 0)
        work_ -= 0.5 * (dot(before[i].felt.force + after.felt.force, after.pose.position - before[i].pose.position) +
                        dot(before[i].felt.torque + after.felt.torque, turn));
      inputs_[i].action = HandInput::Action::none;
    }
  }

  const Scene& scene_;
  std::shared_ptr<const WorldModel> model_;
  WorldState state_;
  StepScratch scratch_;
  std::vector<HandInput> inputs_;
  double work_ = 0;
};

constexpr const char* k_names[] = {"hoses", "bridge-creature-soft", "soft-soft", "soft-bar", "snap-clip"};

TEST(ElasticScenesSlow, TakeNoMoreEnergyThanHandsGiveAndNothingPassesThroughAnything) {
  for (const char* name : k_names) {
    SCOPED_TRACE(name);
    Play play(shown_scene(name));
    play.grasp_as_scripted();
    const double begin = play.energy().potential;
    double excess = 0, deepest = 0, most = 0;
    const auto look = [&] {
      const double stored = play.energy().potential - begin;
      most = std::max(most, stored);
      excess = std::max(excess, stored - play.work());
      deepest = std::max(deepest, play.deepest_in_cells());
    };
    play.follow_scripts(look);
    play.rest(1, look);
    EXPECT_GT(most, 1e-3);  // something was bent or lifted
    // What is stored is a little more than was given only as far as hands move in steps of a millisecond.
    EXPECT_LT(excess, 0.02 * most);
    EXPECT_LT(deepest, 0.5);
    // Held still, it comes to rest and its energy does not grow.
    play.rest(2, look);
    const double held = play.energy().potential;
    EXPECT_LT(play.energy().kinetic, 1e-6);
    play.rest(1, look);
    EXPECT_LE(play.energy().potential, held + 1e-5);
  }
}

TEST(ElasticScenes, TheFittingGoesBetweenTheHosesBecauseTheyBend) {
  Play soft(shown_scene("hoses"), true);
  soft.grasp_as_scripted();
  double strongest = 0, aside = 0;
  soft.follow_scripts([&] {
    strongest = std::max(strongest, norm(soft.felt()));
    aside = std::max(aside, soft.moved(2, {0, 0, -0.03}).y);
  });
  EXPECT_EQ(soft.state().head().task.done, 1);
  EXPECT_GT(strongest, 1);
  EXPECT_LT(strongest, 7);
  // The fitting is 30 mm wide, the gap 14 mm: each hose gives way by 8 mm and by how far points stand out.
  EXPECT_GT(aside, 0.007);
  EXPECT_LT(aside, 0.014);
  soft.rest(3, [] {});
  EXPECT_LT(norm(soft.moved(2, {0, 0, -0.03})), 5e-4);  // and comes back

  Play rigid(shown_scene("hoses", true), true);
  rigid.grasp_as_scripted();
  rigid.follow_scripts([] {});
  rigid.rest(1, [] {});
  EXPECT_EQ(rigid.state().head().task.done, 0);
  // It is stopped where it is as wide as the gap: above the hoses' middle, which is 30 mm below the frame's.
  EXPECT_GT(rigid.pose(4).position.z, -0.025);
}

TEST(ElasticScenes, TheClipClicksInAndHolds) {
  Play play(shown_scene("snap-clip"));
  const Pose start = play.scene().scripts[0].keys.front();
  play.grasp(0, 2, start);
  play.lead(0, {{0, 0, 0.02}, {}}, 0.05, [] {});
  // Slowly in: the force rises, and falls as the hooks pass, until the clip draws the hand in.
  double peak = 0, peak_at = 0, least_after = 0, least_at = 0;
  const auto look = [&] {
    const double pushed = play.felt().z, at = play.pose(2).position.z;
    if (pushed > peak) {
      peak = pushed;
      peak_at = at;
      least_after = pushed;
    } else if (pushed < least_after) {
      least_after = pushed;
      least_at = at;
    }
  };
  play.lead(0, {{0, 0, 0.001}, {}}, 0.005, look);
  EXPECT_GT(peak, 0.8);
  EXPECT_LT(peak, 4);
  EXPECT_LT(least_after, -0.2 * peak);
  EXPECT_LT(least_at, peak_at - 0.003);
  play.lead(0, {{0, 0, 0.0005}, {}}, 0.01, [] {});
  play.rest(0.5, [] {});
  EXPECT_NEAR(play.pose(2).position.z, 0.0005, 0.0007);
  for (const double y : {-0.009, 0.009}) EXPECT_LT(norm(play.moved(2, {0, y, -0.05})), 3e-4);  // the arms are straight

  // Out it takes more: the slopes are 50 degrees instead of 25, which alone is tan 50 / tan 25 = 2.6 times as much.
  double pulled = 0, out_at = 0;
  play.lead(0, {{0, 0, 0.02}, {}}, 0.005, [&] {
    if (-play.felt().z < pulled) return;
    pulled = -play.felt().z;
    out_at = play.pose(2).position.z;
  });
  EXPECT_GT(pulled, 1.8 * peak);
  EXPECT_LT(out_at, 0.006);  // it held until the hooks were on top of the ridges
}

TEST(ElasticScenes, PushingAClipInIsTheTask) {
  Play play(shown_scene("snap-clip"), true);
  play.grasp_as_scripted();
  bool bent_when_done = false;
  double least = 1;
  play.follow_scripts([&] {
    if (play.state().head().task.done == 0) least = std::min(least, play.pose(2).position.z);
    bent_when_done = play.state().head().task.done == 1;
  });
  EXPECT_TRUE(bent_when_done);
  EXPECT_EQ(play.pose(2), play.scene().task->target);
  play.rest(1, [] {});
  for (const double y : {-0.009, 0.009}) EXPECT_LT(norm(play.moved(2, {0, y, -0.05})), 3e-4);
}

TEST(ElasticScenesSlow, CreatureAndBarPushEachOtherAlike) {
  constexpr std::uint32_t k_bar = 2, k_creature = 3;
  Play play(shown_scene("soft-soft"));
  play.grasp(0, k_creature, play.scene().scripts[0].keys[0]);
  Pose pressed = play.scene().scripts[0].keys[1];
  pressed.position.z += 0.03;  // so high that nothing else touches it
  play.lead(0, {{-0.07, 0, pressed.position.z}, {}}, 0.05, [] {});
  play.lead(0, pressed, 0.05, [] {});
  play.rest(2, [] {});  // later it creeps off the edge that it rests on
  Vec3d on_bar;
  for (std::size_t p = 0; p < play.model().pairs().size(); ++p) {
    const PairModel& pair = play.model().pairs()[p];
    const Vec3d force = play.scratch().contact(p).on_shell.wrench.force;
    if (play.model().bodies()[pair.shell_body].id == k_bar)
      on_bar += force;
    else
      EXPECT_EQ(norm(force), 0);
  }
  EXPECT_GT(on_bar.x, 0.3);
  // At rest the hand feels what the creature feels: the opposite.
  EXPECT_LT(norm(play.felt() + on_bar), 0.02 * norm(on_bar));
  // Each gives way along the force on it: the bar's upper end, and the creature's snout against its torso.
  EXPECT_GT(play.moved(k_bar, {0, 0, 0.08}).x, 0.003);
  EXPECT_LT(play.moved(k_creature, {0.116, 0, 0.09}).x, -2e-4);
}

TEST(ElasticScenes, HandsThatHoldTheBarCarryItsWeight) {
  Play play(shown_scene("soft-bar"));
  const SceneBody& bar = *play.scene().find(2);
  const double mass = mass_of(bar).mass;
  // What the field holds is what the mesh holds, but for edges of less than a cell.
  EXPECT_NEAR(mass, mass_properties(*bar.parts[0].mesh, bar.density).mass, 0.03 * mass);
  const std::vector<double> places{-0.1, 0.02, 0.11};
  for (std::size_t i = 0; i < places.size(); ++i) play.grasp(i, 2, {bar.pose.position + Vec3d{places[i], 0, 0}, {}});
  for (std::size_t i = 0; i < places.size(); ++i)
    play.lead(i, {bar.pose.position + Vec3d{places[i], 0, 0.01 + 0.005 * static_cast<double>(i)}, {}}, 0.02, [] {});
  play.rest(5, [] {});
  EXPECT_EQ(play.scratch().stats().in_contact, 0U);
  EXPECT_LT(play.energy().kinetic, 1e-12);
  Vec3d sum;
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_GT(norm(play.felt(i)), 0.01) << i;
    sum += play.felt(i);
  }
  // At rest nothing but the hands and its weight act on it, so the sums agree as far as it is at rest.
  EXPECT_LT(norm(sum - Vec3d{0, 0, -9.81 * mass}), 1e-5);
}

}  // namespace
}  // namespace cotouch::this_file

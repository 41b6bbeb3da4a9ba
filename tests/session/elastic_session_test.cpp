// Elastic bodies in sessions: made to bend by users, and shared with others.
#include <cotouch/base/trig.h>
#include <cotouch/elastic/deformation.h>
#include <cotouch/session/recording_store.h>
#include <cotouch/session/session.h>
#include <cotouch/session/state_difference.h>
#include <cotouch/touch/recording.h>

#include <mutex>

#include "session/program.h"
#include "support/prepared.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

// A rubber bar of 20 cm, held at its low end, or by nothing.
std::shared_ptr<const Part> bar(bool held, ElasticLaw law = ElasticLaw::stvk) {
  static std::map<std::pair<bool, ElasticLaw>, std::shared_ptr<const Part>> made;
  std::shared_ptr<const Part>& part = made[{held, law}];
  if (part) return part;
  PartSettings settings;
  settings.field.resolution = 32;
  settings.shell.points = 512;
  ElasticSettings& elastic = settings.elastic.emplace();
  elastic.material = material_named("rubber");
  elastic.law = law;
  elastic.coordinates = 8;
  elastic.tets.target_tets = 500;
  if (held) elastic.anchors.push_back(parse_anchor("x<-0.09"));
  part = testing_support::prepared(make_box({0.2, 0.02, 0.02}), settings);
  return part;
}

SceneBody body_of(std::uint32_t id, const std::shared_ptr<const Part>& part, Motion motion, const Vec3d& at) {
  SceneBody body;
  body.id = id;
  body.name = "bar " + std::to_string(id);
  body.motion = motion;
  body.pose.position = at;
  body.parts.emplace_back();
  body.parts[0].name = body.name;
  body.parts[0].part = part;
  body.parts[0].settings = part->settings;
  return body;
}

// A bar held at its end and, beside it, one that floats.
Scene two_bars() {
  Scene scene;
  scene.name = "bars";
  scene.editable = true;
  scene.bodies.push_back(body_of(1, bar(true), Motion::fixed, {}));
  scene.bodies.push_back(body_of(2, bar(false, ElasticLaw::warped), Motion::free, {0, 0.03, 0.03}));
  return scene;
}

// Takes the tip of the held bar, or the floating one, and leads it round.
HandInput bending_hand(std::size_t number, double now) {
  HandInput hand;
  hand.present = true;
  const double angle = 2 * now + static_cast<double>(number);
  const SinCos turn = sin_cos(angle);
  hand.pose.position = {0.09 - 0.02 * static_cast<double>(number), 0.03 * turn.sin, 0.03 * turn.cos};
  const double second = std::floor(now), part = now - second;
  const auto what = static_cast<std::int64_t>(second) % 4;
  if (part >= 0.0101 || what == 1 || what == 2) return hand;
  hand.action = what == 0 ? HandInput::Action::grasp : HandInput::Action::release;
  hand.body = what == 0 ? 1 + static_cast<std::uint32_t>((number + static_cast<std::size_t>(now / 4)) % 2) : 0;
  return hand;
}

double farthest_bent(const WorldModel& model, const WorldState& state) {
  double most = 0;
  for (std::uint32_t i = 0; i < model.bodies().size(); ++i)
    if (model.elastic(i) != nullptr)
      most = std::max(most, model.elastic(i)->largest_move(state.bending().data() + model.elastic_begin(i)));
  return most;
}

TEST(ElasticSharingSlow, TwoShareBarsOverAnAwfulLinkAndAlwaysAgree) {
  ModelOptions options;
  options.tick = 0.01;
  options.hands = k_shared_hands;
  options.budget = WorkBudget::of(512);
  const auto model = make_model(two_bars(), options);
  SimulatedSession session(model, simulation("awful", 2, 3), [](std::size_t machine, double now, const WorldState&) {
    return bending_hand(machine, now);
  });
  double most = 0;
  session.on_tick = [&](std::size_t, Tick, const WorldState& view) {
    most = std::max(most, farthest_bent(*model, view));
  };
  session.run_until(20);
  ASSERT_TRUE(session.takes_part(0) && session.takes_part(1));
  EXPECT_EQ(session.mismatches(), 0U) << session.first_mismatch();
  EXPECT_GT(session.statistics(0).confirmed, 500U);
  EXPECT_GT(session.statistics(1).confirmed, 500U);
  EXPECT_GT(session.statistics(0).rollbacks.size(), 50U);
  EXPECT_GT(most, 0.01);  // they were bent by centimetres
}

TEST(ElasticSharingSlow, TheSceneComesFromTheHostAndProgramsAgreeOnEveryTick) {
  Program anna("Anna"), ben("Ben");
  anna.use_hands(bending_hand);
  ben.use_hands(bending_hand);
  anna.host(two_bars());
  ben.join(anna.invite());
  ASSERT_TRUE(eventually([&] { return are_two(anna, ben); })) << ben.status().reason;
  anna.session().emulate(*find_network("transatlantic"));
  ben.session().emulate(*find_network("transatlantic"));
  pass(anna, ben, 500);
  EXPECT_GT(agreed_ticks(anna, ben), 100U);
}

TEST(ElasticSharing, ADifferenceInACoordinateIsNamed) {
  const auto model = make_model(two_bars());
  const WorldState here(*model);
  WorldState there = here;
  there.bending()[model->elastic_begin(1) + 2] = 1e-3;
  EXPECT_NE(first_difference(*model, here, there).find("coordinate 3 of body 'bar 2'"), std::string::npos);
  there = here;
  there.bending()[model->elastic_begin(0) + 8] = 1e-3;
  EXPECT_NE(first_difference(*model, here, there).find("the rate of coordinate 1 of body 'bar 1'"), std::string::npos);
}

TEST(ElasticRecordings, TheTableHasTheCoordinates) {
  const auto model = make_model(two_bars());
  WorldState start(*model);
  start.bending()[0] = 2e-3;
  Recording recording = begin_shared_recording(*model, start, "bars");
  RecordedSample sample;
  recording.samples.push_back(sample);
  const std::string table = to_csv(recording, model);
  EXPECT_NE(table.find(",body1_q1,"), std::string::npos) << table;
  EXPECT_NE(table.find(",body2_q8\n"), std::string::npos) << table;
  const auto commas = [](std::string_view line) { return std::count(line.begin(), line.end(), ','); };
  const std::size_t end = table.find('\n');
  EXPECT_EQ(commas(std::string_view(table).substr(0, end)),
            commas(std::string_view(table).substr(end + 1, table.find('\n', end + 1) - end - 1)));
}

// Remembers what it was told.
class Witness final : public SessionListener {
 public:
  void job_changed(const JobStatus& job) override {
    const std::scoped_lock lock(mutex_);
    jobs_.push_back(job);
  }
  void problem(ParticipantId, const std::string& reason) override {
    const std::scoped_lock lock(mutex_);
    problems_.push_back(reason);
  }
  ViewDemand wanted() const override { return {true, true, true}; }
  void view(const SessionView& view) override {
    const std::scoped_lock lock(mutex_);
    view_ = view;
  }
  std::vector<JobStatus> jobs() const {
    const std::scoped_lock lock(mutex_);
    return jobs_;
  }
  std::vector<std::string> problems() const {
    const std::scoped_lock lock(mutex_);
    return problems_;
  }
  SessionView view() const {
    const std::scoped_lock lock(mutex_);
    return view_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<JobStatus> jobs_;
  std::vector<std::string> problems_;
  SessionView view_;
};

class BendingTest : public ::testing::Test {
 protected:
  BendingTest() {
    ::setenv("COTOUCH_CACHE", (folder_ / "cache").c_str(), 1);
    SessionSettings settings;
    settings.recordings = folder_ / "recordings";
    settings.hand_patience = 60;
    session_ = std::make_unique<Session>(settings, library_);
    session_->add_listener(witness_);
    session_->start();
    ann_ = session_->join(ParticipantKind::page, "Ann");
    bob_ = session_->join(ParticipantKind::page, "Bob");
    Scene scene;
    scene.editable = true;
    scene.title = "A bar";
    NoProgress quiet;
    const auto rigid = std::make_shared<const Part>(with_elastic(*bar(true), std::nullopt, quiet));
    scene.bodies.push_back(body_of(1, rigid, Motion::fixed, {}));
    scene.bodies[0].removable = true;
    EXPECT_TRUE(session_->command_and_wait(ann_, ShowScene{scene}).done());
  }
  ~BendingTest() override { session_->stop(); }

  static BendBody rubber(std::vector<std::string> anchors) {
    ElasticSettings elastic;
    elastic.material = material_named("rubber");
    elastic.coordinates = 6;
    elastic.tets.target_tets = 500;
    for (const std::string& anchor : anchors) elastic.anchors.push_back(parse_anchor(anchor));
    return {1, elastic};
  }
  // What the session says to it; empty if it goes on.
  std::string refusal(ParticipantId who, SessionCommand command) {
    return session_->command_and_wait(who, std::move(command)).reason;
  }
  void wait_for_job() {
    EXPECT_TRUE(
        eventually([&] { return !witness_.jobs().empty() && witness_.jobs().back().state != JobState::running; }));
  }
  SceneBody body() { return session_->snapshot().scene->scene.bodies.at(0); }

  TemporaryFolder folder_;
  TestLibrary library_{folder_ / "scenes"};
  Witness witness_;
  std::unique_ptr<Session> session_;
  ParticipantId ann_, bob_;
};

TEST_F(BendingTest, ABodyIsMadeElasticInTheBackgroundAndRigidAgain) {
  const std::uint32_t generation = session_->snapshot().generation;
  EXPECT_FALSE(witness_.view().running);  // nothing moves yet
  const CommandResult result = session_->command_and_wait(ann_, rubber({"x<-0.09"}));
  ASSERT_TRUE(result.done()) << result.reason;
  EXPECT_NE(result.job, 0U);
  wait_for_job();
  ASSERT_EQ(witness_.jobs().back().state, JobState::done) << witness_.jobs().back().reason;
  ASSERT_TRUE(eventually([&] { return is_elastic(body()); }));
  EXPECT_EQ(session_->snapshot().generation, generation + 1);
  EXPECT_EQ(body().motion, Motion::fixed);
  EXPECT_TRUE(body().parts[0].part->elastic->data().anchored);
  EXPECT_TRUE(eventually([&] { return witness_.view().running; }));  // it can be felt, although nothing is free

  EXPECT_EQ(refusal(ann_, BendBody{1}), "");
  EXPECT_TRUE(eventually([&] { return !is_elastic(body()); }));
  EXPECT_EQ(body().parts[0].part->elastic, nullptr);
  EXPECT_EQ(session_->snapshot().generation, generation + 2);
  EXPECT_TRUE(witness_.problems().empty());
}

TEST_F(BendingTest, WithoutAnchorsItIsFreeAndWeighsWhatItsMaterialDoes) {
  ASSERT_EQ(refusal(ann_, rubber({})), "");
  ASSERT_TRUE(eventually([&] { return is_elastic(body()); }));
  EXPECT_EQ(body().motion, Motion::free);
  // 80 cm^3 at 1100 kg/m^3; a field of three cells across rounds the bar's edges.
  EXPECT_NEAR(mass_of(body()).mass, 0.088, 0.088 * 0.09);
  EXPECT_NE(refusal(ann_, SetBody{.body = 1, .density = 500}).find("material"), std::string::npos);
}

TEST_F(BendingTest, WhatCannotBendIsRefusedWithASentence) {
  const auto expect_refused = [&](const BendBody& wanted, const std::string& words) {
    const std::string reason = refusal(ann_, wanted);
    EXPECT_NE(reason.find(words), std::string::npos) << reason;
  };
  BendBody wanted = rubber({"x<-0.09"});
  wanted.body = 7;
  expect_refused(wanted, "no such body");
  wanted = rubber({"x<-0.09"});
  wanted.elastic->material.poisson = 0.5;
  expect_refused(wanted, "Poisson");
  wanted = rubber({"x<-0.09"});
  wanted.elastic->tets.target_tets = 1'000'000;
  expect_refused(wanted, "tetrahedra");
  wanted = rubber({"x<-0.09"});
  wanted.elastic->coordinates = 61;
  expect_refused(wanted, "coordinates");
  // Only the part tells that there is nothing to hold.
  ASSERT_EQ(refusal(ann_, rubber({"x<-5"})), "");
  wait_for_job();
  EXPECT_EQ(witness_.jobs().back().state, JobState::failed);
  EXPECT_NE(witness_.jobs().back().reason.find("x<"), std::string::npos) << witness_.jobs().back().reason;
  EXPECT_FALSE(is_elastic(body()));

  Scene builtin = two_balls();
  ASSERT_TRUE(session_->command_and_wait(ann_, ShowScene{builtin}).done());
  expect_refused(rubber({}), "built-in");
}

TEST_F(BendingTest, NotWhileSomebodyElseHoldsABody) {
  ASSERT_EQ(refusal(ann_, rubber({})), "");
  ASSERT_TRUE(eventually([&] { return is_elastic(body()); }));
  ASSERT_EQ(refusal(bob_, GraspBody{.body = 1}), "");
  EXPECT_NE(refusal(ann_, BendBody{1}).find("holding"), std::string::npos);
  EXPECT_TRUE(is_elastic(body()));
}

TEST_F(BendingTest, ASceneThatChangedInTheMeantimeIsLeftAlone) {
  BendBody slow = rubber({"x<-0.09"});
  slow.elastic->tets.target_tets = 8000;
  ASSERT_EQ(refusal(ann_, slow), "");
  ASSERT_TRUE(session_->command_and_wait(ann_, ShowScene{two_balls()}).done());
  const std::uint32_t generation = session_->snapshot().generation;
  wait_for_job();
  EXPECT_TRUE(eventually([&] { return !witness_.problems().empty(); }));
  EXPECT_EQ(session_->snapshot().generation, generation);
}

}  // namespace
}  // namespace cotouch::this_file

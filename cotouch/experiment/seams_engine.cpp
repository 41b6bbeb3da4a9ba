// The seam of contact engines: whether two of them agree, and what the interface costs. This experiment may name an
// engine, because it compares a call through the interface with one that goes around it.
#include <cotouch/base/random.h>
#include <cotouch/base/realtime.h>
#include <cotouch/base/trig.h>
#include <cotouch/contact/cost.h>
#include <cotouch/contact/nested/nested.h>
#include <cotouch/contact/workspaces.h>
#include <cotouch/elastic/deformed_field.h>
#include <cotouch/experiment/inputs.h>
#include <cotouch/experiment/seams.h>
#include <cotouch/part/cache.h>
#include <cotouch/shapes/shapes.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>

namespace cotouch {
namespace {

constexpr double k_most_cost_share = 1.01;
constexpr double k_cycle_us = 800;  // what a session has for contact in a cycle if nothing else is said

// Two parts and how they move against each other; `share` goes from 0 to 1.
struct MovedPair {
  std::string name;
  std::shared_ptr<const Part> shell, field;
  ContactSettings settings;
  double seconds = 1;  // that the motion takes
  std::function<PairState(double share)> at;
  std::uint32_t shell_size = 0, field_size = 0;  // coordinates with which they bend
};

MovedPair pair_of(ContactCase made) {
  const auto scene = std::make_shared<const ContactCase>(std::move(made));
  MovedPair pair;
  pair.name = scene->name;
  pair.shell = {scene, &scene->shell_part()};
  pair.field = {scene, &scene->field_part()};
  pair.settings = scene->engine().settings();
  pair.seconds = scene->hand.duration();
  pair.at = [scene](double share) { return scene->state_at(scene->hand.at(share * scene->hand.duration())); };
  return pair;
}

// A bar of rubber, 20 cm long and 2 cm thick, which is held at one end if it bends.
std::shared_ptr<const Part> make_bar(bool bends, const ExperimentOptions& options) {
  PartSettings settings;
  settings.field.resolution = 64;
  settings.shell.points = 4096;
  if (bends) {
    ElasticSettings elastic;
    elastic.material = material_named("rubber");
    elastic.tets.target_tets = 1500;
    elastic.anchors = {parse_anchor("x<-0.09")};
    settings.elastic = elastic;
  }
  return std::make_shared<const Part>(prepare_cached(make_box({0.2, 0.02, 0.02}), settings, *options.progress));
}

// Of a bar that lies across another, whose middle is the origin.
Pose across(double share, double height) {
  return {{-0.03 + 0.02 * share, 0.01, height}, quat_from_rotation_vector({0.02, 0, k_pi / 2})};
}

MovedPair rigid_bars(const ExperimentOptions& options) {
  MovedPair pair;
  pair.name = "bars";
  pair.shell = pair.field = make_bar(false, options);
  pair.at = [](double share) { return PairState{{across(share, 0.0185)}, {}}; };  // deeper than it is shaken
  return pair;
}

// From one bend to another, each of so many metres.
class Bending {
 public:
  Bending(const Part& part, double size, Random& random)
      : shape(*part.elastic), field(*part.elastic, part.field), now_(part.elastic->size()) {
    for (std::vector<double>* end : {&begin_, &end_}) {
      for (std::size_t j = 0; j < now_.size(); ++j)
        end->push_back(random.uniform(-1, 1) / static_cast<double>(1 + j));  // low modes more than high ones
      const double largest = part.elastic->largest_move(end->data());
      for (double& q : *end) q *= size / largest;
    }
  }
  void set(double share) {
    for (std::size_t j = 0; j < now_.size(); ++j) now_[j] = begin_[j] + share * (end_[j] - begin_[j]);
    shape.set(now_.data());
    field.set(shape);
  }

  Deformation shape;
  DeformedField field;

 private:
  std::vector<double> begin_, end_, now_;
};

// The bar that brings its points bends, and the other if `field_bends`. They touch in every pose.
MovedPair bent_bars(bool field_bends, const ExperimentOptions& options, Random& random) {
  constexpr double k_bend = 0.02, k_highest = 0.08, k_lowest = -0.08, k_step = 5e-4;
  constexpr float k_deep = 1e-3F;
  MovedPair pair;
  pair.name = field_bends ? "bars that bend" : "a bar that bends on a rigid one";
  pair.shell = pair.field = make_bar(true, options);
  pair.shell_size = pair.shell->elastic->size();
  pair.field_size = field_bends ? pair.shell_size : 0;
  const auto shell = std::make_shared<Bending>(*pair.shell, k_bend, random);
  const auto field = field_bends ? std::make_shared<Bending>(*pair.field, k_bend, random) : nullptr;
  const std::shared_ptr<const ContactEngine> engine =
      default_engine_kind().make(*pair.shell, *pair.field, pair.settings);
  const std::shared_ptr<ContactWorkspace> workspace = engine->make_workspace();
  pair.at = [=](double share) {
    shell->set(share);
    PairState state{{across(share, k_highest)}, {}};
    state.shell.deformation = &shell->shape;
    if (field) {
      field->set(share);
      state.field.deformation = &field->shape;
      state.field.deformed_field = &field->field;
    }
    PairContact contact;
    for (double height = k_highest; height > k_lowest && !(contact.stats.deepest > k_deep); height -= k_step) {
      state.shell.pose = across(share, height);
      engine->evaluate(state, Detail::everything(), *workspace, nullptr, contact);
    }
    return state;
  };
  return pair;
}

template <class Value>
bool same_bytes(const Value& a, const Value& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

bool same_bytes(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// What an engine says of a pose.
struct Answer {
  PairContact contact;
  ElasticSums bending;

  explicit Answer(const MovedPair& pair) { bending.reset(pair.shell_size, pair.field_size); }
  // Everything that steps depend on, but the work.
  bool has_bits_of(const Answer& other) const {
    const PairContact &a = contact, &b = other.contact;
    return same_bytes(a.sums, b.sums) && same_bytes(a.on_shell, b.on_shell) && same_bytes(a.weight, b.weight) &&
           a.stats.in_contact == b.stats.in_contact && same_bytes(a.stats.deepest, b.stats.deepest) &&
           a.stats.level == b.stats.level && same_bytes(bending.push, other.bending.push) &&
           same_bytes(bending.mixed, other.bending.mixed) && same_bytes(bending.spread, other.bending.spread) &&
           same_bytes(bending.carried, other.bending.carried);
  }
};

// An engine for the pair, with what its evaluations need.
struct TriedEngine {
  std::shared_ptr<const ContactEngine> engine;
  std::unique_ptr<ContactWorkspace> workspace;
  std::unique_ptr<ContactCache> cache;

  TriedEngine(const EngineKind& kind, const MovedPair& pair)
      : engine(kind.make(*pair.shell, *pair.field, pair.settings)),
        workspace(engine->make_workspace()),
        cache(engine->make_cache()) {}
  void evaluate(const PairState& state, const Detail& detail, bool remembers, Answer& out) const {
    engine->evaluate(state, detail, *workspace, remembers ? cache.get() : nullptr, out.contact, &out.bending);
  }
};

struct Comparison {
  std::size_t compared = 0, touching = 0, mismatches = 0;
};

// All engines there are, level by level, with and without what they remember, with the one that asks every point.
Comparison compare_engines(const MovedPair& pair, int poses, Random& random) {
  const EngineKind& every_kind = engine_kind("exhaustive");
  const TriedEngine every(every_kind, pair);
  std::vector<TriedEngine> others;
  for (const EngineKind* kind : engine_kinds())
    if (kind != &every_kind) others.emplace_back(*kind, pair);
  Comparison result;
  Answer answer(pair), expected(pair);
  for (int i = 0; i < poses; ++i) {
    PairState state = pair.at(i / static_cast<double>(poses));
    Pose& shell = state.shell.pose;
    shell = {shell.position + random.vector(0, 1e-3),
             quat_from_rotation_vector(random.vector(0, 0.01)) * shell.rotation};
    for (std::uint32_t level = 0; level < every.engine->levels(); ++level) {
      every.evaluate(state, Detail::at(level), false, expected);
      result.touching += expected.contact.stats.in_contact > 0 ? 1U : 0U;
      for (const TriedEngine& other : others)
        for (const bool remembers : {false, true}) {
          other.evaluate(state, Detail::at(level), remembers, answer);
          ++result.compared;
          result.mismatches += answer.has_bits_of(expected) ? 0U : 1U;
        }
    }
  }
  return result;
}

// One way to use the nested engine, through the interface and around it, over the same poses.
class TimedUse {
 public:
  enum class Use { everything, cycles, coarsest };

  TimedUse(const MovedPair& pair, Use use)
      : use_(use),
        through_(engine_kind("nested").make(*pair.shell, *pair.field, pair.settings)),
        around_(dynamic_cast<const NestedContact&>(*through_)),
        cache_(through_->make_cache()),
        own_cache_(through_->make_cache()) {
    workspaces_.reserve(*through_);
    around_.reserve(workspace_);
    if (use == Use::cycles) budget_ = calibrate_budget(*through_, k_cycle_us);
    // In the middle of the motion, where they surely touch; what is remembered is worth most from cycle to cycle.
    const double step = use == Use::cycles ? 1e-3 / pair.seconds : 0.01;
    const int poses = use == Use::cycles ? std::clamp(static_cast<int>(0.4 / step), 1, 500) : 40;
    for (int i = 0; i < poses; ++i) states_.push_back(pair.at(0.3 + step * i));
  }

  // The median over turns of one way's time over the other's. Each turn takes some milliseconds.
  double share(int turns) {
    const double once = time_of(true, 1);  // warms up, too
    time_of(false, 1);
    const int repeats = static_cast<int>(std::clamp(4e6 / std::max(once, 1.0), 1.0, 1e4));
    std::vector<double> shares;
    for (int turn = 0; turn < turns; ++turn) {
      // The first one finds the processor's caches as the other left them, so both take turns at it.
      const bool interface_first = turn % 2 == 0;
      const double first = time_of(interface_first, repeats), second = time_of(!interface_first, repeats);
      shares.push_back(interface_first ? first / second : second / first);
    }
    return median(shares);
  }
  // Whether what was timed is what it is for.
  bool is_sound() const { return use_ == Use::coarsest ? visited_ > 0 : touching_ > 0; }

 private:
  double time_of(bool by_interface, int repeats) {
    const std::int64_t start = processor_ns();
    for (int i = 0; i < repeats; ++i)
      for (const PairState& state : states_) by_interface ? look_through(state) : look_around(state);
    return static_cast<double>(processor_ns() - start);
  }
  void look_through(const PairState& state) {
    through_->evaluate(state, detail(level_), workspaces_.of(*through_), remembered(cache_), contact_);
    keep(level_);
  }
  void look_around(const PairState& state) {
    around_.evaluate(state, detail(own_level_), workspace_, remembered(own_cache_), contact_);
    keep(own_level_);
  }
  Detail detail(std::uint32_t last) const {
    return use_ == Use::everything ? Detail::everything()
           : use_ == Use::coarsest ? Detail::at(0)
                                   : Detail::by_work(budget_, last);
  }
  ContactCache* remembered(const std::unique_ptr<ContactCache>& cache) const {
    return use_ == Use::cycles ? cache.get() : nullptr;
  }
  void keep(std::uint32_t& level) {
    level = contact_.stats.level;
    touching_ += contact_.stats.in_contact > 0 ? 1U : 0U;
    visited_ += contact_.stats.visited;
  }

  Use use_;
  std::shared_ptr<const ContactEngine> through_;
  const NestedContact& around_;
  std::unique_ptr<ContactCache> cache_, own_cache_;
  Workspaces workspaces_;
  NestedWorkspace workspace_;
  WorkBudget budget_;
  std::vector<PairState> states_;
  PairContact contact_;
  std::uint32_t level_ = 0, own_level_ = 0;
  std::uint64_t touching_ = 0, visited_ = 0;
};

void measure_cost(const MovedPair& pair, const ExperimentOptions& options, ExperimentReport& report) {
  using Use = TimedUse::Use;
  const int turns = options.quick ? 11 : 101;
  double largest = 0;
  for (const auto& [use, name] :
       {std::pair{Use::everything, "everything"}, {Use::cycles, "cycle"}, {Use::coarsest, "coarsest"}}) {
    options.progress->update("Timing calls through the interface", largest > 0 ? 0.5 : 0);
    TimedUse timed(pair, use);
    const double share = timed.share(turns);
    report.add(fmt::format("engine/seam-cost-share-{}", name), share, "time through the interface over that around it");
    largest = std::max(largest, share);
    if (!timed.is_sound())
      report.failures.push_back(
          fmt::format("The cost of the engines' interface was timed ({}) in poses without contact.", name));
  }
  add_bounded(report, "engine/seam-cost-share", largest, k_most_cost_share, "the largest of these");
  report.notes.push_back(fmt::format(
      "engine/seam-cost-share: the nested engine in {}, through the interface over called directly. `everything`: all "
      "levels, nothing remembered; `cycle`: poses a millisecond apart within the budget of {:.0f} us a cycle, with a "
      "warm cache, as a session's cycles run if nothing else is said; `coarsest`: level 0 alone, where a call does the "
      "least. Each the median of {} turns of some milliseconds; the row without a use is the largest of the three.",
      pair.name, k_cycle_us, turns));
}

}  // namespace

void measure_engine_seam(const ExperimentOptions& options, ExperimentReport& report) {
  Random random(options.seed);
  std::vector<MovedPair> pairs;
  if (options.quick) {
    pairs.push_back(rigid_bars(options));
  } else {
    pairs.push_back(pair_of(bridge_creature_case(options)));
    pairs.push_back(pair_of(bump_slide_case(options)));
    pairs.push_back(pair_of(dragon_hole_case(options)));
  }
  pairs.push_back(bent_bars(false, options, random));
  pairs.push_back(bent_bars(true, options, random));
  Comparison all;
  for (const MovedPair& pair : pairs) {
    options.progress->update("Comparing engines: " + pair.name, 0);
    const Comparison one = compare_engines(pair, options.quick ? 10 : 60, random);
    all = {all.compared + one.compared, all.touching + one.touching, all.mismatches + one.mismatches};
    if (one.touching == 0)
      report.failures.push_back("No pose of the engines' comparison had contact: " + pair.name + ".");
    if (one.mismatches > 0)
      report.failures.push_back("Two engines disagree in some bit of an answer: " + pair.name + ".");
  }
  report.add(
      "engine/exhaustive-mismatches", static_cast<double>(all.mismatches),
      fmt::format("of {} answers of every level; {} looks at every point found contact", all.compared, all.touching));
  std::string names;
  for (const MovedPair& pair : pairs) names += (names.empty() ? "" : ", ") + pair.name;
  report.notes.push_back("engine/exhaustive-mismatches: every kind of engine beside the exhaustive one, in " + names +
                         ".");
  measure_cost(pairs.front(), options, report);
}

}  // namespace cotouch

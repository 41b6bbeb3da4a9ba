#include <cotouch/experiment/contact_table_elastic.h>

#include <cotouch/base/error.h>
#include <cotouch/base/realtime.h>
#include <cotouch/elastic/deformed_field.h>
#include <cotouch/elastic/modal_body.h>
#include <cotouch/elastic/stvk_step.h>
#include <cotouch/experiment/inputs.h>
#include <cotouch/world/hand_path.h>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace cotouch {
namespace {

double us_since(std::int64_t start) {
  return static_cast<double>(processor_ns() - start) * 1e-3;
}

// The shapes of all bodies of a world that bend.
class BentBodies {
 public:
  explicit BentBodies(const WorldModel& model) : model_(model), bodies_(model.bodies().size()) {
    for (std::uint32_t i = 0; i < bodies_.size(); ++i)
      if (const ElasticModel* elastic = model.elastic(i))
        bodies_[i] = std::make_unique<One>(*elastic, model.bodies()[i].pieces.front().part->field);
  }
  void set(const WorldState& state) {
    for (std::uint32_t i = 0; i < bodies_.size(); ++i) {
      if (!bodies_[i]) continue;
      bodies_[i]->shape.set(state.bending().data() + model_.elastic_begin(i));
      bodies_[i]->field.set(bodies_[i]->shape);
    }
  }
  BodyState at(const WorldState& state, std::uint32_t body, std::uint32_t piece) {
    BodyState out{state.bodies()[body].pose * model_.bodies()[body].pieces[piece].place};
    if (bodies_[body]) {
      out.deformation = &bodies_[body]->shape;
      out.deformed_field = &bodies_[body]->field;
    }
    return out;
  }

 private:
  struct One {
    Deformation shape;
    DeformedField field;
    One(const ElasticModel& model, const Field& whole) : shape(model), field(model, whole) {}
  };
  const WorldModel& model_;
  std::vector<std::unique_ptr<One>> bodies_;
};

void add(ContactStats& sum, const ContactStats& one) {
  sum.visited += one.visited;
  sum.in_contact += one.in_contact;
  if (one.in_contact > 0) sum.level = std::max(sum.level, one.level);
}

bool bends(const Scene& scene) {
  return std::any_of(scene.bodies.begin(), scene.bodies.end(), [](const SceneBody& body) {
    return body.parts.size() == 1 && body.parts.front().settings.elastic.has_value();
  });
}

struct ElasticCycle {
  WorldState before;  // of the step
  ContactStats stats;
  double cycle_us = 0;
  std::uint32_t substeps = 0;
};

std::vector<ElasticCycle> feel(const WorldModel& model, const HandScript& script, std::span<const std::size_t> pairs) {
  const HandPath hand(script.keys, script.speed);
  WorldState state(model);
  StepScratch scratch(model, true);
  std::vector<ElasticCycle> cycles;
  HandInput input;
  input.present = true;
  input.action = HandInput::Action::grasp;
  input.body = script.body;
  const auto count = static_cast<std::size_t>(hand.duration() * 1000);
  for (std::size_t i = 0; i < count; ++i) {
    cycles.push_back({state, {}, 0, 0});
    input.pose = hand.at(static_cast<double>(i) * 1e-3);
    const std::int64_t start = processor_ns();
    step(model, state, {&input, 1}, scratch);
    cycles.back().cycle_us = us_since(start);
    cycles.back().substeps = scratch.substeps();
    for (const std::size_t pair : pairs) add(cycles.back().stats, scratch.contact(pair).stats);
    input.action = HandInput::Action::none;
  }
  return cycles;
}

// One implicit step of everything that bends.
double elastic_us(const WorldModel& model, const WorldState& state) {
  double sum = 0;
  for (std::uint32_t i = 0; i < model.bodies().size(); ++i) {
    const ElasticModel* const elastic = model.elastic(i);
    if (elastic == nullptr) continue;
    const double* const begin = state.bending().data() + model.elastic_begin(i);
    std::vector<double> q(begin, begin + elastic->size()), v(begin + elastic->size(), begin + 2 * elastic->size());
    const std::vector<double> load(q.size());
    if (elastic->data().law == ElasticLaw::warped) {
      ModalBody body(*elastic, {});
      body.set(q, v);
      const std::int64_t start = processor_ns();
      body.step(load, {}, {});
      sum += us_since(start);
      continue;
    }
    const StvkPolynomials body(elastic->data().stvk, nullptr);
    StvkScratch scratch;
    const std::int64_t start = processor_ns();
    step_stvk(body, {1e-3, elastic->data().mass_damping, elastic->data().stiffness_damping}, load, q, v, scratch);
    sum += us_since(start);
  }
  return sum;
}

}  // namespace

void add_elastic_row(const std::string& name, const Scene& scene, const std::optional<PaperRow>& paper,
                     const ExperimentOptions& options, ExperimentReport& report) {
  options.progress->update("Feeling " + name, 0);
  const std::shared_ptr<const WorldModel> model = make_model(scene);
  std::vector<std::size_t> pairs;
  for (std::size_t i = 0; i < model->pairs().size(); ++i)
    if (model->elastic(model->pairs()[i].shell_body) != nullptr ||
        model->elastic(model->pairs()[i].field_body) != nullptr)
      pairs.push_back(i);
  if (pairs.empty() || scene.scripts.empty())
    throw Error("The scene of the row '" + name + "' has nothing that bends, or no script for a hand.");
  const std::vector<ElasticCycle> cycles = feel(*model, scene.scripts.front(), pairs);
  const ElasticCycle& peak = *std::max_element(
      cycles.begin(), cycles.end(),
      [](const ElasticCycle& a, const ElasticCycle& b) { return a.stats.in_contact < b.stats.in_contact; });

  // Contact alone at the same states: shapes, proxies and one look at every pair.
  BentBodies shapes(*model);
  const Workspaces workspaces = model->make_workspaces();
  std::vector<std::unique_ptr<ContactCache>> caches;
  // The same without a tree.
  std::vector<std::shared_ptr<const ContactEngine>> treeless;
  std::vector<std::unique_ptr<ContactWorkspace>> treeless_workspaces;
  std::vector<ElasticSums> sums(pairs.size());
  double points = 0, levels = 0;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const PairModel& pair = model->pairs()[pairs[k]];
    const auto size = [&](std::uint32_t body) { return model->elastic(body) ? model->elastic(body)->size() : 0; };
    sums[k].reset(size(pair.shell_body), size(pair.field_body));
    const ContactEngine& engine = model->engine(pair);
    caches.push_back(engine.make_cache());
    treeless.push_back(engine_kind("exhaustive")
                           .make(*model->bodies()[pair.shell_body].pieces[pair.shell_piece].part,
                                 *model->bodies()[pair.field_body].pieces[pair.field_piece].part, engine.settings()));
    treeless_workspaces.push_back(treeless.back()->make_workspace());
    points += engine.points_to_level(engine.levels() - 1);
    levels = std::max<double>(levels, engine.levels());
  }
  const auto look = [&](const WorldState& state, bool cached) {
    ContactStats stats;
    shapes.set(state);
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const PairModel& pair = model->pairs()[pairs[k]];
      PairContact contact;
      const auto last = static_cast<std::uint32_t>(state.pairs()[pairs[k]].level);
      const ContactEngine& engine = model->engine(pair);
      const PairState placed{shapes.at(state, pair.shell_body, pair.shell_piece),
                             shapes.at(state, pair.field_body, pair.field_piece)};
      engine.evaluate(placed, Detail::by_state(model->settings().budget, last), workspaces.of(engine),
                      cached ? caches[k].get() : nullptr, contact, &sums[k]);
      add(stats, contact.stats);
    }
    return stats;
  };
  std::vector<double> contact_us, cycle_us, bending_us, substeps;
  for (const ElasticCycle& cycle : cycles) {
    const std::int64_t start = processor_ns();
    look(cycle.before, true);
    const double took = us_since(start);
    if (cycle.stats.in_contact == 0) continue;
    contact_us.push_back(took);
    cycle_us.push_back(cycle.cycle_us);
    substeps.push_back(cycle.substeps);
    if (contact_us.size() % 10 == 0) bending_us.push_back(elastic_us(*model, cycle.before));
  }
  const ContactStats without = look(peak.before, false);
  std::vector<double> treeless_us;
  for (int i = 0; i < (options.quick ? 1 : 5); ++i) {
    const std::int64_t start = processor_ns();
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const PairModel& pair = model->pairs()[pairs[k]];
      PairContact contact;
      const PairState placed{shapes.at(peak.before, pair.shell_body, pair.shell_piece),
                             shapes.at(peak.before, pair.field_body, pair.field_piece)};
      treeless[k]->evaluate(placed, Detail::everything(), *treeless_workspaces[k], nullptr, contact);
    }
    treeless_us.push_back(us_since(start));
  }

  const auto report_one = [&](const char* quantity, double value, const char* unit,
                              double PaperRow::*column = nullptr) {
    report.add(name + "/" + quantity, value, unit,
               paper && column != nullptr ? std::optional<double>((*paper).*column) : std::nullopt);
  };
  report_one("points", points, "points", &PaperRow::points);
  report_one("visited", peak.stats.visited, "nodes", &PaperRow::visited);
  report_one("visited-no-coherence", without.visited, "nodes", &PaperRow::visited_no_coherence);
  report_one("in-contact", peak.stats.in_contact, "points", &PaperRow::in_contact);
  report_one("level", peak.stats.level + 1.0, "tree level, first = 1", &PaperRow::level);
  report_one("levels", levels, "tree levels", &PaperRow::levels);
  report_one("elastic-us", median(bending_us), "us", &PaperRow::elastic_us);
  report_one("contact-p50-us", percentile(contact_us, 0.5), "us", &PaperRow::contact_us);
  report_one("contact-p99-us", percentile(contact_us, 0.99), "us");
  report_one("cycle-p50-us", percentile(cycle_us, 0.5), "us");
  report_one("cycle-p99-us", percentile(cycle_us, 0.99), "us", &PaperRow::cycle_us);
  report_one("substeps-p50", median(substeps), "of a cycle");
  report_one("substeps-most", percentile(substeps, 1), "of a cycle");
  report_one("treeless-us", median(treeless_us), "us", &PaperRow::treeless_us);
  report_one("cycles-in-contact", static_cast<double>(contact_us.size()), "cycles");
}

void add_elastic_rows(const ExperimentOptions& options, ExperimentReport& report) {
  struct Row {
    const char *name, *scene, *note;
    PaperRow paper;
  };
  const std::vector<std::string> names = builtin_scene_names();
  for (const Row& row :
       {Row{"hoses-part", "hoses", "two hoses and a fitting stand in for CAD scene 1 and a metal part",
            table_one::k_cad_scene_1},
        Row{"bridge-creature-soft", "bridge-creature-soft", "procedural bridge, which bends, and creature",
            table_one::k_bridge_dinosaur},
        Row{"soft-soft", "soft-soft", "a creature and a bar, both of rubber, stand in for dragon and dinosaur",
            table_one::k_dragon_dinosaur}}) {
    if (std::find(names.begin(), names.end(), row.scene) == names.end()) continue;
    Scene scene = builtin_scene(row.scene);
    if (!bends(scene)) continue;
    prepare(scene, *options.progress);
    add_elastic_row(row.name, scene, row.paper, options, report);
    report.notes.push_back(fmt::format("{}: {}", row.name, row.note));
  }
  report.notes.push_back(
      "Rows in which something bends run as the world does, with all its substeps, within the budget of a shared "
      "world; "
      "points, nodes and times of contact are sums over all pairs that bend. elastic-us: one implicit step of "
      "everything "
      "that bends.");
}

}  // namespace cotouch

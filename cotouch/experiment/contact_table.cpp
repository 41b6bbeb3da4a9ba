// Table I of the paper, its rigid rows: how much of the tree is visited, what that costs, and what it would cost
// without.
#include <cotouch/base/realtime.h>
#include <cotouch/experiment/inputs.h>
#include <cotouch/experiment/peer_fcl.h>

#include <fmt/format.h>

#include <algorithm>

namespace cotouch {
namespace {

struct PaperRow {
  double points, visited, visited_no_coherence, in_contact, level, contact_us, cycle_us, treeless_us;
};
// Table I; the cycle without the deformable part (StVK).
constexpr PaperRow k_knight{1.02e6, 2050, 3400, 820, 6, 780, 870, 80000};
constexpr PaperRow k_dragon_hole{256e3, 1701, 2642, 843, 2, 722, 812, 45000};
constexpr PaperRow k_bridge{85e3, 1989, 5200, 426, 4, 710, 800, 12200};

constexpr double k_budget_us = 1000;

// The paper numbers its levels from one.
double paper_level(std::uint32_t level) {
  return level + 1;
}

// The cycle with most points in contact: the row's representative configuration.
const FeltCycle& busiest(const std::vector<FeltCycle>& cycles) {
  return *std::max_element(cycles.begin(), cycles.end(), [](const FeltCycle& a, const FeltCycle& b) {
    return a.stats.in_contact < b.stats.in_contact;
  });
}

void evaluate(const ContactCase& scene, const Pose& object, NestedContact& engine, ContactResult& result) {
  if (scene.moving == Moving::shell)
    engine.evaluate(object, scene.other, scene.moving, result);
  else
    engine.evaluate(scene.other, object, scene.moving, result);
}

double treeless_us(const ContactCase& scene, const Pose& object, NestedContact& engine, int repeats) {
  std::vector<double> times;
  ContactResult result;
  for (int i = 0; i < repeats; ++i) {
    const std::int64_t start = monotonic_ns();
    if (scene.moving == Moving::shell)
      engine.evaluate_exhaustively(object, scene.other, scene.moving, scene.shell.levels() - 1, result);
    else
      engine.evaluate_exhaustively(scene.other, object, scene.moving, scene.shell.levels() - 1, result);
    times.push_back(static_cast<double>(monotonic_ns() - start) * 1e-3);
  }
  return median(times);
}

void add_row(const ContactCase& scene, const PaperRow& paper, const ExperimentOptions& options,
             ExperimentReport& report) {
  options.progress->update("Feeling " + scene.name, 0);
  const WorkBudget budget = calibrate_budget(scene.shell, scene.field, k_budget_us);
  NestedContact engine(scene.shell, scene.field, {}, budget);
  HeldObjectSettings settings;
  settings.moving = scene.moving;
  const std::vector<FeltCycle> cycles = feel(scene, engine, settings);

  std::vector<double> contact_us, cycle_us;
  std::uint32_t most_visited = 0;
  for (const FeltCycle& cycle : cycles) {
    most_visited = std::max(most_visited, cycle.stats.visited);
    if (cycle.stats.in_contact == 0) continue;
    contact_us.push_back(cycle.contact_us);
    cycle_us.push_back(cycle.cycle_us);
  }
  const FeltCycle& peak = busiest(cycles);
  ContactSettings no_coherence;
  no_coherence.coherence = false;
  NestedContact memoryless(scene.shell, scene.field, no_coherence, budget);
  ContactResult without;
  evaluate(scene, peak.object, memoryless, without);

  const auto name = [&](const char* quantity) { return scene.name + "/" + quantity; };
  report.add(name("points"), scene.shell.point_count(), "points", paper.points);
  report.add(name("visited"), peak.stats.visited, "nodes", paper.visited);
  report.add(name("visited-no-coherence"), without.stats.visited, "nodes", paper.visited_no_coherence);
  report.add(name("in-contact"), peak.stats.in_contact, "points", paper.in_contact);
  report.add(name("level"), paper_level(peak.stats.level), "tree level, first = 1", paper.level);
  report.add(name("levels"), scene.shell.levels(), "tree levels");
  report.add(name("contact-p50-us"), percentile(contact_us, 0.5), "us", paper.contact_us);
  report.add(name("contact-p99-us"), percentile(contact_us, 0.99), "us");
  report.add(name("cycle-p99-us"), percentile(cycle_us, 0.99), "us", paper.cycle_us);
  report.add(name("treeless-us"), treeless_us(scene, peak.object, memoryless, options.quick ? 5 : 15), "us",
             paper.treeless_us);
  report.add(name("budget-nodes"), budget.warm, "nodes");
  report.add(name("visited-most"), most_visited, "nodes");
  report.add(name("over-budget-cycles"),
             static_cast<double>(std::count_if(cycles.begin(), cycles.end(),
                                               [&](const FeltCycle& c) { return c.stats.visited > budget.warm; })),
             "cycles");
  report.notes.push_back(fmt::format("{}: {}", scene.name, scene.note));
}

// What a query over triangle meshes costs where the two surfaces conform.
void add_peer(const ContactCase& scene, const ExperimentOptions& options, ExperimentReport& report) {
  options.progress->update("Asking FCL the same", 0);
  NestedContact engine(scene.shell, scene.field, {}, calibrate_budget(scene.shell, scene.field, k_budget_us));
  HeldObjectSettings settings;
  settings.moving = scene.moving;
  const std::vector<FeltCycle> cycles = feel(scene, engine, settings);
  const FeltCycle& peak = busiest(cycles);

  const bool shell_moves = scene.moving == Moving::shell;
  const FclPair pair(scene.shell_mesh, scene.field_mesh);
  std::vector<double> ours_us, peer_us;
  std::size_t peer_contacts = 0;
  ContactResult result;
  for (int i = 0; i < (options.quick ? 3 : 10); ++i) {
    engine.reset();
    const std::int64_t start = monotonic_ns();
    evaluate(scene, peak.object, engine, result);
    ours_us.push_back(static_cast<double>(monotonic_ns() - start) * 1e-3);
    const FclPair::Answer answer =
        pair.collide(shell_moves ? peak.object : scene.other, shell_moves ? scene.other : peak.object, 1'000'000);
    peer_us.push_back(answer.seconds * 1e6);
    peer_contacts = answer.contacts;
  }
  report.add(scene.name + "/contact-cold-us", median(ours_us), "us", {}, median(peer_us));
  report.add(scene.name + "/faster-than-fcl", median(peer_us) / median(ours_us), "times");
  report.notes.push_back(fmt::format(
      "FCL: all contacts between the two meshes ({} and {} triangles, OBBRSS trees) in the same pose, {} found; "
      "ours without help from earlier cycles, at the level the 1 ms budget allows.",
      scene.shell_mesh.triangles.size(), scene.field_mesh.triangles.size(), peer_contacts));
}

}  // namespace

ExperimentReport run_contact_table(const ExperimentOptions& options) {
  ExperimentReport report;
  report.notes.push_back(
      "Paper: Table I, Core 2 Duo 2.66 GHz. visited, in-contact and level are of the cycle with most contacts; "
      "times are over all cycles with contact. Every row runs within a budget calibrated to 1 ms.");
  add_row(million_points_case(options), k_knight, options, report);
  const ContactCase hole = dragon_hole_case(options);
  add_row(hole, k_dragon_hole, options, report);
  add_peer(hole, options, report);
  add_row(bridge_creature_case(options), k_bridge, options, report);
  return report;
}

}  // namespace cotouch

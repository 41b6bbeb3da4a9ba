// How a shared session fares with more peers and worse networks, on the scene `docking`, in simulated time; and what it
// costs: bytes on the wire, the time to roll back, the processor time of a peer.
#include <cotouch/base/parallel.h>
#include <cotouch/base/realtime.h>
#include <cotouch/base/trig.h>
#include <cotouch/experiment/experiment.h>
#include <cotouch/experiment/inputs.h>
#include <cotouch/experiment/participants.h>
#include <cotouch/experiment/plot.h>
#include <cotouch/experiment/statistics.h>
#include <cotouch/session/running_world.h>
#include <cotouch/session/simulated_session.h>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <mutex>

namespace cotouch {
namespace {

constexpr std::array<const char*, 6> k_profiles{"lan", "network-1", "network-2", "network-3", "transatlantic", "awful"};
constexpr double k_all_there = 60;         // seconds at most until all have joined
constexpr double k_settle = 3;             // seconds from then on: hands take hold, links are measured
constexpr std::uint32_t k_nodes = 4096;    // of each pair, as `cotouch host` has it
constexpr std::size_t k_rolled_back = 64;  // ticks
constexpr double k_tick = k_shared_pace.tick;

std::shared_ptr<const WorldModel> peers_world(Progress& progress) {
  Scene scene = builtin_scene("docking");
  prepare(scene, progress);
  FeelSettings feel;
  feel.warm_nodes = k_nodes;
  return felt_model(scene, feel, k_shared_pace);
}

// The first two take hold of the box from both sides, carry it about and take hold anew now and then; the others move
// around it.
class PlayingHands {
 public:
  explicit PlayingHands(const WorldModel& model) : task_(docking_task(model, 1)) {
    rest_ = WorldState(model).bodies()[task_.body_index].pose.position;
  }

  HandInput operator()(std::size_t number, double now) const {
    HandInput hand;
    hand.present = true;
    const double phase = 0.4 * static_cast<double>(number);
    const auto wave = [&](double hertz, double offset) { return sin_cos(2 * k_pi * hertz * now + offset).sin; };
    if (number < 2) {
      const double side = number == 0 ? 1 : -1;
      const Vec3d path{0.03 * wave(0.21, 0), 0.02 * wave(0.33, 1), 0.05 + 0.02 * wave(0.27, 2)};
      const Vec3d own{0.002 * wave(0.9, phase), 0.002 * wave(1.1, 2 + phase), 0.002 * wave(0.7, 1 + phase)};
      hand.pose.position = rest_ + Vec3d{task_.grip.x, side * task_.grip.y, task_.grip.z} + path + own;
      // For a moment at each end of a round, because a tick may be late.
      const double round = std::fmod(now + 4 * phase, k_round);
      if (round < 0.02) hand.action = HandInput::Action::release;
      if (round >= 0.5 && round < 0.52) hand.action = HandInput::Action::grasp;
      if (hand.action == HandInput::Action::grasp) hand.body = task_.body;
    } else {
      const Vec3d path{0.2 * wave(0.3, phase), 0.2 * wave(0.23, 2 * phase), 0.2 + 0.05 * wave(0.4, 3 * phase)};
      hand.pose.position = rest_ + path;
    }
    return hand;
  }

  std::uint32_t box() const { return task_.body_index; }

 private:
  static constexpr double k_round = 5;  // seconds
  PersonTask task_;
  Vec3d rest_;
};

struct PeersCase {
  std::size_t peers = 2;
  NetworkProfile network;
  double seconds = 20;
  std::uint64_t seed = 1;
};

struct PeersResult {
  bool complete = false;  // all took part, from the beginning of what was measured to its end
  std::uint64_t mismatches = 0;
  double divergence = 0;        // metres, mean over ticks and pairs of peers
  double rollback_p99 = 0;      // ticks
  double bytes_per_second = 0;  // sent by a peer
  double own_view = 0;          // seconds from sampling a hand until its view shows that or something newer
  double waiting = 0;           // share of the time with a full window
  double processor_share = 0;   // of a peer
};

bool all_take_part(SimulatedSession& session) {
  for (std::size_t i = 0; i < session.machines(); ++i) {
    if (!session.takes_part(i)) return false;
    std::size_t members = 0;
    for (MemberId m = 0; m < k_most_members; ++m) members += session.peer(i).is_active(m) ? 1U : 0U;
    if (members != session.machines()) return false;
  }
  return true;
}

// Mean distance of all pairs of views.
double apart(const std::vector<Vec3d>& views) {
  double sum = 0;
  for (std::size_t i = 1; i < views.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) sum += norm(views[i] - views[j]);
  return sum / (0.5 * static_cast<double>(views.size() * (views.size() - 1)));
}

PeersResult run_case(const std::shared_ptr<const WorldModel>& model, const PeersCase& of) {
  const PlayingHands hands(*model);
  SimulationSettings settings;
  settings.machines = of.peers;
  settings.network = of.network;
  settings.seed = of.seed;
  std::vector<std::vector<double>> sampled(of.peers);  // when, of what no view shows yet
  SimulatedSession session(model, settings, [&](std::size_t machine, double now, const WorldState&) {
    sampled[machine].push_back(now);
    return hands(machine, now);
  });
  while (session.now() < k_all_there && !all_take_part(session)) session.run_until(session.now() + 0.1);
  session.run_until(session.now() + k_settle);

  struct Views {
    std::vector<Vec3d> box;
    std::size_t seen = 0;
  };
  std::map<Tick, Views> waiting;
  std::vector<double> divergence, own_view;
  for (std::vector<double>& times : sampled) times.clear();
  session.on_tick = [&](std::size_t machine, Tick tick, const WorldState& view) {
    // The session counts inputs that the next view does not show; there are none.
    for (const double when : sampled[machine]) own_view.push_back(session.now() - when + k_tick);
    sampled[machine].clear();
    Views& views = waiting[tick];
    views.box.resize(of.peers);
    views.box[machine] = view.bodies()[hands.box()].pose.position;
    if (++views.seen < of.peers) return;
    divergence.push_back(apart(views.box));
    waiting.erase(waiting.begin(), waiting.upper_bound(tick));
  };
  PeersResult result;
  result.complete = all_take_part(session);
  std::uint64_t bytes = 0, late = 0;
  std::vector<std::size_t> rollbacks(of.peers);
  double waited = 0;
  for (std::size_t i = 0; i < of.peers; ++i) {
    rollbacks[i] = session.statistics(i).rollbacks.size();
    bytes -= session.statistics(i).bytes_sent;
    late -= session.statistics(i).own_inputs_late;
    waited -= session.statistics(i).waited;
  }
  const std::int64_t start = processor_ns();
  session.run_until(session.now() + of.seconds);
  const double processor = static_cast<double>(processor_ns() - start) * 1e-9;
  std::vector<double> ticks;
  for (std::size_t i = 0; i < of.peers; ++i) {
    const SimulatedSession::MachineStatistics& s = session.statistics(i);
    for (std::size_t r = rollbacks[i]; r < s.rollbacks.size(); ++r) ticks.push_back(s.rollbacks[r]);
    bytes += s.bytes_sent;
    late += s.own_inputs_late;
    waited += s.waited;
  }
  const double peer_seconds = static_cast<double>(of.peers) * of.seconds;
  result.complete = result.complete && all_take_part(session) && late == 0;
  result.mismatches = session.mismatches();
  result.divergence = divergence.empty() ? 0 : mean(divergence);
  result.rollback_p99 = percentile(ticks, 0.99);
  result.bytes_per_second = static_cast<double>(bytes) / peer_seconds;
  result.own_view = own_view.empty() ? 0 : mean(own_view);
  result.waiting = waited / peer_seconds;
  result.processor_share = processor / peer_seconds;
  return result;
}

// Milliseconds of processor time to go back 64 ticks and simulate them again, two hands on the box.
std::vector<double> measure_rollback(const std::shared_ptr<const WorldModel>& model, std::size_t times) {
  const PlayingHands hands(*model);
  Rollback rollback({}, 0);
  WorldRunner runner(model, WorldState(*model), 0);
  rollback.open(0, 0);
  rollback.open(1, 0);
  std::vector<double> milliseconds;
  std::vector<WorldRequest> requests;
  const auto carry_out = [&] {
    for (const WorldRequest& request : requests) runner.carry_out(request);
    requests.clear();
  };
  const auto input = [&](std::size_t hand, Tick tick) {
    return PeerInput{sendable(hands(hand, static_cast<double>(tick) * k_tick)), {}};
  };
  for (std::size_t i = 0; i < times; ++i) {
    const Tick first = rollback.now();
    for (Tick tick = first; tick < first + static_cast<Tick>(k_rolled_back); ++tick) {
      rollback.receive(0, tick, input(0, tick));
      rollback.advance(requests);
    }
    carry_out();
    for (Tick tick = first; tick < rollback.now(); ++tick) rollback.receive(1, tick, input(1, tick));
    const std::int64_t start = processor_ns();
    const Tick replayed = rollback.repair(requests);
    carry_out();
    if (replayed == static_cast<Tick>(k_rolled_back))
      milliseconds.push_back(static_cast<double>(processor_ns() - start) * 1e-6);
    while (rollback.confirm(requests)) {
    }
    carry_out();
  }
  return milliseconds;
}

void draw(const std::vector<PeersCase>& cases, const std::vector<PeersResult>& results,
          const ExperimentOptions& options, ExperimentReport& report) {
  Plot plot;
  plot.title = "Shared sessions: peers and networks";
  plot.x_label = "peers";
  const auto panel = [&](const char* label, bool logarithmic, double (*value)(const PeersResult&)) {
    PlotPanel& of = plot.panels.emplace_back();
    of.y_label = label;
    of.logarithmic = logarithmic;
    for (const char* profile : k_profiles) {
      PlotSeries series{plot.panels.size() == 1 ? profile : "", {}, {}, PlotSeries::Style::line_and_points};
      for (std::size_t i = 0; i < cases.size(); ++i) {
        if (cases[i].network.name != profile) continue;
        series.x.push_back(static_cast<double>(cases[i].peers));
        series.y.push_back(value(results[i]));
      }
      of.series.push_back(std::move(series));
    }
  };
  panel("divergence, mean (mm)", true, [](const PeersResult& r) { return r.divergence * 1e3; });
  panel("rollback, 99 % (ticks)", false, [](const PeersResult& r) { return r.rollback_p99; });
  panel("sent (kB/s a peer)", false, [](const PeersResult& r) { return r.bytes_per_second * 1e-3; });
  panel("processor share of a peer", true, [](const PeersResult& r) { return r.processor_share; });
  report.figures.push_back(options.folder / "peers.svg");
  write_svg(plot, report.figures.back());
}

}  // namespace

ExperimentReport run_peers_study(const ExperimentOptions& options) {
  const auto model = peers_world(*options.progress);
  const double seconds = options.quick ? 5 : 20;
  std::vector<PeersCase> cases;
  for (const std::size_t peers : {2U, 4U, 8U, 16U})
    for (const char* profile : k_profiles)
      if (!options.quick || peers <= 4) cases.push_back({peers, *find_network(profile), seconds, options.seed});
  cases.push_back({2, network_with(0.117, 0.003, 0.05), seconds, options.seed});
  cases.push_back({16, *find_network("lan"), options.quick ? 2.0 : 10.0, options.seed + 1});
  std::vector<PeersResult> results(cases.size());
  std::mutex telling;
  std::size_t finished = 0;
  // The longest first, so that no core is left with it at the end.
  parallel_for(cases.size(), 1, [&](std::size_t begin, std::size_t) {
    const std::size_t i = cases.size() - 1 - begin;
    results[i] = run_case(model, cases[i]);
    const std::lock_guard lock(telling);
    options.progress->update("Peers on networks", static_cast<double>(++finished) / static_cast<double>(cases.size()));
  });
  const PeersResult crowd = results.back(), lossy = results[results.size() - 2];
  cases.resize(cases.size() - 2);
  results.resize(cases.size());

  ExperimentReport report;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const PeersResult& r = results[i];
    const auto add = [&](const char* quantity, double value, const char* unit) {
      report.add(fmt::format("{}-{}/{}", cases[i].peers, cases[i].network.name, quantity), value, unit);
    };
    add("objective-mismatches", static_cast<double>(r.mismatches), "states");
    add("subjective-mean-mm", r.divergence * 1e3, "mm between two views of the box");
    add("rollback-ticks-p99", r.rollback_p99, "ticks");
    add("bytes-per-second-per-peer", r.bytes_per_second, "bytes/s sent, all headers counted");
    add("input-to-own-view-ms", r.own_view * 1e3, "ms");
    add("waiting-share", r.waiting, "of the time, for others' inputs");
    if (!r.complete)
      report.notes.push_back(
          fmt::format("Not all of {} peers took part on {} all the time.", cases[i].peers, cases[i].network.name));
  }
  report.add("2-peers/bytes-per-second-5-percent-loss", lossy.bytes_per_second, "bytes/s sent by a peer; goal 16000");
  const std::vector<double> rolled_back = measure_rollback(model, options.quick ? 20 : 100);
  report.add("rollback-64/ms", median(rolled_back), "ms of processor time, median; goal 10");
  report.add("rollback-64/p99-ms", percentile(rolled_back, 0.99), "ms");
  report.add("16-peers/processor-share", crowd.processor_share,
             "processor seconds of a peer each second; 0.125 for 16 on 2 cores");
  draw(cases, results, options, report);
  report.notes.push_back(fmt::format(
      "Scene docking with {} nodes a pair at 100 Hz; two hands carry the box, the others move around it. {:.0f} "
      "simulated seconds after all have joined. Sent bytes are those of a peer's core with seal, UDP and IPv4 headers.",
      k_nodes, seconds));
  report.notes.push_back(
      "The time from an input to the own view is a tick if the world does not wait; waiting is counted in. The "
      "processor share has the world, rollbacks, messages and the simulated network, but neither encryption nor the "
      "1 kHz loop of touch.");
  return report;
}

}  // namespace cotouch

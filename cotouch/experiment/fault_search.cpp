#include <cotouch/experiment/fault_search.h>

#include <cotouch/base/trig.h>
#include <cotouch/field/build.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shell/build.h>
#include <cotouch/world/scene.h>

#include <array>
#include <cmath>

namespace cotouch {
namespace {

constexpr double k_trouble = 60, k_calm = 30, k_longest_pause = 25;  // seconds
constexpr double k_places_per_second = 1.5;
constexpr double k_latest = 20;  // seconds that a datagram may be late

// A hand that wanders about, takes a ball now and then and lets it go; another one for each number. Every eighth second
// it moves all the time, in the others from place to place: what was predicted of a resting hand is right, and is not
// simulated again. That is what makes thousands of minutes affordable.
HandInput playing_hand(std::size_t number, double now) {
  HandInput hand;
  const double phase = static_cast<double>(number) * 1.7;
  const double second = std::floor(now + 0.31 * phase), part = now + 0.31 * phase - second;
  const auto count = static_cast<std::int64_t>(second);
  const double shown = count % 8 == 0 ? now : std::floor(now * k_places_per_second + phase) / k_places_per_second;
  const double angle = 0.9 * shown + phase;
  hand.present = true;
  hand.pose.position = {0.05 * sin_cos(angle).cos, 0.05 * sin_cos(1.3 * angle).sin, 0.03 + 0.02 * sin_cos(angle).sin};
  if (part < 0.011 && count % 3 == 0) {
    hand.action = HandInput::Action::grasp;
    hand.body = 2 + static_cast<std::uint32_t>(number % 2);
  } else if (part < 0.011 && count % 3 == 2) {
    hand.action = HandInput::Action::release;
  }
  return hand;
}

// Some lead several hands for a while, of which two may want the same, or one that is a member's.
MemberHands playing_hands(std::size_t number, double now) {
  MemberHands hands(playing_hand(number, now));
  const auto turn = (static_cast<std::size_t>(now / 3) + number) % 6;
  if (turn == 1) hands.further.push_back({3, playing_hand(number + 10, now)});
  if (turn == 1 || turn == 2) hands.further.push_back({14, playing_hand(number + 20, now)});
  if (turn == 2) hands.further.push_back({15, playing_hand(number + 30, now)});
  return hands;
}

// Half of all networks hold datagrams back, by so little that they only change their order or by many seconds.
void hold_back(NetworkProfile& network, Random& random) {
  const double share = random.uniform() < 0.5 ? 0 : random.uniform(0, 0.4);
  const double longest = random.uniform() < 0.5 ? 0.2 : k_latest;
  const double by = random.uniform(0, longest);
  for (LinkProfile* link : {&network.there, &network.back}) {
    link->reorder = share;
    link->reorder_by = by;
  }
}

NetworkProfile random_network(Random& random) {
  const auto networks = builtin_networks();
  NetworkProfile network = networks[random.below(networks.size())];
  const double duplicate = random.uniform() < 0.5 ? 0 : random.uniform(0, 0.1);
  const double corrupt = random.uniform() < 0.5 ? 0 : random.uniform(0, 0.1);
  for (LinkProfile* link : {&network.there, &network.back}) {
    link->duplicate = duplicate;
    link->corrupt = corrupt;
  }
  return network;
}

class Trouble {
 public:
  Trouble(SimulatedSession& session, Random& random, FaultRun& run) : session_(session), random_(random), run_(run) {}

  void make() {
    ++run_.faults;
    const std::size_t machine = random_.below(session_.machines());
    switch (random_.below(7)) {
      case 0: return session_.crash(machine);
      case 1: return session_.leave(machine);
      case 2: return come_back(machine);
      case 3: return session_.pause(machine, random_.uniform(0.1, k_longest_pause));
      case 4: return session_.network().isolate(static_cast<std::uint32_t>(machine));
      case 5: return split();
      default: return session_.network().heal();
    }
  }

  // Whoever is away comes back, and the network works again.
  void calm() {
    session_.network().heal();
    session_.network().connect_all(*find_network("network-3"));
    session_.run_until(session_.now() + k_longest_pause + 5);  // those who are leaving or asleep
    for (std::size_t i = 0; i < session_.machines(); ++i) come_back(i);
  }

 private:
  // A session lives as long as anybody is in it.
  bool somebody_is_there() const {
    for (std::size_t i = 0; i < session_.machines(); ++i)
      if (session_.takes_part(i)) return true;
    return false;
  }
  void come_back(std::size_t machine) {
    if (session_.takes_part(machine)) return;
    if (somebody_is_there())
      session_.join(machine);
    else
      session_.host(machine);
  }
  void split() {
    std::vector<std::uint32_t> one, other;
    for (std::uint32_t i = 0; i < session_.machines(); ++i) (random_.uniform() < 0.5 ? one : other).push_back(i);
    session_.network().partition(one, other);
  }

  SimulatedSession& session_;
  Random& random_;
  FaultRun& run_;
};

// Are all machines in one session that goes on?
std::string trouble_after_calm(SimulatedSession& session) {
  std::vector<Tick> before;
  for (std::size_t i = 0; i < session.machines(); ++i) {
    if (!session.takes_part(i)) return "machine " + std::to_string(i) + " did not get in";
    before.push_back(session.peer(i).objective());
  }
  session.run_until(session.now() + 2);
  for (std::size_t i = 0; i < session.machines(); ++i) {
    if (!session.takes_part(i)) return "machine " + std::to_string(i) + " was lost";
    if (session.peer(i).objective() < before[i] + 100) return "machine " + std::to_string(i) + " does not go on";
    std::size_t members = 0;
    for (MemberId m = 0; m < k_most_members; ++m) members += session.peer(i).is_member(m) ? 1U : 0U;
    if (members != session.machines())
      return "machine " + std::to_string(i) + " knows " + std::to_string(members) + " members";
  }
  return {};
}

}  // namespace

std::shared_ptr<const WorldModel> fault_world() {
  auto part = std::make_shared<Part>();
  part->name = "ball";
  part->mesh = make_sphere(0.02, 2);
  part->settings.field.resolution = 16;
  part->settings.shell.points = 64;
  part->field = build_field([](const Vec3d& p) { return norm(p) - 0.02; }, part->mesh.bounds(), part->settings.field);
  NoProgress quiet;
  part->shell = build_shell(part->field, part->settings.shell, quiet);
  Scene scene;
  scene.drag = 2;
  for (std::uint32_t id = 1; id <= 3; ++id) {
    SceneBody body;
    body.id = id;
    body.name = "ball " + std::to_string(id);
    body.motion = id == 1 ? Motion::fixed : Motion::free;
    body.holding = Holding::dynamic;  // takes a third of the time of the other kind
    body.pose.position = {id == 3 ? 0.06 : 0, 0, id == 1 ? 0 : 0.05};
    body.parts.emplace_back();
    body.parts[0].name = body.name;
    body.parts[0].part = part;
    scene.bodies.push_back(std::move(body));
  }
  return make_model(scene, {.tick = 0.01, .hands = k_shared_hands, .budget = WorkBudget::of(128)});
}

FaultRun run_faults(const std::shared_ptr<const WorldModel>& world, const FaultSettings& of_run) {
  FaultRun run;
  // Lateness has chances of its own, so that other kinds of trouble stay those of their seed.
  Random random(of_run.seed), lateness(~of_run.seed);
  const auto network = [&] {
    NetworkProfile drawn = random_network(random);
    hold_back(drawn, lateness);
    return drawn;
  };
  SimulationSettings settings;
  settings.seed = random.bits();
  settings.machines = 2 + random.below(4);
  settings.network = network();
  settings.clock_drift = 2e-4;
  settings.broken = of_run.broken;
  settings.peer.rollback.prediction = static_cast<Prediction>(random.below(4));
  SimulatedSession session(world, settings, [&](std::size_t machine, double now, const WorldState&) {
    return of_run.several_hands ? playing_hands(machine, now) : MemberHands(playing_hand(machine, now));
  });
  Trouble trouble(session, random, run);
  session.run_until(10);
  for (int round = 0; round < of_run.rounds && run.first_trouble.empty(); ++round) {
    session.network().connect_all(network());
    const double end = session.now() + k_trouble;
    while (session.now() < end) {
      session.run_until(session.now() + random.uniform(0.2, 15));
      trouble.make();
    }
    trouble.calm();
    session.run_until(session.now() + k_calm);
    run.first_trouble = trouble_after_calm(session);
    if (!run.first_trouble.empty()) {
      ++run.stuck;
      run.first_trouble += " in round " + std::to_string(round) + " at " + std::to_string(session.now()) + " s";
    }
    if (session.overruled() > 0) run.first_trouble = "agreed, and overruled: " + session.first_overruled();
    if (session.mismatches() > 0) run.first_trouble = "a mismatch: " + session.first_mismatch();
  }
  run.minutes = session.now() / 60;
  run.mismatches = session.mismatches();
  run.overruled = session.overruled();
  run.history = session.history();
  for (std::size_t i = 0; i < session.machines(); ++i) run.confirmed += session.statistics(i).confirmed;
  return run;
}

}  // namespace cotouch

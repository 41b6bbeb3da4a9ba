#include <cotouch/experiment/besiegers.h>

#include <sys/resource.h>

#include <array>
#include <cstring>
#include <thread>
#include <utility>

namespace cotouch {
namespace {

constexpr std::size_t k_copied = 4U << 20;  // bytes, more than a core's own cache holds

struct SiegeOrder {
  BesiegedServer scene, uploads;
  std::uint32_t corners = 0;
  double seconds = 0;
  bool attacks = false;  // else it is only a load
};

struct Besieger {
  AttackKind kind;
  AttackTally (*attack)(const AttackTarget&);
  bool needs_desk = false;  // it is against the server that takes files
};
constexpr std::array k_besiegers{Besieger{{"never-read", "feeds", "feeds", 8}, never_read},
                                 Besieger{{"pipeline", "requests", "connections", 10}, pipeline},
                                 Besieger{{"empty-continuations", "feeds", "messages", 1}, empty_continuations},
                                 Besieger{{"pings-between", "feeds", "messages", 1}, pings_between},
                                 Besieger{{"text-flood", "feeds", "commands", 50}, flood_of_commands},
                                 Besieger{{"recording-loop", "the disk", "recordings", 5}, recordings_in_a_loop},
                                 Besieger{{"unread-exports", "requests", "requests", 20}, unread_exports},
                                 Besieger{{"slow-heads", "requests", "connections", 64}, slow_heads},
                                 Besieger{{"false-uploads", "uploads", "files", 9}, false_uploads},
                                 Besieger{{"wrong-keys", "the key", "guesses", 10}, wrong_keys},
                                 Besieger{{"garbage", "requests", "connections", 10}, garbage},
                                 Besieger{{Besiegers::k_polygons, "uploads", "files", 1}, endless_polygons, true}};
using Tallies = std::array<AttackTally, k_besiegers.size()>;

// What many connections do to the caches, with nobody at the other end.
void copy_memory(const AttackTime& time) {
  std::vector<char> from(k_copied), to(k_copied);
  while (time.goes_on(0)) {
    std::memcpy(to.data(), from.data(), from.size());
    std::swap(from, to);
  }
}

Tallies carry_out(const SiegeOrder& order) {
  Tallies tallies{};
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; order.attacks && i < k_besiegers.size(); ++i) {
    const Besieger& besieger = k_besiegers[i];
    const BesiegedServer& server = besieger.needs_desk ? order.uploads : order.scene;
    const AttackTarget target{server.port, server.key, order.corners,
                              AttackTime::from_now(order.seconds, besieger.kind.least)};
    threads.emplace_back([&tallies, &besieger, i, target] { tallies[i] = besieger.attack(target); });
  }
  const AttackTime load = AttackTime::from_now(order.seconds, 0);
  for (unsigned core = 0; !order.attacks && core < std::thread::hardware_concurrency(); ++core)
    threads.emplace_back([load] { copy_memory(load); });
  threads.clear();  // waits for them
  return tallies;
}

// The process's whole life: orders come in, counts go out, until the pipe closes.
void serve_sieges(int in, int out) {
  // The real ones have processors of their own; what they take of this machine's is not what is tried here.
  ::setpriority(PRIO_PROCESS, 0, 19);
  for (SiegeOrder order; WorkerProcess::read_value(in, order);)
    if (!WorkerProcess::write_value(out, carry_out(order))) return;
}

}  // namespace

BesiegedServer::BesiegedServer(std::uint16_t at, const std::string& with_key) : port(at) {
  std::strncpy(key, with_key.c_str(), sizeof key - 1);
}

Besiegers::Besiegers() : process_("the besiegers", serve_sieges) {
}

std::vector<AttackKind> Besiegers::kinds() {
  std::vector<AttackKind> kinds;
  for (const Besieger& besieger : k_besiegers) kinds.push_back(besieger.kind);
  return kinds;
}

void Besiegers::attack(const BesiegedServer& scene, const BesiegedServer& uploads, std::uint32_t corners,
                       double seconds) {
  process_.tell(SiegeOrder{scene, uploads, corners, seconds, true});
}

void Besiegers::only_load(double seconds) {
  process_.tell(SiegeOrder{{}, {}, 0, seconds, false});
}

std::vector<AttackCount> Besiegers::result() {
  const auto tallies = process_.hear<Tallies>();
  std::vector<AttackCount> counts;
  for (std::size_t i = 0; i < tallies.size(); ++i) counts.push_back({k_besiegers[i].kind.name, tallies[i]});
  return counts;
}

}  // namespace cotouch

#include <cotouch/net/network_profile.h>

#include <cotouch/base/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace cotouch {
namespace {

constexpr std::array<std::string_view, 5> k_jitters{"none", "uniform", "normal", "exponential", "heavy-tail"};

NetworkProfile alike(std::string name, std::string summary, const LinkProfile& link) {
  return {std::move(name), std::move(summary), link, link};
}

// Half of a round trip in milliseconds as the papers state it.
LinkProfile measured(double shortest_ms, double longest_ms, double mean_ms, double megabits, double loss) {
  LinkProfile link;
  link.delay = link.shortest = shortest_ms / 2 / 1000;
  link.longest = longest_ms / 2 / 1000;
  link.jitter = (mean_ms - shortest_ms) / 2 / 1000;
  link.jitter_kind = Jitter::heavy_tail;
  link.bytes_per_second = megabits * 1e6 / 8;
  link.loss = loss;
  return link;
}

// "The round-trip-time latency ranged from 105 to 120 ms, and averaged 117 ms", of "a relatively stable network with
// low jitter" (paper 004): four standard deviations each side of the mean.
LinkProfile transatlantic() {
  LinkProfile link;
  link.delay = 58.5e-3;
  link.jitter = 1.5e-3;
  link.jitter_kind = Jitter::normal;
  link.shortest = 52.5e-3;
  link.longest = 64.5e-3;
  return link;
}

LinkProfile awful() {
  LinkProfile link;
  link.delay = 200e-3;
  link.jitter = 75e-3;
  link.jitter_kind = Jitter::uniform;
  link.keep_order = false;
  link.loss = 0.3;
  return link;
}

}  // namespace

std::span<const NetworkProfile> builtin_networks() {
  static const std::array networks{
      alike("perfect", "Everything arrives at once.", {}),
      alike("lan", "A local network: round trips of 0.12 to 1.7 ms, 0.34 ms on average; 100 Mb/s (paper 000).",
            measured(0.12, 1.7, 0.34, 100, 0)),
      alike("network-1", "Round trips of 181 to 683 ms, 196 ms on average; 2 Mb/s; 9 % lost (paper 000, network #1).",
            measured(181, 683, 196, 2, 0.09)),
      alike("network-2", "Round trips of 50 to 187 ms, 72 ms on average; 4 Mb/s; 6 % lost (paper 000, network #2).",
            measured(50, 187, 72, 4, 0.06)),
      alike("network-3", "Round trips of 15 to 78 ms, 36 ms on average; 10 Mb/s; 3 % lost (paper 000, network #3).",
            measured(15, 78, 36, 10, 0.03)),
      alike("transatlantic", "Britain to America: round trips of 117 ms on average, 105 at least (paper 004).",
            transatlantic()),
      alike("awful", "Round trips of 400 ms, give or take 150; 30 % lost; out of order.", awful()),
  };
  return networks;
}

const NetworkProfile* find_network(std::string_view name) {
  const auto networks = builtin_networks();
  const auto found =
      std::find_if(networks.begin(), networks.end(), [&](const NetworkProfile& n) { return n.name == name; });
  return found == networks.end() ? nullptr : &*found;
}

NetworkProfile network_with(double round_trip, double jitter, double loss) {
  LinkProfile link;
  link.delay = round_trip / 2;
  // The variances of both directions add up.
  link.jitter = jitter / std::sqrt(2.0);
  if (jitter > 0) link.jitter_kind = Jitter::normal;
  link.loss = loss;
  check(link);
  return alike("custom", "Set by hand.", link);
}

double mean_round_trip(const NetworkProfile& profile) {
  return mean_delay(profile.there) + mean_delay(profile.back);
}

std::string_view name_of(Jitter kind) {
  return k_jitters[static_cast<std::size_t>(kind)];
}

bool find_jitter(std::string_view name, Jitter& kind) {
  const auto found = std::find(k_jitters.begin(), k_jitters.end(), name);
  if (found == k_jitters.end()) return false;
  kind = static_cast<Jitter>(std::distance(k_jitters.begin(), found));
  return true;
}

}  // namespace cotouch

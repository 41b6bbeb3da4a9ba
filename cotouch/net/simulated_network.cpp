#include <cotouch/net/simulated_network.h>

#include <cotouch/base/error.h>

namespace cotouch {

SimulatedNetwork::SimulatedNetwork(std::size_t endpoints, std::uint64_t seed)
    : endpoints_(endpoints), seed_(seed), ways_(endpoints * endpoints) {
}

void SimulatedNetwork::connect(std::uint32_t a, std::uint32_t b, const NetworkProfile& profile) {
  if (a >= endpoints_ || b >= endpoints_ || a == b)
    throw Error("A simulated network joins two different endpoints that it has.", ErrorCode::invalid_argument);
  join(a, b, profile.there);
  join(b, a, profile.back);
}

void SimulatedNetwork::connect_all(const NetworkProfile& profile) {
  for (std::uint32_t b = 0; b < endpoints_; ++b)
    for (std::uint32_t a = 0; a < b; ++a) connect(a, b, profile);
}

void SimulatedNetwork::join(std::uint32_t from, std::uint32_t to, const LinkProfile& profile) {
  Way& here = way(from, to);
  if (here.link) return here.link->change(profile);
  // Two mixes, so that neighbouring seeds and neighbouring ends share nothing.
  const std::uint64_t ends = Random((std::uint64_t{from} << 32) | to).bits();
  here.link = std::make_unique<Link>(profile, Random(seed_ ^ ends).bits());
}

void SimulatedNetwork::send(double now, std::uint32_t from, std::uint32_t to, std::span<const std::byte> bytes) {
  if (from >= endpoints_ || to >= endpoints_) return;
  Way& here = way(from, to);
  if (!here.link) return;
  if (here.cut) {
    ++lost_in_partitions_;
    return;
  }
  for (const Link::Arrival& arrival : here.link->send(now, bytes.size() + k_udp_header_bytes)) {
    const std::span<std::byte> copy = queue_.push(arrival.at, from, to, bytes);
    if (arrival.corrupt) flip_bits(copy, arrival.corrupt_bits);
  }
}

void SimulatedNetwork::partition(std::span<const std::uint32_t> group, std::span<const std::uint32_t> other) {
  for (const std::uint32_t a : group)
    for (const std::uint32_t b : other)
      if (a < endpoints_ && b < endpoints_ && a != b) way(a, b).cut = way(b, a).cut = true;
}

void SimulatedNetwork::isolate(std::uint32_t endpoint) {
  for (std::uint32_t other = 0; other < endpoints_; ++other) partition({&endpoint, 1}, {&other, 1});
}

void SimulatedNetwork::heal() {
  for (Way& here : ways_) here.cut = false;
}

LinkStatistics SimulatedNetwork::statistics(std::uint32_t from, std::uint32_t to) const {
  if (from >= endpoints_ || to >= endpoints_ || !way(from, to).link) return {};
  return way(from, to).link->statistics();
}

LinkStatistics SimulatedNetwork::statistics() const {
  LinkStatistics sum;
  for (const Way& here : ways_)
    if (here.link) sum += here.link->statistics();
  return sum;
}

}  // namespace cotouch

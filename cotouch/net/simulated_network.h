// Endpoints joined by links, in simulated time: the same seed and the same calls give the same deliveries, to the bit,
// on every machine. Time is whatever the caller says; nothing here waits.
//
//   network.connect(0, 1, *find_network("transatlantic"));
//   network.send(now, 0, 1, bytes);
//   while (network.receive(now, datagram)) deliver(datagram.to, datagram.from, datagram.bytes);
//   now = std::min(next_tick, network.next_time());
#pragma once

#include <cotouch/net/datagram_queue.h>
#include <cotouch/net/link.h>
#include <cotouch/net/network_profile.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cotouch {

class SimulatedNetwork {
 public:
  using Datagram = DatagramQueue::Datagram;

  // Endpoints are the numbers from 0 up to this.
  SimulatedNetwork(std::size_t endpoints, std::uint64_t seed);

  // `there` leads from a to b. Joined again, the links change as they are (Link::change). The seed of a link depends on
  // its ends alone, not on the order of calls.
  void connect(std::uint32_t a, std::uint32_t b, const NetworkProfile& profile);
  void connect_all(const NetworkProfile& profile);

  // Lost if the two are not joined or cut off from each other.
  void send(double now, std::uint32_t from, std::uint32_t to, std::span<const std::byte> bytes);
  // When the next datagram arrives; infinity if none is under way.
  double next_time() const { return queue_.next_time(); }
  // Takes the next datagram that has arrived by `now`; its bytes are valid until the next call of this.
  bool receive(double now, Datagram& datagram) { return queue_.pop(now, datagram); }
  std::size_t under_way() const { return queue_.size(); }

  // From now on nothing sent goes between the two groups, in neither direction. What is under way arrives.
  void partition(std::span<const std::uint32_t> group, std::span<const std::uint32_t> other);
  // This one endpoint against all others.
  void isolate(std::uint32_t endpoint);
  // All are joined again as they were.
  void heal();

  // Zeros if the two are not joined. Datagrams lost in a partition are not counted here.
  LinkStatistics statistics(std::uint32_t from, std::uint32_t to) const;
  // Of all links together.
  LinkStatistics statistics() const;
  std::uint64_t lost_in_partitions() const { return lost_in_partitions_; }

 private:
  struct Way {
    std::unique_ptr<Link> link;
    bool cut = false;
  };
  Way& way(std::uint32_t from, std::uint32_t to) { return ways_[from * endpoints_ + to]; }
  const Way& way(std::uint32_t from, std::uint32_t to) const { return ways_[from * endpoints_ + to]; }
  void join(std::uint32_t from, std::uint32_t to, const LinkProfile& profile);

  std::size_t endpoints_;
  std::uint64_t seed_;
  std::vector<Way> ways_;
  DatagramQueue queue_;
  std::uint64_t lost_in_partitions_ = 0;
};

}  // namespace cotouch

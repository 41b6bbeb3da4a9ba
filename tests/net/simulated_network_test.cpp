#include <cotouch/net/simulated_network.h>

#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/error_code.h"

namespace cotouch::this_file {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

NetworkProfile network_of(double delay) {
  NetworkProfile network;
  network.there.delay = network.back.delay = delay;
  return network;
}

// All that arrives by then: "from>to text", in order.
std::vector<std::string> received(SimulatedNetwork& network, double now) {
  std::vector<std::string> out;
  SimulatedNetwork::Datagram datagram;
  while (network.receive(now, datagram))
    out.push_back(std::to_string(datagram.from) + ">" + std::to_string(datagram.to) + " " + text_of(datagram.bytes));
  return out;
}

TEST(DatagramQueue, GivesTheEarliestFirstAndTiesInTheirOrder) {
  Random random(1);
  DatagramQueue queue;
  // (time, number) of all pushes; what comes out must be these, sorted.
  std::vector<std::pair<double, std::uint32_t>> expected;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    const double at = static_cast<double>(random.below(50));
    queue.push(at, i, 7, std::as_bytes(std::span(&i, 1)));
    expected.emplace_back(at, i);
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(queue.bytes(), 5000 * sizeof(std::uint32_t));
  DatagramQueue::Datagram datagram;
  for (const auto& [at, number] : expected) {
    EXPECT_EQ(queue.next_time(), at);
    ASSERT_FALSE(queue.pop(at - 0.5, datagram));
    ASSERT_TRUE(queue.pop(at, datagram));
    EXPECT_EQ(datagram.at, at);
    EXPECT_EQ(datagram.from, number);
    std::uint32_t content = 0;
    std::memcpy(&content, datagram.bytes.data(), sizeof content);
    ASSERT_EQ(content, number);
  }
  EXPECT_EQ(queue.next_time(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(queue.bytes(), 0U);
}

TEST(DatagramQueue, WhatWasTakenStaysWhileOthersArePutIn) {
  DatagramQueue queue;
  queue.push(1, 0, 0, bytes_of("first"));
  DatagramQueue::Datagram datagram;
  ASSERT_TRUE(queue.pop(1, datagram));
  for (int i = 0; i < 1000; ++i) queue.push(2, 0, 0, bytes_of("other"));
  EXPECT_EQ(text_of(datagram.bytes), "first");
  queue.clear();
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_FALSE(queue.pop(10, datagram));
}

TEST(SimulatedNetwork, DeliversAfterTheDelayOfTheLink) {
  SimulatedNetwork network(3, 1);
  network.connect(0, 1, network_of(0.25));
  network.connect(1, 2, network_of(0.5));
  network.send(1, 0, 1, bytes_of("a"));
  network.send(1, 1, 0, bytes_of("b"));
  network.send(1, 2, 1, bytes_of("c"));
  network.send(1, 0, 2, bytes_of("not joined"));
  network.send(1, 0, 7, bytes_of("not there"));
  EXPECT_EQ(network.next_time(), 1.25);
  EXPECT_TRUE(received(network, 1.2).empty());
  EXPECT_EQ(received(network, 1.25), (std::vector<std::string>{"0>1 a", "1>0 b"}));
  EXPECT_EQ(network.next_time(), 1.5);
  EXPECT_EQ(received(network, 9), (std::vector<std::string>{"2>1 c"}));
  EXPECT_EQ(network.next_time(), std::numeric_limits<double>::infinity());
}

TEST(SimulatedNetwork, ThereAndBackDiffer) {
  NetworkProfile profile = network_of(0.25);
  profile.back.delay = 0.75;
  SimulatedNetwork network(2, 1);
  network.connect(1, 0, profile);
  network.send(0, 1, 0, bytes_of("there"));
  network.send(0, 0, 1, bytes_of("back"));
  EXPECT_EQ(received(network, 0.5), (std::vector<std::string>{"1>0 there"}));
  EXPECT_EQ(received(network, 1), (std::vector<std::string>{"0>1 back"}));
}

TEST(SimulatedNetwork, APartitionCutsTheGroupsAndNothingElse) {
  SimulatedNetwork network(4, 1);
  network.connect_all(network_of(0.5));
  network.send(0, 0, 2, bytes_of("under way"));
  const std::vector<std::uint32_t> left{0, 1}, right{2, 3};
  network.partition(left, right);
  for (std::uint32_t from = 0; from < 4; ++from)
    for (std::uint32_t to = 0; to < 4; ++to) network.send(1, from, to, bytes_of("x"));
  EXPECT_EQ(received(network, 9), (std::vector<std::string>{"0>2 under way", "0>1 x", "1>0 x", "2>3 x", "3>2 x"}));
  EXPECT_EQ(network.lost_in_partitions(), 8U);
  network.heal();
  network.send(9, 0, 3, bytes_of("again"));
  EXPECT_EQ(received(network, 10), (std::vector<std::string>{"0>3 again"}));
  network.isolate(3);
  network.send(10, 0, 3, bytes_of("lost"));
  network.send(10, 3, 1, bytes_of("lost"));
  network.send(10, 1, 2, bytes_of("heard"));
  EXPECT_EQ(received(network, 11), (std::vector<std::string>{"1>2 heard"}));
}

TEST(SimulatedNetwork, CorruptionFlipsRealBits) {
  NetworkProfile profile = network_of(0);
  profile.there.corrupt = 1;
  SimulatedNetwork network(2, 1);
  network.connect(0, 1, profile);
  const std::string sent(64, 'a');
  for (int i = 0; i < 100; ++i) {
    network.send(i, 0, 1, bytes_of(sent));
    SimulatedNetwork::Datagram datagram;
    ASSERT_TRUE(network.receive(i, datagram));
    int flipped = 0;
    for (std::size_t at = 0; at < sent.size(); ++at)
      flipped += std::popcount(static_cast<unsigned char>(static_cast<unsigned char>(sent[at]) ^
                                                          static_cast<unsigned char>(datagram.bytes[at])));
    EXPECT_GE(flipped, 1);
    EXPECT_LE(flipped, 3);
  }
}

TEST(SimulatedNetwork, RatesCountTheHeadersOfEachDatagram) {
  NetworkProfile profile;
  profile.there.bytes_per_second = 128;  // 100 bytes and 28 of headers take a second
  profile.there.queue_seconds = 10;
  SimulatedNetwork network(2, 1);
  network.connect(0, 1, profile);
  for (int i = 0; i < 3; ++i) network.send(0, 0, 1, bytes_of(std::string(100, 'x')));
  EXPECT_DOUBLE_EQ(network.next_time(), 1);
  EXPECT_EQ(received(network, 2).size(), 2U);
  EXPECT_DOUBLE_EQ(network.next_time(), 3);
}

// A busy mesh of `awful` links; a hash of all that arrives, when and where.
std::uint64_t busy_mesh(std::uint64_t seed, bool backwards) {
  NetworkProfile profile = *find_network("awful");
  profile.there.corrupt = profile.back.duplicate = 0.1;
  SimulatedNetwork network(5, seed);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t b = 0; b < 5; ++b)
    for (std::uint32_t a = 0; a < b; ++a) pairs.emplace_back(a, b);
  if (backwards) std::reverse(pairs.begin(), pairs.end());
  for (const auto& [a, b] : pairs) network.connect(a, b, profile);
  std::vector<std::uint64_t> seen;
  for (int tick = 0; tick < 500; ++tick) {
    const double now = tick * 0.01;
    for (std::uint32_t from = 0; from < 5; ++from)
      for (std::uint32_t to = 0; to < 5; ++to) network.send(now, from, to, std::as_bytes(std::span(&tick, 1)));
    SimulatedNetwork::Datagram datagram;
    while (network.receive(now, datagram)) {
      int content = 0;
      std::memcpy(&content, datagram.bytes.data(), sizeof content);
      seen.insert(seen.end(), {std::bit_cast<std::uint64_t>(datagram.at), datagram.from, datagram.to,
                               static_cast<std::uint64_t>(content)});
    }
  }
  return hash_bytes(std::as_bytes(std::span(seen)));
}

TEST(SimulatedNetwork, IsAFunctionOfItsSeedAndItsCalls) {
  EXPECT_EQ(busy_mesh(1, false), busy_mesh(1, false));
  EXPECT_EQ(busy_mesh(1, false), busy_mesh(1, true));  // in whatever order the links were made
  EXPECT_NE(busy_mesh(1, false), busy_mesh(2, false));
}

// A golden hash: the same from GCC and Clang, optimised or not, on x86-64 and arm64. A change that is meant to alter
// what links do replaces it.
TEST(SimulatedNetwork, DoesTheSameOnEveryMachine) {
  std::vector<std::uint64_t> seen;
  for (NetworkProfile profile : builtin_networks()) {
    for (LinkProfile* link : {&profile.there, &profile.back}) {
      link->corrupt = link->duplicate = link->reorder = 0.1;
      link->burst_share = 0.05;
      link->burst_length = 4;
    }
    profile.back.jitter_kind = Jitter::exponential;
    SimulatedNetwork network(4, 1);
    network.connect_all(profile);
    for (int tick = 0; tick < 2000; ++tick) {
      const double now = tick * 0.01;
      for (std::uint32_t from = 0; from < 4; ++from)
        for (std::uint32_t to = 0; to < 4; ++to) network.send(now, from, to, std::as_bytes(std::span(&tick, 1)));
      SimulatedNetwork::Datagram datagram;
      while (network.receive(now, datagram)) {
        int content = 0;
        std::memcpy(&content, datagram.bytes.data(), sizeof content);
        seen.insert(seen.end(), {std::bit_cast<std::uint64_t>(datagram.at), datagram.from, datagram.to,
                                 static_cast<std::uint64_t>(content)});
      }
    }
  }
  EXPECT_EQ(hash_bytes(std::as_bytes(std::span(seen))), 0xf669bbb91bb8b86bULL);
}

TEST(SimulatedNetwork, LinksHaveChancesOfTheirOwn) {
  NetworkProfile profile;
  profile.there.loss = profile.back.loss = 0.5;
  SimulatedNetwork network(3, 1);
  network.connect_all(profile);
  std::vector<std::string> lost(6);
  for (int i = 0; i < 64; ++i) {
    std::size_t link = 0;
    for (std::uint32_t from = 0; from < 3; ++from)
      for (std::uint32_t to = 0; to < 3; ++to)
        if (from != to) {
          network.send(i, from, to, {});
          SimulatedNetwork::Datagram datagram;
          lost[link++] += network.receive(i, datagram) ? '1' : '0';
        }
  }
  for (std::size_t a = 0; a < lost.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(lost[a], lost[b]);
}

TEST(SimulatedNetwork, CountsWhatBecomesOfEverything) {
  NetworkProfile profile;
  profile.there.loss = 0.5;
  SimulatedNetwork network(2, 1);
  network.connect(0, 1, profile);
  for (int i = 0; i < 1000; ++i) {
    network.send(i, 0, 1, bytes_of("x"));
    network.send(i, 1, 0, bytes_of("x"));
  }
  const LinkStatistics there = network.statistics(0, 1), all = network.statistics();
  EXPECT_EQ(there.sent, 1000U);
  EXPECT_EQ(there.arrived + there.lost_at_random, 1000U);
  EXPECT_NEAR(static_cast<double>(there.arrived), 500, 5 * 16);
  EXPECT_EQ(all.sent, 2000U);
  EXPECT_EQ(all.arrived, there.arrived + 1000);
  EXPECT_EQ(network.under_way(), all.arrived);
  EXPECT_EQ(network.statistics(0, 0).sent, 0U);
}

TEST(SimulatedNetwork, ALinkMadeAgainChangesWithoutLosingItsCounts) {
  SimulatedNetwork network(2, 1);
  network.connect(0, 1, network_of(0.5));
  network.send(0, 0, 1, bytes_of("slow"));
  network.connect(0, 1, network_of(2));
  network.send(1, 0, 1, bytes_of("slower"));
  EXPECT_EQ(received(network, 0.5).size(), 1U);
  EXPECT_EQ(network.next_time(), 3);
  EXPECT_EQ(network.statistics(0, 1).sent, 2U);
}

TEST(SimulatedNetwork, RefusesEndpointsThatItDoesNotHave) {
  SimulatedNetwork network(2, 1);
  EXPECT_EQ(code_of([&] { network.connect(0, 2, {}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { network.connect(1, 1, {}); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace cotouch::this_file

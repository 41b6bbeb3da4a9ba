#include <cotouch/net/network_profile.h>

#include <cotouch/base/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "support/error_code.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

constexpr int k_draws = 100'000;

// Round trips of the papers in ms, loss as a share.
struct Stated {
  const char* name;
  double shortest, longest, mean, megabits, loss;
};
// Paper 000, Fig. 6.
constexpr Stated k_paper_000[] = {{"lan", 0.12, 1.7, 0.34, 100, 0},
                                  {"network-1", 181, 683, 196, 2, 0.09},
                                  {"network-2", 50, 187, 72, 4, 0.06},
                                  {"network-3", 15, 78, 36, 10, 0.03}};

struct Measured {
  double shortest = 1e9, longest = 0, mean = 0, deviation = 0, loss = 0;
};

// Of one direction, in ms, for datagrams without bytes and so far apart that none waits.
Measured measure(const LinkProfile& profile, double apart = 2) {
  Link link(profile, 11);
  Measured out;
  double sum = 0, squares = 0;
  int arrived = 0;
  for (int i = 0; i < k_draws; ++i)
    for (const Link::Arrival& arrival : link.send(i * apart, 0)) {
      const double delay = (arrival.at - i * apart) * 1e3;
      out.shortest = std::min(out.shortest, delay);
      out.longest = std::max(out.longest, delay);
      sum += delay;
      squares += delay * delay;
      ++arrived;
    }
  out.mean = sum / arrived;
  out.deviation = std::sqrt(squares / arrived - out.mean * out.mean);
  out.loss = 1 - arrived / double{k_draws};
  return out;
}

TEST(NetworkProfile, ThoseOfPaper000AreAsItsFigureStates) {
  for (const Stated& stated : k_paper_000) {
    SCOPED_TRACE(stated.name);
    const NetworkProfile* network = find_network(stated.name);
    ASSERT_NE(network, nullptr);
    for (const LinkProfile& link : {network->there, network->back}) {
      const Measured found = measure(link);
      const double range = (stated.longest - stated.shortest) / 2;
      // Times of up to 2e5 s are rounded to 3e-8 ms. Near its start the density is above 1/range, so of 90,000 draws
      // the shortest is within 1e-3 of the range for sure.
      EXPECT_GE(found.shortest, stated.shortest / 2 - 1e-7);
      EXPECT_LE(found.shortest, stated.shortest / 2 + 1e-3 * range);
      // At its end the density is lowest for network-1: 7.3e-6 per ms, so that seven draws are expected in the last
      // 10 ms, 4 % of the range.
      EXPECT_LE(found.longest, stated.longest / 2 + 1e-7);
      EXPECT_GE(found.longest, stated.longest / 2 - 0.04 * range);
      // Five standard deviations of a mean.
      EXPECT_NEAR(found.mean, stated.mean / 2, 5 * found.deviation / std::sqrt(k_draws * (1 - stated.loss)));
      EXPECT_NEAR(found.loss, stated.loss, 5 * std::sqrt(stated.loss * (1 - stated.loss) / k_draws));
      EXPECT_DOUBLE_EQ(link.bytes_per_second * 8, stated.megabits * 1e6);
      EXPECT_TRUE(link.keep_order);
    }
    EXPECT_NEAR(mean_round_trip(*network), stated.mean * 1e-3, 1e-12);
  }
}

TEST(NetworkProfile, TransatlanticTakes117MillisecondsAndAtLeast105) {
  const NetworkProfile* network = find_network("transatlantic");
  ASSERT_NE(network, nullptr);
  const Measured there = measure(network->there), back = measure(network->back);
  EXPECT_NEAR(there.mean + back.mean, 117, 2 * 5 * 1.5 / std::sqrt(k_draws));
  // Three of 100,000 draws of a normal distribution are four deviations below its mean.
  EXPECT_GE(there.shortest + back.shortest, 105 - 1e-7);
  EXPECT_LE(there.shortest + back.shortest, 106);
  EXPECT_GE(there.longest + back.longest, 120);
  EXPECT_LE(there.longest + back.longest, 130);
  EXPECT_EQ(there.loss, 0);
}

TEST(NetworkProfile, AwfulIsAsTheIssueStates) {
  const NetworkProfile* network = find_network("awful");
  ASSERT_NE(network, nullptr);
  const Measured there = measure(network->there), back = measure(network->back);
  EXPECT_NEAR(there.mean + back.mean, 400, 2 * 5 * 75 / std::sqrt(3.0 * 0.7 * k_draws));
  EXPECT_NEAR(there.shortest + back.shortest, 250, 0.1);
  EXPECT_NEAR(there.longest + back.longest, 550, 0.1);
  EXPECT_NEAR(there.loss, 0.3, 5 * std::sqrt(0.21 / k_draws));
}

TEST(NetworkProfile, OnlyAwfulReorders) {
  for (const NetworkProfile& network : builtin_networks()) {
    Link link(network.there, 1);
    int overtakings = 0;
    double last = 0;
    for (int i = 0; i < 10'000; ++i)
      for (const Link::Arrival& arrival : link.send(i * 0.01, 100)) {
        overtakings += arrival.at < last;
        last = arrival.at;
      }
    EXPECT_EQ(overtakings > 0, network.name == "awful") << network.name;
  }
}

TEST(NetworkProfile, EveryBuiltInOneHasANameAndSurvivesBeingWritten) {
  std::set<std::string> names;
  for (const NetworkProfile& network : builtin_networks()) {
    names.insert(network.name);
    EXPECT_EQ(find_network(network.name), &network);
    EXPECT_EQ(network.summary.back(), '.');
    EXPECT_EQ(parse_network(format_network(network), "x"), network) << format_network(network);
  }
  EXPECT_EQ(names,
            (std::set<std::string>{"perfect", "lan", "network-1", "network-2", "network-3", "transatlantic", "awful"}));
  EXPECT_EQ(find_network("nothing"), nullptr);
}

TEST(NetworkProfile, ACustomOneHalvesTheRoundTrip) {
  const NetworkProfile network = network_with(0.12, 0.01, 0.05);
  EXPECT_DOUBLE_EQ(network.there.delay, 0.06);
  EXPECT_DOUBLE_EQ(mean_round_trip(network), 0.12);
  const Measured there = measure(network.there);
  EXPECT_NEAR(std::sqrt(2.0) * there.deviation, 10, 0.2);  // ms; the deviation of a sum of two
  EXPECT_EQ(network.back.loss, 0.05);
  EXPECT_EQ(network_with(0, 0, 0).there, LinkProfile{});
  EXPECT_EQ(code_of([] { network_with(-1, 0, 0); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { network_with(0.1, 0, 1.5); }), ErrorCode::invalid_argument);
}

constexpr const char* k_everything = R"(# The wireless network of a hotel.
cotouch_network = 1
name = "hotel"
summary = "Slow and \"free\"."
[there]
delay_ms = 40
jitter_ms = 12.5
jitter_kind = "exponential"
shortest_ms = 30
longest_ms = 400
keep_order = false
loss_percent = 2
burst_percent = 5
burst_length = 8
pattern = "1110"
reorder_percent = 1
reorder_by_ms = 30
duplicate_percent = 0.5
corrupt_percent = 0.1
rate_mbit = 1.5
queue_ms = 300
outage_start_s = 10
outage_length_s = 2
outage_every_s = 60
[back]
delay_ms = 20
jitter_ms = 3
)";

TEST(NetworkProfile, AFileSaysEverythingInMillisecondsAndPercent) {
  const NetworkProfile network = parse_network(k_everything, "hotel.toml");
  EXPECT_EQ(network.name, "hotel");
  EXPECT_EQ(network.summary, "Slow and \"free\".");
  const LinkProfile& there = network.there;
  EXPECT_EQ(there.delay, 0.04);
  EXPECT_EQ(there.jitter, 0.0125);
  EXPECT_EQ(there.jitter_kind, Jitter::exponential);
  EXPECT_EQ(there.shortest, 0.03);
  EXPECT_EQ(there.longest, 0.4);
  EXPECT_FALSE(there.keep_order);
  EXPECT_EQ(there.loss, 0.02);
  EXPECT_EQ(there.burst_share, 0.05);
  EXPECT_EQ(there.burst_length, 8);
  EXPECT_EQ(there.pattern, "1110");
  EXPECT_EQ(there.reorder, 0.01);
  EXPECT_EQ(there.reorder_by, 0.03);
  EXPECT_EQ(there.duplicate, 0.005);
  EXPECT_EQ(there.corrupt, 0.001);
  EXPECT_EQ(there.bytes_per_second, 187'500);
  EXPECT_EQ(there.queue_seconds, 0.3);
  EXPECT_EQ(there.outage_start, 10);
  EXPECT_EQ(there.outage_length, 2);
  EXPECT_EQ(there.outage_every, 60);
  EXPECT_EQ(network.back.delay, 0.02);
  EXPECT_EQ(network.back.jitter_kind, Jitter::normal);  // if it does not say
  EXPECT_EQ(parse_network(format_network(network), "x"), network);
}

TEST(NetworkProfile, WhatWasReadInAnyNumberIsWrittenBackExactly) {
  Random random(5);
  for (int i = 0; i < 2000; ++i) {
    const double delay = random.uniform(0, 500), loss = random.uniform(0, 100), rate = random.uniform(0, 100);
    const std::string text = "cotouch_network = 1\n[both]\ndelay_ms = " + std::to_string(delay) +
                             "\nloss_percent = " + std::to_string(loss) + "\nrate_mbit = " + std::to_string(rate) +
                             "\n";
    const NetworkProfile network = parse_network(text, "x");
    ASSERT_EQ(parse_network(format_network(network), "x"), network) << text << format_network(network);
  }
}

std::string refusal(const std::string& text) {
  try {
    parse_network(text, "x.toml");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(NetworkProfile, WhatIsNotUnderstoodIsRefusedWithItsLine) {
  const std::string begin = "cotouch_network = 1\n[both]\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"delay_ms = 3\n", "begin with `cotouch_network = 1`"},
      {"cotouch_network = 2\n", "version"},
      {"cotouch_network = 1\n", "either [both] or [there] and [back]"},
      {"cotouch_network = 1\n[both]\n[there]\n", "either [both] or [there] and [back]"},
      {"cotouch_network = 1\nboth = 3\n", "line 2: `both` is not a table"},
      {"cotouch_network = 1\ndelay_ms = 3\n[both]\n", "line 2: nothing is called `delay_ms` here"},
      {begin + "dealy_ms = 3\n", "line 3: nothing is called `dealy_ms` here"},
      {begin + "\ndelay_ms = -3\n", "line 4: `delay_ms` is not a number from 0 to 60000"},
      {begin + "delay_ms = nan\n", "line 3: `delay_ms`"},
      {begin + "delay_ms = \"3\"\n", "line 3: `delay_ms`"},
      {begin + "delay_ms = true\n", "line 3: `delay_ms`"},
      {begin + "loss_percent = 101\n", "line 3: `loss_percent` is not a number from 0 to 100"},
      {begin + "jitter_kind = \"wild\"\n", "line 3: `jitter_kind` is none of"},
      {begin + "keep_order = 1\n", "line 3: `keep_order` is neither true nor false"},
      {begin + "pattern = \"12\"\n", "[both]: A link's pattern"},
      {begin + "burst_percent = 90\n", "[both]: A link cannot lose such a share"},
      {begin + "delay_ms = 3 4\n", "line 3: "},
      {begin + "delay_ms = 3 # \xc3\xa9\n", "line 3 has a sign that is not plain ASCII"},
      {"cotouch_network = 1\nname = \"a\\u001bb\"\n[both]\n", "line 2: `name`"},
      {std::string(100'000, '\n'), "larger than 64 KiB"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string said = refusal(text);
    EXPECT_TRUE(said.starts_with("The network profile x.toml cannot be used: ")) << said;
    EXPECT_NE(said.find(expected), std::string::npos) << said << "\nexpected: " << expected;
    EXPECT_EQ(said.back(), '.');
  }
}

TEST(NetworkProfile, IsReadFromAFile) {
  TemporaryFolder folder;
  std::ofstream(folder / "hotel.toml") << k_everything;
  EXPECT_EQ(read_network(folder / "hotel.toml"), parse_network(k_everything, "x"));
  EXPECT_EQ(code_of([&] { read_network(folder / "none.toml"); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { read_network(folder.path()); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace cotouch::this_file

#include <cotouch/net/network_profile.h>
#include <cotouch/net/udp_socket.h>

#include <nlohmann/json.hpp>

#include <cstring>
#include <optional>
#include <sstream>

#include "app/command_fixture.h"
#include "support/eventually.h"

namespace cotouch::this_file {
namespace {

using namespace std::chrono_literals;
using testing_app::expect_one_sentence;
using testing_app::Outcome;

std::string here(std::uint16_t port) {
  return "127.0.0.1:" + std::to_string(port);
}

class Wan : public testing_app::Command {
 protected:
  // A network as the given options make it.
  NetworkProfile printed(std::vector<std::string> options) const {
    options.insert(options.begin(), {"wan", "--print"});
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return parse_network(outcome.out, "what was printed");
  }
};

TEST_F(Wan, ListsTheNetworks) {
  const Outcome outcome = run({"wan", "--list"});
  EXPECT_EQ(outcome.code, 0);
  const Outcome json = run({"wan", "--list", "--json"});
  const auto all = nlohmann::json::parse(json.out);
  EXPECT_EQ(all.size(), builtin_networks().size());
  for (const NetworkProfile& network : builtin_networks())
    EXPECT_NE(outcome.out.find("  " + network.name + " "), std::string::npos);
}

TEST_F(Wan, PrintsAProfileThatItReads) {
  EXPECT_EQ(printed({"--profile", "network-1"}), *find_network("network-1"));
  write("mine.toml", format_network(*find_network("awful")));
  EXPECT_EQ(printed({"--profile", "mine.toml"}), *find_network("awful"));
}

TEST_F(Wan, EveryOptionSetsWhatItSays) {
  LinkProfile expected;
  expected.delay = 0.05;
  expected.jitter = 0.004;
  expected.jitter_kind = Jitter::exponential;
  expected.shortest = 0.01;
  expected.longest = 0.4;
  expected.keep_order = false;
  expected.loss = 0.02;
  expected.burst_share = 0.03;
  expected.burst_length = 8;
  expected.pattern = "1110";
  expected.reorder = 0.04;
  expected.reorder_by = 0.03;
  expected.duplicate = 0.05;
  expected.corrupt = 0.06;
  expected.bytes_per_second = 250'000;
  expected.queue_seconds = 0.3;
  expected.outage_start = 10;
  expected.outage_length = 2;
  expected.outage_every = 60;
  std::vector<std::string> options;
  std::istringstream words(
      "--delay 50 --jitter 4 --jitter-kind exponential --shortest 10 --longest 400 --any-order --loss 2 --burst 3:8 "
      "--pattern 1110 --reorder 4:30 --duplicate 5 --corrupt 6 --rate 2:300 --outage 10:2:60");
  for (std::string word; words >> word;) options.push_back(word);
  NetworkProfile network = printed(options);
  EXPECT_EQ(network.there, expected);
  EXPECT_EQ(network.back, expected);
  EXPECT_EQ(network.name, "custom");
  options.insert(options.end(), {"--way", "back"});
  network = printed(options);
  EXPECT_EQ(network.there, LinkProfile{});
  EXPECT_EQ(network.back, expected);
}

TEST_F(Wan, OptionsHaveSensibleCompanions) {
  const LinkProfile link =
      printed({"--jitter", "4", "--burst", "3", "--reorder", "4", "--rate", "1", "--outage", "1:2"}).there;
  EXPECT_EQ(link.jitter_kind, Jitter::normal);
  EXPECT_EQ(link.burst_length, 5);
  EXPECT_EQ(link.reorder_by, 0.02);
  EXPECT_EQ(link.queue_seconds, 0.2);
  EXPECT_EQ(link.outage_every, 0);
}

TEST_F(Wan, ANewDelayTakesTheLimitsOfTheProfileAlong) {
  const LinkProfile& old = find_network("network-2")->there;
  const LinkProfile link = printed({"--profile", "network-2", "--delay", "125"}).there;
  EXPECT_NEAR(link.shortest - old.shortest, 0.1, 1e-12);
  EXPECT_NEAR(link.longest - old.longest, 0.1, 1e-12);
  EXPECT_EQ(link.jitter, old.jitter);
  EXPECT_EQ(link.loss, old.loss);
}

TEST_F(Wan, SaysInOneSentenceWhatIsWrong) {
  write("broken.toml", "cotouch_network = 1\n[both]\ndealy_ms = 3\n");
  const std::string to = here(9);
  const std::vector<std::vector<std::string>> mistakes{
      {},
      {"--to", "127.0.0.1"},
      {"--to", "no-such-machine.invalid:7117"},
      {"--to", here(0), "--seconds", "0.05"},
      {"--to", to, "--listen", "eighty"},
      {"--to", to, "--listen", "70000"},
      {"--to", to, "--listen", "192.0.2.99:0"},  // not of this machine
      {"--to", to, "--profile", "nowhere"},
      {"--to", to, "--profile", "broken.toml"},
      {"--to", to, "--profile", "."},
      {"--to", to, "--profile", "broken.toml/x"},
      {"--to", to, "--delay", "-1"},
      {"--to", to, "--delay", "nan"},
      {"--to", to, "--loss", "101"},
      {"--to", to, "--burst", "x"},
      {"--to", to, "--burst", "1:2:3"},
      {"--to", to, "--burst", "90:2"},
      {"--to", to, "--pattern", "12"},
      {"--to", to, "--reorder", "5:"},
      {"--to", to, "--rate", "-1"},
      {"--to", to, "--outage", "5"},
      {"--to", to, "--outage", "1:5:2"},
      {"--to", to, "--jitter", "5", "--jitter-kind", "none"},
  };
  for (std::vector<std::string> mistake : mistakes) {
    mistake.insert(mistake.begin(), "wan");
    SCOPED_TRACE(::testing::PrintToString(mistake));
    expect_one_sentence(run(mistake));
  }
}

TEST_F(Wan, SpeaksOfAnOptionInItsOwnUnit) {
  EXPECT_NE(run({"wan", "--print", "--delay", "-3"}).err.find("not -3 ms"), std::string::npos);
  EXPECT_NE(run({"wan", "--print", "--rate", "-3"}).err.find("not -3 Mb/s"), std::string::npos);
  EXPECT_NE(run({"wan", "--print", "--profile", "."}).err.find("it is a folder"), std::string::npos);
}

TEST_F(Wan, DoesNotForwardToItself) {
  std::uint16_t port = 0;
  {
    UdpSocket socket;
    port = socket.port();
  }
  expect_one_sentence(run({"wan", "--listen", std::to_string(port), "--to", here(port)}));
}

// Runs the command in another thread and speaks through it.
TEST_F(Wan, CarriesDatagramsAndEndsWithASummary) {
  UdpSocket target;
  std::optional<NetAddress> relay;
  UdpSocket client;
  int sent = 0, arrived = 0;
  bool answered = false;
  const std::byte something{7};
  const Outcome outcome = run({"wan", "--to", here(target.port()), "--pattern", "10", "--way", "there", "--json"},
                              SIGINT, [&](const Outcome& now) {
                                if (!relay) {
                                  if (now.out.find('\n') == std::string::npos) return false;
                                  const auto first = nlohmann::json::parse(now.out.substr(0, now.out.find('\n')));
                                  EXPECT_EQ(first["event"], "listening");
                                  relay = NetAddress::parse(first["listen"].get<std::string>());
                                  EXPECT_TRUE(relay.has_value());
                                }
                                if (sent < 20) {
                                  client.send(*relay, {&something, 1});
                                  ++sent;
                                }
                                for (const UdpSocket::Received& datagram : target.receive(1ms)) {
                                  ++arrived;
                                  target.send(datagram.from, datagram.bytes);
                                }
                                answered = answered || !client.receive(1ms).empty();
                                return sent == 20 && arrived == 10 && answered;
                              });
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(arrived, 10);
  EXPECT_TRUE(answered);
  std::istringstream lines(outcome.out);
  nlohmann::json last;
  for (std::string line; std::getline(lines, line);) last = nlohmann::json::parse(line);
  EXPECT_EQ(last["event"], "end");
  EXPECT_EQ(last["clients"], 1);
  EXPECT_EQ(last["there"]["sent"], 20);
  EXPECT_EQ(last["there"]["lost_by_pattern"], 10);
  EXPECT_EQ(last["back"]["lost"], 0);
}

TEST_F(Wan, SaysWhatItEmulatesAndStopsInTime) {
  const Outcome outcome = run({"wan", "--to", here(9), "--profile", "network-3", "--seconds", "0.05"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* expected : {"Emulates network-3", "7.5 ms", "3 % lost", "10 Mb/s", "Listens on 127.0.0.1:", "After"})
    EXPECT_NE(outcome.out.find(expected), std::string::npos) << expected << "\n" << outcome.out;
}

TEST_F(Wan, ListensOnIPv6ForATargetOnIPv6) {
  UdpSocket probe;
  if (!probe.speaks_v6()) GTEST_SKIP() << "this machine has no IPv6";
  const Outcome outcome = run({"wan", "--to", "[::1]:9", "--seconds", "0.05"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("Listens on [::1]:"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace cotouch::this_file

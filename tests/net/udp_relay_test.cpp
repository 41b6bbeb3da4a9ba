// The relay with real sockets on the loopback interface. Machines may be slow, so that times are bounded from below
// only, or very generously.
#include <cotouch/net/udp_relay.h>

#include <cotouch/base/error.h>
#include <cotouch/net/udp_socket.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/error_code.h"
#include "support/eventually.h"

namespace cotouch::this_file {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

NetAddress here(std::uint16_t port) {
  return NetAddress::v4({127, 0, 0, 1}, port);
}

// Sends everything back to where it came from.
class Echo {
 public:
  Echo() : thread_([this] { run(); }) {}
  ~Echo() {
    stop_ = true;
    socket_.wake();
    thread_.join();
  }
  NetAddress address() const { return here(socket_.port()); }
  std::uint64_t received() const { return socket_.statistics().received; }

 private:
  void run() {
    while (!stop_)
      for (const UdpSocket::Received& datagram : socket_.receive(1s)) socket_.send(datagram.from, datagram.bytes);
  }
  UdpSocket socket_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

NetworkProfile both(const LinkProfile& link) {
  return {"test", "", link, link};
}

UdpRelaySettings settings_to(const Echo& echo) {
  UdpRelaySettings settings;
  settings.listen = here(0);
  settings.target = echo.address();
  return settings;
}

std::unique_ptr<UdpRelay> relay_to(const Echo& echo, const NetworkProfile& profile, std::uint64_t seed = 1) {
  UdpRelaySettings settings = settings_to(echo);
  settings.profile = profile;
  settings.seed = seed;
  auto relay = std::make_unique<UdpRelay>(settings);
  relay->start();
  return relay;
}

struct Heard {
  int number = 0;
  double at = 0;  // s since the first was sent
};

// Numbers datagrams, sends them through the relay with a pause after each, and collects what comes back until all that
// the links let through has arrived.
std::vector<Heard> ask(UdpRelay& relay, int count, std::chrono::microseconds pause = 200us, std::size_t size = 64) {
  UdpSocket socket;
  std::vector<Heard> heard;
  const auto beginning = Clock::now();
  const auto collect = [&](std::chrono::nanoseconds wait) {
    for (const UdpSocket::Received& datagram : socket.receive(wait)) {
      Heard one;
      std::memcpy(&one.number, datagram.bytes.data(), sizeof one.number);
      one.at = std::chrono::duration<double>(Clock::now() - beginning).count();
      heard.push_back(one);
    }
  };
  const UdpRelayStatistics before = relay.statistics();
  for (int i = 0; i < count; ++i) {
    std::vector<std::byte> bytes(size);
    std::memcpy(bytes.data(), &i, sizeof i);
    socket.send(relay.address(), bytes);
    collect(pause);
  }
  const bool whole = eventually([&] {
    collect(1ms);
    const UdpRelayStatistics now = relay.statistics();
    return now.there.sent == before.there.sent + static_cast<std::uint64_t>(count) && now.under_way == 0 &&
           now.back.sent == now.there.arrived && now.back.arrived == before.back.arrived + heard.size();
  });
  EXPECT_TRUE(whole);
  return heard;
}

TEST(UdpRelay, APerfectOneCarriesEverythingBothWays) {
  Echo echo;
  const auto relay = relay_to(echo, {});
  const std::vector<Heard> heard = ask(*relay, 400);
  ASSERT_EQ(heard.size(), 400U);
  for (int i = 0; i < 400; ++i) EXPECT_EQ(heard[static_cast<std::size_t>(i)].number, i);
  const UdpRelayStatistics end = relay->statistics();
  EXPECT_EQ(end.clients, 1U);
  EXPECT_EQ(end.there.sent_bytes, 400 * (64 + k_udp_header_bytes));
  EXPECT_EQ(end.refused + end.overflow + end.there.lost() + end.back.lost(), 0U);
}

TEST(UdpRelay, ABurstOfManyAtOnceIsNotForgotten) {
  // More than the relay reads in one go; nothing comes after them that could wake it again.
  Echo echo;
  const auto relay = relay_to(echo, {});
  EXPECT_EQ(ask(*relay, 400, 0us, 16).size(), 400U);
}

TEST(UdpRelay, DelaysEachWay) {
  LinkProfile link;
  link.delay = 0.04;
  NetworkProfile network = both(link);
  network.back.delay = 0.02;
  Echo echo;
  const auto relay = relay_to(echo, network);
  std::vector<double> trips;
  for (int i = 0; i < 20; ++i) {
    const std::vector<Heard> heard = ask(*relay, 1);
    ASSERT_EQ(heard.size(), 1U);
    trips.push_back(heard[0].at);
  }
  std::sort(trips.begin(), trips.end());
  EXPECT_GE(trips.front(), 0.06);
  EXPECT_LT(trips[trips.size() / 2], 0.06 + 0.5);
}

TEST(UdpRelay, LosesItsShareAndTheSameWithTheSameSeed) {
  LinkProfile link;
  link.loss = 0.2;
  NetworkProfile network;
  network.there = link;
  Echo echo;
  const auto lost = [&](std::uint64_t seed) {
    const auto relay = relay_to(echo, network, seed);
    std::set<int> missing;
    for (int i = 0; i < 400; ++i) missing.insert(i);
    for (const Heard& one : ask(*relay, 400, 50us)) missing.erase(one.number);
    EXPECT_EQ(relay->statistics().there.lost_at_random, missing.size());
    return missing;
  };
  const std::set<int> first = lost(1);
  // Five standard deviations of a binomial distribution.
  EXPECT_NEAR(static_cast<double>(first.size()), 80, 5 * std::sqrt(400 * 0.2 * 0.8));
  EXPECT_EQ(lost(1), first);
  EXPECT_NE(lost(2), first);
}

TEST(UdpRelay, DeliversDuplicates) {
  LinkProfile link;
  link.duplicate = 0.5;
  NetworkProfile network;
  network.there = link;
  Echo echo;
  const auto relay = relay_to(echo, network);
  std::map<int, int> copies;
  for (const Heard& one : ask(*relay, 300)) ++copies[one.number];
  ASSERT_EQ(copies.size(), 300U);
  std::uint64_t twice = 0;
  for (const auto& [number, count] : copies) {
    EXPECT_LE(count, 2);
    twice += count == 2;
  }
  EXPECT_EQ(twice, relay->statistics().there.duplicated);
  EXPECT_NEAR(static_cast<double>(twice), 150, 5 * std::sqrt(300 * 0.25));
}

TEST(UdpRelay, ReordersOnlyIfItShould) {
  LinkProfile link;
  link.delay = 0.01;
  link.jitter = 0.01;
  link.jitter_kind = Jitter::exponential;
  NetworkProfile network;
  network.there = link;
  Echo echo;
  const auto overtakings = [&] {
    const auto relay = relay_to(echo, network);
    const std::vector<Heard> heard = ask(*relay, 300);
    int count = 0;
    for (std::size_t i = 1; i < heard.size(); ++i) count += heard[i].number < heard[i - 1].number;
    return count;
  };
  EXPECT_EQ(overtakings(), 0);
  network.there.reorder = 0.2;
  network.there.reorder_by = 0.2;
  EXPECT_GT(overtakings(), 0);
}

TEST(UdpRelay, CorruptsWhatItCarries) {
  LinkProfile link;
  link.corrupt = 1;
  NetworkProfile network;
  network.back = link;
  Echo echo;
  const auto relay = relay_to(echo, network);
  UdpSocket socket;
  const std::vector<std::byte> sent(32);
  for (int i = 0; i < 20; ++i) {
    socket.send(relay->address(), sent);
    const auto received = socket.receive(30s);
    ASSERT_EQ(received.size(), 1U);
    EXPECT_EQ(received[0].bytes.size(), sent.size());
    EXPECT_FALSE(std::equal(sent.begin(), sent.end(), received[0].bytes.begin()));
  }
}

TEST(UdpRelay, NothingPassesInAnOutage) {
  LinkProfile link;
  link.outage_length = 0.3;
  NetworkProfile network;
  network.there = link;
  Echo echo;
  const auto before = Clock::now();
  const auto relay = relay_to(echo, network);
  UdpSocket socket;
  const std::byte something{1};
  EXPECT_TRUE(eventually([&] {
    socket.send(relay->address(), {&something, 1});
    return !socket.receive(5ms).empty();
  }));
  // Its clock begins after ours.
  EXPECT_GE(Clock::now() - before, 300ms);
}

TEST(UdpRelay, KeepsToItsRate) {
  LinkProfile link;
  link.bytes_per_second = 100'000;
  link.queue_seconds = 10;
  NetworkProfile network;
  network.there = link;
  Echo echo;
  const auto relay = relay_to(echo, network);
  const std::vector<Heard> heard = ask(*relay, 40, 0us, 1000);
  ASSERT_EQ(heard.size(), 40U);
  EXPECT_GE(heard.back().at, 40 * (1000 + k_udp_header_bytes) / 100'000.0);
}

TEST(UdpRelay, ChangesWhileItRuns) {
  LinkProfile dead;
  dead.loss = 1;
  Echo echo;
  const auto relay = relay_to(echo, both(dead));
  EXPECT_TRUE(ask(*relay, 50).empty());
  relay->change({});
  EXPECT_EQ(ask(*relay, 50).size(), 50U);
  // The client of the first question is another than that of the second; one that stays is changed as well.
  UdpSocket socket;
  const std::byte something{1};
  socket.send(relay->address(), {&something, 1});
  EXPECT_EQ(socket.receive(30s).size(), 1U);
  relay->change(both(dead));
  const std::uint64_t lost = relay->statistics().there.lost();
  socket.send(relay->address(), {&something, 1});
  EXPECT_TRUE(eventually([&] { return relay->statistics().there.lost() == lost + 1; }));
  NetworkProfile one_way;
  one_way.back = dead;
  relay->change(one_way);
  const std::uint64_t lost_back = relay->statistics().back.lost();
  socket.send(relay->address(), {&something, 1});
  EXPECT_TRUE(eventually([&] { return relay->statistics().back.lost() == lost_back + 1; }));
  LinkProfile wrong;
  wrong.loss = 2;
  EXPECT_EQ(code_of([&] { relay->change(both(wrong)); }), ErrorCode::invalid_argument);
}

TEST(UdpRelay, TellsClientsApart) {
  Echo echo;
  const auto relay = relay_to(echo, {});
  UdpSocket a, b;
  for (int i = 0; i < 50; ++i) {
    const std::byte to_a{0xa}, to_b{0xb};
    a.send(relay->address(), {&to_a, 1});
    b.send(relay->address(), {&to_b, 1});
    for (UdpSocket* socket : {&a, &b}) {
      const auto received = socket->receive(30s);
      ASSERT_EQ(received.size(), 1U);
      EXPECT_EQ(received[0].bytes[0], socket == &a ? to_a : to_b);
      EXPECT_EQ(received[0].from, relay->address());
    }
  }
  EXPECT_EQ(relay->statistics().clients, 2U);
}

// Asks again if a busy machine let the relay forget the client before its answer came. Returns how often it asked, 0 if
// there was no answer at all.
std::uint64_t asks_until_answered(UdpSocket& client, const UdpRelay& relay) {
  const std::byte something{1};
  while (!client.receive(0s).empty()) continue;
  std::uint64_t asked = 0;
  const bool answered = eventually([&] {
    client.send(relay.address(), {&something, 1});
    ++asked;
    return !client.receive(1s).empty();
  });
  return answered ? asked : 0;
}

TEST(UdpRelay, TakesNoMoreClientsThanItMayAndForgetsTheIdle) {
  Echo echo;
  UdpRelaySettings settings = settings_to(echo);
  settings.most_clients = 2;
  settings.idle_seconds = 0.2;
  UdpRelay relay(settings);
  relay.start();
  const std::byte something{1};
  UdpSocket late;
  // As fast as three clients may speak, one of them is one too many; if the machine is slow, it tries again.
  EXPECT_TRUE(eventually([&] {
    UdpSocket a, b;
    for (UdpSocket* socket : {&a, &b, &late}) socket->send(relay.address(), {&something, 1});
    return relay.statistics().refused > 0;
  }));
  EXPECT_TRUE(eventually([&] { return relay.statistics().clients == 0; }));
  EXPECT_GT(asks_until_answered(late, relay), 0U);
  const UdpRelayStatistics end = relay.statistics();
  EXPECT_GE(end.clients_ever, 3U);
  EXPECT_GE(end.there.sent, 3U);  // of those forgotten as well
}

TEST(UdpRelay, AClientThatWasForgottenMayComeBack) {
  Echo echo;
  UdpRelaySettings settings = settings_to(echo);
  settings.idle_seconds = 0.05;
  UdpRelay relay(settings);
  relay.start();
  UdpSocket client;
  for (int time = 1; time <= 3; ++time) {
    const std::uint64_t before = relay.statistics().clients_ever;
    const std::uint64_t asked = asks_until_answered(client, relay);
    EXPECT_GT(asked, 0U) << time;
    const std::uint64_t more = relay.statistics().clients_ever - before;
    EXPECT_GE(more, 1U) << time;
    EXPECT_LE(more, asked) << time;  // exactly one, as a rule
    EXPECT_TRUE(eventually([&] { return relay.statistics().clients == 0; })) << time;
  }
}

TEST(UdpRelay, DropsWhatWouldTakeTooMuchMemory) {
  Echo echo;
  UdpRelaySettings settings = settings_to(echo);
  settings.profile.there.delay = 30;
  settings.most_bytes_under_way = 1000;
  UdpRelay relay(settings);
  relay.start();
  UdpSocket socket;
  const std::vector<std::byte> bytes(300);
  for (int i = 0; i < 10; ++i) socket.send(relay.address(), bytes);
  EXPECT_TRUE(eventually([&] { return relay.statistics().overflow == 7; }));
  EXPECT_EQ(relay.statistics().under_way, 3U);
}

TEST(UdpRelay, SpeaksIPv6) {
  std::array<std::uint8_t, 16> loopback{};
  loopback[15] = 1;
  Echo echo;
  UdpRelaySettings settings;
  settings.listen = NetAddress::v6(loopback, 0);
  settings.target = NetAddress::v6(loopback, echo.address().port());
  std::unique_ptr<UdpRelay> relay;
  try {
    relay = std::make_unique<UdpRelay>(settings);
  } catch (const Error&) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
  relay->start();
  EXPECT_EQ(ask(*relay, 20).size(), 20U);
}

TEST(UdpRelay, ATargetThatIsNotThereYetDoesNotHarmIt) {
  UdpRelaySettings settings;
  settings.listen = here(0);
  {
    UdpSocket gone;
    settings.target = here(gone.port());
  }
  UdpRelay relay(settings);
  relay.start();
  UdpSocket client;
  const std::byte something{1};
  for (int i = 0; i < 20; ++i) {
    client.send(relay.address(), {&something, 1});
    client.receive(1ms);
  }
  UdpSettings same_port;
  same_port.port = settings.target.port();
  UdpSocket target(same_port);
  EXPECT_TRUE(eventually([&] {
    client.send(relay.address(), {&something, 1});
    return !target.receive(1ms).empty();
  }));
}

TEST(UdpRelay, APortThatIsTakenIsRefusedInWords) {
  UdpSettings loopback;
  loopback.loopback = true;
  UdpSocket first(loopback);
  UdpRelaySettings settings;
  settings.listen = here(first.port());
  settings.target = here(9);
  try {
    UdpRelay relay(settings);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_NE(std::string(error.what()).find(settings.listen.text()), std::string::npos);
  }
}

}  // namespace
}  // namespace cotouch::this_file

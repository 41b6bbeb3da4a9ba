// What strangers cost and what sealing costs. A host that is flooded with 100 thousand packets a second must still have
// its tick of 10 ms.
#include <cotouch/net/handshake.h>

#include <benchmark/benchmark.h>

namespace {

using namespace cotouch;

struct Door {
  NetAddress host_address = NetAddress::v4({192, 0, 2, 1}, 7117);
  NetAddress joiner_address = NetAddress::v4({198, 51, 100, 7}, 40000);
  Identity host_identity = Identity::make(), joiner_identity = Identity::make();
  Invite invite = make_invite(host_identity.public_key(), {host_address}, 0);
  HostHandshake host{host_identity, invite};
};

void drop_a_stranger(benchmark::State& state) {
  Door door;
  std::vector<std::byte> datagram(static_cast<std::size_t>(state.range(0)), std::byte{1});
  if (datagram.size() == k_request_bytes) datagram[0] = std::byte{3};
  for (auto _ : state) benchmark::DoNotOptimize(door.host.receive(datagram, door.joiner_address, {}));
}
BENCHMARK(drop_a_stranger)->Arg(64)->Arg(k_hello_bytes)->Arg(k_request_bytes);

void challenge_a_hello(benchmark::State& state) {
  Door door;
  ClientHandshake joiner(door.invite, door.joiner_identity, {}, 0);
  const std::span<const std::byte> due = joiner.due(0);
  const std::vector<std::byte> hello(due.begin(), due.end());
  for (auto _ : state) benchmark::DoNotOptimize(door.host.receive(hello, door.joiner_address, {}));
}
BENCHMARK(challenge_a_hello);

void whole_handshake_of_both_sides(benchmark::State& state) {
  Door door;
  double now = 0;
  for (auto _ : state) {
    now += 1;  // or the host would say that it is busy
    ClientHandshake joiner(door.invite, door.joiner_identity, {}, now);
    door.host.receive(joiner.due(now), door.joiner_address, {now, 0});
    joiner.receive(door.host.reply(), door.host_address, now);
    door.host.receive(joiner.due(now), door.joiner_address, {now, 0});
    door.host.accept({});
    joiner.receive(door.host.reply(), door.host_address, now);
    if (joiner.state() != ClientHandshake::State::accepted) state.SkipWithError("not accepted");
  }
}
BENCHMARK(whole_handshake_of_both_sides)->Unit(benchmark::kMicrosecond);

void seal_and_open(benchmark::State& state) {
  ChannelKeys keys;
  keys.send.bytes()[0] = std::byte{1};
  SealedChannel here(keys), there(ChannelKeys{keys.receive, keys.send});
  const std::vector<std::byte> message(static_cast<std::size_t>(state.range(0)));
  std::vector<std::byte> sealed, opened;
  for (auto _ : state) {
    here.seal(message, sealed);
    if (there.open(sealed, opened) != OpenStatus::opened) state.SkipWithError("not opened");
  }
}
BENCHMARK(seal_and_open)->Arg(100)->Arg(k_largest_message);

void drop_a_forged_datagram(benchmark::State& state) {
  SealedChannel channel{ChannelKeys{}};
  std::vector<std::byte> sealed, opened;
  channel.seal(std::vector<std::byte>(100), sealed);  // both directions have the same key here
  sealed.back() ^= std::byte{1};
  for (auto _ : state)
    if (channel.open(sealed, opened) != OpenStatus::forged) state.SkipWithError("not forged");
}
BENCHMARK(drop_a_forged_datagram);

}  // namespace

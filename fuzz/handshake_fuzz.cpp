// A joiner, a host, and a network between them that does whatever the input says: delivers, repeats, reorders, alters
// and invents packets, and moves the clock. It also knows the invite, so it can put a right mac under what it has
// altered. However that goes, a reply is never longer than what it replies to, nobody joins but the joiner, and from no
// address but one that got a cookie before; each attempt is answered once, and the joiner is never accepted with keys
// that the host has not given it.
#include "net_input.h"

#include <cotouch/net/handshake.h>

#include <algorithm>
#include <set>

using namespace cotouch;
using namespace cotouch::fuzzing;

namespace {

struct People {
  Identity host = Identity::make(), joiner = Identity::make();
  NetAddress host_address = NetAddress::v4({192, 0, 2, 1}, 7117);
  NetAddress joiner_address = NetAddress::v4({198, 51, 100, 7}, 40000);
  Invite invite = make_invite(host.public_key(), {host_address}, 1000);
  MacKey mac_key{invite.secret};
};

const People& people() {
  static const People all;
  return all;
}

class Game {
 public:
  explicit Game(Choices& choices) : choices_(choices) {}

  void play() {
    for (std::size_t honest = choices_.byte() % 6; honest > 0; --honest) exchange();
    for (int steps = 0; steps < 48 && !choices_.done(); ++steps) step();
  }

 private:
  void step() {
    switch (choices_.byte() % 10) {
      case 0: now_.steady += choices_.byte() / 16.0; break;
      case 1: now_.steady -= choices_.byte(); break;
      case 2: now_.unix_seconds = 990 + choices_.byte() % 20; break;
      case 3: keep(joiner_.due(now_.steady)); break;
      case 4: to_host(any(), people().joiner_address, true); break;
      case 5: to_host(any(), people().joiner_address.with_port(choices_.byte()), true); break;
      case 6: to_joiner(any()); break;
      case 7: to_host(forged(), people().joiner_address, false); break;
      case 8: to_joiner(forged()); break;
      default: exchange();
    }
  }

  // As it should be: a message and its reply.
  void exchange() {
    const std::span<const std::byte> due = joiner_.due(now_.steady);
    if (due.empty()) return;
    keep(due);
    to_host(Datagram(due.begin(), due.end()), people().joiner_address, true);
    to_joiner(Datagram(host_.reply().begin(), host_.reply().end()));
  }

  void keep(std::span<const std::byte> datagram) {
    if (!datagram.empty() && seen_.size() < 64) seen_.emplace_back(datagram.begin(), datagram.end());
  }
  Datagram any() { return seen_.empty() ? Datagram{} : seen_[choices_.below(seen_.size())]; }

  // Altered or invented, perhaps with a right mac.
  Datagram forged() {
    const std::uint8_t how = choices_.byte();
    Datagram datagram = (how & 1) != 0 ? choices_.bytes(1300) : choices_.altered(any());
    signed_ = (how & 2) != 0 && datagram.size() >= k_mac_bytes;
    if (signed_) people().mac_key.sign(datagram);
    return datagram;
  }

  void to_host(const Datagram& datagram, const NetAddress& from, bool genuine) {
    const bool knows_invite = genuine || signed_ || std::ranges::find(seen_, datagram) != seen_.end();
    const HostHandshake::Outcome outcome = host_.receive(datagram, from, now_);
    require(knows_invite || outcome == HostHandshake::Outcome::dropped);
    require((outcome == HostHandshake::Outcome::reply) == !host_.reply().empty());
    if (outcome == HostHandshake::Outcome::reply && read_head(host_.reply())->type == DatagramType::challenge)
      challenged_.insert(from);
    if (outcome == HostHandshake::Outcome::asked) {
      require(host_.request().content.credential == joiner_.join_key().credential());
      require(host_.request().from == from && challenged_.contains(from));
      require(!answered_.contains(read_head(datagram)->ephemeral));
      if (choices_.byte() % 8 == 1) return;  // the caller does not answer; the joiner will ask again
      answered_.insert(read_head(datagram)->ephemeral);
      given_.push_back(host_.accept({}));
    }
    require(host_.reply().size() <= datagram.size());
    keep(host_.reply());
  }

  void to_joiner(const Datagram& datagram) {
    joiner_.receive(datagram, people().host_address, now_.steady);
    if (joiner_.state() != ClientHandshake::State::accepted) return;
    const ChannelKeys& keys = joiner_.keys();
    require(std::ranges::any_of(given_, [&](const ChannelKeys& given) {
      return equal_in_constant_time(given.send.bytes(), keys.receive.bytes()) &&
             equal_in_constant_time(given.receive.bytes(), keys.send.bytes());
    }));
  }

  Choices& choices_;
  HostHandshake::Moment now_{100, 900};
  HostHandshake host_{people().host, people().invite};
  ClientHandshake joiner_{people().invite, people().joiner, {}, 100};
  std::vector<Datagram> seen_;
  std::set<ExchangeKey> answered_;
  std::set<NetAddress> challenged_;
  std::vector<ChannelKeys> given_;
  bool signed_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  draw_the_same_again();
  people();
  draw_the_same_again();
  Choices choices(data, size);
  Game(choices).play();
  return 0;
}

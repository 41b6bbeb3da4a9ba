// A member's core with a network and without a world: it takes part as honest members do, and what it sends can be
// changed on its way. Whoever lies, lies with this.
#pragma once

#include <cotouch/session/peer_network.h>
#include <cotouch/session/shared_peer.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cotouch::hostile {

// Of somebody who waits so many seconds for others, and for more of them in proportion.
PeerSettings patient(double seconds);

class Core {
 public:
  Core(PeerNetwork& network, const PeerSettings& settings, MemberId self, const ObjectiveSnapshot& snapshot);

  // Does what is due and sends it.
  void run();
  void receive(MemberId from, std::span<const std::byte> message);
  SharedPeer& peer() { return peer_; }
  const SharedPeer& peer() const { return peer_; }

  // Inputs from this tick on, in one block and beside nothing else.
  void send_inputs(MemberId to, Tick first, const std::vector<PeerInput>& inputs);
  void send(MemberId to, std::span<const std::byte> message);
  template <class Message>
  void tell(MemberId to, const Message& message) {
    send(to, write_message(message));
  }
  std::vector<MemberId> others() const;

  // A liar need not talk to those whom it has invented.
  bool meets_newcomers = true;
  // What is to be done before each tick.
  HandInput hand;
  // What goes out instead of a message; nothing does if it is empty.
  std::function<void(MemberId to, Bytes& message)> tamper;

  // What other members have told: the newest objective tick, and the hashes of states.
  Tick objective_of(MemberId member) const { return told_[member].objective; }
  std::optional<std::uint64_t> hash_of(MemberId member, Tick tick) const;
  void forget_hashes() {
    for (Told& told : told_) told.hashes.clear();
  }
  const std::map<Tick, std::uint64_t>& hashes_of(MemberId member) const { return told_[member].hashes; }
  bool was_dropped() const { return dropped_; }

 private:
  struct Told {
    Tick objective = 0;
    std::map<Tick, std::uint64_t> hashes;
  };
  void carry_out(PeerRequest& request);

  PeerNetwork& network_;
  SharedPeer peer_;
  std::array<Told, k_most_members> told_;
  std::uint16_t sequence_ = 0;
  bool dropped_ = false;
};

}  // namespace cotouch::hostile

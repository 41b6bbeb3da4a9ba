// The network of one peer: its socket, the handshake with those who want to join, and sealed channels with members and
// guests (who have got in and are not members yet). Members that cannot be reached directly are reached through another
// member, still sealed from end to end. All datagrams may go through an emulated link (net/link.h), so that one can
// feel what a bad network does.
//
// Driven by one thread: it waits for datagrams here and is called back with what they said.
#pragma once

#include <cotouch/net/handshake.h>
#include <cotouch/net/network_profile.h>
#include <cotouch/net/udp_socket.h>
#include <cotouch/session/introduction.h>
#include <cotouch/session/peer_input.h>
#include <cotouch/session/transfer.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

namespace cotouch {

using GuestId = std::uint32_t;

class PeerNetworkListener {
 public:
  virtual ~PeerNetworkListener() = default;
  virtual void from_member(double now, MemberId member, std::span<const std::byte> message) = 0;
  virtual void from_guest(double now, GuestId guest, std::span<const std::byte> message) = 0;
  // Somebody wants to join: the payload of the answer, and whether they are let in. `guest` is the number they get.
  struct Decision {
    bool accepted = false;
    Bytes payload;
  };
  virtual Decision asked(double now, GuestId guest, const JoinRequest& request) = 0;
  // An answer to the handshake that we began.
  virtual void handshake_over(double now, ClientHandshake& handshake) = 0;
  // As a guest: from the peer that let us in.
  virtual void from_doorkeeper(double now, std::span<const std::byte> message) = 0;
};

struct NetworkCounts {
  std::uint64_t bytes_in = 0, bytes_out = 0;  // with UDP and IPv4 headers
  std::uint64_t datagrams_in = 0, datagrams_out = 0;
  std::uint64_t strangers = 0;  // dropped: forged, repeated, or from nobody
  std::uint64_t relayed = 0;    // passed on for others
};

class PeerNetwork {
 public:
  using Clock = std::function<double()>;
  // Throws Error if the port cannot be had. A test brings a clock of its own, in order not to wait.
  PeerNetwork(const Identity& identity, const UdpSettings& settings, Clock clock = now);

  const Identity& identity() const { return identity_; }
  UdpSocket& socket() { return *socket_; }

  // A new session: whoever has this secret may knock from now on. All channels of another one are gone.
  void host(const InviteSecret& secret, std::uint32_t expires);
  const Credential& credential() const { return join_key_->credential(); }

  // One handshake at a time: to join, after which all channels of another session are gone, or only to ask something.
  enum class Errand : std::uint8_t { join, ask };
  void knock(const Invite& invite, std::span<const std::byte> payload, double now, Errand errand,
             double patience = ClientHandshake::k_patience_seconds);
  bool is_knocking() const { return knocking_ != nullptr; }
  void stop_knocking() { knocking_.reset(); }
  void to_doorkeeper(double now, std::span<const std::byte> message);
  double heard_doorkeeper() const { return doorkeeper_ ? doorkeeper_->heard : -1; }
  // The way to the doorkeeper, once it is known as a member.
  std::optional<NetAddress> doorkeeper_address() const;

  // Members. False if the credential is not valid in this session. `seen` is where it was heard, if it was.
  bool connect(MemberId member, const Introduction& introduction, const std::optional<NetAddress>& seen);
  void disconnect(MemberId member);
  void disconnect_all();
  void send(double now, MemberId member, std::span<const std::byte> message);
  bool is_direct(MemberId member, double now) const;

  void to_guest(double now, GuestId guest, std::span<const std::byte> message);
  std::optional<NetAddress> address_of_guest(GuestId guest) const;
  std::size_t guests() const { return guests_.size(); }
  void dismiss(GuestId guest) { guests_.erase(guest); }

  // Waits for datagrams until the timeout or wake(), handles what has arrived and sends what is due.
  void run(PeerNetworkListener& listener, std::chrono::nanoseconds timeout);
  void wake() { socket_->wake(); }

  // From the next datagram on. "perfect" emulates nothing.
  void emulate(const NetworkProfile& profile);
  const NetworkProfile& emulated() const { return profile_; }
  const NetworkCounts& counts() const { return counts_; }

  static double now();  // seconds of the clock that all times here are in; goes on while the machine sleeps

 private:
  static constexpr double k_relays_per_second = 4000;  // twenty members, a hundred ticks, twice
  struct Channel {
    explicit Channel(const ChannelKeys& keys) : sealed(keys) {}
    SealedChannel sealed;
    std::optional<NetAddress> address;   // where it was heard last, directly
    std::vector<NetAddress> candidates;  // where it may be
    double heard = -1, heard_direct = -1, punched = -1;
    double hopeful = -1;                          // when there was last a reason to believe that it can be reached
    Allowance relays{k_relays_per_second, 1000};  // datagrams that are passed on for it
    GuestId guest = 0;
    MemberId member = 0;
    bool is_member = false;
    bool confirmed = false;  // something was opened with its keys
  };
  struct Delayed {
    double at = 0;
    std::uint64_t order = 0;
    NetAddress address;
    Bytes bytes;
    bool operator>(const Delayed& other) const { return at != other.at ? at > other.at : order > other.order; }
  };
  using DelayQueue = std::priority_queue<Delayed, std::vector<Delayed>, std::greater<>>;

  SessionId open_door(const InviteSecret& secret, std::uint32_t expires);
  void transmit(double now, const NetAddress& to, std::span<const std::byte> datagram);
  // What the emulated link makes of it.
  void delay(Link& link, double now, const NetAddress& address, std::span<const std::byte> datagram,
             DelayQueue& delayed);
  void arrived(double now, const NetAddress& from, std::span<const std::byte> datagram, PeerNetworkListener& listener);
  void handle(double now, const NetAddress* from, std::span<const std::byte> datagram, PeerNetworkListener& listener);
  void handle_sealed(double now, const NetAddress* from, std::span<const std::byte> datagram,
                     PeerNetworkListener& listener);
  // `direct`: it was not passed on by another member.
  void handle_message(double now, Channel& channel, bool direct, std::span<const std::byte> message,
                      PeerNetworkListener& listener);
  void knock_again(double now, PeerNetworkListener& listener);
  void flush_delayed(double now, PeerNetworkListener& listener);
  void punch(double now, Channel& channel);
  void send_sealed(double now, Channel& channel, const NetAddress& to, std::span<const std::byte> message);
  Channel* relay_for(MemberId member, double now);
  double next_due(double now) const;

  Identity identity_;
  Clock clock_;
  std::unique_ptr<UdpSocket> socket_;
  InviteSecret secret_;
  std::unique_ptr<JoinKey> join_key_;
  std::unique_ptr<HostHandshake> door_;
  std::unique_ptr<ClientHandshake> knocking_;
  Errand errand_ = Errand::join;
  std::unique_ptr<Channel> doorkeeper_;
  std::array<std::unique_ptr<Channel>, k_most_members> members_;
  std::map<GuestId, std::unique_ptr<Channel>> guests_;
  GuestId last_guest_ = 0;
  NetworkProfile profile_;
  std::unique_ptr<Link> out_, in_;
  DelayQueue sending_, arriving_;
  std::uint64_t order_ = 0;
  NetworkCounts counts_;
  Bytes sealed_, opened_, inner_;
};

// Kinds of messages between peers, beyond those of cores and transfers.
enum class PlainMessage : std::uint8_t {
  relay_to = 18,  // pass this on (net/channel.h, RelayEnvelope)
  relayed = 19,   // passed on
  punch = 20,     // nothing; opens the way
  ready = 21,     // guest: the scene is here, let me take part
  admitted = 22,  // to a guest: you are member u8; the snapshot is this object
  alive = 23,     // guest and doorkeeper: still here
  fetch = 24,     // a snapshot from before tick varint, to heal
  healing = 25,   // it is this object
};

}  // namespace cotouch

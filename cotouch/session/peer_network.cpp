#include <cotouch/session/peer_network.h>

#include <algorithm>
#include <ctime>
#include <utility>

namespace cotouch {
namespace {

constexpr std::size_t k_headers = 28;      // bytes of UDP and IPv4 around a datagram
constexpr double k_direct_seconds = 2;     // a way is taken to work for so long after something came along it
constexpr double k_punch_interval = 0.25;  // seconds
constexpr double k_hope = 10, k_hopeless_interval = 2;  // seconds; whoever is not reached may never have been there
constexpr std::size_t k_most_guests = 16;
constexpr double k_guest_patience = 60;        // seconds of silence
constexpr double k_unconfirmed_patience = 10;  // seconds, if nothing ever came
constexpr std::size_t k_most_delayed = 20'000;
constexpr int k_batches = 8;  // at once, so that a flood does not keep ticks waiting

}  // namespace

double PeerNetwork::now() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

PeerNetwork::PeerNetwork(const Identity& identity, const UdpSettings& settings, Clock clock)
    : identity_(identity),
      clock_(std::move(clock)),
      socket_(std::make_unique<UdpSocket>(settings)),
      profile_(*find_network("perfect")) {
}

void PeerNetwork::host(const InviteSecret& secret, std::uint32_t expires) {
  join_key_ = std::make_unique<JoinKey>(identity_, open_door(secret, expires));
}

SessionId PeerNetwork::open_door(const InviteSecret& secret, std::uint32_t expires) {
  disconnect_all();
  guests_.clear();
  doorkeeper_.reset();
  secret_ = secret;
  Invite own;
  own.host = identity_.public_key();
  own.secret = secret;
  own.expires = expires;
  door_ = std::make_unique<HostHandshake>(identity_, own);
  return own.session();
}

// ------------------------------------------------------------------------------------------------ sending

void PeerNetwork::transmit(double now, const NetAddress& to, std::span<const std::byte> datagram) {
  counts_.bytes_out += datagram.size() + k_headers;
  ++counts_.datagrams_out;
  if (out_ == nullptr) {
    socket_->send(to, datagram);
    return;
  }
  delay(*out_, now, to, datagram, sending_);
}

void PeerNetwork::delay(Link& link, double now, const NetAddress& address, std::span<const std::byte> datagram,
                        DelayQueue& delayed) {
  for (const Link::Arrival& arrival : link.send(now, datagram.size() + k_headers)) {
    if (delayed.size() >= k_most_delayed) return;
    Bytes copy(datagram.begin(), datagram.end());
    if (arrival.corrupt) flip_bits(copy, arrival.corrupt_bits);
    delayed.push({arrival.at, ++order_, address, std::move(copy)});
  }
}

void PeerNetwork::send_sealed(double now, Channel& channel, const NetAddress& to, std::span<const std::byte> message) {
  if (channel.sealed.seal(message, sealed_)) transmit(now, to, sealed_);
}

bool PeerNetwork::is_direct(MemberId member, double now) const {
  return members_[member] && now < members_[member]->heard_direct + k_direct_seconds;
}

PeerNetwork::Channel* PeerNetwork::relay_for(MemberId member, double now) {
  for (MemberId m = 0; m < k_most_members; ++m)
    if (m != member && is_direct(m, now)) return members_[m].get();
  return nullptr;
}

// Says something to every place where the member may be, so that the way opens from both sides.
void PeerNetwork::punch(double now, Channel& channel) {
  const bool hopeful = now < std::max(channel.hopeful, channel.heard_direct) + k_hope;
  if (now < channel.punched + (hopeful ? k_punch_interval : k_hopeless_interval)) return;
  channel.punched = now;
  const std::byte message[] = {static_cast<std::byte>(PlainMessage::punch)};
  for (const NetAddress& address : channel.candidates) send_sealed(now, channel, address, message);
}

void PeerNetwork::send(double now, MemberId member, std::span<const std::byte> message) {
  if (member >= k_most_members || !members_[member]) return;
  Channel& channel = *members_[member];
  if (is_direct(member, now) && channel.address) return send_sealed(now, channel, *channel.address, message);
  punch(now, channel);
  Channel* relay = relay_for(member, now);
  if (relay == nullptr) {
    // Where it was never heard may be somebody else: whoever introduces members could have them sent anything.
    if (channel.address) send_sealed(now, channel, *channel.address, message);
    return;
  }
  if (!channel.sealed.seal(message, inner_)) return;
  Bytes wrapped{static_cast<std::byte>(PlainMessage::relay_to)};
  write_relay(wrapped, {member, inner_});
  send_sealed(now, *relay, *relay->address, wrapped);
}

void PeerNetwork::to_guest(double now, GuestId guest, std::span<const std::byte> message) {
  const auto found = guests_.find(guest);
  if (found != guests_.end() && found->second->address)
    send_sealed(now, *found->second, *found->second->address, message);
}

void PeerNetwork::to_doorkeeper(double now, std::span<const std::byte> message) {
  if (doorkeeper_ && doorkeeper_->address) send_sealed(now, *doorkeeper_, *doorkeeper_->address, message);
}

std::optional<NetAddress> PeerNetwork::doorkeeper_address() const {
  return doorkeeper_ ? doorkeeper_->address : std::nullopt;
}

std::optional<NetAddress> PeerNetwork::address_of_guest(GuestId guest) const {
  const auto found = guests_.find(guest);
  return found == guests_.end() ? std::nullopt : found->second->address;
}

// ------------------------------------------------------------------------------------------------ who is there

bool PeerNetwork::connect(MemberId member, const Introduction& introduction, const std::optional<NetAddress>& seen) {
  // Whoever had this number is not heard as somebody else.
  members_[member].reset();
  if (introduction.credential == credential()) return true;  // ourselves
  const std::optional<ChannelKeys> keys = join_key_->meet(introduction.credential, secret_);
  if (!keys) return false;
  members_[member] = std::make_unique<Channel>(*keys);
  Channel& channel = *members_[member];
  channel.member = member;
  channel.is_member = true;
  for (const NetAddress& address : introduction.addresses)
    if (address.can_be_sent_to() && channel.candidates.size() < Introduction::k_most_addresses)
      channel.candidates.push_back(address);
  channel.hopeful = clock_();
  channel.address = seen;
  if (seen) channel.heard_direct = clock_();
  return true;
}

void PeerNetwork::disconnect(MemberId member) {
  members_[member].reset();
}

void PeerNetwork::disconnect_all() {
  for (std::unique_ptr<Channel>& channel : members_) channel.reset();
}

void PeerNetwork::knock(const Invite& invite, std::span<const std::byte> payload, double now, Errand errand,
                        double patience) {
  errand_ = errand;
  knocking_ = std::make_unique<ClientHandshake>(invite, identity_, payload, now, patience);
}

void PeerNetwork::knock_again(double now, PeerNetworkListener& listener) {
  if (!knocking_) return;
  if (const std::span<const std::byte> due = knocking_->due(now); !due.empty()) {
    const Bytes copy(due.begin(), due.end());
    const std::span<const NetAddress> targets = knocking_->targets();
    for (const NetAddress& target : std::vector(targets.begin(), targets.end())) transmit(now, target, copy);
  }
  if (!knocking_->over()) return;
  const std::unique_ptr<ClientHandshake> over = std::move(knocking_);
  if (over->state() == ClientHandshake::State::accepted && errand_ == Errand::join) {
    open_door(over->invite().secret, over->invite().expires);
    // Our credential in this session is the one that the handshake has shown.
    join_key_ = std::make_unique<JoinKey>(std::move(over->join_key()));
    doorkeeper_ = std::make_unique<Channel>(over->keys());
    doorkeeper_->address = over->host_address();
    doorkeeper_->heard = now;
  }
  listener.handshake_over(now, *over);
}

// ------------------------------------------------------------------------------------------------ receiving

void PeerNetwork::emulate(const NetworkProfile& profile) {
  profile_ = profile;
  if (profile == *find_network("perfect")) {
    // What is under way still arrives, late.
    out_.reset(), in_.reset();
    return;
  }
  const auto seed = static_cast<std::uint64_t>(now() * 1e9);
  out_ = std::make_unique<Link>(profile.there, seed);
  in_ = std::make_unique<Link>(profile.back, seed + 1);
}

double PeerNetwork::next_due(double now) const {
  double due = now + 1;
  if (!sending_.empty()) due = std::min(due, sending_.top().at);
  if (!arriving_.empty()) due = std::min(due, arriving_.top().at);
  return due;
}

void PeerNetwork::flush_delayed(double now, PeerNetworkListener& listener) {
  for (; !sending_.empty() && sending_.top().at <= now; sending_.pop())
    socket_->send(sending_.top().address, sending_.top().bytes);
  while (!arriving_.empty() && arriving_.top().at <= now) {
    const Delayed datagram = arriving_.top();
    arriving_.pop();
    handle(now, &datagram.address, datagram.bytes, listener);
  }
}

void PeerNetwork::run(PeerNetworkListener& listener, std::chrono::nanoseconds timeout) {
  double time = clock_();
  knock_again(time, listener);
  flush_delayed(time, listener);
  const double wait = std::clamp(next_due(time) - time, 0.0, std::chrono::duration<double>(timeout).count());
  for (int batch = 0; batch < k_batches; ++batch) {
    const auto patience = std::chrono::nanoseconds(batch == 0 ? static_cast<std::int64_t>(wait * 1e9) : 0);
    const std::span<const UdpSocket::Received> received = socket_->receive(patience);
    time = clock_();
    for (const UdpSocket::Received& datagram : received) arrived(time, datagram.from, datagram.bytes, listener);
    if (received.size() < UdpSocket::k_batch) break;
  }
  flush_delayed(time, listener);
  knock_again(time, listener);
  std::erase_if(guests_, [&](const auto& guest) {
    return time > guest.second->heard + (guest.second->confirmed ? k_guest_patience : k_unconfirmed_patience);
  });
}

void PeerNetwork::arrived(double now, const NetAddress& from, std::span<const std::byte> datagram,
                          PeerNetworkListener& listener) {
  counts_.bytes_in += datagram.size() + k_headers;
  ++counts_.datagrams_in;
  if (in_ == nullptr) return handle(now, &from, datagram, listener);
  delay(*in_, now, from, datagram, arriving_);
}

void PeerNetwork::handle(double now, const NetAddress* from, std::span<const std::byte> datagram,
                         PeerNetworkListener& listener) {
  if (channel_of(datagram)) return handle_sealed(now, from, datagram, listener);
  if (from == nullptr) return;  // nothing but sealed datagrams is relayed
  if (knocking_ && knocking_->receive(datagram, *from, now)) return;
  if (!door_) {
    ++counts_.strangers;
    return;
  }
  const HostHandshake::Moment moment{now, static_cast<std::uint64_t>(std::time(nullptr))};
  switch (door_->receive(datagram, *from, moment)) {
    case HostHandshake::Outcome::dropped: ++counts_.strangers; return;
    case HostHandshake::Outcome::reply: return transmit(now, *from, door_->reply());
    case HostHandshake::Outcome::asked: break;
  }
  if (guests_.size() >= k_most_guests) return;  // the joiner's repetition asks again
  const GuestId guest = ++last_guest_;
  const PeerNetworkListener::Decision decision = listener.asked(now, guest, door_->request());
  if (!decision.accepted) {
    door_->refuse(decision.payload);
    return transmit(now, *from, door_->reply());
  }
  auto channel = std::make_unique<Channel>(door_->accept(decision.payload));
  channel->guest = guest;
  channel->address = *from;
  channel->heard = now;
  guests_[guest] = std::move(channel);
  transmit(now, *from, door_->reply());
}

void PeerNetwork::handle_sealed(double now, const NetAddress* from, std::span<const std::byte> datagram,
                                PeerNetworkListener& listener) {
  const std::uint32_t number = *channel_of(datagram);
  const auto open = [&](Channel& channel) {
    if (channel.sealed.receive_number() != number || channel.sealed.open(datagram, opened_) != OpenStatus::opened)
      return false;
    channel.heard = now;
    channel.confirmed = true;
    // What somebody held back and sends on from elsewhere leads nobody away.
    const bool says_where = channel.sealed.opened_newest() || now > channel.heard_direct + k_direct_seconds;
    if (from != nullptr && channel.is_member && says_where) {
      channel.heard_direct = now;
      channel.address = *from;  // it is wherever its newest datagram comes from
    }
    // A guest stays where the handshake has shown that it is: it is sent far more than it sends, and must not be able
    // to have that sent to somebody else.
    const Bytes message = opened_;
    handle_message(now, channel, from != nullptr, message, listener);
    return true;
  };
  for (const std::unique_ptr<Channel>& channel : members_)
    if (channel && open(*channel)) return;
  if (doorkeeper_ && open(*doorkeeper_)) return;
  for (const auto& [id, channel] : guests_)
    if (open(*channel)) return;
  ++counts_.strangers;
}

void PeerNetwork::handle_message(double now, Channel& channel, bool direct, std::span<const std::byte> message,
                                 PeerNetworkListener& listener) {
  if (message.empty()) return;
  if (&channel == doorkeeper_.get()) return listener.from_doorkeeper(now, message);
  if (!channel.is_member) return listener.from_guest(now, channel.guest, message);
  switch (static_cast<PlainMessage>(message[0])) {
    case PlainMessage::punch: return;
    case PlainMessage::relay_to: {
      const std::optional<RelayEnvelope> envelope = read_relay(message.subspan(1));
      // What was passed on is not passed on again, and nobody needs a relay to itself.
      if (!direct || !envelope || envelope->peer >= k_most_members || envelope->peer == channel.member) return;
      if (!is_direct(envelope->peer, now) || !channel.relays.take(now)) return;
      ++counts_.relayed;
      Bytes passed_on{static_cast<std::byte>(PlainMessage::relayed)};
      write_relay(passed_on, {channel.member, envelope->datagram});
      Channel& to = *members_[envelope->peer];
      return send_sealed(now, to, *to.address, passed_on);
    }
    case PlainMessage::relayed: {
      const std::optional<RelayEnvelope> envelope = read_relay(message.subspan(1));
      if (direct && envelope)
        handle(now, nullptr, Bytes(envelope->datagram.begin(), envelope->datagram.end()), listener);
      return;
    }
    default: return listener.from_member(now, channel.member, message);
  }
}

}  // namespace cotouch

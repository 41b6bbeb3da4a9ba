#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/experiment/siege_datagrams.h>
#include <cotouch/session/peer_network.h>

#include <unistd.h>

#include <chrono>
#include <thread>

namespace cotouch {
namespace {

constexpr double k_late_share = 0.3, k_late_by = 4;  // seconds
constexpr auto k_meeting_patience = std::chrono::seconds(60);
constexpr std::uint16_t k_discard_port = 9;  // where nobody listens

NetAddress here(std::uint16_t port) {
  return NetAddress::v4({127, 0, 0, 1}, port);
}

NetworkProfile late_network() {
  NetworkProfile network = *find_network("perfect");
  network.there.reorder = network.back.reorder = k_late_share;
  network.there.reorder_by = network.back.reorder_by = k_late_by;
  return network;
}

UdpSettings loopback_port(std::uint16_t port) {
  UdpSettings settings;
  settings.port = port;
  settings.loopback = true;
  return settings;
}

// That nobody has at the moment, and that nobody is given who asks for any: those are from 32768 on.
std::uint16_t free_port() {
  constexpr int k_tries = 100;
  for (int i = 0; i < k_tries; ++i) {
    const auto port = static_cast<std::uint16_t>(20000 + (::getpid() + 1009 * i) % 10000);
    try {
      return UdpSocket(loopback_port(port)).port();
    } catch (const Error&) {
      continue;  // somebody has it
    }
  }
  throw Error("All UDP ports that were tried are taken.");
}

UdpRelaySettings relay_to(std::uint16_t port) {
  UdpRelaySettings settings;
  settings.listen = here(0);
  settings.target = here(port);
  settings.profile = *find_network("perfect");
  return settings;
}

std::uint64_t held_back_by(const UdpRelay& relay) {
  const UdpRelayStatistics now = relay.statistics();
  return now.there.held_back + now.back.held_back;
}

}  // namespace

void MemberWatch::begin() {
  const std::scoped_lock lock(mutex_);
  seen_ = 0;
  times_alone_ = 0;
}

void MemberWatch::saw(const PeersView& peers) {
  const std::scoped_lock lock(mutex_);
  const bool together = peers.peers.size() > 1;
  times_alone_ += together_ && !together ? 1 : 0;
  together_ = together;
  last_ = {PeerNetwork::now(), peers.tick};
  if (seen_++ == 0) first_ = last_;
}

bool MemberWatch::is_together() const {
  const std::scoped_lock lock(mutex_);
  return together_;
}

std::uint64_t MemberWatch::times_alone() const {
  const std::scoped_lock lock(mutex_);
  return times_alone_;
}

double MemberWatch::ticks_per_second() const {
  const std::scoped_lock lock(mutex_);
  if (seen_ < 2 || last_.at <= first_.at) return 0;
  return static_cast<double>(last_.tick - first_.tick) / (last_.at - first_.at);
}

LateDatagrams& LateDatagrams::operator+=(const LateDatagrams& other) {
  held_back += other.held_back;
  times_alone += other.times_alone;
  ticks_per_second.insert(ticks_per_second.end(), other.ticks_per_second.begin(), other.ticks_per_second.end());
  return *this;
}

LateNetwork::LateNetwork(const std::filesystem::path& folder)
    : folder_(folder), library_(folder / "scenes", nullptr), host_port_(free_port()), relay_(relay_to(host_port_)) {
  relay_.start();
}

LateNetwork::~LateNetwork() {
  leave();
}

// Its thread asks this object until it is gone.
void LateNetwork::leave() {
  if (session_) session_->leave();
  session_.reset();
}

SharedSessionSettings LateNetwork::host_settings() const {
  SharedSessionSettings settings;
  settings.name = "besieged";
  settings.identity = folder_ / "host-identity";
  settings.received = folder_ / "host-received";
  settings.udp = loopback_port(host_port_);
  settings.advertised = {relay_.address()};
  return settings;
}

void LateNetwork::join(const std::string& invite) {
  leave();
  SharedSessionSettings settings;
  settings.name = "late";
  settings.identity = folder_ / "late-identity";
  settings.received = folder_ / "late-received";
  settings.udp = loopback_port(0);
  settings.advertised = {here(k_discard_port)};  // there is no way to it but the one it came by
  session_ = std::make_unique<SharedSession>(settings, static_cast<SharedSessionListener&>(*this), library_);
  session_->join(invite);
  invite_ = invite;
  const auto end = std::chrono::steady_clock::now() + k_meeting_patience;
  while (!are_together()) {
    if (std::chrono::steady_clock::now() > end)
      throw Error("The session's other member could not join over this machine's loopback network.");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// In the air, never twice at the same place: what of it comes late was predicted wrongly.
MemberHands LateNetwork::hands() {
  const SinCos turn = sin_cos(PeerNetwork::now());
  HandInput hand;
  hand.present = true;
  hand.pose.position = {0.3 + 0.05 * turn.cos, 0.05 * turn.sin, 0.3};
  return hand;
}

void LateNetwork::attack(double seconds) {
  if (!are_together()) join(invite_);
  time_ = AttackTime::from_now(seconds, kind().least);
  held_back_before_ = held_back_by(relay_);
  host_.begin();
  member_.begin();
  relay_.change(late_network());
}

LateDatagrams LateNetwork::result() {
  LateDatagrams late;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    late.held_back = held_back_by(relay_) - held_back_before_;
  } while (time_.goes_on(late.held_back));
  late.times_alone = host_.times_alone() + member_.times_alone();
  late.ticks_per_second = {host_.ticks_per_second(), member_.ticks_per_second()};
  relay_.change(*find_network("perfect"));
  return late;
}

}  // namespace cotouch

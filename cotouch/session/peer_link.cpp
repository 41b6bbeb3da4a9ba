#include <cotouch/session/peer_link.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

constexpr double k_stamps_per_second = 1e4;
constexpr double k_longest_round_trip = 20;  // seconds; beyond, a packet is too old to tell anything
constexpr double k_slow = 1.0 / 16, k_fast = 1.0 / 4, k_loss_share = 1.0 / 128;
constexpr int k_in_time = 32;       // packets that may overtake one before it is as good as lost
constexpr int k_most_missing = 64;  // that one silence may count for
static_assert(k_in_time < 64);      // bits

}  // namespace

std::uint32_t stamp_of(double seconds) noexcept {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(seconds * k_stamps_per_second));
}

std::uint32_t PeerLink::held(double now) const noexcept {
  return stamp_of(std::max(0.0, now - stamp_arrived_));
}

std::uint8_t PeerLink::loss_byte() const noexcept {
  return static_cast<std::uint8_t>(std::clamp(loss_in_ * 255 + 0.5, 0.0, 255.0));
}

void PeerLink::slept(double now, double seconds) noexcept {
  heard_ = std::min(now, heard_ + seconds);
  knows_lead_ = false;  // they may have waited meanwhile
}

// Whether a packet was lost is decided once, when so many newer ones were sent: not at first, and then taken back.
void PeerLink::settle(std::uint16_t sequence) noexcept {
  const int ahead = has_heard_ ? static_cast<std::int16_t>(sequence - newest_) : 1;
  if (ahead > 0) {
    for (int i = 0; i < std::min(ahead, k_most_missing); ++i) {
      const bool lost = (arrived_ >> (k_in_time - 1) & 1U) == 0;
      loss_in_ += ((lost ? 1.0 : 0.0) - loss_in_) * k_loss_share;
      arrived_ <<= 1U;
    }
    arrived_ |= 1U;
    newest_ = sequence;
  } else if (-ahead < k_in_time) {
    arrived_ |= std::uint64_t{1} << static_cast<unsigned>(-ahead);
  }
}

void PeerLink::heard(double now, const Heard& packet) noexcept {
  const bool newest = !has_heard_ || static_cast<std::int16_t>(packet.sequence - newest_) > 0;
  heard_ = std::max(heard_, now);
  settle(packet.sequence);
  has_heard_ = true;
  if (!newest) return;
  loss_out_ = packet.loss / 255.0;
  their_stamp_ = packet.sent;
  their_tick_ = packet.their_tick;
  stamp_arrived_ = now;
  if (packet.has_echo) measure(now, packet);
}

// The lead comes from the times that both ways took in the same exchange. If one of them takes longer, one side seems
// ahead by what the other seems behind: both slow down or hurry a little, but not the world.
void PeerLink::measure(double now, const Heard& packet) noexcept {
  const double trip = static_cast<double>(stamp_of(now) - packet.echo - packet.held) / k_stamps_per_second;
  if (trip >= k_longest_round_trip) return;
  if (round_trip_ < 0) {
    round_trip_ = trip;
    jitter_ = trip / 4;
  } else {
    jitter_ += (std::fabs(trip - round_trip_) - jitter_) * k_slow;
    round_trip_ += (trip - round_trip_) * (trip < round_trip_ ? k_fast : k_slow);
  }
  const double beginning = static_cast<double>(packet.their_tick) + (0.5 * trip - now) / tick_seconds_;
  their_beginning_ += (beginning - their_beginning_) * (knows_lead_ ? k_slow : 1);
  knows_lead_ = true;
}

}  // namespace cotouch

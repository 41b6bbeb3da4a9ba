#include <cotouch/session/peer_link.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

constexpr double k_stamps_per_second = 1e4;
constexpr double k_longest_round_trip = 20;  // seconds; beyond, a packet is too old to tell anything
constexpr double k_slow = 1.0 / 16, k_fast = 1.0 / 4, k_loss_share = 1.0 / 128;

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

// Packets that were overtaken count as lost at first and are given back when they arrive.
void PeerLink::count_loss(std::uint16_t sequence) noexcept {
  const auto ahead = static_cast<std::int16_t>(sequence - newest_);
  if (received_ == 0 || ahead > 0) {
    const int missing = received_ == 0 ? 0 : std::min<int>(ahead - 1, 64);
    for (int i = 0; i < missing; ++i) loss_in_ += (1 - loss_in_) * k_loss_share;
    loss_in_ -= loss_in_ * k_loss_share;
    newest_ = sequence;
  } else {
    loss_in_ = std::max(0.0, loss_in_ - k_loss_share);
  }
}

void PeerLink::heard(double now, double tick, double tick_seconds, const Heard& packet) noexcept {
  const bool newer = received_ == 0 || static_cast<std::int16_t>(packet.sequence - newest_) > 0;
  count_loss(packet.sequence);
  heard_ = std::max(heard_, now);
  loss_out_ = packet.loss / 255.0;
  if (newer) {
    their_stamp_ = packet.sent;
    stamp_arrived_ = now;
  }
  ++received_;
  if (packet.has_echo) {
    const double trip = static_cast<double>(stamp_of(now) - packet.echo - packet.held) / k_stamps_per_second;
    if (trip >= 0 && trip < k_longest_round_trip) {
      if (round_trip_ < 0) {
        round_trip_ = trip;
        jitter_ = trip / 4;
      } else {
        jitter_ += (std::fabs(trip - round_trip_) - jitter_) * k_slow;
        round_trip_ += (trip - round_trip_) * (trip < round_trip_ ? k_fast : k_slow);
      }
    }
  }
  if (!newer || round_trip_ < 0) return;
  const double theirs = static_cast<double>(packet.their_tick) + 0.5 * round_trip_ / tick_seconds;
  const double lead = tick - theirs;
  lead_ = has_lead_ ? lead_ + (lead - lead_) * k_slow : lead;
  has_lead_ = true;
}

}  // namespace cotouch

// One direction of a bad network: what becomes of each datagram that is handed to it. A pure function of its profile,
// its seed and the calls, with the same bits on every machine; it knows no clock and no sockets, so that the simulator
// and the real relay share it.
//
// In this order: a link that is down loses everything; a rate limit makes datagrams wait for those before them, and
// what would wait too long is dropped; some are lost on the way; the rest arrive after the delay, some of them held
// back, twice or with flipped bits. Each kind of chance has its own sequence of random numbers: more loss does not
// change the delays of what arrives.
#pragma once

#include <cotouch/base/random.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace cotouch {

// How the delay of a datagram strays; `delay` and `jitter` are those of the profile.
enum class Jitter : std::uint8_t {
  none,
  uniform,      // evenly from delay - jitter to delay + jitter
  normal,       // mean delay, standard deviation jitter
  exponential,  // never below delay, jitter more on average
  heavy_tail,   // the same with a tail like 1/x^2 that ends at `longest` (net/draw.h)
};

inline constexpr double k_longest_delay = 60;                // s
inline constexpr std::size_t k_longest_loss_pattern = 1024;  // datagrams

// What IPv4 and UDP add to each datagram. A link counts the bytes that it is told; those who carry datagrams add these.
inline constexpr std::size_t k_udp_header_bytes = 28;

// All times in seconds, all shares from 0 to 1.
struct LinkProfile {
  double delay = 0;
  double jitter = 0;
  Jitter jitter_kind = Jitter::none;
  double shortest = 0, longest = k_longest_delay;  // the delay is clamped to these
  // Jitter does not change the order: as in a router's queue, a datagram waits for those before it. Datagrams close
  // together therefore take longer on average than those far apart. If false, each takes its own time.
  bool keep_order = true;

  double loss = 0;  // each by itself
  // Bursts (Gilbert 1960): the link is bad for a while and loses all of `burst_length` datagrams on average, such that
  // this share of all is lost so. burst_share / (1 - burst_share) may not be above burst_length.
  double burst_share = 0, burst_length = 1;
  std::string pattern;  // of 1 (arrives) and 0 (lost), repeated for ever; empty: none

  // This share is held back by up to `reorder_by` more (evenly), while those behind go past.
  double reorder = 0, reorder_by = 0.02;
  double duplicate = 0;  // this share arrives twice, the second time with a delay of its own
  double corrupt = 0;    // this share arrives with one to three bits flipped

  double bytes_per_second = 0;  // 0: no limit
  double queue_seconds = 0.2;   // what would wait longer for its turn is dropped

  // Down from `outage_start` for `outage_length`, and again each `outage_every` if that is not 0.
  double outage_start = 0, outage_length = 0, outage_every = 0;

  bool operator==(const LinkProfile&) const = default;
};

// Throws Error with a sentence about the first value that makes no sense.
void check(const LinkProfile& profile);

// Without rate limit and outages: the share that is lost, and the mean delay of datagrams far apart (clamping left
// out).
double lost_share(const LinkProfile& profile);
double mean_delay(const LinkProfile& profile);

struct LinkStatistics {
  std::uint64_t sent = 0, sent_bytes = 0;
  std::uint64_t arrived = 0, arrived_bytes = 0;  // second copies counted
  std::uint64_t lost_at_random = 0, lost_in_bursts = 0, lost_by_pattern = 0, lost_in_outages = 0, dropped_by_queue = 0;
  std::uint64_t held_back = 0, duplicated = 0, corrupted = 0;

  std::uint64_t lost() const {
    return lost_at_random + lost_in_bursts + lost_by_pattern + lost_in_outages + dropped_by_queue;
  }
  LinkStatistics& operator+=(const LinkStatistics& other);
};

class Link {
 public:
  struct Arrival {
    double at = 0;
    bool corrupt = false;
    std::uint64_t corrupt_bits = 0;  // for flip_bits
  };
  // None, one or two.
  class Arrivals {
   public:
    const Arrival* begin() const { return list_.data(); }
    const Arrival* end() const { return list_.data() + count_; }
    std::size_t size() const { return count_; }
    bool empty() const { return count_ == 0; }
    const Arrival& operator[](std::size_t i) const { return list_[i]; }

   private:
    friend class Link;
    std::array<Arrival, 2> list_;
    std::size_t count_ = 0;
  };

  // Throws Error if the profile makes no sense.
  Link(const LinkProfile& profile, std::uint64_t seed);

  // When a datagram of so many bytes arrives that is handed over at `now`, which never goes back. Neither throws nor
  // allocates.
  Arrivals send(double now, std::size_t bytes) noexcept;

  // From the next datagram on. What is under way arrives as it would have, and with `keep_order` before what comes
  // after.
  void change(const LinkProfile& profile);

  const LinkProfile& profile() const { return profile_; }
  const LinkStatistics& statistics() const { return statistics_; }

 private:
  bool is_down(double now) const noexcept;
  bool is_lost() noexcept;
  bool in_burst() noexcept;
  double draw_delay() noexcept;
  Arrival arrival(double sent) noexcept;

  LinkProfile profile_;
  LinkStatistics statistics_;
  Random loss_, burst_, delay_, reorder_, duplicate_, corrupt_;
  bool bad_ = false;  // inside a burst
  std::size_t pattern_at_ = 0;
  double busy_until_ = 0;    // of the rate limit
  double last_arrival_ = 0;  // of those that were not held back
};

// Flips one to three bits, chosen by the random number; nothing if there are no bytes.
void flip_bits(std::span<std::byte> datagram, std::uint64_t bits) noexcept;

}  // namespace cotouch

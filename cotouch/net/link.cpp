#include <cotouch/net/link.h>

#include <cotouch/base/error.h>
#include <cotouch/net/draw.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace cotouch {
namespace {

std::string in_words(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 12).ptr};
}

// The sentence has the numbers in `unit`, of which the value's own has so many.
void check_range(const char* what, double value, double low, double high, const char* unit = " s", double many = 1) {
  // The negation also catches what is not a number.
  if (!(value >= low && value <= high))
    throw Error(std::string("A link's ") + what + " must be from " + in_words(low * many) + " to " +
                    in_words(high * many) + unit + ", not " + in_words(value * many) + unit + ".",
                ErrorCode::invalid_argument);
}

void check_delay(const char* what, double seconds) {
  check_range(what, seconds, 0, k_longest_delay, " ms", 1000);
}

void check_share(const char* what, double share) {
  if (!(share >= 0 && share <= 1))
    throw Error(std::string("A link's ") + what + " must be from 0 to 100 %, not " + in_words(share * 100) + " %.",
                ErrorCode::invalid_argument);
}

}  // namespace

void check(const LinkProfile& profile) {
  constexpr double k_longest_time = 1e6;  // s
  const auto fail = [](const char* sentence) { throw Error(sentence, ErrorCode::invalid_argument); };
  check_delay("delay", profile.delay);
  check_delay("jitter", profile.jitter);
  check_delay("shortest delay", profile.shortest);
  check_delay("longest delay", profile.longest);
  if (profile.shortest > profile.longest) fail("A link's shortest delay is above its longest.");
  if (profile.jitter > 0 && profile.jitter_kind == Jitter::none)
    fail("A link has jitter, but its kind is none; choose uniform, normal, exponential or heavy-tail.");
  if (profile.jitter_kind == Jitter::heavy_tail && !(2 * profile.jitter < profile.longest - profile.delay))
    fail("A link with a heavy tail needs a longest delay of more than its delay and twice its jitter.");
  check_share("loss", profile.loss);
  check_share("share lost in bursts", profile.burst_share);
  check_range("burst length", profile.burst_length, 1, 1e6, " datagrams");
  if (profile.burst_share > profile.burst_length * (1 - profile.burst_share))
    fail("A link cannot lose such a share in bursts so short; make them longer.");
  if (profile.pattern.size() > k_longest_loss_pattern || profile.pattern.find_first_not_of("01") != std::string::npos)
    fail("A link's pattern of loss must be up to 1024 signs 1 (arrives) and 0 (lost), such as \"1110\".");
  check_share("share of reordering", profile.reorder);
  check_delay("time by which it reorders", profile.reorder_by);
  check_share("share of duplicates", profile.duplicate);
  check_share("share of corruption", profile.corrupt);
  check_range("rate", profile.bytes_per_second, 0, 1e12, " Mb/s", 8e-6);
  check_delay("longest wait in its queue", profile.queue_seconds);
  check_range("start of its outage", profile.outage_start, 0, k_longest_time);
  check_range("length of its outage", profile.outage_length, 0, k_longest_time);
  check_range("time from outage to outage", profile.outage_every, 0, k_longest_time);
  if (profile.outage_every > 0 && profile.outage_every < profile.outage_length)
    fail("A link's outages are longer than the time from one to the next.");
}

double lost_share(const LinkProfile& profile) {
  double arrives = (1 - profile.loss) * (1 - profile.burst_share);
  if (!profile.pattern.empty())
    arrives *= static_cast<double>(std::count(profile.pattern.begin(), profile.pattern.end(), '1')) /
               static_cast<double>(profile.pattern.size());
  return 1 - arrives;
}

double mean_delay(const LinkProfile& profile) {
  const bool one_sided = profile.jitter_kind == Jitter::exponential || profile.jitter_kind == Jitter::heavy_tail;
  const double mean = profile.delay + (one_sided ? profile.jitter : 0);
  return std::clamp(mean, profile.shortest, profile.longest) + profile.reorder * profile.reorder_by / 2;
}

LinkStatistics& LinkStatistics::operator+=(const LinkStatistics& other) {
  for (const auto count :
       {&LinkStatistics::sent, &LinkStatistics::sent_bytes, &LinkStatistics::arrived, &LinkStatistics::arrived_bytes,
        &LinkStatistics::lost_at_random, &LinkStatistics::lost_in_bursts, &LinkStatistics::lost_by_pattern,
        &LinkStatistics::lost_in_outages, &LinkStatistics::dropped_by_queue, &LinkStatistics::held_back,
        &LinkStatistics::duplicated, &LinkStatistics::corrupted})
    this->*count += other.*count;
  return *this;
}

Link::Link(const LinkProfile& profile, std::uint64_t seed)
    : loss_(0), burst_(0), delay_(0), reorder_(0), duplicate_(0), corrupt_(0) {
  check(profile);
  profile_ = profile;
  Random seeds(seed);
  for (Random* random : {&loss_, &burst_, &delay_, &reorder_, &duplicate_, &corrupt_}) *random = Random(seeds.bits());
}

void Link::change(const LinkProfile& profile) {
  check(profile);
  if (profile.pattern != profile_.pattern) pattern_at_ = 0;
  profile_ = profile;
}

Link::Arrivals Link::send(double now, std::size_t bytes) noexcept {
  Arrivals arrivals;
  ++statistics_.sent;
  statistics_.sent_bytes += bytes;
  if (is_down(now)) {
    ++statistics_.lost_in_outages;
    return arrivals;
  }
  double sent = now;
  if (profile_.bytes_per_second > 0) {
    sent = std::max(now, busy_until_);
    if (sent - now > profile_.queue_seconds) {
      ++statistics_.dropped_by_queue;
      return arrivals;
    }
    sent += static_cast<double>(bytes) / profile_.bytes_per_second;
    busy_until_ = sent;
  }
  if (is_lost()) return arrivals;
  arrivals.list_[arrivals.count_++] = arrival(sent);
  if (profile_.duplicate > 0 && duplicate_.uniform() < profile_.duplicate) {
    ++statistics_.duplicated;
    arrivals.list_[arrivals.count_++] = arrival(sent);
  }
  statistics_.arrived += arrivals.count_;
  statistics_.arrived_bytes += arrivals.count_ * bytes;
  return arrivals;
}

bool Link::is_down(double now) const noexcept {
  if (!(profile_.outage_length > 0) || now < profile_.outage_start) return false;
  const double since = now - profile_.outage_start;
  return (profile_.outage_every > 0 ? std::fmod(since, profile_.outage_every) : since) < profile_.outage_length;
}

// Every kind of loss moves on with every datagram, so that none depends on another.
bool Link::is_lost() noexcept {
  bool by_pattern = false;
  if (!profile_.pattern.empty()) {
    by_pattern = profile_.pattern[pattern_at_] == '0';
    pattern_at_ = (pattern_at_ + 1) % profile_.pattern.size();
  }
  const bool by_burst = in_burst();
  const bool at_random = profile_.loss > 0 && loss_.uniform() < profile_.loss;
  if (by_pattern)
    ++statistics_.lost_by_pattern;
  else if (by_burst)
    ++statistics_.lost_in_bursts;
  else if (at_random)
    ++statistics_.lost_at_random;
  return by_pattern || by_burst || at_random;
}

// A burst of mean length L ends with probability 1/L; for a share S of the time in bursts, one begins with probability
// S / ((1 - S) L).
bool Link::in_burst() noexcept {
  if (!(profile_.burst_share > 0)) {
    bad_ = false;
    return false;
  }
  const double u = burst_.uniform() * profile_.burst_length;
  bad_ = bad_ ? u >= 1 : u * (1 - profile_.burst_share) < profile_.burst_share;
  return bad_;
}

double Link::draw_delay() noexcept {
  double delay = profile_.delay;
  switch (profile_.jitter_kind) {
    case Jitter::none: break;
    case Jitter::uniform: delay += profile_.jitter * delay_.uniform(-1, 1); break;
    case Jitter::normal: delay += profile_.jitter * draw_normal(delay_); break;
    case Jitter::exponential: delay += profile_.jitter * draw_exponential(delay_); break;
    case Jitter::heavy_tail:
      delay += draw_heavy_tail(delay_, profile_.jitter, profile_.longest - profile_.delay);
      break;
  }
  return std::clamp(delay, profile_.shortest, profile_.longest);
}

Link::Arrival Link::arrival(double sent) noexcept {
  Arrival arrival;
  arrival.at = sent + draw_delay();
  const bool held_back = profile_.reorder > 0 && reorder_.uniform() < profile_.reorder;
  if (profile_.keep_order) arrival.at = std::max(arrival.at, last_arrival_);
  if (held_back) {
    ++statistics_.held_back;
    arrival.at += profile_.reorder_by * reorder_.uniform();
  } else {
    last_arrival_ = std::max(last_arrival_, arrival.at);
  }
  if (profile_.corrupt > 0 && corrupt_.uniform() < profile_.corrupt) {
    ++statistics_.corrupted;
    arrival.corrupt = true;
    arrival.corrupt_bits = corrupt_.bits();
  }
  return arrival;
}

void flip_bits(std::span<std::byte> datagram, std::uint64_t bits) noexcept {
  if (datagram.empty()) return;
  Random random(bits);
  const std::uint64_t count = std::min<std::uint64_t>(1 + random.below(3), datagram.size() * 8);
  const std::uint64_t first = random.below(datagram.size() * 8);
  // Neighbours a stride apart, so that no bit is flipped twice.
  const std::uint64_t stride = 1 + random.below(datagram.size() * 8 / count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = (first + i * stride) % (datagram.size() * 8);
    datagram[at / 8] ^= std::byte{1} << (at % 8);
  }
}

}  // namespace cotouch

#include <cotouch/world/state.h>

#include <cotouch/base/hash.h>
#include <cotouch/base/invariant.h>
#include <cotouch/world/model.h>

#include <cmath>
#include <cstring>

namespace cotouch {

WorldState::WorldState(const WorldModel& model)
    : bodies_(model.bodies().size()),
      hands_(model.settings().hands),
      pairs_(model.pairs().size()),
      bending_(model.bending_size()) {
  block_.resize(bending_begin() + bending_);
  head() = {};
  for (std::size_t i = 0; i < bodies_; ++i) {
    const BodyModel& body = model.bodies()[i];
    bodies()[i] = {body.start, body.start_velocity, body.start_spin, body.clearance, static_cast<double>(body.motion)};
  }
  for (HandRecord& hand : hands()) hand = {};
  for (PairRecord& pair : pairs()) pair = {};
  std::size_t bending = 0;
  bool has_room = true;
  for (std::uint32_t i = 0; i < bodies_; ++i) {
    if (model.elastic(i) == nullptr) continue;
    has_room = has_room && model.elastic_begin(i) == bending;
    bending += std::size_t{2} * model.elastic(i)->size();
  }
  // Once for each world, and thrown to who makes it.
  (void)invariant(has_room && bending == bending_ && fits(model), "The world's state has no room for what bends");
}

bool WorldState::fits(const WorldModel& model) const noexcept {
  if (bodies_ != model.bodies().size() || hands_ != model.settings().hands || pairs_ != model.pairs().size() ||
      bending_ != model.bending_size() || block_.size() != bending_begin() + bending_)
    return false;
  const double most = static_cast<double>(bodies_) - 1;
  for (const HandRecord& hand : hands())
    if (!(hand.body >= -1 && hand.body <= most)) return false;
  return true;
}

bool WorldState::restore(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() != block_.size() * sizeof(double)) return false;
  // Looked at in place, number by number: nothing is taken over before all of it is good.
  const auto number = [&](std::size_t i) {
    double value;
    std::memcpy(&value, bytes.data() + i * sizeof(double), sizeof value);
    return value;
  };
  for (std::size_t i = 0; i < block_.size(); ++i)
    if (!std::isfinite(number(i))) return false;
  const auto rotation_at = [&](std::size_t i) {  // of a pose that begins there
    return is_rotation({number(i + 3), number(i + 4), number(i + 5), number(i + 6)});
  };
  const auto whole = [](double value, double low, double high) {
    return value >= low && value <= high && value == std::floor(value);
  };
  constexpr double k_most_ticks = 0x1p53, k_largest_clearance = 1;  // counts, metres
  if (!whole(number(0), 0, k_most_ticks)) return false;
  constexpr std::size_t k_body = sizeof(BodyRecord) / sizeof(double), k_hand = sizeof(HandRecord) / sizeof(double);
  for (std::size_t b = 0; b < bodies_; ++b) {
    const std::size_t at = bodies_begin() + b * k_body;
    if (!rotation_at(at) || !whole(number(at + k_body - 1), 0, 2)) return false;
    const double clearance = number(at + k_body - 2);
    if (!(clearance >= 0 && clearance <= k_largest_clearance)) return false;
  }
  for (std::size_t h = 0; h < hands_; ++h) {
    const std::size_t at = hands_begin() + h * k_hand;
    if (!rotation_at(at + 1) || !rotation_at(at + 15)) return false;
    if (!whole(number(at), 0, 1) || !whole(number(at + 14), -1, static_cast<double>(bodies_) - 1)) return false;
    if (!whole(number(at + k_hand - 1), -1, 0x1p32)) return false;
  }
  for (std::size_t p = 0; p < pairs_; ++p)
    if (!whole(number(pairs_begin() + p), 0, 255)) return false;
  constexpr double k_largest_coordinate = 1e9;  // sqrt(kg) m, and a second's
  for (std::size_t i = 0; i < bending_; ++i)
    if (std::fabs(number(bending_begin() + i)) > k_largest_coordinate) return false;
  std::memcpy(block_.data(), bytes.data(), bytes.size());
  return true;
}

std::uint64_t WorldState::hash() const noexcept {
  return hash_bytes(bytes());
}

bool operator==(const WorldState& a, const WorldState& b) noexcept {
  return a.block_.size() == b.block_.size() &&
         (a.block_.empty() || std::memcmp(a.block_.data(), b.block_.data(), a.block_.size() * sizeof(double)) == 0);
}

}  // namespace cotouch

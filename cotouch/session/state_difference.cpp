#include <cotouch/session/state_difference.h>

#include <cotouch/session/names.h>
#include <cotouch/world/model.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <string_view>

namespace cotouch {
namespace {

constexpr std::array<std::string_view, sizeof(WorldHead) / sizeof(double)> k_head{
    "the number of ticks", "the number of bad inputs", "whether the task is done", "the task's seconds",
    "whether the task has begun"};
constexpr std::array<std::string_view, sizeof(BodyRecord) / sizeof(double)> k_body{
    "position x", "position y", "position z", "rotation w", "rotation x", "rotation y", "rotation z", "velocity x",
    "velocity y", "velocity z", "spin x",     "spin y",     "spin z",     "clearance",  "motion"};
constexpr std::array<std::string_view, sizeof(HandRecord) / sizeof(double)> k_hand{
    "presence",   "position x", "position y", "position z", "rotation w", "rotation x", "rotation y", "rotation z",
    "velocity x", "velocity y", "velocity z", "spin x",     "spin y",     "spin z",     "body",       "grip x",
    "grip y",     "grip z",     "grip w",     "grip rx",    "grip ry",    "grip rz",    "force x",    "force y",
    "force z",    "torque x",   "torque y",   "torque z",   "buttons",    "point"};

std::string number(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::string field_name(const WorldModel& model, const WorldState& state, std::size_t index) {
  if (index < k_head.size()) return std::string(k_head[index]);
  index -= k_head.size();
  const std::size_t bodies = state.bodies().size() * k_body.size();
  if (index < bodies)
    return std::string(k_body[index % k_body.size()]) + " of body '" +
           printable(model.bodies()[index / k_body.size()].name) + "'";
  index -= bodies;
  const std::size_t hands = state.hands().size() * k_hand.size();
  if (index < hands)
    return std::string(k_hand[index % k_hand.size()]) + " of hand " + std::to_string(index / k_hand.size());
  index -= hands;
  if (index < state.pairs().size()) return "the level of pair " + std::to_string(index);
  index -= state.pairs().size();
  for (std::uint32_t i = 0; i < model.bodies().size(); ++i) {
    const std::size_t size = model.elastic(i) != nullptr ? model.elastic(i)->size() : 0;
    const std::size_t own = index - model.elastic_begin(i);
    if (index < model.elastic_begin(i) || own >= 2 * size) continue;
    return (own < size ? "coordinate " : "the rate of coordinate ") + std::to_string(own % size + 1) + " of body '" +
           printable(model.bodies()[i].name) + "'";
  }
  return "something that no body has";
}

}  // namespace

std::string first_difference(const WorldModel& model, const WorldState& here, const WorldState& there) {
  const std::span<const std::byte> a = here.bytes(), b = there.bytes();
  if (a.size() != b.size()) return "their sizes";
  for (std::size_t at = 0; at + sizeof(double) <= a.size(); at += sizeof(double)) {
    double x = 0, y = 0;
    std::memcpy(&x, a.data() + at, sizeof x);
    std::memcpy(&y, b.data() + at, sizeof y);
    if (std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y)) continue;
    return field_name(model, here, at / sizeof(double)) + " is " + number(x) + " here and " + number(y) + " there";
  }
  return {};
}

}  // namespace cotouch

// Which tree levels a contact renders: fixed by the caller, or as deep as a budget of nodes allows.
//
// Level control (paper 001, III). A level is rendered as a whole or not at all; level 0 always is. A level that was
// rendered last time may be entered while the count of visited nodes stays below `warm`, a deeper one only while it
// would stay below `cold`: so the level does not flicker. What was rendered last time is the only state, one number
// that the caller keeps.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace cotouch {

struct WorkBudget {
  std::uint32_t warm = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t cold = std::numeric_limits<std::uint32_t>::max();

  static WorkBudget unlimited() { return {}; }
  static WorkBudget of(std::uint32_t warm_nodes) { return {warm_nodes, static_cast<std::uint32_t>(warm_nodes * 0.8)}; }
  friend bool operator==(const WorkBudget&, const WorkBudget&) = default;
};

// All of an engine's data, as a piece that is missing.
constexpr std::uint32_t k_all_pieces = std::numeric_limits<std::uint32_t>::max();

struct Detail {
  enum class Rule : std::uint8_t {
    exactly,   // `level`, or the deepest there is: a function of the two bodies alone
    by_state,  // within the budget, a function of the two bodies and `level`: temporal coherence takes no part in it
    by_work,  // within the budget, where temporal coherence makes the level of last time cheaper to stay on: depends on
              // the cache, so to get it again keep the level and ask for it exactly
  };
  Rule rule = Rule::exactly;
  std::uint32_t level = std::numeric_limits<std::uint32_t>::max();  // wanted, or rendered last time
  WorkBudget budget;
  std::span<const std::uint32_t> missing = {};  // pieces that are not to be used, as ContactEngine::find_missing says

  static Detail everything() { return {}; }
  static Detail at(std::uint32_t level) { return {Rule::exactly, level, {}, {}}; }
  static Detail by_state(const WorkBudget& budget, std::uint32_t last) { return {Rule::by_state, last, budget, {}}; }
  static Detail by_work(const WorkBudget& budget, std::uint32_t last) { return {Rule::by_work, last, budget, {}}; }
};

}  // namespace cotouch

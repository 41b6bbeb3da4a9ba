// What a unit of an engine's work costs on this machine, and how many fit in a time.
#pragma once

#include <cotouch/contact/engine.h>

namespace cotouch {

// Nanoseconds of processor time for one unit, measured on this pair in touching poses without coherence and with cold
// processor caches; the slowest of several poses decides (each the median of repeats). Takes a moment. 0 if there is
// nothing to measure.
double cost_of_a_unit(const ContactEngine& engine);

// Share of the time kept for what a calibration cannot see, such as other work.
inline constexpr double k_reserved_share = 0.1;

// The budget for so many microseconds a pair, less what is kept in reserve. Throws Error if that is no time.
WorkBudget calibrate_budget(const ContactEngine& engine, double microseconds);

}  // namespace cotouch

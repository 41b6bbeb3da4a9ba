// The steps of building a field as the user sees them, and a loop over all cores that reports its progress.
#pragma once

#include <cotouch/base/cancel.h>
#include <cotouch/base/parallel.h>
#include <cotouch/base/progress.h>

#include <cstddef>
#include <mutex>
#include <string_view>

namespace cotouch {

constexpr std::string_view k_stage_distances = "Measuring distances";
constexpr std::string_view k_stage_sides = "Finding inside and outside";

// Calls work(i) for all i < count, each range of `grain` on one core, and reports the share done as the part of `stage`
// between `from` and `to`. Ends with whatever `progress` throws.
template <class Work>
void for_each_reported(std::size_t count, std::size_t grain, Progress& progress, std::string_view stage, double from,
                       double to, const Work& work) {
  std::mutex mutex;
  std::size_t done = 0;
  parallel_for(count, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      throw_if_cancelled();
      work(i);
    }
    const std::scoped_lock lock(mutex);
    done += end - begin;
    progress.update(stage, from + (to - from) * static_cast<double>(done) / static_cast<double>(count));
  });
}

}  // namespace cotouch

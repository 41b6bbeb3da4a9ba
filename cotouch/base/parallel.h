// Runs independent pieces of offline work on all cores that the calling thread may use. Never used in the touch thread.
#pragma once

#include <cstddef>
#include <functional>

namespace cotouch {

// Calls work(begin, end) for consecutive ranges of at most `grain` that together cover [0, count).
// Asks before each range whether to go on (base/cancel.h).
// The ranges do not depend on the number of threads, so work that writes only to its own indices gives the same result
// on any machine. The first exception thrown by `work` is rethrown here after all threads have stopped.
void parallel_for(std::size_t count, std::size_t grain, const std::function<void(std::size_t, std::size_t)>& work);

}  // namespace cotouch

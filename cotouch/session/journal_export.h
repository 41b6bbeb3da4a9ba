// A journal as a recording, for replay and for the page.
#pragma once

#include <cotouch/session/journal.h>
#include <cotouch/touch/recording.h>

#include <functional>
#include <memory>

namespace cotouch {

// The newest stretch without a gap of the line that is shown, stepped again in the world it was made in; of the session
// itself what is known to be agreed. `done` is told the share that is done, and may throw. Throws Error if there are no
// ticks, or if they lead elsewhere here.
Recording recording_of(Journal& journal, const std::shared_ptr<const WorldModel>& model,
                       const std::function<void(double)>& done = nullptr);

}  // namespace cotouch

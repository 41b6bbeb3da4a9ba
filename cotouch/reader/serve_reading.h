// The reader's side of mesh/reading_wire.h: takes the task, gives up what it does not need, reads and sends.
#pragma once

#include <cotouch/reader/read_any.h>

#include <functional>

namespace cotouch {

using ReadFunction = std::function<std::vector<RawMesh>(FileBytes bytes, const std::string& extension,
                                                        const ReadSettings& settings, FurtherFiles& further)>;

// What main returns.
int serve_reading(int argc, char** argv, const ReadFunction& read);

}  // namespace cotouch

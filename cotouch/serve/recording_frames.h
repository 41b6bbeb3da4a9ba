// A recording as the page plays it.
#pragma once

#include <cotouch/session/shown_scene.h>
#include <cotouch/touch/recording.h>

#include <memory>
#include <string>

namespace cotouch {

// "CTR1", then state frames (docs/viewer-protocol.md): the recording is stepped again, cycle by cycle, in the scene it
// was made in. Takes as long as its contacts took, in proportion to its length; memory is bounded whatever that is.
// Throws Error if it was made in another scene.
std::string encode_recording(const Recording& recording, const std::shared_ptr<const ShownScene>& scene);

}  // namespace cotouch

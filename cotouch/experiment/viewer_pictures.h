// The pictures that the viewer's server hands out: thumbnails of scenes, summaries of recordings.
#pragma once

#include <cotouch/experiment/plot.h>
#include <cotouch/session/recording_store.h>
#include <cotouch/session/scene_library.h>

#include <string>
#include <vector>

namespace cotouch {

// 320 x 200 pixels, PNG.
std::string draw_thumbnail(const std::vector<FolderLibrary::Placed>& meshes);
// Force, clearance and the object's path over time.
Plot plot_summary(const RecordingSummary& summary);

}  // namespace cotouch

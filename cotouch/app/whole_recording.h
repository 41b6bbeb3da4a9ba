// Recordings that break off or are damaged: what could be read is used, and what is missing is said.
#pragma once

#include <cotouch/touch/recording.h>

#include <filesystem>

namespace cotouch {

// Throws Error if nothing of it could be read.
void check_holds_samples(const Recording& recording, const std::filesystem::path& file);
// For the end, when what could be read was used: throws Error if there was more.
void check_whole(const Recording& recording, const std::filesystem::path& file);

}  // namespace cotouch

// Files that are either whole or absent.
#pragma once

#include <filesystem>
#include <string_view>

namespace cotouch {

// Writes beside `path` and renames, so that an interrupted or failed write leaves what was there before.
void write_file(const std::filesystem::path& path, std::string_view contents);

}  // namespace cotouch

// Prepared parts kept from run to run, found again by what they were made from.
//
// The key is a hash of the mesh's content, the settings, the asset format and the source code of the rooms that prepare
// parts, so that a change to any of them simply misses. Entries are asset files in $COTOUCH_CACHE, else
// $XDG_CACHE_HOME/cotouch, else ~/.cache/cotouch. A cache that cannot be read or written costs time, never a result.
#pragma once

#include <cotouch/part/part.h>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace cotouch {

// Empty where the environment names no place.
std::filesystem::path cache_folder();

std::uint64_t cache_key(const TriangleMesh& mesh, const PartSettings& settings, const TetMesh* tets = nullptr);

// Nothing where there is no entry, or only a damaged one (which is removed).
std::optional<Part> load_cached(std::uint64_t key);
// Keeps the part, and drops the entries longest unused where the cache outgrows its limit.
void store_cached(std::uint64_t key, const Part& part) noexcept;

// From the cache, or prepared now and kept.
Part prepare_cached(const TriangleMesh& mesh, const PartSettings& settings, Progress& progress,
                    const TetMesh* tets = nullptr);

}  // namespace cotouch

// A part that tests need prepared: the first program to need it leaves it in $COTOUCH_CACHE, where others find it, also
// those of sanitizers, because all builds give the same bits. Prepared anew if that is not set, as for tests of
// preparing itself.
#pragma once

#include <cotouch/part/cache.h>

#include <cstdlib>
#include <memory>

namespace cotouch::testing_support {

inline std::shared_ptr<const Part> prepared(const TriangleMesh& mesh, const PartSettings& settings) {
  NoProgress quiet;
  return std::make_shared<const Part>(std::getenv("COTOUCH_CACHE") != nullptr ? prepare_cached(mesh, settings, quiet)
                                                                              : prepare_part(mesh, settings, quiet));
}

}  // namespace cotouch::testing_support

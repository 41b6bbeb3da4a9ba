# Headers that nearly every file includes, read once a build instead of once a file. For builds that are made whole, by
# the gate; the release build goes without, so that a file that forgets an include is noticed, and so do cross builds and
# the thread sanitizer's, because GCC 12 sees ghosts in strings that it optimises from a precompiled header.
option(COTOUCH_PRECOMPILED_HEADERS "Read common headers once" OFF)
set(COTOUCH_COMMON_HEADERS
  <algorithm> <array> <atomic> <cmath> <cstddef> <cstdint> <cstring> <filesystem> <functional> <limits> <map> <memory>
  <optional> <span> <string> <string_view> <utility> <vector>)

if(COTOUCH_PRECOMPILED_HEADERS)
  # What ccache asks for, beside CCACHE_SLOPPINESS=pch_defines,time_macros (./dev sets it).
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
                      "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# cotouch_precompile(TARGET HEADERS...): or, if OTHER has the same already, cotouch_precompile(TARGET REUSE_FROM OTHER).
function(cotouch_precompile target)
  if(COTOUCH_PRECOMPILED_HEADERS AND ARGV1 STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} REUSE_FROM ${ARGV2})
  elseif(COTOUCH_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

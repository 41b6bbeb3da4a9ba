# Headers that nearly every file includes, read once a build instead of once a file. GCC 12 sees ghosts in strings that it
# optimises from a precompiled header, so its warnings are off where it has one: not for the library's release build.
set(COTOUCH_PRECOMPILED_HEADERS "" CACHE STRING "Read common headers once: for ALL, for TESTS, or not at all")
set(COTOUCH_COMMON_HEADERS
  <algorithm> <array> <atomic> <cmath> <cstddef> <cstdint> <cstring> <filesystem> <functional> <limits> <map> <memory>
  <optional> <span> <string> <string_view> <utility> <vector>)

set(COTOUCH_NO_GHOSTS "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-restrict>")
if(COTOUCH_PRECOMPILED_HEADERS STREQUAL "ALL")
  add_compile_options("${COTOUCH_NO_GHOSTS}")
endif()

if(COTOUCH_PRECOMPILED_HEADERS)
  # What ccache asks for, beside CCACHE_SLOPPINESS=pch_defines,time_macros (./dev sets it).
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
                      "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# cotouch_precompile(TARGET HEADERS...): or, if OTHER has the same already, cotouch_precompile(TARGET REUSE_FROM OTHER).
function(cotouch_precompile target)
  if(NOT COTOUCH_PRECOMPILED_HEADERS STREQUAL "ALL" AND NOT (COTOUCH_PRECOMPILED_HEADERS STREQUAL "TESTS" AND target MATCHES "^tests_"))
    return()
  endif()
  if(ARGV1 STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} REUSE_FROM ${ARGV2})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

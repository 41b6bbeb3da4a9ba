# Headers take longer to compile than what is written here. Builds that are mostly made whole therefore compile several
# files of a room as one. That each file stands by itself is seen in the debug build (./dev lint, ./dev soak).
option(COTOUCH_FILES_TOGETHER "Compile files of a room together" OFF)
# These stay alone: each uses a short name for itself that another file of its room uses as well.
set(COTOUCH_FILES_ALONE
  elastic/dense elastic/dissection elastic/modes elastic/proxies elastic/semidefinite elastic/stvk_polynomials
  field/isosurface field/lookup field/lookup_avx2 field/lookup_neon field/lookup_sse2 field/soup field/space mesh/winding
  net/udp_relay serve/door serve/feed serve/http_server serve/viewer_command session/scene_file_parse session/session
  session/session_reimport session/session_sharing session/shared_peer session/shared_peer_membership
  session/state_difference session/tick_record touch/loop)

# What another file has for itself is not in the way, and what is nobody else's looks as if it were in a header.
function(cotouch_allow_together target)
  target_compile_options(${target} PRIVATE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# cotouch_compile_together(TARGET FILES...): eight files of a room at a time.
function(cotouch_compile_together target)
  if(NOT COTOUCH_FILES_TOGETHER)
    return()
  endif()
  foreach(file IN LISTS ARGN)
    if(NOT file MATCHES "^cotouch/(([a-z]+)/[a-z0-9_/]+)\\.cpp$" OR CMAKE_MATCH_1 IN_LIST COTOUCH_FILES_ALONE)
      continue()
    endif()
    set(room ${CMAKE_MATCH_2})
    if(NOT DEFINED count_${room})
      set(count_${room} 0)
    endif()
    math(EXPR group "${count_${room}} / 8")
    math(EXPR count_${room} "${count_${room}} + 1")
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${room}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  cotouch_allow_together(${target})
endfunction()

# cotouch_compile_in_batches(TARGET SIZE): the same where it does not matter which files come together.
function(cotouch_compile_in_batches target size)
  if(COTOUCH_FILES_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
    cotouch_allow_together(${target})
  endif()
endfunction()

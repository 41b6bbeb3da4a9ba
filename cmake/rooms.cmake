# The library, made of rooms in the order in which they may include each other. Five targets, so that a program links no
# more than it uses, and `cotouch`, which brings all of them:
#   cotouch::core     preparing and touching; needs nothing but threads
#   cotouch::reading  mesh files, by way of the program cotouch-read-mesh (which alone needs assimp, zlib and expat)
#   cotouch::net      datagrams between peers: encryption, invitations, links that lose and delay (libsodium, Boost)
#   cotouch::session  a running world and the people in it, scene files, recordings (toml++, JSON, SQLite, meshoptimizer)
#   cotouch::serve    HTTP and WebSocket for the viewer (Boost, OpenSSL)
set(COTOUCH_CORE_ROOMS base mesh shapes field shell elastic contact world touch)
set(COTOUCH_ROOMS ${COTOUCH_CORE_ROOMS} net session serve)
set(COTOUCH_READING_FILES cotouch/mesh/import.cpp cotouch/mesh/reader_process.cpp)

# Headers take longer to compile than what is written here. Builds that are mostly made whole therefore compile several
# files of a room as one. That each file stands by itself is seen in the debug build (./dev lint, ./dev soak). These do here
# too, because each uses a short name for itself that another file of its room uses as well.
option(COTOUCH_FILES_TOGETHER "Compile files of a room together" OFF)
set(COTOUCH_FILES_ALONE
  elastic/dense elastic/dissection elastic/modes elastic/proxies elastic/semidefinite elastic/stvk_polynomials
  field/isosurface field/lookup field/lookup_avx2 field/lookup_neon field/lookup_sse2 field/soup field/space mesh/winding
  net/udp_relay serve/door serve/feed serve/http_server serve/viewer_command session/scene_file_parse session/session
  session/session_reimport session/session_sharing session/shared_peer session/shared_peer_membership
  session/state_difference session/tick_record touch/loop)
# These take what strangers send, in rooms that otherwise compute: fuzz/not_traced.txt must tell them apart.
set(COTOUCH_FILES_THAT_READ
  contact/asset contact/asset_elastic elastic/anchor elastic/bundle elastic/elastic_model elastic/embedding
  elastic/read_msh elastic/read_tetgen elastic/read_tets elastic/tet_faces elastic/tet_file elastic/tet_mesh field/field
  shell/shell)
# cotouch_meets_threads(OUT FILE): whether other threads may meet it: rooms with threads, and files that compute in parallel.
function(cotouch_meets_threads out file)
  file(STRINGS ${PROJECT_SOURCE_DIR}/${file} meets REGEX "parallel\\.h|field/stage\\.h|channel\\.h|<(atomic|mutex|thread)>")
  if(meets OR NOT file MATCHES "^cotouch/(mesh|shapes|field|shell|elastic|contact|world)/")
    set(${out} TRUE PARENT_SCOPE)
  else()
    set(${out} FALSE PARENT_SCOPE)
  endif()
endfunction()
function(cotouch_compile_together target)
  set(count_computing 0)
  set(count_threads 0)
  foreach(file IN LISTS ARGN)
    if(file MATCHES "^cotouch/(([a-z]+)/[a-z0-9_]+)\\.cpp$" AND NOT CMAKE_MATCH_1 IN_LIST COTOUCH_FILES_ALONE)
      set(name ${CMAKE_MATCH_1})
      set(room ${CMAKE_MATCH_2})
      # Not with what only computes: the thread sanitizer's build takes that from the release build, and compiles these.
      cotouch_meets_threads(meets ${file})
      if(meets)
        set(kind threads)
      else()
        set(kind computing)
      endif()
      if(name IN_LIST COTOUCH_FILES_THAT_READ)
        set(group reading)
      else()
        math(EXPR group "${count_${kind}} / 8")
        math(EXPR count_${kind} "${count_${kind}} + 1")
      endif()
      set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${room}_${group}_${kind})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  cotouch_allow_together(${target})
endfunction()
# What another file has for itself is not in the way, and what is nobody else's looks as if it were in a header.
function(cotouch_allow_together target)
  target_compile_options(${target} PRIVATE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
# cotouch_compile_in_batches(TARGET SIZE): the same where it does not matter which files come together.
function(cotouch_compile_in_batches target size)
  if(COTOUCH_FILES_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
    cotouch_allow_together(${target})
  endif()
endfunction()

# cotouch_add_library(NAME SOURCES...): the target cotouch_NAME, known as cotouch::NAME here and once installed.
function(cotouch_add_library name)
  if(ARGN)
    add_library(cotouch_${name} ${ARGN})
    if(COTOUCH_FILES_TOGETHER)
      cotouch_compile_together(cotouch_${name} ${ARGN})
    endif()
  else()
    add_library(cotouch_${name} INTERFACE)  # a room without sources
  endif()
  add_library(cotouch::${name} ALIAS cotouch_${name})
  set_target_properties(cotouch_${name} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY COTOUCH_COMPONENTS ${name})
endfunction()

# For what mostly waits for people and networks: the last optimisations take up to a fifth of its compilation.
function(cotouch_optimise_less name)
  target_compile_options(cotouch_${name} PRIVATE $<$<CONFIG:Release>:-O2>)
endfunction()

# cotouch_link(TARGET LINK): a symbolic link in the build, also to what is not built yet.
function(cotouch_link target link)
  get_filename_component(folder ${link} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${target} ${link} SYMBOLIC)
endfunction()

# Links what is needed to build a library's sources and nothing to use it: libraries that are headers only.
function(cotouch_build_with name)
  get_target_property(type cotouch_${name} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    foreach(library IN LISTS ARGN)
      target_link_libraries(cotouch_${name} PRIVATE $<BUILD_INTERFACE:${library}>)
    endforeach()
  endif()
endfunction()

# Links the libraries that users of this one get as well.
function(cotouch_bring name)
  get_target_property(type cotouch_${name} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_link_libraries(cotouch_${name} INTERFACE ${ARGN})
  else()
    target_link_libraries(cotouch_${name} PUBLIC ${ARGN})
  endif()
endfunction()

find_package(Threads REQUIRED)
list(TRANSFORM COTOUCH_CORE_ROOMS REPLACE "(.+)" "cotouch/\\1/*.cpp" OUTPUT_VARIABLE patterns)
file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${patterns})
list(REMOVE_ITEM sources ${COTOUCH_READING_FILES})
if(COTOUCH_COMPUTING_FROM)
  foreach(file IN LISTS sources)
    cotouch_meets_threads(meets ${file})
    if(NOT meets)
      list(REMOVE_ITEM sources ${file})
    endif()
  endforeach()
endif()
cotouch_add_library(core ${sources})
if(COTOUCH_COMPUTING_FROM)
  set(computing ${COTOUCH_COMPUTING_FROM}/libcotouch_core.a)
  if(NOT EXISTS ${computing})
    message(FATAL_ERROR "Build the release preset first: what only computes is taken from ${COTOUCH_COMPUTING_FROM}.")
  endif()
  # All of ours before any of theirs: theirs has these files as well.
  target_link_options(cotouch_core INTERFACE LINKER:--whole-archive $<TARGET_FILE:cotouch_core> LINKER:--no-whole-archive)
  target_link_libraries(cotouch_core INTERFACE ${computing})
endif()
cotouch_bring(core Threads::Threads)
target_include_directories(cotouch_core PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
target_compile_features(cotouch_core PUBLIC cxx_std_20)
# What headers compute must be the same bits in a user's program too.
target_compile_options(cotouch_core PUBLIC -ffp-contract=off)
cotouch_precompile(cotouch_core ${COTOUCH_COMMON_HEADERS} <cotouch/base/error.h> <cotouch/base/pose.h>)
if(CMAKE_CXX_FLAGS MATCHES "fsanitize=.*undefined" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # With its checks even a dot product seems too long to be inlined: what computes took more than twice as long.
  target_compile_options(cotouch_core PRIVATE "SHELL:-mllvm -inline-threshold=1000")
endif()

# The process that takes the force off devices when another has died. It needs nothing of ours.
add_executable(cotouch_guard cotouch/guard/cotouch_guard.cpp)
set_target_properties(cotouch_guard PROPERTIES OUTPUT_NAME cotouch-guard)

if(NOT COTOUCH_CORE_ONLY)
  include(GNUInstallDirs)
  cotouch_add_library(reading ${COTOUCH_READING_FILES})
  cotouch_bring(reading cotouch_core)
  # Programs find the reader beside themselves. In a build it is elsewhere, so that links lie there: what is built must not
  # know where it was built, because it is installed and moved as it is.
  set(build_of_reader ${PROJECT_BINARY_DIR})
  if(COTOUCH_COMPUTING_FROM)
    set(build_of_reader ${COTOUCH_COMPUTING_FROM})
  endif()
  foreach(folder cotouch/app tests benchmarks fuzz)
    cotouch_link(${build_of_reader}/cotouch/reader/cotouch-read-mesh ${PROJECT_BINARY_DIR}/${folder}/cotouch-read-mesh)
  endforeach()
  # The program. All but main.cpp is a library of its own, so that tests and fuzzers can reach it.
  add_subdirectory(cotouch/reader)
  # Programs do not link it, but they cannot read without it. It has one thread.
  if(NOT COTOUCH_COMPUTING_FROM)
    add_dependencies(cotouch_reading cotouch_read_mesh)
  endif()

  find_package(nlohmann_json REQUIRED)
  # Its headers alone: the package of some systems insists on a shared library.
  find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
  add_library(cotouch_toml INTERFACE)
  target_include_directories(cotouch_toml SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE})
  find_package(Boost REQUIRED)
  find_library(SODIUM sodium REQUIRED)
  find_library(SQLITE sqlite3 REQUIRED)
  find_library(OPENSSL_SSL ssl REQUIRED)
  find_library(MESHOPTIMIZER meshoptimizer REQUIRED)

  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} cotouch/net/*.cpp)
  cotouch_add_library(net ${sources})
  cotouch_optimise_less(net)
  cotouch_bring(net cotouch_core)
  cotouch_build_with(net Boost::headers cotouch_toml)
  target_link_libraries(cotouch_net PRIVATE sodium)
  cotouch_precompile(cotouch_net REUSE_FROM cotouch_core)

  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} cotouch/session/*.cpp)
  cotouch_add_library(session ${sources})
  cotouch_optimise_less(session)
  cotouch_bring(session cotouch_reading cotouch_net)
  target_link_libraries(cotouch_session PRIVATE meshoptimizer sqlite3)
  cotouch_build_with(session nlohmann_json::nlohmann_json cotouch_toml)
  cotouch_precompile(cotouch_session REUSE_FROM cotouch_core)

  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} cotouch/serve/*.cpp)
  cotouch_add_library(serve ${sources})
  cotouch_optimise_less(serve)
  cotouch_bring(serve cotouch_session)
  cotouch_build_with(serve Boost::headers nlohmann_json::nlohmann_json cotouch_toml)
  target_link_libraries(cotouch_serve PRIVATE ssl crypto)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    cotouch_precompile(cotouch_serve ${COTOUCH_COMMON_HEADERS} <boost/beast/http.hpp> <boost/beast/ssl/ssl_stream.hpp>
                       <boost/beast/websocket/stream.hpp> <nlohmann/json.hpp>)
  else()
    cotouch_precompile(cotouch_serve REUSE_FROM cotouch_core)  # GCC gains nothing from one with Boost
  endif()
endif()

get_property(COTOUCH_COMPONENTS GLOBAL PROPERTY COTOUCH_COMPONENTS)
add_library(cotouch INTERFACE)
add_library(cotouch::cotouch ALIAS cotouch)
list(TRANSFORM COTOUCH_COMPONENTS PREPEND cotouch_ OUTPUT_VARIABLE COTOUCH_TARGETS)
target_link_libraries(cotouch INTERFACE ${COTOUCH_TARGETS})

# The cache of prepared parts must miss when the code that prepares them changes. `shapes` is left out on purpose: the
# cache looks at the content of a mesh, so a built-in shape that changes makes only its own parts be prepared again.
set(preparation)
foreach(room base mesh field shell elastic)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cotouch/${room}/*.h ${PROJECT_SOURCE_DIR}/cotouch/${room}/*.cpp)
  list(APPEND preparation ${files})
endforeach()
list(APPEND preparation ${PROJECT_SOURCE_DIR}/cotouch/contact/part.h ${PROJECT_SOURCE_DIR}/cotouch/contact/part.cpp)
set(preparation_header ${PROJECT_BINARY_DIR}/generated/cotouch/contact/preparation_version.h)
add_custom_command(
  OUTPUT ${preparation_header}
  COMMAND ${CMAKE_COMMAND} "-DSOURCES=${preparation}" -DHEADER=${preparation_header}
          -P ${PROJECT_SOURCE_DIR}/cmake/preparation_version.cmake
  DEPENDS ${preparation} ${PROJECT_SOURCE_DIR}/cmake/preparation_version.cmake
  COMMENT "Naming this version of the preparation" VERBATIM)
add_custom_target(preparation_header DEPENDS ${preparation_header})
target_sources(cotouch_core PRIVATE ${preparation_header})
target_include_directories(cotouch_core PRIVATE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>)

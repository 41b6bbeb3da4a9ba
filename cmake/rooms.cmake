# The library, made of rooms in the order in which they may include each other. Five targets, so that a program links no
# more than it uses, and `cotouch`, which brings all of them:
#   cotouch::core     preparing and touching; needs nothing but threads
#   cotouch::reading  mesh files, by way of the program cotouch-read-mesh (which alone needs assimp, minizip and expat)
#   cotouch::net      datagrams between peers: encryption, invitations, links that lose and delay (libsodium, Boost)
#   cotouch::session  a running world and the people in it, scene files, recordings (toml++, JSON, SQLite, meshoptimizer)
#   cotouch::serve    HTTP and WebSocket for the viewer (Boost, OpenSSL)
set(COTOUCH_COMPUTING_ROOMS mesh shapes field shell elastic part contact world)
set(COTOUCH_CORE_ROOMS base ${COTOUCH_COMPUTING_ROOMS} device touch)
set(COTOUCH_ROOMS ${COTOUCH_CORE_ROOMS} net session serve)
set(COTOUCH_READING_FILES cotouch/mesh/import.cpp cotouch/mesh/reader_process.cpp)

# Rooms that compute have one thread and are given what was checked before; there sanitizers would find nothing that the
# files below do not show as well. So what only computes is a library of its own inside of cotouch_core, which the thread
# sanitizer's build takes from the release build and in which fuzzers look for no new ways.
# These share their work among threads (a test in tests/project finds those that are missing),
set(COTOUCH_PARALLEL_FILES
  mesh/winding field/assemble field/build field/caps field/sides field/space field/walls shell/level_set shell/sampling
  shell/spacing shell/tree elastic/embedding elastic/prepare_elastic elastic/stuffing)
# and these take what strangers wrote.
set(COTOUCH_FILES_FROM_STRANGERS
  part/asset part/asset_elastic part/asset_reader elastic/anchor elastic/bundle elastic/elastic_model elastic/read_msh
  elastic/read_tetgen elastic/read_tets elastic/tet_faces elastic/tet_file elastic/tet_mesh field/field shell/shell)

include(cmake/together.cmake)

# cotouch_add_library(NAME SOURCES...): the target cotouch_NAME, known as cotouch::NAME here and once installed.
function(cotouch_add_library name)
  if(ARGN)
    add_library(cotouch_${name} ${ARGN})
    cotouch_compile_together(cotouch_${name} ${ARGN})
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
# cotouch_sources(OUT ROOMS...): the files of rooms; engines of contact have a folder each.
function(cotouch_sources out)
  list(TRANSFORM ARGN REPLACE "(.+)" "cotouch/\\1/*.cpp" OUTPUT_VARIABLE patterns)
  if("contact" IN_LIST ARGN)
    list(APPEND patterns cotouch/contact/*/*.cpp)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${patterns})
  list(REMOVE_ITEM sources ${COTOUCH_READING_FILES})
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
list(TRANSFORM COTOUCH_PARALLEL_FILES REPLACE "(.+)" "cotouch/\\1.cpp" OUTPUT_VARIABLE parallel)
list(TRANSFORM COTOUCH_FILES_FROM_STRANGERS REPLACE "(.+)" "cotouch/\\1.cpp" OUTPUT_VARIABLE from_strangers)
cotouch_sources(computing ${COTOUCH_COMPUTING_ROOMS})
list(REMOVE_ITEM computing ${parallel} ${from_strangers})
cotouch_sources(others base device touch)

# cotouch_core is one library for those who link it, made of three: objects of the first two are put into it.
set(inner_libraries cotouch_parallel)
add_library(cotouch_parallel OBJECT ${parallel})
if(COTOUCH_COMPUTING_FROM)
  add_library(cotouch_computing STATIC IMPORTED)
  set_target_properties(cotouch_computing PROPERTIES
    IMPORTED_LOCATION ${COTOUCH_COMPUTING_FROM}/libcotouch_computing.a
    INTERFACE_LINK_LIBRARIES cotouch_core)  # each needs the other
  if(NOT EXISTS ${COTOUCH_COMPUTING_FROM}/libcotouch_computing.a)
    message(FATAL_ERROR "Build the release preset first: what only computes is taken from ${COTOUCH_COMPUTING_FROM}.")
  endif()
  cotouch_add_library(core ${others} ${from_strangers} $<TARGET_OBJECTS:cotouch_parallel>)
  target_link_libraries(cotouch_core INTERFACE $<BUILD_INTERFACE:cotouch_computing>)
else()
  add_library(cotouch_computing STATIC ${computing})
  list(APPEND inner_libraries cotouch_computing)
  cotouch_add_library(core ${others} ${from_strangers} $<TARGET_OBJECTS:cotouch_parallel>
                      $<TARGET_OBJECTS:cotouch_computing>)
  cotouch_compile_together(cotouch_computing ${computing})
  cotouch_precompile(cotouch_computing REUSE_FROM cotouch_parallel)
endif()
cotouch_compile_together(cotouch_parallel ${parallel})
cotouch_bring(core Threads::Threads ${CMAKE_DL_LIBS})
foreach(target cotouch_core cotouch_parallel)
  cotouch_precompile(${target} ${COTOUCH_COMMON_HEADERS} <cotouch/base/error.h> <cotouch/base/pose.h>)
endforeach()
foreach(target cotouch_core ${inner_libraries})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # What headers compute must be the same bits in a user's program too.
  target_compile_options(${target} PUBLIC -ffp-contract=off)
  if(CMAKE_CXX_FLAGS MATCHES "fsanitize=.*undefined" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # With its checks even a dot product seems too long to be inlined: what computes took more than twice as long.
    target_compile_options(${target} PRIVATE "SHELL:-mllvm -inline-threshold=1000")
  endif()
endforeach()
foreach(target ${inner_libraries})
  if(CMAKE_CXX_FLAGS MATCHES "fsanitize=fuzzer-no-link")
    target_compile_options(${target} PRIVATE -fno-sanitize=fuzzer-no-link)  # traced, it takes half as long again
  endif()
endforeach()

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
  # Half of its compilation is optimising Boost.Beast. Fuzzers want it fast, and to see what is left of it.
  if(CMAKE_CXX_FLAGS MATCHES "fsanitize=thread")
    target_compile_options(cotouch_serve PRIVATE -O0)
  endif()
  cotouch_bring(serve cotouch_session)
  cotouch_build_with(serve Boost::headers nlohmann_json::nlohmann_json cotouch_toml)
  target_link_libraries(cotouch_serve PRIVATE ssl crypto)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    cotouch_precompile(cotouch_serve ${COTOUCH_COMMON_HEADERS} <boost/beast/http.hpp> <boost/beast/ssl/ssl_stream.hpp>
                       <boost/beast/websocket/stream.hpp> <nlohmann/json.hpp>)
  elseif(CMAKE_CXX_FLAGS MATCHES "fsanitize=thread")
    cotouch_precompile(cotouch_serve ${COTOUCH_COMMON_HEADERS})
  else()
    cotouch_precompile(cotouch_serve REUSE_FROM cotouch_core)  # GCC gains nothing from one with Boost
  endif()
endif()

get_property(COTOUCH_COMPONENTS GLOBAL PROPERTY COTOUCH_COMPONENTS)
add_library(cotouch INTERFACE)
add_library(cotouch::cotouch ALIAS cotouch)
list(TRANSFORM COTOUCH_COMPONENTS PREPEND cotouch_ OUTPUT_VARIABLE COTOUCH_TARGETS)
target_link_libraries(cotouch INTERFACE ${COTOUCH_TARGETS})

# The cache of prepared parts must miss when the code that prepares them changes, whichever engine needs it: all that
# prepare_part may use is in these rooms. `shapes` is left out on purpose: the cache looks at the content of a mesh, so a
# built-in shape that changes makes only its own parts be prepared again.
set(preparation)
foreach(room base mesh field shell elastic part)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cotouch/${room}/*.h
       ${PROJECT_SOURCE_DIR}/cotouch/${room}/*.cpp)
  list(APPEND preparation ${files})
endforeach()
set(preparation_header ${PROJECT_BINARY_DIR}/generated/cotouch/part/preparation_version.h)
add_custom_command(
  OUTPUT ${preparation_header}
  COMMAND ${CMAKE_COMMAND} "-DSOURCES=${preparation}" -DHEADER=${preparation_header}
          -P ${PROJECT_SOURCE_DIR}/cmake/preparation_version.cmake
  DEPENDS ${preparation} ${PROJECT_SOURCE_DIR}/cmake/preparation_version.cmake
  COMMENT "Naming this version of the preparation" VERBATIM)
add_custom_target(preparation_header DEPENDS ${preparation_header})
if(NOT COTOUCH_COMPUTING_FROM)  # part/cache.cpp includes it
  target_sources(cotouch_computing PRIVATE ${preparation_header})
  target_include_directories(cotouch_computing PRIVATE ${PROJECT_BINARY_DIR}/generated)
endif()

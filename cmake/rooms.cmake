# The library: one target made of the rooms, in the order in which they may include each other.
# A file that needs a library beyond the compiler's own is listed in COTOUCH_LIBRARY_FILES and left out of core builds.
set(COTOUCH_ROOMS base mesh shapes field shell contact world touch serve)
set(COTOUCH_LIBRARY_FILES cotouch/mesh/import.cpp cotouch/mesh/read_scene.cpp)

add_library(cotouch)
add_library(cotouch::cotouch ALIAS cotouch)
foreach(room IN LISTS COTOUCH_ROOMS)
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} cotouch/${room}/*.cpp)
  if(COTOUCH_CORE_ONLY AND room STREQUAL "serve")
    continue()  # needs Boost, toml++ and JSON throughout
  endif()
  if(COTOUCH_CORE_ONLY)
    list(REMOVE_ITEM sources ${COTOUCH_LIBRARY_FILES})
  endif()
  target_sources(cotouch PRIVATE ${sources})
endforeach()
target_include_directories(cotouch PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
target_compile_features(cotouch PUBLIC cxx_std_20)
# What headers compute must be the same bits in a user's program too.
target_compile_options(cotouch PUBLIC -ffp-contract=off)
find_package(Threads REQUIRED)
target_link_libraries(cotouch PUBLIC Threads::Threads)
if(NOT COTOUCH_CORE_ONLY)
  find_package(assimp REQUIRED)
  target_link_libraries(cotouch PRIVATE assimp::assimp)
endif()

# The cache of prepared parts must miss when the code that prepares them changes. `shapes` is left out on purpose: the
# cache looks at the content of a mesh, so a built-in shape that changes makes only its own parts be prepared again.
set(preparation)
foreach(room base mesh field shell)
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
target_sources(cotouch PRIVATE ${preparation_header})
target_include_directories(cotouch PRIVATE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>)

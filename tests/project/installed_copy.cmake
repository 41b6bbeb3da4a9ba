# Installs the built library into a folder of its own and builds and runs the examples against it, outside the tree.
# Usage: cmake -DBUILD=<build folder> -DSOURCE=<repository> -DCOMPILER=<c++> -P installed_copy.cmake
cmake_minimum_required(VERSION 3.25)
set(work ${BUILD}/installed-copy)
file(REMOVE_RECURSE ${work})
file(COPY ${SOURCE}/examples DESTINATION ${work})

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
run(${CMAKE_COMMAND} -S ${work}/examples -B ${work}/build -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${work}/prefix)
run(${CMAKE_COMMAND} --build ${work}/build)
run(${work}/build/hello_touch)
if(NOT output MATCHES "force +[0-9]*[1-9][0-9.]* N" AND NOT output MATCHES "force +0[.][0-9]*[1-9]")
  message(FATAL_ERROR "hello_touch printed no force:\n${output}")
endif()
run(${work}/build/hello_world)
if(NOT output MATCHES "the same, bit for bit")
  message(FATAL_ERROR "hello_world did not live the same second twice:\n${output}")
endif()
run(${work}/build/hello_touch)
message("${output}")
set(felt "${output}")

# The core asks for no other library: the same example, where nothing else can be found.
file(WRITE ${work}/core/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(core_alone LANGUAGES CXX)
find_package(cotouch REQUIRED COMPONENTS core)
add_executable(hello_touch ../examples/hello_touch.cpp)
target_link_libraries(hello_touch PRIVATE cotouch::core)
")
set(others "")
foreach(package assimp Boost nlohmann_json tomlplusplus)
  list(APPEND others -DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
endforeach()
run(${CMAKE_COMMAND} -S ${work}/core -B ${work}/build-core -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${work}/prefix ${others})
run(${CMAKE_COMMAND} --build ${work}/build-core)
run(${work}/build-core/hello_touch)
if(NOT output STREQUAL felt)
  message(FATAL_ERROR "hello_touch feels something else with the core alone:\n${output}")
endif()

# The installed command must find its way without the source tree.
run(${work}/prefix/bin/cotouch --version)

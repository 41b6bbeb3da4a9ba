# Installs the built library into a folder of its own, moves that, and builds and runs the examples against it. All of it is
# in a temporary folder, from which no way leads to the build or the sources.
# Usage: cmake -DBUILD=<build folder> -DSOURCE=<repository> -DCOMPILER=<c++> -P installed_copy.cmake
cmake_minimum_required(VERSION 3.25)
if(NOT WORK)
  # In a process of its own, however that ends, so that nothing is left.
  execute_process(COMMAND mktemp -d -t cotouch-installed-XXXXXX OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  file(REAL_PATH ${folder} folder)
  foreach(here ${SOURCE} ${BUILD})
    file(REAL_PATH ${here} here)
    cmake_path(IS_PREFIX here ${folder} NORMALIZE inside)
    if(inside)
      message(FATAL_ERROR "${folder} is in ${here}; set TMPDIR to a folder that is not.")
    endif()
  endforeach()
  execute_process(COMMAND ${CMAKE_COMMAND} -DBUILD=${BUILD} -DSOURCE=${SOURCE} -DCOMPILER=${COMPILER} -DWORK=${folder}
                          -P ${CMAKE_CURRENT_LIST_FILE} RESULT_VARIABLE status)
  file(REMOVE_RECURSE ${folder})
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "The installed copy is not as it should be.")
  endif()
  return()
endif()
set(work ${WORK})
file(COPY ${SOURCE}/examples DESTINATION ${work})

# Examples and headers seldom change from one run to the next.
find_program(CCACHE ccache)
set(compiler -DCMAKE_CXX_COMPILER=${COMPILER})
if(CCACHE)
  list(APPEND compiler -DCMAKE_CXX_COMPILER_LAUNCHER=${CCACHE})
  set(ENV{CCACHE_BASEDIR} ${work})
endif()

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/elsewhere)
# Nothing that is installed knows where it was built, nor where it was installed to.
file(REAL_PATH ${SOURCE} real_source)
file(REAL_PATH ${BUILD} real_build)
execute_process(COMMAND grep -rlF -e ${SOURCE}/ -e ${BUILD} -e ${real_source}/ -e ${real_build} ${work}/elsewhere
                OUTPUT_VARIABLE tied RESULT_VARIABLE status)
if(NOT status EQUAL 1)  # 1: grep found nothing, and could read all
  message(FATAL_ERROR "These carry the path of the build or the sources:\n${tied}")
endif()
file(RENAME ${work}/elsewhere ${work}/prefix)
run(${CMAKE_COMMAND} -S ${work}/examples -B ${work}/build -G Ninja ${compiler}
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
run(${work}/build/hello_bending)
if(NOT output MATCHES "at most [0-9] % apart" OR NOT output MATCHES "straight again")
  message(FATAL_ERROR "hello_bending did not bend and come back as a beam does:\n${output}")
endif()
run(${work}/build/hello_session)
if(NOT output MATCHES "force +[0-9]*[1-9][0-9.]* N" AND NOT output MATCHES "force +0[.][0-9]*[1-9]")
  message(FATAL_ERROR "hello_session printed no force:\n${output}")
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
run(${CMAKE_COMMAND} -S ${work}/core -B ${work}/build-core -G Ninja ${compiler}
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${work}/prefix ${others})
run(${CMAKE_COMMAND} --build ${work}/build-core)
run(${work}/build-core/hello_touch)
if(NOT output STREQUAL felt)
  message(FATAL_ERROR "hello_touch feels something else with the core alone:\n${output}")
endif()

# The installed command must find its way without the source tree, and its page if one was built.
run(${work}/prefix/bin/cotouch --version)
run(${work}/prefix/bin/cotouch play --help)
if(EXISTS ${work}/prefix/share/cotouch/web/index.html)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env XDG_STATE_HOME=${work}/state ${work}/prefix/bin/cotouch play none --port 0
                  ERROR_VARIABLE output OUTPUT_QUIET)
  if(NOT output MATCHES "There is no scene 'none'")
    message(FATAL_ERROR "The installed cotouch does not get as far as to look for a scene:\n${output}")
  endif()
endif()

# It finds the simulated device beside itself, and the smallest plug-in where it is told to look.
run(${CMAKE_COMMAND} -E env COTOUCH_DEVICES=${work}/build XDG_DATA_HOME=${work}/nothing ${work}/prefix/bin/cotouch devices --json)
if(NOT output MATCHES "\"name\": \"circle\"" OR NOT output MATCHES "\"name\": \"simulated\"" OR output MATCHES "\"refused\"")
  message(FATAL_ERROR "The installed cotouch does not find its devices:\n${output}")
endif()
run(${CMAKE_COMMAND} -E env COTOUCH_DEVICES=${work}/build ${work}/prefix/bin/cotouch devices --try circle --seconds 1)
if(NOT output MATCHES "the last was 0.00 N")
  message(FATAL_ERROR "The installed cotouch did not try a device:\n${output}")
endif()

# Nothing tells it which devices to guard.
execute_process(COMMAND ${work}/prefix/bin/cotouch-guard RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 64)
  message(FATAL_ERROR "The installed cotouch-guard ends with ${status} where it should say with 64 that it is used wrongly:\n${output}")
endif()

# The program that reads meshes must be found like that, too: the one beside it is used and no other.
file(WRITE ${work}/part.obj "v 0 0 0\nv 20 0 0\nv 0 20 0\nv 0 0 20\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
set(prepare ${work}/prefix/bin/cotouch prepare ${work}/part.obj -o ${work}/part.cot --resolution 16 --points 64 --no-cache)
run(${prepare})
if(NOT output MATCHES "20 across; read as mm because")
  message(FATAL_ERROR "cotouch prepare did not say which unit it guessed:\n${output}")
endif()

# And a program of somebody else finds it where it was installed to, though it lies elsewhere itself.
file(WRITE ${work}/reading/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(reading LANGUAGES CXX)
find_package(cotouch REQUIRED COMPONENTS reading)
add_executable(count_triangles count_triangles.cpp)
target_link_libraries(count_triangles PRIVATE cotouch::reading)
")
file(WRITE ${work}/reading/count_triangles.cpp "#include <cotouch/mesh/import.h>
#include <cstdio>
int main(int, char** argv) {
  try {
    std::printf(\"%zu triangles\\n\", cotouch::load_mesh(argv[1]).mesh.triangles.size());
  } catch (const std::exception& error) {
    std::printf(\"%s\\n\", error.what());
  }
}
")
run(${CMAKE_COMMAND} -S ${work}/reading -B ${work}/build-reading -G Ninja ${compiler}
    -DCMAKE_PREFIX_PATH=${work}/prefix)
run(${CMAKE_COMMAND} --build ${work}/build-reading)
set(without_path ${CMAKE_COMMAND} -E env PATH=/nowhere)
set(count ${without_path} ${work}/build-reading/count_triangles ${work}/part.obj)
run(${count})
if(NOT output MATCHES "4 triangles")
  message(FATAL_ERROR "A program built with the installed library does not find its reader:\n${output}")
endif()

# Without it there is none, though the build that they came from has one.
file(RENAME ${work}/prefix/bin/cotouch-read-mesh ${work}/reader-kept-away)
run(${count})
if(NOT output MATCHES "neither beside this one nor in PATH")
  message(FATAL_ERROR "A program built with the installed library reads with the reader of the build:\n${output}")
endif()
execute_process(COMMAND ${without_path} ${prepare} RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE output)
if(status EQUAL 0 OR NOT output MATCHES "neither beside this one nor in PATH")
  message(FATAL_ERROR "The installed cotouch reads with the reader of the build:\n${output}")
endif()
file(CREATE_LINK /bin/false ${work}/prefix/bin/cotouch-read-mesh SYMBOLIC)
execute_process(COMMAND ${prepare} RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
if(status EQUAL 0)
  message(FATAL_ERROR "The installed cotouch does not use the reader that is installed beside it")
endif()

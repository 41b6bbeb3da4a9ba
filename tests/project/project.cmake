# Tests about the project itself.
add_test(NAME rooms_include_only_rooms_before_them
         COMMAND ${CMAKE_COMMAND} "-DROOMS=${COTOUCH_ROOMS};guard;reader;experiment;app" -DSOURCE=${PROJECT_SOURCE_DIR}
                 -P ${CMAKE_CURRENT_LIST_DIR}/room_order.cmake)
add_test(NAME public_headers_exist
         COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -P ${CMAKE_CURRENT_LIST_DIR}/public_headers.cmake)
add_test(NAME dev_counts_what_passed_failed_and_was_skipped
         COMMAND ${CMAKE_CURRENT_LIST_DIR}/dev_reports.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/dev-reports)
find_program(NODE node)
if(NODE)
  add_test(NAME wire_layout_is_generated_from_its_description
           COMMAND ${NODE} ${PROJECT_SOURCE_DIR}/scripts/generate_wire.mjs --check)
  set_tests_properties(wire_layout_is_generated_from_its_description PROPERTIES LABELS serve)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/examples/CMakeLists.txt)
  add_test(NAME installed_copy_builds_the_example
           COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR}
                   -DCOMPILER=${CMAKE_CXX_COMPILER} -P ${CMAKE_CURRENT_LIST_DIR}/installed_copy.cmake)
  set_tests_properties(installed_copy_builds_the_example PROPERTIES LABELS installed TIMEOUT 300)
endif()
# What is listed by hand in cmake/rooms.cmake and tests/CMakeLists.txt must not fall behind.
add_test(NAME files_with_threads_are_listed
         COMMAND ${CMAKE_COMMAND} "-DROOMS=${COTOUCH_COMPUTING_ROOMS}" "-DPARALLEL=${COTOUCH_PARALLEL_FILES}"
                 "-DTESTED_ROOMS=${threaded_rooms}" "-DTESTS=${threaded_tests}" -DSOURCE=${PROJECT_SOURCE_DIR}
                 -P ${CMAKE_CURRENT_LIST_DIR}/files_with_threads.cmake)

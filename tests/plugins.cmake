# Tests of plug-ins for devices find them where programs in a build do (plugins/CMakeLists.txt).
foreach(room device touch session serve app experiment)
  if(TARGET test_${room})
    add_dependencies(test_${room} cotouch_devices_for_tests cotouch_guard)
  endif()
endforeach()
add_test(NAME device_interface_compiles_as_c
         COMMAND ${CMAKE_CXX_COMPILER} -x c -std=c11 -Wall -Wextra -pedantic -Werror -fsyntax-only
                 ${PROJECT_SOURCE_DIR}/cotouch/device/plugin_abi.h)
set_tests_properties(device_interface_compiles_as_c PROPERTIES LABELS device)

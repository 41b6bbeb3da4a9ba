# `cmake --install` puts the library, its headers and the `cotouch` command where find_package(cotouch) finds them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS cotouch ${COTOUCH_TARGETS} EXPORT cotouch)
install(DIRECTORY cotouch/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cotouch FILES_MATCHING PATTERN "*.h"
        PATTERN app EXCLUDE PATTERN experiment EXCLUDE PATTERN reader EXCLUDE)
install(TARGETS cotouch_guard)
if(TARGET cotouch_app)
  install(TARGETS cotouch_app cotouch_read_mesh)  # beside each other
endif()

set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/cotouch)
install(EXPORT cotouch NAMESPACE cotouch:: FILE cotouch-targets.cmake DESTINATION ${folder})
configure_package_config_file(cmake/cotouch-config.cmake.in cotouch-config.cmake INSTALL_DESTINATION ${folder}
                              NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(cotouch-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cotouch-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/cotouch-config-version.cmake
        DESTINATION ${folder})
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

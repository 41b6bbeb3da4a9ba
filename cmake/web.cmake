# The page (web/), built with npm into build/web: `cmake --build ... --target web`. Not part of `all`, so that the
# library and the command can be built where there is no Node.js.
find_program(NPM npm)
set(page ${PROJECT_SOURCE_DIR}/build/web)
if(NPM AND EXISTS ${PROJECT_SOURCE_DIR}/web/package.json)
  file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS web/src/* web/public/*)
  set(page_packages ${PROJECT_SOURCE_DIR}/web/node_modules/.package-lock.json)
  add_custom_command(
    OUTPUT ${page_packages}
    # Not `npm ci`: it insists on the optional packages of platforms that a registry mirror may not carry.
    COMMAND ${CMAKE_COMMAND} -E env PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 ${NPM} install --no-save --no-audit --no-fund
            --loglevel=error
    DEPENDS web/package.json web/package-lock.json
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/web
    COMMENT "Fetching what the page is built with" VERBATIM)
  add_custom_command(
    OUTPUT ${page}/index.html
    COMMAND ${NPM} run --silent build -- --outDir ${page} --emptyOutDir
    DEPENDS ${page_packages} ${page_sources} web/index.html web/tsconfig.json web/vite.config.ts
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/web
    COMMENT "Building the page" VERBATIM)
  add_custom_target(web DEPENDS ${page}/index.html)
else()
  add_custom_target(web COMMAND ${CMAKE_COMMAND} -E echo "The page is not built: npm or the folder web/ is missing.")
endif()
# The command and its tests find it as the installed command does.
foreach(folder cotouch .)
  cotouch_link(${page} ${PROJECT_BINARY_DIR}/${folder}/share/cotouch/web)
endforeach()
install(DIRECTORY ${page}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/cotouch/web OPTIONAL)

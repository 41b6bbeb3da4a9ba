# Writes a header with a hash of the source code that decides what a prepared part looks like (see part/cache.h).
# Usage: cmake -DSOURCES=<list> -DHEADER=<file> -P preparation_version.cmake
cmake_minimum_required(VERSION 3.25)
set(hashes "")
foreach(source IN LISTS SOURCES)
  file(SHA256 ${source} hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 version "${hashes}")
string(SUBSTRING ${version} 0 16 version)
file(WRITE ${HEADER} "#pragma once\n\nnamespace cotouch {\n\ninline constexpr const char* k_preparation_version = \"${version}\";\n\n}  // namespace cotouch\n")

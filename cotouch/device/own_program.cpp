#include <cotouch/device/own_program.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

fs::path find_own_program(const std::string& name, const char* variable) {
  if (const char* named = secure_getenv(variable); named != nullptr && *named != '\0') return named;
  std::error_code error;
  const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path() / name;
  if (!error && is_program(beside)) return beside;
  const char* path = secure_getenv("PATH");
  for (std::string_view rest = path != nullptr ? path : ""; !rest.empty();) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    // No relative ones: who can write into the current folder must not choose our programs.
    if (folder.starts_with('/') && is_program(fs::path(folder) / name)) return fs::path(folder) / name;
  }
  return {};
}

fs::path find_guard() {
  return find_own_program("cotouch-guard", "COTOUCH_GUARD");
}

}  // namespace cotouch

#include <cotouch/app/web_folder.h>
#include <cotouch/base/error.h>

#include <cstdlib>
#include <system_error>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

bool has_page(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / "index.html", error);
}

}  // namespace

fs::path web_folder(const fs::path& given) {
  if (!given.empty()) {
    if (!has_page(given))
      throw Error("There is no page in " + given.string() + "; name the folder that holds its index.html.");
    return given;
  }
  if (const char* named = std::getenv("COTOUCH_WEB"); named != nullptr && *named != '\0') {
    if (!has_page(named)) throw Error("There is no page in " + std::string(named) + ", which COTOUCH_WEB names.");
    return named;
  }
  std::error_code error;
  const fs::path command = fs::read_symlink("/proc/self/exe", error);
  const fs::path beside = command.parent_path().parent_path() / "share/cotouch/web";
  return has_page(beside) ? beside : fs::path();
}

fs::path state_folder() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/')
    return fs::path(state) / "cotouch";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".local/state/cotouch";
  throw Error("There is no place for recordings and scenes: set HOME or XDG_STATE_HOME.");
}

}  // namespace cotouch

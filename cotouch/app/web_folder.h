// Where things are that belong to the viewer.
#pragma once

#include <filesystem>

namespace cotouch {

// The folder of the built page: `given`, else $COTOUCH_WEB, else share/cotouch/web beside the folder of the command; in
// a build, a link leads from there to the page (cmake/web.cmake). Empty where there is none of these; throws Error
// where one was named and holds no page.
std::filesystem::path web_folder(const std::filesystem::path& given);

// What the program keeps for its user (token, recordings, saved scenes): $XDG_STATE_HOME/cotouch or
// ~/.local/state/cotouch. Throws Error where the environment names neither.
std::filesystem::path state_folder();

}  // namespace cotouch

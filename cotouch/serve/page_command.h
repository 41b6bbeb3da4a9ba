// A page's command as the session understands it.
#pragma once

#include <cotouch/serve/viewer_command.h>
#include <cotouch/session/command.h>

#include <optional>
#include <string>

namespace cotouch {

// Nothing if the command makes no sense; `why` then says so.
std::optional<SessionCommand> to_session_command(const ViewerCommand& command, std::string& why);
// A word for the page if it can ask its user and then ask again, otherwise empty.
std::string_view code_of(const CommandResult& result);

}  // namespace cotouch

// What the command prints if words of a stranger's file are among it: every line without control characters.
#pragma once

#include <string_view>

namespace cotouch {

void say(std::string_view text);       // on standard output, with a newline at its end
void complain(std::string_view text);  // the same on standard error

}  // namespace cotouch

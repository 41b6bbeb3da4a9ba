// Names that come from strangers: of scenes, recordings, parts and people.
#pragma once

#include <string>
#include <string_view>

namespace cotouch {

// `[A-Za-z0-9_-]{1,64}`: what ids and names of scenes and recordings are made of.
bool is_identifier(std::string_view text);

// A label from a stranger's file name: its last component, printable, at most 64 characters, valid UTF-8.
std::string clean_label(std::string_view name);

// Somebody's name as all may see it: text without control characters and spaces around it, at most 24 characters; may
// be empty.
std::string clean_name(std::string_view name);

}  // namespace cotouch

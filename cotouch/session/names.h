// Names that come from strangers: of scenes, recordings, parts and people.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cotouch {

// `[A-Za-z0-9_-]{1,64}`: what ids and names of scenes and recordings are made of.
bool is_identifier(std::string_view text);

// A label from a stranger's file name: its last component, printable, at most 64 bytes.
std::string clean_label(std::string_view name);

// A label that ends like this: as much of it before that as there is room for.
std::string with_ending(std::string_view label, std::string_view ending);

// Text from a stranger as a terminal may show it: valid UTF-8 in one line, without control characters (which could move
// the cursor or answer for the user) and without signs that hide text or turn its direction.
std::string printable(std::string_view text);

// Somebody's name as all may see it: text without control characters and spaces around it, at most 24 characters; may
// be empty.
std::string clean_name(std::string_view name);
// The same, with a number after it if somebody has that name already.
std::string different_name(std::string_view name, std::span<const std::string> taken);

}  // namespace cotouch

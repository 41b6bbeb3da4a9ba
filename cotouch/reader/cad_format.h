// Files of CAD programs that hold exact surfaces and no mesh: cotouch does not read them yet and should say so, instead
// of letting a parser for something else call them damaged.
#pragma once

#include <cotouch/mesh/readers.h>

#include <string>
#include <string_view>

namespace cotouch {

// "a STEP file" and the like, by the name's ending (in lower case, without its dot); empty if it is none.
std::string_view cad_format_named(const std::string& extension);

// Throws Error, the rest of a sentence, if the file is one, by its content or its name.
void refuse_cad_format(FileBytes bytes, const std::string& extension);
[[noreturn]] void throw_cad_format(std::string_view format);

}  // namespace cotouch

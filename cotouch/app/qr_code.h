// A text as a QR code for the terminal.
#pragma once

#include <string>
#include <string_view>

namespace cotouch {

// Lines of half blocks, two modules high each, with the quiet zone of four modules that readers need, black on white by
// colours of its own whatever the terminal has. Empty if the text is too long for a code.
std::string qr_code(std::string_view text);

}  // namespace cotouch

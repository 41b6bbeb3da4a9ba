// Just enough of the ZIP format to look at the beginning of one file in an archive.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace cotouch {

// The first `most` bytes (or fewer, if it is shorter or damaged) of the first file in the archive whose name ends with
// `ending`; empty when there is none or it is packed in a way other than stored or deflated.
std::string zip_beginning(std::span<const std::byte> archive, std::string_view ending, std::size_t most);

}  // namespace cotouch

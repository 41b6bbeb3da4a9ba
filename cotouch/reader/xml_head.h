// The beginning of an XML text from a stranger, read by expat: just enough to find what a file says about itself.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cotouch {

struct XmlElement {
  std::string name;  // without the prefix of its namespace
  std::vector<std::pair<std::string, std::string>> attributes;
  std::string text;  // directly in it, at most 256 bytes

  // Empty if there is no such attribute.
  std::string_view value(std::string_view attribute) const;
};

// The elements from the first on, in the order in which they begin, until one called `last` has ended; only the first
// of all if `last` is empty. `whole` tells if the text is complete; otherwise it may stop anywhere.
//
// Throws Error, the rest of a sentence, if the text is no XML so far, or if it defines entities: no mesh file needs
// them, and a few lines of them unpack to gigabytes.
std::vector<XmlElement> xml_head(std::string_view text, std::string_view last, bool whole);

}  // namespace cotouch

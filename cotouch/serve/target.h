// The target of a request ("/api/upload?name=a%20b.stl"), taken apart.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cotouch {

struct Target {
  std::string path;  // decoded; never used as a file's path
  std::vector<std::pair<std::string, std::string>> query;

  // The first member of that name, empty where there is none.
  std::string_view value(std::string_view name) const;
};

// Nothing where the target does not start with '/', has a broken %-code, or hides a control character.
std::optional<Target> parse_target(std::string_view target);

}  // namespace cotouch

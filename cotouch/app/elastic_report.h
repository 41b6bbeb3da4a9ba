// What there is to say about a part that bends, for the commands that make and show parts.
#pragma once

#include <cotouch/app/command.h>
#include <cotouch/experiment/picture.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace cotouch {

// Nothing if the part is to be rigid. Throws Error if the words make no sense.
std::optional<ElasticSettings> elastic_settings(const ElasticOptions& options);

// Empty for a rigid part.
std::vector<std::string> elastic_lines(const Part& part);
nlohmann::ordered_json elastic_json(const Part& part);

// The part at rest and, beside it, in its slowest modes, bent so far that the eye sees it.
Image draw_modes(const Part& part, int width, int height);

}  // namespace cotouch

// The rows of `contact-table` in which something bends.
#pragma once

#include <cotouch/experiment/experiment.h>
#include <cotouch/experiment/paper_table.h>
#include <cotouch/world/scene.h>

#include <optional>
#include <string>

namespace cotouch {

// The first script of a prepared scene, felt by its hand at 1 kHz. Counted are pairs of which a body bends.
void add_elastic_row(const std::string& name, const Scene& scene, const std::optional<PaperRow>& paper,
                     const ExperimentOptions& options, ExperimentReport& report);

// Of the built-in scenes.
void add_elastic_rows(const ExperimentOptions& options, ExperimentReport& report);

}  // namespace cotouch

// The rows of `contact-table` in which something bends.
#pragma once

#include <cotouch/experiment/experiment.h>
#include <cotouch/world/scene.h>

#include <optional>
#include <string>

namespace cotouch {

// Table I of paper 001.
struct ElasticPaperRow {
  double points, visited, visited_no_coherence, in_contact, level, elastic_us, contact_us, cycle_us, treeless_us;
};

// The first script of a prepared scene, felt by its hand at 1 kHz. Counted are pairs of which a body bends.
void add_elastic_row(const std::string& name, const Scene& scene, const std::optional<ElasticPaperRow>& paper,
                     const ExperimentOptions& options, ExperimentReport& report);

// Of the built-in scenes.
void add_elastic_rows(const ExperimentOptions& options, ExperimentReport& report);

}  // namespace cotouch

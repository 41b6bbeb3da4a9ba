// Whether what can be exchanged costs or breaks anything: one function for each seam, which adds its own rows.
#pragma once

#include <cotouch/experiment/experiment.h>

namespace cotouch {

// Contact engines behind theirs: whether two of them ever disagree, and what a call through the interface costs.
void measure_engine_seam(const ExperimentOptions& options, ExperimentReport& report);

// Devices behind a plug-in's interface: what hostile plug-ins are ever given. It starts processes, so it comes before
// anything that may leave threads.
void measure_hostile_devices(const ExperimentOptions& options, ExperimentReport& report);
// What a cycle costs more than with the same device built in.
void measure_device_cost(const ExperimentOptions& options, ExperimentReport& report);

// How long parts take to prepare, beside another build of cotouch if there is one.
void measure_preparing(const ExperimentOptions& options, ExperimentReport& report);

// A row with the bound that its value should keep. Time depends on what else the machine does, so a value beyond it is
// no failure, but it is said.
void add_bounded(ExperimentReport& report, const std::string& name, double value, double bound,
                 const std::string& what);

}  // namespace cotouch

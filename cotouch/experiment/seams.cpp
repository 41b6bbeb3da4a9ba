#include <cotouch/experiment/seams.h>

#include <fmt/format.h>

namespace cotouch {

void add_bounded(ExperimentReport& report, const std::string& name, double value, double bound,
                 const std::string& what) {
  report.add(name, value, fmt::format("{}; at most {} wanted", what, bound));
  if (!(value <= bound))
    report.notes.push_back(fmt::format(
        "{}: {:.4g} is more than the {} that is wanted. Repeat it on a machine that does nothing else before you "
        "believe it.",
        name, value, bound));
}

ExperimentReport run_seams(const ExperimentOptions& options) {
  ExperimentReport report;
  // Its processes begin as copies of this one, which has no other threads yet.
  measure_hostile_devices(options, report);
  measure_device_cost(options, report);
  measure_engine_seam(options, report);
  measure_preparing(options, report);
  return report;
}

}  // namespace cotouch

#include <cotouch/base/error.h>
#include <cotouch/shell/build.h>
#include <cotouch/shell/level_set.h>
#include <cotouch/shell/sampling.h>
#include <cotouch/shell/spacing.h>
#include <cotouch/shell/tree.h>

#include <cmath>

namespace cotouch {
namespace {

constexpr std::uint32_t k_most_points = 1U << 28;

}  // namespace

Shell build_shell(const Field& field, const ShellSettings& settings, Progress& progress, ShellQuality* quality) {
  if (settings.points == 0 || settings.points > k_most_points)
    throw Error("A shell needs between 1 and " + std::to_string(k_most_points) + " points, not " +
                std::to_string(settings.points) + ".");
  if (!std::isfinite(settings.offset)) throw Error("The shell's offset must be a number of cells, such as 0.5.");
  const LevelSet surface(field, settings.offset);
  Shell shell = build_tree(sample_level_set(surface, settings.points, settings.seed, progress));
  if (quality != nullptr) *quality = measure_quality(shell);
  return shell;
}

ShellQuality measure_quality(const Shell& shell) {
  ShellQuality quality;
  for (std::uint32_t l = 0; l < shell.levels(); ++l) {
    const std::uint32_t points = shell.points_to_level(l);
    const Spacing spacing = measure_spacing(shell.data().positions.first(points));
    quality.levels.push_back({points, spacing.mean, spacing.variation});
  }
  return quality;
}

}  // namespace cotouch
